"""How much is received a second, over all hosts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.frontier.bandwidth import Bandwidth

LIMIT = 1000
# Of each body: its bytes, and how long we dawdle once it might be asked for.
bodies = st.lists(
    st.tuples(st.integers(0, 5000), st.sampled_from([0.0, 0.0, 0.3, 7.0])), max_size=40
)


def received(rows: list[tuple[int, float]]) -> list[tuple[float, int]]:
    """When each body came, and how long it was, if none is asked for too soon."""
    bandwidth, now, came = Bandwidth(LIMIT), 100.0, []
    for size, dawdled in rows:
        now = max(now, bandwidth.free_at) + dawdled
        bandwidth.spent(size, now)
        came.append((now, size))
    return came


@given(bodies)
def test_no_window_has_more_than_the_limit_and_a_second_before_its_last_body(
    rows: list[tuple[int, float]],
) -> None:
    came = received(rows)
    for first, (start, _) in enumerate(came):
        for last in range(first, len(came)):
            size = sum(size for _, size in came[first:last])

            assert size <= LIMIT * (came[last][0] - start + 1) + 1e-3


@given(st.lists(st.integers(1, 5000), min_size=1, max_size=40))
def test_who_never_dawdles_gets_the_whole_limit(sizes: list[int]) -> None:
    came = received([(size, 0.0) for size in sizes])

    assert came[-1][0] - 100.0 <= sum(sizes) / LIMIT


def test_a_second_of_bytes_may_come_at_once() -> None:
    bandwidth = Bandwidth(LIMIT)
    bandwidth.spent(1000, 50.0)

    assert bandwidth.free_at == 50.0


def test_a_body_that_was_too_long_delays_those_that_follow() -> None:
    bandwidth = Bandwidth(LIMIT)
    bandwidth.spent(4000, 50.0)
    bandwidth.spent(500, 50.0)

    assert bandwidth.free_at == pytest.approx(53.5)


@pytest.mark.parametrize("limit", [None, LIMIT])
def test_nothing_waits_before_anything_came(limit: int | None) -> None:
    assert Bandwidth(limit).free_at == 0.0


def test_without_a_limit_nothing_ever_waits() -> None:
    bandwidth = Bandwidth(None)
    bandwidth.spent(10**12, 5.0)

    assert bandwidth.free_at == 0.0
