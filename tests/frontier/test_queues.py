"""The frontier under a virtual clock: polite, fair, nothing lost, always ends."""

import random
from collections import Counter
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ronda import config
from ronda.config import Politeness
from ronda.frontier import Frontier, Item, Lease, Limits, Policy
from ronda.model import Request, Target, Visit

FREE = Limits()
A, B = "127.0.0.1", "127.0.0.2"  # hosts that need no name server


def target(host: str, number: int = 0) -> Target:
    return Target(f"http://{host}/{number}", host)


def visit(host: str, number: int = 0) -> Visit:
    begun = target(host, number)
    return Visit(begun, Request(begun.url), host)


def frontier(
    limits: Limits = FREE, lease_seconds: float = 300.0, **settings: int
) -> Frontier:
    return Frontier(
        lambda _host, _address: limits,
        config.Frontier(**settings),
        random=random.Random(1),
        lease_seconds=lease_seconds,
    )


def holding(items: list[Item], limits: Limits = FREE, **settings: int) -> Frontier:
    """A frontier with items of hosts that all live at one address."""
    queue = frontier(limits, **settings)
    for item in items:
        queue.put(item, 0.0)
    resolve(queue)
    return queue


def resolve(
    of: Frontier, address: str = "10.0.0.1", now: float = 0.0, until: float = inf
) -> list[str]:
    names = list(of.unresolved())
    for name in names:
        of.resolved(name, address, now, until)
    return names


def take(of: Frontier, now: float) -> tuple[int, Lease]:
    return of.take(now) or pytest.fail("nothing to take")


def taken(of: Frontier, now: float) -> Lease:
    return take(of, now)[1]


def all_taken(of: Frontier, now: float) -> list[Lease]:
    found = []
    while (given := of.take(now)) is not None:
        found.append(given[1])
    return found


def emptied(of: Frontier, now: float = 0.0, address: str = "10.0.0.1") -> list[Lease]:
    """Everything, each taken and done at once, as soon as time lets it."""
    found = []
    while not of.idle:
        resolve(of, address, now)
        given = of.take(now)
        if given is not None:
            of.done(given[0], now)
            found.append(given[1])
        elif not of.nameless:
            due = of.next_at()
            assert due is not None, "nothing is due: stuck"
            now = max(now, due)
    return found


def names_of(leases: list[Lease]) -> list[str]:
    return [lease.item.host for lease in leases]


