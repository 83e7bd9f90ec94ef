from hypothesis import given
from hypothesis import strategies as st

from ronda.workers.silence import Silence

LEASE = 30.0


def test_who_gives_no_sign_for_a_whole_lease_is_silent():
    silence = Silence()

    for now in (0.0, 10.0, 20.0, 29.9):
        assert silence.of({1: 100.0}, now, LEASE) == {}
    assert silence.of({1: 100.0}, 30.0, LEASE) == {1: 100.0}


def test_nobody_is_silent_while_nobody_could_look():
    silence = Silence()
    silence.of({1: 100.0}, 0.0, LEASE)

    assert silence.of({1: 100.0}, 40.0, LEASE) == {}
    assert silence.of({1: 100.0}, 50.0, LEASE) == {}


def test_any_other_sign_is_one_of_life_even_an_earlier_one():
    silence = Silence()
    for now in (0.0, 10.0, 20.0):
        silence.of({1: 100.0}, now, LEASE)

    for now in (30.0, 40.0, 50.0):
        assert silence.of({1: 50.0}, now, LEASE) == {}  # a clock was set back
    assert silence.of({1: 50.0}, 60.0, LEASE) == {1: 50.0}


def test_who_has_left_is_not_remembered():
    silence = Silence()
    silence.of({1: 100.0}, 0.0, LEASE)
    silence.of({}, 10.0, LEASE)

    assert silence.of({1: 100.0}, 30.0, LEASE) == {}


@given(st.lists(st.floats(0.1, 9.9), min_size=1, max_size=50))
def test_who_renews_in_time_is_never_taken_for_dead(gaps):
    silence, now = Silence(), 0.0
    for number, gap in enumerate(gaps):
        now += gap

        assert silence.of({1: float(number)}, now, LEASE) == {}
