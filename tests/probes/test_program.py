"""A program as a task: what it is told, and what comes of it."""

import msgspec
import pytest

from ronda.model import (
    Answer,
    Done,
    Job,
    NotApplicable,
    Ran,
    Request,
    Service,
    State,
    Target,
    Via,
    Visit,
)
from ronda.probes.program import Program, line
from ronda.probes.said import Identity

URL = "http://maps.test/wms?layers=a|b"
SERVICE = Service(
    id=42,
    description="Roads",
    owner="ann",
    type="WMS",
    version="1.3.0",
    uuid="u-1",
)
PROGRAM = Program("/etc/ronda/tasks/10_wms.sh", Identity("wms"), 20.0)


def visit(public: bool = False) -> Visit:
    request = Request(URL, public=public)
    return Visit(Target(URL, "maps.test"), request, "maps.test")


def job(request: Request) -> Job:
    return msgspec.json.decode(request.payload, type=Job)


def test_it_is_a_request_that_runs_it() -> None:
    request = PROGRAM.begin(visit(), SERVICE)

    assert (request.url, request.via, request.public) == (URL, Via.PROGRAM, False)
    assert job(request).program == "/etc/ronda/tasks/10_wms.sh"
    assert job(request).timeout == 20.0


def test_what_strangers_named_stays_public() -> None:
    assert PROGRAM.begin(visit(public=True), SERVICE).public


def test_its_argument_is_the_line_of_the_seed() -> None:
    request = PROGRAM.begin(visit(), SERVICE)

    expected = "42|http://maps.test/wms?layers=a%7Cb|u-1|WMS|1.3.0"
    assert job(request).arguments == (expected,)


@pytest.mark.parametrize("text", ["a\nb", "a\r\nb", "a\x0bb", "a\u2028b", " a b "])
def test_no_text_breaks_that_line(text: str) -> None:
    made = line("http://h.test/", Service(id=1, uuid=text, type=text, version=text))

    assert made == "1|http://h.test/|a b|a b|a b"


def test_its_input_has_all_that_is_known() -> None:
    given = job(PROGRAM.begin(visit(), SERVICE)).input

    assert msgspec.json.decode(given) == {
        "id": 42,
        "url": URL,
        "kind": "service",
        "description": "Roads",
        "owner": "ann",
        "type": "WMS",
        "version": "1.3.0",
        "uuid": "u-1",
        "task": "wms",
        "timeout": 20.0,
    }
    assert given.count("\n") == 1


def test_all_tasks_of_a_target_share_its_folder() -> None:
    other = Program("/other", Identity("other"), 20.0)

    assert job(PROGRAM.begin(visit(), SERVICE)).folder == "42"
    assert job(other.begin(visit(), SERVICE)).folder == "42"


def test_what_it_says_is_the_verdict() -> None:
    answer = Answer(ran=Ran(code=0, output="warning {odd} {looks odd} {} 1\n"))
    done = PROGRAM.judge(visit(), answer, 0.0)

    assert isinstance(done, Done)
    assert done.verdict.state is State.WARNING
    assert (done.verdict.reason, done.verdict.message) == ("odd", "looks odd")


def test_it_may_have_nothing_to_say() -> None:
    answer = Answer(ran=Ran(code=0, output="not_applicable {} {} {} {}"))

    assert PROGRAM.judge(visit(), answer, 0.0) == NotApplicable()


def test_one_that_was_not_run_says_nothing_of_the_target() -> None:
    done = PROGRAM.judge(visit(), Answer(error_text="no room"), 0.0)

    assert isinstance(done, Done)
    assert (done.verdict.state, done.verdict.reason) == (State.UNKNOWN, "task_error")
    assert "no room" in done.verdict.message