class TestAddresses:
    def test_a_host_without_an_address_is_not_handed_out_before_it_has_one(
        self,
    ) -> None:
        queue = frontier()
        queue.put(target("a.example"), 0.0)

        assert queue.take(0.0) is None
        assert list(queue.unresolved()) == ["a.example"]
        queue.resolved("a.example", "10.0.0.1", 0.0)
        assert taken(queue, 0.0).host.pin == "10.0.0.1"

    def test_a_literal_address_needs_no_name_server_and_no_pin(self) -> None:
        queue = frontier()
        queue.put(target(A), 0.0)
        queue.put(target("[::1]"), 0.0)

        assert [taken(queue, 0.0).host.pin for _ in range(2)] == ["", ""]
        assert not list(queue.unresolved())

    def test_a_name_without_an_address_is_handed_out_so_that_its_visits_end(
        self,
    ) -> None:
        queue = holding([])
        queue.put(target("a.example"), 0.0)
        resolve(queue, "")

        assert taken(queue, 0.0).server is None

    def test_an_address_that_no_longer_holds_is_asked_for_again(self) -> None:
        queue = holding([])
        for number in range(2):
            queue.put(target("a.example", number), 0.0)
        resolve(queue, "10.0.0.1", until=60.0)
        queue.done(take(queue, 59.0)[0], 59.0)

        assert queue.take(60.0) is None
        assert resolve(queue, "10.0.0.2", 60.0) == ["a.example"]
        assert taken(queue, 60.0).host.pin == "10.0.0.2"

    def test_a_host_that_moves_is_charged_to_its_new_server(self) -> None:
        queue = frontier(Limits(per_server=1))
        for number in range(2):
            queue.put(target("a.example", number), 0.0)
        resolve(queue, "10.0.0.1", until=60.0)
        first, _ = take(queue, 0.0)  # and is still under way
        queue.take(60.0)
        resolve(queue, "10.0.0.2", 60.0)
        queue.put(target("b.example"), 60.0)
        resolve(queue, "10.0.0.1", 60.0)

        assert names_of(all_taken(queue, 60.0)) == ["a.example"]
        queue.done(first, 61.0)
        assert names_of(all_taken(queue, 61.0)) == ["b.example"]

    def test_nothing_is_lost_however_often_an_address_expires(self) -> None:
        items = [target(f"h{n % 3}.example", n) for n in range(30)]
        queue = frontier(Limits(interval=1.0))
        for item in items:
            queue.put(item, 0.0)
        now, found = 0.0, []
        while not queue.idle:
            resolve(queue, f"10.0.0.{int(now) % 4 + 1}", now, until=now)
            if (given := queue.take(now)) is not None:
                found.append(given[1].item)
                queue.done(given[0], now)
            elif not queue.nameless:
                now = max(now, queue.next_at() or pytest.fail("stuck"))

        assert Counter(map(id, found)) == Counter(map(id, items))

    def test_an_address_holds_for_a_moment_at_least_lest_it_is_asked_for_for_ever(
        self,
    ) -> None:
        queue = frontier()
        queue.put(target("a.example"), 5.0)
        resolve(queue, now=5.0, until=0.0)

        assert queue.take(5.0) is not None

    def test_what_is_asked_at_an_address_that_failed_is_asked_at_the_next(self) -> None:
        queue = holding([target("a.example", n) for n in range(2)])
        trans, _ = take(queue, 0.0)
        queue.moved("a.example", "10.0.0.2", 0.0)
        queue.done(trans, 0.0)

        lease = taken(queue, 0.0)
        assert lease.host.pin == "10.0.0.2"
        assert lease.server is not None
        assert lease.server.address == "10.0.0.2"

    def test_a_host_that_moves_away_leaves_its_turn_at_the_server_to_others(
        self,
    ) -> None:
        queue, trans = two_wait_for_a_server(Limits(per_server=1))
        queue.moved("a.example", "10.0.0.2", 0.0)
        queue.done(trans, 0.0)

        assert names_of(all_taken(queue, 0.0)) == ["a.example", "b.example"]

    def test_also_when_the_server_has_a_gap_to_keep(self) -> None:
        limits = Limits(per_server=1, server_interval=1.0)
        queue, trans = two_wait_for_a_server(limits)
        queue.moved("a.example", "10.0.0.2", 0.5)
        queue.done(trans, 0.5)

        assert names_of(emptied(queue, 0.5)) == ["a.example", "b.example"]

    def test_also_when_its_turn_had_come_already(self) -> None:
        queue, trans = two_wait_for_a_server(Limits(per_server=2), under_way=2)
        queue.done(trans, 0.0)  # so that a.example may try again
        queue.moved("a.example", "10.0.0.2", 0.0)

        assert names_of(all_taken(queue, 0.0)) == ["a.example", "b.example"]

    def test_an_address_that_nobody_waits_for_is_not_taken_in(self) -> None:
        queue = holding([target("a.example")])
        queue.resolved("a.example", "10.0.0.9", 0.0)
        queue.resolved("unknown.example", "10.0.0.9", 0.0)
        queue.moved("unknown.example", "10.0.0.9", 0.0)

        assert [lease.host.pin for lease in emptied(queue)] == ["10.0.0.1"]

    def test_a_host_may_move_while_its_name_is_asked_for_again(self) -> None:
        queue = frontier()
        for number in range(2):
            queue.put(target("a.example", number), 0.0)
        resolve(queue, until=5.0)
        trans, _ = take(queue, 0.0)
        assert queue.take(6.0) is None  # what its name stands for holds no longer
        queue.moved("a.example", "10.0.0.2", 6.0)
        queue.done(trans, 6.0)

        assert taken(queue, 6.0).host.pin == "10.0.0.2"
        assert resolve(queue, "10.0.0.3", 6.0) == ["a.example"]

    def test_a_lease_that_ends_while_the_name_is_asked_for_again_changes_nothing(
        self,
    ) -> None:
        queue = frontier()
        for number in range(2):
            queue.put(target("a.example", number), 0.0)
        resolve(queue, until=5.0)
        trans, _ = take(queue, 0.0)
        queue.take(6.0)
        queue.done(trans, 6.0)

        assert queue.take(6.0) is None
        resolve(queue, "10.0.0.2", 6.0)
        assert taken(queue, 6.0).host.pin == "10.0.0.2"

    def test_a_host_that_moved_stays_there_while_it_has_work(self) -> None:
        queue = frontier(Limits(per_host=1))
        for number in range(2):
            queue.put(target("a.example", number), 0.0)
        resolve(queue, until=5.0)
        trans, _ = take(queue, 0.0)
        queue.moved("a.example", "10.0.0.2", 10.0)  # a time-out later
        queue.done(trans, 10.0)

        assert taken(queue, 10.0).host.pin == "10.0.0.2"


def two_wait_for_a_server(limits: Limits, under_way: int = 1) -> tuple[Frontier, int]:
    """With requests to the first host under way, of which one is told."""
    queue = holding([target("a.example", n) for n in range(under_way + 1)], limits)
    trans, *_ = [take(queue, 0.0)[0] for _ in range(under_way)]
    assert queue.take(0.0) is None
    queue.put(target("b.example"), 0.0)
    resolve(queue)
    assert queue.take(0.0) is None
    return queue, trans


