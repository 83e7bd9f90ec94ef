"""Summaries against slow and obvious ones, second by second."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.model import State
from ronda.store.sql.summary import (
    DAY,
    DOWN,
    UNJUDGED,
    UP,
    Change,
    Latency,
    Seen,
    Uptime,
    changes,
    latency,
    uptime,
)

END = 60  # whole seconds, so that each can be looked at by itself


@st.composite
def results(draw: st.DrawFn) -> list[Seen]:
    """What was found in a minute, at whole seconds, the oldest first."""
    moments = sorted(draw(st.lists(st.integers(-5, END + 5), max_size=8, unique=True)))
    return [
        Seen(
            number,
            at,
            draw(st.sampled_from(State)),
            draw(st.sampled_from(State)),
            seconds=draw(st.sampled_from([0.0, 0.1, 0.2, 5.0])),
            pause=draw(st.none() | st.integers(0, 15)),
        )
        for number, at in enumerate(moments)
    ]


windows = st.tuples(st.integers(0, END), st.integers(0, END))


def slowly(found: list[Seen], since: int, until: int) -> Uptime:
    """Each second belongs to the last result before its end."""
    spent: Counter[str] = Counter()
    for second in range(since, until):
        last = max(
            (s for s in found if s.at <= second), key=lambda s: s.at, default=None
        )
        if last is None or last.state is State.UNKNOWN or _is_over(last, second):
            spent["unobserved"] += 1
        elif last.standing in UP:
            spent["up"] += 1
        elif last.standing in DOWN:
            spent["down"] += 1
        elif last.standing in UNJUDGED:
            spent["unjudged"] += 1
        else:
            spent["unobserved"] += 1
    judged = spent["up"] + spent["down"]
    percent = 100 * spent["up"] / judged if judged else None
    names = ("up", "down", "unjudged", "unobserved")
    return Uptime(percent, *(float(spent[name]) for name in names))


def _is_over(last: Seen, second: int) -> bool:
    return second >= last.at + 2 * (DAY if last.pause is None else last.pause)


@given(results(), windows)
def test_uptime_is_what_looking_at_every_second_gives(
    found: list[Seen], window: tuple[int, int]
) -> None:
    assert uptime(found, *window) == slowly(found, *window)


@given(results(), windows)
def test_a_window_is_spent_whole(found: list[Seen], window: tuple[int, int]) -> None:
    since, until = sorted(window)
    spent = uptime(found, since, until)

    assert spent.observed + spent.unobserved == until - since


@given(results(), windows, st.integers(0, END))
def test_two_windows_make_one(
    found: list[Seen], window: tuple[int, int], cut: int
) -> None:
    since, until = min(*window, cut), max(*window, cut)
    whole = uptime(found, since, until)
    halves = uptime(found, since, cut), uptime(found, cut, until)

    for name in ("up", "down", "unjudged", "unobserved"):
        assert getattr(whole, name) == sum(getattr(half, name) for half in halves)


def test_every_state_is_up_down_unjudged_or_unknown() -> None:
    assert UP | DOWN | UNJUDGED | {State.UNKNOWN} == set(State)
    assert len(UP) + len(DOWN) + len(UNJUDGED) + 1 == len(State)


def test_what_was_not_looked_at_counts_neither_way() -> None:
    day = [Seen(1, 0, State.OK, State.OK, pause=100)]

    assert uptime(day, 0, 1000) == Uptime(100.0, 200, 0, 0, 800)
    assert uptime([], 0, 1000) == Uptime(None, 0, 0, 0, 1000)
    assert uptime(day, 1000, 0) == Uptime(None, 0, 0, 0, 0)


def test_a_fault_of_ours_says_nothing_even_of_a_target_that_stands_well() -> None:
    found = [
        Seen(1, 0, State.OK, State.OK),
        Seen(2, 10, State.UNKNOWN, State.OK),
        Seen(3, 30, State.BROKEN, State.OK),  # not confirmed
        Seen(4, 40, State.BROKEN, State.BROKEN),
    ]

    assert uptime(found, 0, 60) == Uptime(50.0, 20, 20, 0, 20)


@given(st.lists(st.floats(0, 100), max_size=300))
def test_percentiles_are_what_counting_gives(times: list[float]) -> None:
    found = latency([Seen(0, 0, State.OK, State.OK, seconds=t) for t in times])

    answered = [t for t in times if t > 0]
    if not answered:
        assert found is None
        return
    assert found is not None
    assert found.count == len(answered)
    for share, value in zip((50, 90, 95, 99), _values(found), strict=True):
        # The least value that so many of a hundred do not exceed.
        enough = [
            t
            for t in answered
            if sum(other <= t for other in answered) * 100 >= share * len(answered)
        ]
        assert value == min(enough)


def _values(found: Latency) -> tuple[float, ...]:
    return found.p50, found.p90, found.p95, found.p99


@pytest.mark.parametrize(
    ("count", "expected"),
    [(1, (1, 1, 1, 1)), (2, (1, 2, 2, 2)), (100, (50, 90, 95, 99))],
    ids=["one", "two", "hundred"],
)
def test_percentiles_of_round_numbers(count: int, expected: tuple[int, ...]) -> None:
    seen = [Seen(n, n, State.OK, State.OK, seconds=n) for n in range(1, count + 1)]
    found = latency(seen)

    assert found is not None
    assert _values(found) == expected


@given(results())
def test_changes_tell_the_whole_story(found: list[Seen]) -> None:
    told = changes(found)

    standings = [seen.standing for seen in found]
    story = standings[:1]
    for change in told:
        assert change.was == story[-1] != change.state
        story.append(change.state)
    assert story == [
        one for n, one in enumerate(standings) if n == 0 or one != standings[n - 1]
    ]


def test_a_change_has_its_moment_and_its_reason() -> None:
    found = [
        Seen(1, 5, State.OK, State.OK, reason="http_200"),
        Seen(2, 6, State.BROKEN, State.OK, reason="http_404"),
        Seen(3, 7, State.BROKEN, State.BROKEN, reason="http_410"),
    ]

    assert changes(found) == [Change(7, State.OK, State.BROKEN, "http_410")]
