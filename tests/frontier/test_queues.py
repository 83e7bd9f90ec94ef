"""The frontier under a virtual clock: polite, nothing lost, always ends."""

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ronda.frontier import Frontier, Lease, Limits
from ronda.model import Request, Target, Visit

FREE = Limits()


def target(host: str, number: int = 0) -> Target:
    return Target(f"http://{host}/{number}", host)


def frontier(limits: Limits = FREE, **options: int) -> Frontier:
    return Frontier(lambda _host, _address: limits, **options)


def resolve(of: Frontier, address: str = "10.0.0.1", now: float = 0.0) -> None:
    for name in list(of.unresolved()):
        of.resolved(name, address, now)


def taken(of: Frontier, now: float) -> Lease:
    found = of.take(now)
    assert found is not None
    return found[1]


def test_a_host_without_an_address_is_not_handed_out_before_it_has_one() -> None:
    queue = frontier()
    queue.put(target("a.example"), 0.0)

    assert queue.take(0.0) is None
    assert list(queue.unresolved()) == ["a.example"]
    queue.resolved("a.example", "10.0.0.1", 0.0)
    assert taken(queue, 0.0).host.pin == "10.0.0.1"


def test_a_literal_address_needs_no_name_server_and_no_pin() -> None:
    queue = frontier()
    queue.put(target("127.0.0.1"), 0.0)
    queue.put(target("[::1]"), 0.0)

    assert [taken(queue, 0.0).host.pin for _ in range(2)] == ["", ""]
    assert not list(queue.unresolved())


def test_a_host_is_not_asked_again_before_its_interval() -> None:
    queue = frontier(Limits(interval=1.0))
    for number in range(2):
        queue.put(target("127.0.0.1", number), 0.0)
    queue.take(0.0)

    assert queue.take(0.999) is None
    assert queue.next_at() == 1.0
    assert queue.take(1.0) is not None


def test_a_host_that_was_forgotten_while_idle_still_keeps_its_interval() -> None:
    queue = frontier(Limits(interval=1.0))
    queue.put(target("127.0.0.1", 1), 0.0)
    trans, _ = queue.take(0.0) or pytest.fail("nothing to take")
    queue.done(trans, 0.1)
    queue.put(target("127.0.0.1", 2), 0.2)

    assert queue.take(0.2) is None
    assert queue.take(1.0) is not None


def test_no_more_requests_are_under_way_to_a_host_than_allowed() -> None:
    queue = frontier(Limits(per_host=2))
    for number in range(3):
        queue.put(target("127.0.0.1", number), 0.0)
    first, _ = queue.take(0.0) or pytest.fail("nothing to take")
    queue.take(0.0)

    assert queue.take(0.0) is None
    queue.done(first, 0.0)
    assert queue.take(0.0) is not None


def test_hosts_on_one_server_share_its_gap_and_its_number_at_once() -> None:
    queue = frontier(Limits(server_interval=1.0, per_server=2))
    for name in ("a.example", "b.example", "c.example"):
        queue.put(target(name), 0.0)
    resolve(queue)
    queue.take(0.0)

    assert queue.take(0.5) is None
    assert queue.take(1.0) is not None
    assert queue.take(2.0) is None  # two are under way


def test_hosts_take_turns_however_long_one_of_them_is() -> None:
    queue = frontier()
    for number in range(100):
        queue.put(target("127.0.0.1", number), 0.0)
    queue.put(target("127.0.0.2"), 0.0)

    assert [taken(queue, 0.0).host.name for _ in range(2)] == ["127.0.0.1", "127.0.0.2"]


def test_a_held_host_rests_while_its_neighbours_on_the_server_go_on() -> None:
    queue = frontier(Limits(per_server=1))
    for name in ("a.example", "b.example"):
        queue.put(target(name, 1), 0.0)
        queue.put(target(name, 2), 0.0)
    resolve(queue)
    trans, lease = queue.take(0.0) or pytest.fail("nothing to take")
    queue.take(0.0)
    queue.hold(lease.host.name, 60.0)
    queue.done(trans, 0.0)

    assert taken(queue, 0.0).host.name == "b.example"


def test_a_visit_under_way_goes_before_targets_not_begun() -> None:
    queue = frontier(Limits(per_host=1))
    queue.put(target("127.0.0.1", 1), 0.0)
    half_done = Visit(
        target("127.0.0.1", 2), Request("http://127.0.0.1/2"), "127.0.0.1"
    )
    queue.put(half_done, 0.0)

    assert taken(queue, 0.0).item is half_done


def test_a_delayed_item_is_not_handed_out_early() -> None:
    queue = frontier()
    queue.put(target("127.0.0.1"), 0.0, delay=5.0)

    assert queue.take(4.9) is None
    assert queue.next_at() == 5.0
    assert queue.take(5.0) is not None


def test_a_silent_lease_is_taken_back_and_its_late_answer_refused() -> None:
    queue = frontier(lease_seconds=10)
    queue.put(target("127.0.0.1"), 0.0)
    trans, lease = queue.take(0.0) or pytest.fail("nothing to take")

    assert queue.take(9.9) is None
    again, second = queue.take(10.0) or pytest.fail("not given back")
    assert second.item is lease.item
    assert queue.done(trans, 11.0) is False
    assert queue.done(again, 11.0) is True
    assert queue.idle


