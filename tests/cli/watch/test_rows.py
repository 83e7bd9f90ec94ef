import pytest

from ronda.cli.report.style import Style
from ronda.cli.watch.rows import told, trees
from ronda.model import State
from ronda.store.sql.values import Known

NOW = 1_700_000_000.0
URL = "https://a.example/"


def row(target: Known, width: int = 100) -> str:
    _, line = told([target], NOW, Style(width=width))
    return " ".join(line.split())


@pytest.mark.parametrize(
    ("target", "line"),
    [
        (Known(1, URL, State.UNKNOWN), f"unknown - - never {URL}"),
        (Known(1, URL, State.UNKNOWN, next_due=NOW), f"unknown - - now {URL}"),
        (
            Known(
                1,
                URL,
                State.BROKEN,
                message="404 Not Found",
                last_check_at=NOW - 60,
                last_change_at=NOW - 86_400 * 3,
                next_due=NOW + 7200,
            ),
            f"broken 404 Not Found 3 d ago 60 s ago in 2 h {URL}",
        ),
        (
            Known(1, URL, State.OK, enabled=False, why_disabled="mine", message="200"),
            f"ok disabled: mine; 200 - - never {URL}",
        ),
        (
            Known(1, URL, State.OK, enabled=False, flapping=True, acknowledged=True),
            f"ok disabled; flapping; acknowledged - - never {URL}",
        ),
        (
            Known(1, URL, State.OK, spelling="https://A.example"),
            "ok - - never https://A.example",
        ),
        (
            Known(1, URL, State.OK, failures=1, message="404 Not Found"),
            f"ok failed once; 404 Not Found - - never {URL}",
        ),
        (
            Known(1, URL, State.UNKNOWN, failures=2, message="404 Not Found"),
            f"unknown failed 2 times; 404 Not Found - - never {URL}",
        ),
        (
            Known(1, URL, State.BROKEN, failures=2, message="404 Not Found"),
            f"broken 404 Not Found - - never {URL}",
        ),
    ],
    ids=[
        *("new", "due", "broken", "disabled", "marked", "spelt"),
        *("unconfirmed", "never confirmed", "confirmed"),
    ],
)
def test_a_target_is_one_line(target: Known, line: str) -> None:
    assert row(target) == line


def test_a_long_message_does_not_push_the_url_away() -> None:
    assert row(Known(1, URL, State.OK, message="x" * 99), 50) == (
        f"ok {'x' * 19}… - - never {URL}"
    )


@pytest.mark.parametrize(
    ("state", "failures", "unconfirmed"),
    [(State.OK, 0, False), (State.OK, 1, True), (State.BLOCKED, 3, False)],
)
def test_programs_are_told_of_failures_to_be_confirmed(
    state: State, failures: int, unconfirmed: bool
) -> None:
    (found,) = trees([Known(1, URL, state, failures=failures)], {})

    assert (found["unconfirmed"], found["failures"]) == (unconfirmed, failures)


def test_programs_are_told_of_a_pace_that_was_set() -> None:
    several = [Known(1, URL, State.OK), Known(2, URL, State.OK)]

    assert [one["every"] for one in trees(several, {2: 60.0})] == [None, 60.0]
