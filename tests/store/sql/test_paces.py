"""When somebody may be asked again is known, even if the clock was set since."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.store.sql.paces import as_of
from ronda.store.sql.values import Pace

NOW = 1_800_000_000.0
moments = st.floats(0, 4e9)


@given(st.floats(0, NOW), moments, moments, moments)
def test_who_was_asked_in_the_past_is_left_as_he_was(
    asked_at: float, next_at: float, gap: float, rests_until: float
) -> None:
    pace = Pace(asked_at, next_at, gap, rests_until)

    assert as_of(pace, NOW) == pace


@given(st.floats(NOW, 4e9), st.floats(0, 1e6), st.floats(0, 1e6))
def test_who_was_asked_in_the_future_waits_as_long_from_now_on(
    asked_at: float, wait: float, rest: float
) -> None:
    found = as_of(Pace(asked_at, asked_at + wait, 3.0, asked_at + rest), NOW)

    assert found.asked_at <= NOW
    assert found.next_at - NOW == pytest.approx(wait, abs=1e-3)
    assert found.rests_until - NOW == pytest.approx(rest, abs=1e-3)
    assert found.gap == 3.0


def test_who_does_not_rest_still_does_not() -> None:
    found = as_of(Pace(NOW + 3600, NOW + 3601), NOW)

    assert (found.next_at, found.rests_until) == (NOW + 1, 0.0)