class TestGaps:
    def test_a_host_is_not_asked_again_before_its_interval(self) -> None:
        queue = holding([target(A, n) for n in range(2)], Limits(interval=1.0))
        queue.take(0.0)

        assert queue.take(0.999) is None
        assert queue.next_at() == 1.0
        assert queue.take(1.0) is not None

    def test_a_host_that_was_forgotten_while_idle_still_keeps_its_interval(
        self,
    ) -> None:
        queue = holding([target(A, 1)], Limits(interval=1.0))
        queue.done(take(queue, 0.0)[0], 0.1)
        queue.put(target(A, 2), 0.2)

        assert queue.take(1.0) is None  # the first may only just have arrived at 0.1
        assert queue.take(1.1) is not None

    def test_a_request_that_left_late_is_counted_from_when_it_left(self) -> None:
        queue = holding([target(A, n) for n in range(9)], Limits(interval=1.0))
        now = 0.0
        for _ in range(4):
            trans, _ = take(queue, now)
            queue.done(trans, now + 0.5, now)
            now += 2.0
        trans, _ = take(queue, now)
        queue.done(trans, now + 5.5, now + 5.0)

        assert queue.take(now + 5.0 + 0.99) is None

    def test_the_gap_grows_with_the_time_an_answer_takes(self) -> None:
        limits = Limits(interval=1.0, factor=2.0, ceiling=30.0)
        queue = holding([target(A, n) for n in range(3)], limits)
        queue.done(take(queue, 0.0)[0], 4.0)

        assert queue.take(7.9) is None
        second = taken(queue, 8.0)
        assert (second.gap, second.rule) == (8.0, "adaptive")

    def test_it_grows_up_to_the_ceiling(self) -> None:
        limits = Limits(interval=1.0, factor=2.0, ceiling=5.0)
        queue = holding([target(A, n) for n in range(2)], limits)
        queue.done(take(queue, 0.0)[0], 20.0)

        assert queue.take(21.0) is not None  # the interval after it can have arrived

    def test_it_shrinks_again_when_answers_are_quick(self) -> None:
        limits = Limits(interval=1.0, factor=2.0, ceiling=30.0)
        queue = holding([target(A, n) for n in range(3)], limits)
        queue.done(take(queue, 0.0)[0], 4.0)
        queue.done(take(queue, 8.0)[0], 8.0)

        third = queue.next_at()
        assert third == 16.0  # set at the start; the one after will be quick
        queue.put(target(A, 9), 8.0)
        queue.done(take(queue, 16.0)[0], 16.0)
        assert queue.next_at() == 17.0

    def test_a_crawl_delay_that_becomes_known_is_kept_from_then_on(self) -> None:
        policy = Policy([Politeness(interval=0.0)])
        queue = Frontier(policy.limits)
        for number in range(3):
            queue.put(target(A, number), 0.0)
        queue.take(0.0)
        policy.heed(A, 5.0)
        queue.limit(A, 1.0)

        assert queue.take(5.9) is None
        second = taken(queue, 6.0)
        assert (second.gap, second.rule) == (6.0, "crawl-delay")
        assert queue.take(10.9) is None
        assert taken(queue, 11.0).gap == 5.0

    def test_a_host_that_was_never_asked_need_not_wait_for_it(self) -> None:
        policy = Policy([Politeness(interval=0.0)])
        queue = Frontier(policy.limits)
        queue.put(target(A), 0.0)
        policy.heed(A, 5.0)
        queue.limit(A, 0.0)
        queue.limit("unknown.example", 0.0)

        assert queue.take(0.0) is not None

    def test_the_first_request_to_a_host_had_no_gap_to_keep(self) -> None:
        lease = taken(holding([target(A)], Limits(interval=1.0)), 0.0)

        assert (lease.gap, lease.rule) == (0.0, "")

    def test_hosts_on_one_server_share_its_gap_and_its_number_at_once(self) -> None:
        names = ("a.example", "b.example", "c.example")
        limits = Limits(server_interval=1.0, per_server=2)
        queue = holding([target(name) for name in names], limits)
        queue.take(0.0)

        assert queue.take(0.5) is None
        assert queue.take(1.0) is not None
        assert queue.take(2.0) is None  # two are under way

    def test_a_neighbour_with_a_longer_gap_at_the_server_keeps_its_own(self) -> None:
        rows = [
            Politeness(interval=0.0, server_interval=1.0),
            Politeness("b.example", server_interval=5.0),
        ]
        policy = Policy(rows)
        queue = Frontier(policy.limits, longest=policy.longest)
        for name in ("a.example", "b.example", "c.example"):
            queue.put(target(name), 0.0)
        resolve(queue)
        queue.take(0.0)

        assert taken(queue, 1.0).host.name == "c.example"
        assert queue.take(5.9) is None
        assert taken(queue, 6.0).host.name == "b.example"

    def test_a_server_that_nobody_lives_on_any_more_still_keeps_its_gap(self) -> None:
        queue = holding([target("a.example")], Limits(server_interval=5.0))
        queue.done(take(queue, 0.0)[0], 0.0)
        queue.take(1.0)
        queue.put(target("b.example"), 1.0)
        resolve(queue, now=1.0)

        assert queue.take(4.9) is None
        assert queue.take(5.0) is not None

    def test_a_server_that_came_back_is_not_taken_for_the_one_that_was_forgotten(
        self,
    ) -> None:
        queue = Frontier(lambda _host, _address: Limits(per_server=1), longest=1.0)
        for moment, end in ((0.0, 0.0), (0.5, 2.0)):  # nobody looks in between
            queue.put(target(A), moment)
            queue.done(take(queue, moment)[0], end)
        queue.put(target(A), 2.0)
        queue.take(2.0)
        queue.put(target("a.example"), 2.0)
        resolve(queue, A, 2.0)

        assert queue.take(2.0) is None

    def test_no_more_requests_are_under_way_to_a_host_than_allowed(self) -> None:
        queue = holding([target(A, n) for n in range(3)], Limits(per_host=2))
        first, _ = take(queue, 0.0)
        queue.take(0.0)

        assert queue.take(0.0) is None
        queue.done(first, 0.0)
        assert queue.take(0.0) is not None

    def test_a_delayed_item_is_not_handed_out_early(self) -> None:
        queue = frontier()
        queue.put(target(A), 0.0, delay=5.0)

        assert queue.take(4.9) is None
        assert queue.next_at() == 5.0
        assert queue.take(5.0) is not None


