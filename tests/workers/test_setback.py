"""When it is looked for what lies in the future."""

import pytest

from ronda.workers.setback import DAY, TOLERANCE, Setback

NOW = 1_800_000_000.0
START = 1000.0  # by the steady clock


@pytest.fixture
def setback() -> Setback:
    """One that has looked already."""
    made = Setback()
    assert made.is_due(START, NOW)
    made.looked(START)
    return made


def test_it_is_due_until_it_was_looked() -> None:
    made = Setback()

    assert made.is_due(START, NOW)
    assert made.is_due(START + 60, NOW + 60)


def test_it_is_due_once_a_day(setback: Setback) -> None:
    assert not setback.is_due(START + DAY - 1, NOW + DAY - 1)
    assert setback.is_due(START + DAY, NOW + DAY)


@pytest.mark.parametrize(
    ("seconds", "due"),
    [(-3600.0, True), (-TOLERANCE - 1, True), (-TOLERANCE, False), (DAY, False)],
)
def test_it_is_due_when_the_date_was_set_back(
    setback: Setback, seconds: float, due: bool
) -> None:
    assert setback.is_due(START + 60, NOW + 60 + seconds) is due


def test_a_date_that_was_set_back_is_heeded_once(setback: Setback) -> None:
    assert setback.is_due(START + 60, NOW - 3600)
    setback.looked(START + 61)

    assert not setback.is_due(START + 120, NOW - 3540)


def test_one_that_was_ahead_and_put_right_is_heeded(setback: Setback) -> None:
    assert not setback.is_due(START + 60, NOW + 365 * DAY)
    assert setback.is_due(START + 120, NOW + 120)


def test_a_machine_that_does_not_know_the_date_yet_waits() -> None:
    made = Setback()

    assert not made.is_due(START, 60.0)
    assert made.is_due(START + 60, NOW)
