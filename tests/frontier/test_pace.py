"""The pace of one key: gaps count from when a request can at latest have arrived."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.frontier.host import Server
from ronda.frontier.pace import SLACK, SURE, adapted, answered

EPSILON = 1e-9
seconds = st.floats(0, 10)
# Of one request: the way there, the time it is served, the way back, and how long we
# dawdle once the next might start.
ways = st.tuples(seconds, seconds, seconds, st.sampled_from([0.0, 0.0, 3.0]))


def asked(server: Server, start: float, took: float, gap: float) -> None:
    server.next_at = start + gap
    answered(server, start, start + took, gap)


class TestTheGap:
    def test_it_counts_from_the_first_answers_as_if_they_had_only_just_arrived(
        self,
    ) -> None:
        server = Server("a")
        for number in range(SURE):
            asked(server, 10.0 * number, 0.5, 1.0)

            assert server.next_at == 10.0 * number + 1.5

    def test_once_the_way_is_known_only_what_was_longer_is_added(self) -> None:
        server = Server("a")
        for number in range(SURE):
            asked(server, 10.0 * number, 0.5, 1.0)
        asked(server, 100.0, 0.7, 1.0)

        assert server.next_at == pytest.approx(101.2 + SLACK)

    def test_a_quick_answer_never_shortens_what_was_set(self) -> None:
        server = Server("a")
        server.next_at = 60.0  # by a Retry-After
        answered(server, 10.0, 10.1, 1.0)

        assert server.next_at == 60.0

    @given(gap=seconds, requests=st.lists(ways, min_size=2, max_size=30))
    def test_asked_one_at_a_time_no_two_requests_arrive_closer_than_it(
        self, gap: float, requests: list[tuple[float, float, float, float]]
    ) -> None:
        server = Server("a")
        last_arrival = None
        now = 0.0
        for there, served, back, dawdle in requests:
            start = max(now, server.next_at) + dawdle
            if last_arrival is not None:
                apart = start + there - last_arrival
                assert apart >= gap - server.quickest - EPSILON
            last_arrival = start + there
            now = last_arrival + served + back
            server.next_at = start + gap
            answered(server, start, now, gap)

    @given(gap=seconds, times=st.lists(seconds, min_size=1, max_size=30))
    def test_starts_are_never_closer_than_it(
        self, gap: float, times: list[float]
    ) -> None:
        server = Server("a")
        for took in times:
            start = server.next_at
            assert start - server.started_at >= gap - EPSILON
            asked(server, start, took, gap)

    @given(st.lists(seconds, min_size=1, max_size=30))
    def test_the_quickest_answer_is_remembered(self, times: list[float]) -> None:
        server = Server("a")
        for took in times:
            asked(server, 0.0, took, 1.0)

        assert (server.quickest, server.answers) == (min(times), len(times))


class TestAdapted:
    @given(took=seconds, interval=seconds, factor=seconds, ceiling=seconds)
    def test_it_is_between_the_interval_and_the_ceiling(
        self, took: float, interval: float, factor: float, ceiling: float
    ) -> None:
        gap = adapted(took, interval, factor, ceiling)

        assert interval <= gap <= max(interval, ceiling)
        assert gap <= max(interval, factor * took)

    @pytest.mark.parametrize(
        ("took", "gap"), [(0.0, 1.0), (0.4, 1.0), (0.6, 1.2), (5.0, 10.0), (99.0, 30.0)]
    )
    def test_a_slow_host_is_given_more_time(self, took: float, gap: float) -> None:
        assert adapted(took, interval=1.0, factor=2.0, ceiling=30.0) == gap

    def test_without_a_factor_it_is_the_interval(self) -> None:
        assert adapted(1e9, interval=1.0, factor=0.0, ceiling=30.0) == 1.0

    def test_a_ceiling_below_the_interval_does_not_shorten_it(self) -> None:
        assert adapted(9.0, interval=5.0, factor=1.0, ceiling=2.0) == 5.0
