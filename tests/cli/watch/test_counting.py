import io

import pytest

from ronda.cli.watch.counting import Counting
from ronda.config import Report

TELLS = Report()


class Screen(io.StringIO):
    """A terminal that remembers what it was told."""

    def isatty(self) -> bool:
        return True


def counted(
    out: io.StringIO, items: int, seconds: float, settings: Report = TELLS
) -> Counting:
    """Items that pass at one pace."""
    moments = iter(seconds * n / items for n in range(items + 10))
    now = 0.0

    def clock() -> float:
        return now

    with Counting(settings, "URLs read", out=out, clock=clock) as counting:
        for _ in counting.over(range(items)):
            now = next(moments)
    return counting


def test_all_that_passes_is_counted() -> None:
    counting = counted(io.StringIO(), 1000, 1)

    assert counting.count == 1000


def test_what_is_quick_is_not_told() -> None:
    out = io.StringIO()
    counted(out, 100_000, 9)

    assert out.getvalue() == ""


def test_elsewhere_it_is_a_line_now_and_then() -> None:
    out = io.StringIO()
    counted(out, 102_400, 35)

    lines = out.getvalue().splitlines()
    assert len(lines) == 3
    assert all(line.endswith(" URLs read, 2,926/s") for line in lines)


def test_in_a_terminal_it_is_one_line_that_is_gone_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    out = Screen()
    counted(out, 102_400, 35)

    clear = "\r\x1b[2K"
    assert out.getvalue().count(clear) > 100
    assert "\n" not in out.getvalue()
    assert out.getvalue().endswith(clear)


@pytest.mark.parametrize("settings", [Report(progress=False), Report(quiet=True)])
def test_it_can_be_switched_off(settings: Report) -> None:
    out = Screen()
    counted(out, 102_400, 35, settings)

    assert out.getvalue() == ""


def test_who_counts_for_himself_says_how_many() -> None:
    out, now = io.StringIO(), [0.0]
    with Counting(Report(), "lines", out=out, clock=lambda: now[0]) as counting:
        for _ in range(4):
            counting.add(1000)
            now[0] += 6

    assert out.getvalue().splitlines() == ["3,000 lines, 250/s"]