class TestThrottles:
    def test_a_throttled_host_waits_while_its_neighbours_on_the_server_go_on(
        self,
    ) -> None:
        names = ["a.example", "b.example", "a.example", "b.example"]
        queue = holding([target(name) for name in names], Limits(per_server=1))
        trans, _ = take(queue, 0.0)
        queue.take(0.0)
        assert not queue.throttled(trans, 60.0, 0.0)
        queue.done(trans, 0.0)

        assert taken(queue, 0.0).host.name == "b.example"

    def test_what_it_asks_for_is_kept_and_told(self) -> None:
        queue = holding([target(A, n) for n in range(2)])
        trans, _ = take(queue, 0.0)
        queue.throttled(trans, 10.0, 1.0)
        queue.done(trans, 1.0)

        assert queue.take(10.9) is None
        due = queue.next_at()
        assert due is not None
        assert 11.0 <= due <= 13.5
        assert taken(queue, 13.5).rule == "retry-after"

    def test_one_that_names_no_time_is_given_some(self) -> None:
        queue = holding([target(A, n) for n in range(2)], Limits(patient=True))
        trans, _ = take(queue, 0.0)
        queue.throttled(trans, 0.0, 1.0)
        queue.done(trans, 1.0)

        assert queue.take(1.9) is None
        assert taken(queue, 2.25).rule == "backoff"

    def test_requests_that_are_under_way_do_not_undercut_it(self) -> None:
        limits = Limits(interval=0.1, per_host=2)
        queue = holding([target(A, n) for n in range(4)], limits)
        first, _ = take(queue, 0.0)
        second, _ = take(queue, 0.1)
        queue.throttled(first, 10.0, 0.2)
        queue.done(first, 0.2)
        queue.reached(A, 0.3)
        queue.done(second, 0.3)

        assert queue.take(10.1) is None

    def test_a_lease_that_was_taken_back_teaches_nothing(self) -> None:
        queue = frontier(lease_seconds=10)
        queue.put(target(A), 0.0)
        trans, _ = take(queue, 0.0)
        queue.take(10.0)

        assert not queue.throttled(trans, 9999.0, 11.0)
        assert not queue.failed(trans, "refused", 11.0)
        assert queue.why(A, 11.0) is not None
        assert taken_back_is_asked(queue)


def taken_back_is_asked(of: Frontier) -> bool:
    """Whether a further item of the host is handed out as if nothing had been."""
    of.put(target(A, 9), 11.0)
    return not taken(of, 11.0).rests


RESTING = Limits(failures_to_rest=1, rest=60.0)


def rested(queue: Frontier, now: float = 0.0) -> None:
    """Take one, and let its connection fail, so that its host rests."""
    trans, _ = take(queue, now)
    assert queue.failed(trans, "the last: refused", now)
    queue.done(trans, now)