def test_a_lease_that_says_working_is_kept_alive() -> None:
    queue = frontier(lease_seconds=10)
    queue.put(target("127.0.0.1"), 0.0)
    trans, _ = queue.take(0.0) or pytest.fail("nothing to take")

    assert queue.working(trans, 9.0)
    assert queue.take(18.9) is None
    assert queue.done(trans, 19.0)
    assert not queue.working(trans, 19.0)


def test_hosts_beyond_the_queue_count_wait_outside_until_a_queue_is_free() -> None:
    queue = frontier(queue_count=1)
    queue.put(target("127.0.0.1"), 0.0)
    queue.put(target("127.0.0.2"), 0.0)
    trans, lease = queue.take(0.0) or pytest.fail("nothing to take")

    assert queue.take(0.0) is None
    queue.done(trans, 0.0)
    assert taken(queue, 0.0).host.name == "127.0.0.2"
    assert lease.last


def test_the_longest_queues_are_named_first() -> None:
    queue = frontier(queue_length=2)
    for number in range(5):
        queue.put(target("127.0.0.1", number), 0.0)
    queue.put(target("127.0.0.2"), 0.0)

    assert queue.waiting(1) == [("127.0.0.1", 5)]
    assert queue.waiting(9) == [("127.0.0.1", 5), ("127.0.0.2", 1)]


class World:
    """A synthetic web: hosts on servers, answers that take a while, redirects."""

    def __init__(self, seed: int, limits: Limits, hosts: int, servers: int) -> None:
        self.random = random.Random(seed)
        self.limits = limits
        self.hosts = [f"h{n}.example" for n in range(hosts)]
        self.address = {
            h: f"10.0.0.{self.random.randrange(servers) + 1}" for h in self.hosts
        }
        self.frontier = Frontier(
            lambda _h, _a: limits, queue_count=max(1, hosts // 2), queue_length=3
        )
        self.now = 0.0
        self.under_way: list[tuple[float, int, Lease]] = []
        self.starts: dict[str, list[float]] = {}
        self.ended: list[str] = []
        self.held: dict[str, float] = {}

    def put(self, item: Target | Visit) -> None:
        self.frontier.put(item, self.now, self.random.choice([0.0, 0.0, 0.3]))

    def resolve(self) -> bool:
        names = list(self.frontier.unresolved())
        for name in names:
            self.frontier.resolved(name, self.address[name], self.now)
        return bool(names)

    def start(self, trans: int, lease: Lease) -> None:
        host = lease.host
        assert host.server is not None
        assert self.now >= self.held.get(host.name, 0.0)
        for key in (host.name, host.server.address):
            self.starts.setdefault(key, []).append(self.now)
        at_once = [done.host for _, _, done in self.under_way]
        assert at_once.count(host) < self.limits.per_host
        same = [h for h in at_once if h.server is host.server]
        assert len(same) < self.limits.per_server
        end = self.now + self.random.expovariate(4)
        self.under_way.append((end, trans, lease))

    def end(self) -> None:
        self.under_way.sort(key=lambda entry: entry[0])
        self.now, trans, lease = self.under_way.pop(0)
        held = self.random.random() < 0.05
        if held:
            self.frontier.hold(lease.host.name, self.now + 2)
            self.held[lease.host.name] = self.now + 2
        assert self.frontier.done(trans, self.now)
        item = lease.item
        url = item.url if isinstance(item, Target) else item.target.url
        if self.random.random() < 0.2:
            there = self.random.choice(self.hosts)
            first = item if isinstance(item, Target) else item.target
            self.put(Visit(first, Request(f"http://{there}/"), there))
        else:
            self.ended.append(url)

    def run(self, urls: int) -> None:
        for number in range(urls):
            self.put(target(self.random.choice(self.hosts), number))
        while not self.frontier.idle:
            self.resolve()
            while (found := self.frontier.take(self.now)) is not None:
                self.start(*found)
                self.resolve()
            if self.resolve():
                continue
            due = self.frontier.next_at()
            if self.under_way and (due is None or min(self.under_way)[0] <= due):
                self.end()
            else:
                assert due is not None, "nothing is due, nothing is under way: stuck"
                self.now = max(self.now, due)


@settings(max_examples=200, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    interval=st.sampled_from([0.0, 0.1, 1.0]),
    server_interval=st.sampled_from([0.0, 0.05, 0.5]),
    per_host=st.integers(1, 3),
    per_server=st.integers(1, 4),
    hosts=st.integers(1, 12),
    servers=st.integers(1, 6),
)
def test_any_web_is_asked_politely_and_every_url_ends_exactly_once(
    seed: int,
    interval: float,
    server_interval: float,
    per_host: int,
    per_server: int,
    hosts: int,
    servers: int,
) -> None:
    limits = Limits(interval, per_host, server_interval, per_server)
    world = World(seed, limits, hosts, servers)

    world.run(urls=60)

    assert len(world.ended) == len(set(world.ended)) == 60
    for key, starts in world.starts.items():
        gap = interval if key in world.hosts else server_interval
        gaps = [b - a for a, b in pairwise(starts)]
        assert all(found >= gap - 1e-9 for found in gaps), key
