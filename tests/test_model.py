"""The values that have a little sense of their own."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.model import Answer, Certificate, Request, State, Summary, Timings, Via

HEAD = (
    b"HTTP/1.1 200 OK\r\n",
    b"Content-Type: text/html; charset=utf-8\r\n",
    b"LOCATION:/there\r\n",
    b"X-Latin: caf\xe9\r\n",
    b"X-Empty:\r\n",
    b"Set-Cookie: a=1\r\n",
    b"Set-Cookie: b=2\r\n",
    b"\r\n",
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("content-type", "text/html; charset=utf-8"),
        ("location", "/there"),
        ("x-latin", "café"),
        ("x-empty", ""),
        ("set-cookie", "a=1"),
        ("content", ""),
        ("x-missing", ""),
    ],
)
def test_a_header_is_found_by_its_name_in_any_spelling(name: str, value: str) -> None:
    assert Answer(headers=HEAD).header(name) == value


@given(st.lists(st.binary(max_size=30)))
def test_any_lines_can_be_searched(lines: list[bytes]) -> None:
    assert isinstance(Answer(headers=tuple(lines)).header("location"), str)


@given(st.text("abcdefgh-", min_size=1), st.text(max_size=20))
def test_a_value_comes_back_as_it_was_sent(name: str, value: str) -> None:
    sent = value.encode("latin-1", "replace")
    line = name.upper().encode() + b": " + sent + b"\r\n"

    assert Answer(headers=(line,)).header(name) == sent.strip().decode("latin-1")


def test_requests_and_answers_travel_between_processes_unchanged() -> None:
    request = Request("http://a.test/", "GET", Via.MX, 5, True, True, True)
    answer = Answer(
        status=200,
        error_text="words",
        headers=HEAD,
        timings=Timings(1, 2, 3, 4, 5),
        body=b"\0\xff",
        certificate=Certificate(subject="a", names=("b", "c")),
        called=("ok", "words"),
        names=("mx",),
    )

    for value in (request, answer):
        data = msgspec.msgpack.encode(value)
        assert msgspec.msgpack.decode(data, type=type(value)) == value


def test_a_summary_knows_how_many_were_checked() -> None:
    counts = {State.OK: 3, State.BROKEN: 2}

    assert Summary(counts=counts).checked == 5
    assert Summary().checked == 0


@pytest.mark.parametrize(
    ("answer", "reached"),
    [
        (Answer(error=28), False),
        (Answer(error=28, timings=Timings(connect=0.1)), True),
        (Answer(error=28, sent_at=5.0), True),  # a kept connection takes no time
    ],
)
def test_a_server_was_reached_when_something_was_sent(
    answer: Answer, reached: bool
) -> None:
    assert answer.reached is reached