class TestRests:
    def test_what_waits_for_the_host_is_told_so_at_once(self) -> None:
        queue = holding([target("a.example", n) for n in range(5)], RESTING)
        rested(queue)

        leases = all_taken(queue, 0.0)
        words = "no connection, the last: refused; left alone for 60 s"
        assert [lease.rests for lease in leases] == [words] * 4

    def test_also_what_did_not_fit_into_its_queue(self) -> None:
        items = [target("a.example", n) for n in range(9)]
        queue = holding(items, RESTING, queue_length=2)
        rested(queue)

        assert [lease.item for lease in all_taken(queue, 0.0)] == items[1:]

    def test_also_what_is_put_later(self) -> None:
        queue = holding([target(A)], RESTING)
        rested(queue)
        queue.put(target(A, 2), 59.9)

        assert queue.ready
        assert taken(queue, 59.9).rests

    def test_also_what_was_delayed_when_its_time_comes(self) -> None:
        queue = holding([target(A)], RESTING)
        queue.put(visit(A, 2), 0.0, delay=30.0)
        rested(queue)

        assert queue.take(29.9) is None
        assert taken(queue, 30.0).rests

    def test_also_what_waits_outside(self) -> None:
        queue = holding([visit(A), target(B)], RESTING, queue_count=1)
        queue.put(target(B), 0.0)
        trans, _ = take(queue, 0.0)
        queue.put(target(A, 1), 0.0)
        queue.failed(trans, "refused", 0.0)
        queue.done(trans, 0.0)

        found = {lease.item.host: bool(lease.rests) for lease in all_taken(queue, 0.0)}
        assert found == {A: True, B: False}

    def test_after_its_rest_it_is_asked_again(self) -> None:
        queue = holding([target(A)], RESTING)
        rested(queue)
        queue.put(target(A, 2), 60.0)

        assert not taken(queue, 60.0).rests

    def test_others_are_asked_meanwhile(self) -> None:
        queue = holding([target("a.example"), target("b.example")], RESTING)
        rested(queue)

        assert not taken(queue, 0.0).rests

    def test_a_host_that_asks_for_more_than_we_wait_rests(self) -> None:
        queue = holding([target(A, n) for n in range(2)], Limits(max_wait=60.0))
        trans, _ = take(queue, 0.0)
        assert queue.throttled(trans, 3600.0, 0.0)
        queue.done(trans, 0.0)

        assert taken(queue, 0.0).rests == "it asks us to wait 3,600 s"

    def test_a_lease_on_which_nobody_is_asked_is_ended_like_any_other(self) -> None:
        queue = holding([target(A, n) for n in range(2)], RESTING)
        rested(queue)
        trans, _ = take(queue, 0.0)

        assert queue.working(trans, 0.0)
        assert not queue.failed(trans, "", 0.0)
        assert queue.done(trans, 0.0)
        assert not queue.done(trans, 0.0)
        assert queue.idle

    def test_and_given_back_when_nothing_is_heard_of_it(self) -> None:
        queue = frontier(RESTING, lease_seconds=10)
        for number in range(2):
            queue.put(target(A, number), 0.0)
        rested(queue)
        queue.take(0.0)

        assert taken(queue, 10.0).rests

    def test_what_is_given_back_while_its_host_rests_is_not_asked_but_told(
        self,
    ) -> None:
        queue = frontier(replace(RESTING, per_host=2), lease_seconds=10)
        for number in range(2):
            queue.put(target(A, number), 0.0)
        queue.take(0.0)
        rested(queue)

        assert taken(queue, 10.0).rests

    def test_an_answer_lets_a_host_fail_anew(self) -> None:
        limits = Limits(failures_to_rest=2, rest=60.0)
        queue = holding([target(A, n) for n in range(4)], limits)
        for _ in range(3):
            trans, _ = take(queue, 0.0)
            assert not queue.failed(trans, "refused", 0.0)
            queue.done(trans, 0.0)
            queue.reached(A, 0.0)

        assert not taken(queue, 0.0).rests


