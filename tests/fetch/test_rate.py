from hypothesis import given
from hypothesis import strategies as st

from ronda.fetch.rate import Rate

LEAST, SECONDS = 100, 20.0

gaps = st.lists(st.floats(0, 60), min_size=1, max_size=50)


def verdicts(rate: Rate, came: list[tuple[float, int]]) -> list[bool]:
    """What is said at each moment, after a gap and with so many bytes."""
    now, found = 1000.0, []
    for gap, size in came:
        now += gap
        found.append(rate.is_too_slow(size, now))
    return found


def test_what_trickles_is_too_slow_once_its_time_is_over() -> None:
    found = verdicts(Rate(LEAST, SECONDS), [(1.0, 10)] * 30)

    assert found.index(True) == 20


def test_what_comes_late_and_whole_is_not() -> None:
    assert verdicts(Rate(LEAST, SECONDS), [(500.0, 10), (19.0, 10)]) == [False, False]


def test_a_pause_is_made_up_for_by_what_follows() -> None:
    assert verdicts(Rate(LEAST, SECONDS), [(0.0, 1), (60.0, 16_384)]) == [False, False]


def test_a_good_beginning_does_not_excuse_the_rest() -> None:
    came = [(0.0, 1_000_000), *[(1.0, 10)] * 45]

    assert True in verdicts(Rate(LEAST, SECONDS), came)


def test_each_body_begins_anew() -> None:
    rate = Rate(LEAST, SECONDS)
    verdicts(rate, [(1.0, 1)] * 10)
    rate.begin()

    assert not any(verdicts(rate, [(500.0, 1), *[(1.0, 1)] * 19]))


@given(gaps)
def test_nothing_is_too_slow_that_keeps_the_rate(gaps: list[float]) -> None:
    came = [(gap, round(LEAST * gap) + LEAST) for gap in gaps]

    assert not any(verdicts(Rate(LEAST, SECONDS), came))


@given(gaps)
def test_without_a_rate_nothing_is_too_slow(gaps: list[float]) -> None:
    assert not any(verdicts(Rate(0, SECONDS), [(gap, 0) for gap in gaps]))


def test_the_words_name_the_rate() -> None:
    assert Rate(1000, SECONDS).words == "too slow, under 1,000 bytes a second"
