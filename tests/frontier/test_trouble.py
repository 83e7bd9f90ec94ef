"""Hosts that turn us away or cannot be reached are left alone, and not for ever."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.frontier.politeness import OWN, STRANGERS, Limits
from ronda.frontier.trouble import DAY, JITTER, LONGEST_REST, Troubles

HOST = "a.example"
THREE = Limits(failures_to_rest=3, rest=60.0)


def troubles(seed: int = 1) -> Troubles:
    return Troubles(Random(seed))


def fail(of: Troubles, times: int, now: float, limits: Limits = THREE) -> bool:
    return [of.failed(HOST, limits, now, "the last: refused") for _ in range(times)][-1]


def left(of: Troubles, now: float) -> float:
    trouble = of.resting(HOST, now)
    assert trouble is not None
    return trouble.until - now


class Calm(Random):
    """A die that always falls on its lowest side: no jitter."""

    def random(self) -> float:
        return 0.0


class TestSlowingDown:
    def test_the_wait_doubles_with_each_answer_up_to_the_longest(self) -> None:
        found = Troubles(Calm())
        waits = [found.throttled(HOST, 0.0, STRANGERS, 0.0) for _ in range(9)]

        assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]

    def test_the_wait_stays_bounded_however_often_it_is_asked_for(self) -> None:
        found = Troubles(Calm())
        waits = [found.throttled(HOST, 0.0, STRANGERS, 0.0) for _ in range(2000)]

        assert max(waits) == STRANGERS.max_wait

    @given(
        seed=st.integers(),
        asked=st.lists(st.floats(0, 60), min_size=1, max_size=12),
    )
    def test_jitter_only_adds_and_what_is_asked_for_is_never_undercut(
        self, seed: int, asked: list[float]
    ) -> None:
        exact, shaken = Troubles(Calm()), troubles(seed)
        for seconds in asked:
            least = exact.throttled(HOST, seconds, STRANGERS, 0.0)
            wait = shaken.throttled(HOST, seconds, STRANGERS, 0.0)

            assert seconds <= least <= wait <= least * (1 + JITTER)

    def test_hosts_that_were_told_the_same_do_not_come_back_together(self) -> None:
        found = troubles()
        waits = {found.throttled(f"{n}", 5.0, STRANGERS, 0.0) for n in range(50)}

        assert len(waits) > 40

    def test_our_own_machine_waits_only_as_long_as_it_says(self) -> None:
        found = Troubles(Calm())

        assert found.throttled(HOST, 0.0, OWN, 0.0) == 0.0
        assert found.throttled(HOST, 3.0, OWN, 0.0) == 3.0

    def test_an_answer_that_is_not_one_forgets_it(self) -> None:
        found = Troubles(Calm())
        for _ in range(4):
            found.throttled(HOST, 0.0, STRANGERS, 0.0)
        found.recovered(HOST, 100.0, throttled=False)

        assert found.throttled(HOST, 0.0, STRANGERS, 100.0) == 1.0

    def test_hosts_do_not_answer_for_each_other(self) -> None:
        found = Troubles(Calm())
        for _ in range(4):
            found.throttled(HOST, 0.0, STRANGERS, 0.0)

        assert found.throttled("b.example", 0.0, STRANGERS, 0.0) == 1.0


class TestRestingBecauseItAsked:
    def test_a_host_that_asks_for_more_than_we_wait_rests_that_long(self) -> None:
        found = troubles()

        assert found.throttled(HOST, 61.0, STRANGERS, 10.0) == 0.0
        trouble = found.resting(HOST, 10.0)
        assert trouble is not None
        assert (trouble.until, trouble.rule) == (71.0, "retry-after")
        assert trouble.words == "it asks us to wait 61 s"

    def test_one_that_asks_for_as_long_as_we_wait_is_waited_for(self) -> None:
        found = troubles()

        assert found.throttled(HOST, 60.0, STRANGERS, 0.0) >= 60.0
        assert found.resting(HOST, 0.0) is None

    def test_it_rests_for_a_day_at_most(self) -> None:
        found = troubles()
        found.throttled(HOST, 365 * DAY, STRANGERS, 0.0)

        assert left(found, 0.0) == DAY

    def test_a_shorter_wish_that_comes_later_does_not_undercut_it(self) -> None:
        found = troubles()
        found.throttled(HOST, 7200.0, STRANGERS, 0.0)
        found.throttled(HOST, 100.0, STRANGERS, 1.0)

        assert left(found, 1.0) == 7199.0

    def test_connections_that_fail_meanwhile_do_not_undercut_it(self) -> None:
        found = troubles()
        found.throttled(HOST, 7200.0, STRANGERS, 0.0)
        fail(found, 20, 1.0)

        assert left(found, 1.0) == 7199.0

    def test_when_its_time_is_over_it_may_be_asked(self) -> None:
        found = troubles()
        found.throttled(HOST, 100.0, STRANGERS, 0.0)

        assert found.resting(HOST, 99.9) is not None
        assert found.resting(HOST, 100.0) is None


class TestTheCircuit:
    def test_a_host_rests_after_so_many_failures_in_a_row(self) -> None:
        found = troubles()

        assert not fail(found, 2, 0.0)
        assert found.resting(HOST, 0.0) is None
        assert fail(found, 1, 0.0)
        assert left(found, 0.0) == 60.0

    def test_it_is_told_how_many_failed_and_how(self) -> None:
        found = troubles()
        fail(found, 3, 0.0)

        trouble = found.resting(HOST, 0.0)
        assert trouble is not None
        assert trouble.rule == "circuit"
        assert trouble.words == (
            "3 connections failed in a row, the last: refused; left alone for 60 s"
        )

    def test_after_its_rest_one_try_decides(self) -> None:
        found = troubles()
        fail(found, 3, 0.0)

        assert found.resting(HOST, 60.0) is None
        assert fail(found, 1, 61.0)
        assert left(found, 61.0) == 120.0

    def test_each_rest_is_twice_as_long_up_to_an_hour(self) -> None:
        found, now, rests = troubles(), 0.0, []
        fail(found, 2, now)
        for _ in range(40):
            fail(found, 1, now)
            rests.append(left(found, now))
            now += rests[-1]

        assert rests[:8] == [60, 120, 240, 480, 960, 1920, 3600, 3600]
        assert set(rests[8:]) == {LONGEST_REST}

    def test_those_that_were_under_way_when_it_began_to_rest_do_not_lengthen_it(
        self,
    ) -> None:
        found = troubles()
        fail(found, 3, 0.0)

        assert fail(found, 3, 1.0)  # it rests, as it did
        assert left(found, 1.0) == 59.0
        assert fail(found, 1, 61.0)
        assert left(found, 61.0) == 120.0

    def test_an_answer_forgets_the_failures_before_it(self) -> None:
        found = troubles()
        fail(found, 2, 0.0)
        found.recovered(HOST, 1.0, throttled=False)

        assert not fail(found, 2, 2.0)

    def test_an_answer_after_the_rest_forgets_how_long_it_was(self) -> None:
        found = troubles()
        fail(found, 3, 0.0)
        fail(found, 1, 60.0)
        found.recovered(HOST, 200.0, throttled=False)
        fail(found, 3, 300.0)

        assert left(found, 300.0) == 60.0

    @pytest.mark.parametrize("throttled", [True, False])
    def test_an_answer_during_the_rest_does_not_end_it(self, throttled: bool) -> None:
        found = troubles()
        fail(found, 3, 0.0)
        found.recovered(HOST, 30.0, throttled=throttled)

        assert left(found, 30.0) == 30.0
        assert fail(found, 1, 60.0)

    def test_an_answer_that_asks_us_to_slow_down_is_an_answer(self) -> None:
        found = troubles()
        fail(found, 2, 0.0)
        found.recovered(HOST, 1.0, throttled=True)

        assert not fail(found, 2, 2.0)

    def test_our_own_machines_never_rest(self) -> None:
        assert not fail(troubles(), 1000, 0.0, OWN)

    def test_hosts_in_order_cost_no_memory(self) -> None:
        found = troubles()
        fail(found, 2, 0.0)
        assert found
        found.recovered(HOST, 1.0, throttled=False)
        found.recovered("never seen", 1.0, throttled=False)

        assert not found