class TestTurns:
    def test_hosts_take_turns_however_long_one_of_them_is(self) -> None:
        queue = holding([target(A, n) for n in range(100)])
        queue.put(target(B), 0.0)

        assert [taken(queue, 0.0).host.name for _ in range(2)] == [A, B]

    def test_a_visit_under_way_goes_before_targets_not_begun(self) -> None:
        queue = holding([target(A, 1)], Limits(per_host=1))
        half_done = visit(A, 2)
        queue.put(half_done, 0.0)

        assert taken(queue, 0.0).item is half_done

    def test_a_full_host_does_not_block_the_take_of_another(self) -> None:
        queue = holding([target(A, n) for n in range(1000)], Limits(per_host=1))
        queue.put(target(B), 0.0)
        queue.take(0.0)  # and does not end

        assert taken(queue, 0.0).host.name == B
        assert queue.take(0.0) is None

    def test_a_full_server_does_not_block_the_take_of_another(self) -> None:
        items = [target(f"h{n}.example") for n in range(100)]
        queue = holding(items, Limits(per_server=1))
        queue.put(target(B), 0.0)
        queue.take(0.0)

        assert taken(queue, 0.0).host.name == B

    @pytest.mark.parametrize("servers", [1, 4, 1001])
    @pytest.mark.parametrize("order", ["first", "last", "amid"])
    def test_one_host_with_very_many_urls_does_not_starve_many_with_one(
        self, order: str, servers: int
    ) -> None:
        large = [target("large.example", n) for n in range(100_000)]
        small = [target(f"h{n}.example") for n in range(1000)]
        items = {
            "first": [*large, *small],
            "last": [*small, *large],
            "amid": [*small[:500], *large, *small[500:]],
        }[order]
        queue = frontier()
        for item in items:
            queue.put(item, 0.0)

        served = served_first(queue, 2000, servers)
        assert {item.host for item in small} <= served

    def test_nobody_starves_either_when_all_wait_for_a_slow_server(self) -> None:
        limits = Limits(per_server=2, server_interval=0.1, interval=0.2)
        small = [target(f"h{n}.example") for n in range(300)]
        queue = holding([target("large.example", n) for n in range(9000)], limits)
        for item in small:
            queue.put(item, 0.0)
        now, served = 0.0, set()
        for _ in range(3 * len(small)):
            resolve(queue, now=now)
            while (given := queue.take(now)) is None:
                resolve(queue, now=now)
                now = max(now, queue.next_at() or pytest.fail("stuck"))
            served.add(given[1].host.name)
            queue.done(given[0], now)

        assert {item.host for item in small} <= served


def served_first(queue: Frontier, count: int, servers: int) -> set[str]:
    """Whom the first leases went to, each ended before the next but seven."""
    served, under_way = set(), []
    for _ in range(count):
        for number, name in enumerate(queue.unresolved()):
            queue.resolved(name, f"10.0.{number % servers // 256}.{number % 256}", 0.0)
        trans, lease = take(queue, 0.0)
        served.add(lease.host.name)
        under_way.append(trans)
        if len(under_way) > 7:
            queue.done(under_way.pop(0), 0.0)
    return served


class TestCrowds:
    def test_hosts_on_one_server_are_all_served_in_the_end(self) -> None:
        items = [target(f"h{n % 40}.example", n) for n in range(120)]
        queue = holding(items, hosts_per_server=3)

        assert {lease.item for lease in emptied(queue)} == set(items)

    @given(
        counts=st.lists(st.integers(1, 4), min_size=1, max_size=30),
        most=st.integers(1, 5),
        gap=st.sampled_from([0.0, 1.0]),
    )
    def test_never_do_more_of_them_have_a_queue_than_may(
        self, counts: list[int], most: int, gap: float
    ) -> None:
        queue = frontier(Limits(interval=gap), hosts_per_server=most)
        for number, count in enumerate(counts):
            for each in range(count):
                queue.put(target(f"h{number}.example", each), 0.0)
        now, found = 0.0, 0
        while not queue.idle:
            resolve(queue, now=now)
            assert max_hosts(queue) <= most
            if (given := queue.take(now)) is not None:
                found += 1
                queue.done(given[0], now)
            elif not queue.nameless:
                now = max(now, queue.next_at() or pytest.fail("stuck"))

        assert found == sum(counts)

    def test_what_is_put_while_its_host_waits_in_the_crowd_follows_in_order(
        self,
    ) -> None:
        queue = holding(
            [target("a.example"), target("b.example", 1)], hosts_per_server=1
        )
        queue.put(target("b.example", 2), 0.0)
        resolve(queue)

        urls = [
            lease.item.url for lease in emptied(queue) if isinstance(lease.item, Target)
        ]
        assert urls == [
            "http://a.example/0",
            "http://b.example/1",
            "http://b.example/2",
        ]

    def test_a_crowd_at_one_server_does_not_hold_up_another(self) -> None:
        items = [target(f"h{n}.example") for n in range(9)]
        queue = holding(items, Limits(per_host=1), hosts_per_server=1)
        queue.take(0.0)
        queue.put(target("other.example"), 0.0)
        resolve(queue, "10.0.0.2")

        assert taken(queue, 0.0).host.name == "other.example"


def max_hosts(of: Frontier) -> int:
    return max((server.hosts for server in of._homes.servers.values()), default=0)


flags = st.fixed_dictionaries(
    {
        **{name: st.booleans() for name in ("reads", "robots", "public")},
        "depth": st.integers(0, 2),
        "rank": st.integers(-1, 2),
    }
)


class TestSpills:
    @given(st.lists(flags, max_size=40), st.integers(1, 5))
    def test_what_does_not_fit_comes_back_equal_and_by_rank(
        self, all_flags: list[dict[str, int]], length: int
    ) -> None:
        items = [replace(target(A, n), **given) for n, given in enumerate(all_flags)]
        queue = holding(list(items), queue_length=length)
        found = [lease.item for lease in emptied(queue)]

        assert sorted(map(repr, found)) == sorted(map(repr, items))
        ranks = [item.rank for item in found if isinstance(item, Target)]
        assert ranks == sorted(ranks)

    @given(st.lists(st.integers(0, 3), max_size=60), st.integers(1, 5))
    def test_of_one_kind_and_rank_the_first_to_come_is_the_first_to_go(
        self, ranks: list[int], length: int
    ) -> None:
        items = [replace(target(A, n), rank=rank) for n, rank in enumerate(ranks)]
        queue = holding(list(items), queue_length=length)

        found = [lease.item for lease in emptied(queue)]
        assert found == sorted(items, key=lambda item: item.rank)

    def test_a_target_that_does_not_fit_is_kept_as_its_url(self) -> None:
        plain, reading = target(A, 3), Target(f"http://{A}/4", A, reads=True)
        queue = holding([target(A, 1), target(A, 2), plain, reading], queue_length=2)

        [host] = queue._hosts.values()
        assert [list(urls) for urls in (host.spill or {}).values()] == [
            [plain.url],
            [reading.url],
        ]
        assert host.size == 4

    def test_visits_under_way_do_not_fill_the_queue_beyond_its_length(self) -> None:
        queue = holding([target(A, n) for n in range(50)], queue_length=5)
        for number in range(20):
            queue.put(visit(A, 100 + number), 0.0)
            queue.take(0.0)

        [host] = queue._hosts.values()
        assert len(host.queue) <= 5


class TestGivingBack:
    def test_what_is_given_back_is_handed_out_again(self) -> None:
        queue = holding([target(A, 1), target(A, 2)])
        trans, lease = queue.take(0.0) or (0, None)

        assert lease is not None
        assert queue.give_back(trans, 0.0)
        assert not queue.give_back(trans, 0.0)
        assert taken(queue, 0.0).item == lease.item

    def test_a_host_that_was_asked_by_another_process_waits_its_gap(self) -> None:
        queue = frontier(Limits(interval=2.0))
        queue.asked(A, 10.0, 0.0, 0.0)
        queue.put(target(A, 1), 10.0)
        resolve(queue)

        assert queue.take(11.9) is None
        assert queue.take(12.0) is not None

    def test_a_host_that_asked_another_process_to_wait_is_left_alone(self) -> None:
        queue = frontier(Limits(interval=2.0))
        queue.asked(A, 10.0, 60.0, 5.0)
        queue.put(target(A, 1), 10.0)
        resolve(queue)

        assert queue.take(59.9) is None
        assert queue.take(60.0) is not None

    def test_a_server_that_was_asked_by_another_process_waits_too(self) -> None:
        queue = frontier(Limits(interval=0.0, server_interval=3.0))
        queue.asked_at(A, 10.0)
        queue.put(target(A, 1), 10.0)
        resolve(queue)

        assert queue.take(12.9) is None
        assert queue.take(13.0) is not None

    def test_visits_under_way_do_not_disturb_the_order_of_the_others(self) -> None:
        items = [target(A, n) for n in range(6)]
        queue = holding(list(items), queue_length=2)
        for number in range(3):
            queue.put(visit(A, 100 + number), 0.0)
        queue.put(target(A, 6), 0.0)

        found = [lease.item for lease in emptied(queue)]
        targets = [item for item in found if isinstance(item, Target)]
        assert targets == [*items, target(A, 6)]

    def test_how_many_stand_before_a_url_is_told(self) -> None:
        queue = holding([target(A, n) for n in range(5)], queue_length=2)
        queue.put(visit(A, 9), 0.0)

        waits = [queue.whereabouts(target(A, n).url, 0.0) for n in (9, 0, 1, 4)]
        assert [wait and wait.detail for wait in waits] == [
            f"{place} before it" for place in (0, 1, 2, 5)
        ]

    @pytest.mark.parametrize("host", [A, B])
    def test_of_a_url_that_is_not_queued_nothing_is_told(self, host: str) -> None:
        queue = holding([target(A)])

        assert queue.whereabouts(target(host, 7).url, 0.0) is None

    def test_a_url_is_found_wherever_its_visit_stands(self) -> None:
        queue = holding([target(A, 1), target(B, 2)], queue_count=1)
        queue.put(target(A, 3), 0.0, delay=5.0)
        take(queue, 0.0)

        rules = [
            wait and wait.rule
            for url in (target(A, 1).url, target(B, 2).url, target(A, 3).url)
            for wait in [queue.whereabouts(url, 0.0)]
        ]
        assert rules == ["asked", "queue", "retry"]

    def test_what_is_recalled_is_queued_no_more(self) -> None:
        items = [target(A, n) for n in range(5)]
        queue = holding(list(items), queue_length=2)

        assert queue.recall(A) == items
        assert queue.idle
        assert queue.take(0.0) is None

    def test_the_longest_queues_are_named_first(self) -> None:
        queue = holding([target(A, n) for n in range(5)], queue_length=2)
        queue.put(target(B), 0.0)

        assert queue.waiting(1) == [(A, 5)]
        assert queue.waiting(9) == [(A, 5), (B, 1)]


class TestLeases:
    def test_a_silent_lease_is_taken_back_and_its_late_answer_refused(self) -> None:
        queue = frontier(lease_seconds=10)
        queue.put(target(A), 0.0)
        trans, lease = take(queue, 0.0)

        assert queue.take(9.9) is None
        again, second = take(queue, 10.0)
        assert second.item is lease.item
        assert queue.done(trans, 11.0) is False
        assert queue.done(again, 11.0) is True
        assert queue.idle

    def test_a_lease_that_says_working_is_kept_alive(self) -> None:
        queue = frontier(lease_seconds=10)
        queue.put(target(A), 0.0)
        trans, _ = take(queue, 0.0)

        assert queue.working(trans, 9.0)
        assert queue.holds(trans)
        assert queue.take(18.9) is None
        assert queue.done(trans, 19.0)
        assert not queue.working(trans, 19.0)
        assert not queue.holds(trans)

    def test_what_is_taken_back_is_counted_as_queued_again(self) -> None:
        queue = frontier(lease_seconds=10)
        queue.put(target(A), 0.0)
        queue.take(0.0)
        assert (queue.queued, queue.leased) == (0, 1)
        queue.take(10.0)

        assert (queue.queued, queue.leased) == (0, 1)
        assert not queue.idle

    def test_the_last_request_to_a_host_is_known_as_such(self) -> None:
        queue = holding([target(A, n) for n in range(2)])

        assert [taken(queue, 0.0).last for _ in range(2)] == [False, True]


class TestQueues:
    def test_hosts_beyond_the_queue_count_wait_outside_until_a_queue_is_free(
        self,
    ) -> None:
        queue = holding([target(A), target(B)], queue_count=1)
        trans, _ = take(queue, 0.0)

        assert queue.take(0.0) is None
        queue.done(trans, 0.0)
        assert taken(queue, 0.0).host.name == B

    @settings(deadline=None)
    @given(
        hosts=st.lists(st.integers(0, 9), max_size=40),
        count=st.integers(1, 3),
        most=st.integers(1, 3),
    )
    def test_nothing_is_lost_however_few_queues_there_are(
        self, hosts: list[int], count: int, most: int
    ) -> None:
        items: list[Item] = [
            target(f"h{name}.example", number) for number, name in enumerate(hosts)
        ]
        queue = holding(items, queue_count=count, hosts_per_server=most)

        found = [lease.item for lease in emptied(queue)]
        assert Counter(map(id, found)) == Counter(map(id, items))


class TestHomes:
    def test_two_spellings_of_an_address_are_one_server(self) -> None:
        hosts = ["127.0.0.1", "[::ffff:7f00:1]"]
        queue = holding([target(host) for host in hosts], Limits(server_interval=1.0))
        take(queue, 0.0)

        assert queue.take(0.5) is None

    def test_a_host_that_is_held_does_not_lose_that_in_a_crowd(self) -> None:
        limits = Limits(per_server=9)
        queue = frontier(limits, hosts_per_server=1)
        queue.put(target("a.example", 1), 0.0)
        queue.resolved(next(queue.unresolved()), "10.0.0.1", 0.0, 2.0)
        trans, _ = take(queue, 0.0)
        queue.put(target("a.example", 2), 0.0)
        queue.throttled(trans, 50.0, 0.0)
        queue.done(trans, 0.0)
        queue.put(target("b.example"), 3.0)
        queue.resolved(next(queue.unresolved()), "10.0.0.1", 3.0)

        leased = [lease.host.name for lease in all_taken(queue, 3.0)]
        resolve(queue, "10.0.0.1", 4.0)
        leased += [lease.host.name for lease in all_taken(queue, 49.0)]
        assert "a.example" not in leased

    def test_a_delay_that_is_learnt_while_the_address_is_looked_for_is_kept(
        self,
    ) -> None:
        policy = Policy([Politeness(interval=0.0, factor=0.0)])
        queue = Frontier(policy.limits)
        for number in range(2):
            queue.put(target("a.example", number), 0.0)
        queue.resolved(next(queue.unresolved()), "10.0.0.1", 0.0, 1.0)
        queue.done(take(queue, 0.0)[0], 0.0)
        assert queue.take(2.0) is None  # its address is looked for again
        policy.heed("a.example", 6.0)
        queue.limit("a.example", 2.0)
        queue.resolved(next(queue.unresolved()), "10.0.0.1", 2.0)

        assert queue.take(5.9) is None
        assert queue.take(6.0) is not None
