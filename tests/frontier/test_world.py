"""A synthetic web under a virtual clock: polite on both keys, nothing lost, fair."""

import random
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf

from hypothesis import given, settings
from hypothesis import strategies as st

from ronda import config
from ronda.config import Politeness
from ronda.frontier import Frontier, Lease, Policy
from ronda.model import Request, Target, Visit

EPSILON = 1e-9
SILENCE = 60.0  # seconds; no answer takes as long


@dataclass
class Start:
    """One request as the web saw it."""

    at: float
    lease: Lease
    end: float


@dataclass
class Web:
    """Hosts that move, answer slowly or never, redirect, throttle, fail and rest."""

    seed: int
    rows: list[Politeness]
    hosts: int
    servers: int
    settings: config.Frontier
    now: float = 0.0
    starts: list[Start] = field(default_factory=list)
    under_way: list[tuple[float, int, Start]] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)  # of those, by a host that rests
    held: dict[str, float] = field(default_factory=dict)
    delays: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.names = [f"h{n}.example" for n in range(self.hosts)]
        self.policy = Policy(self.rows)
        self.frontier = Frontier(
            self.policy.limits,
            self.settings,
            longest=self.policy.longest,
            random=random.Random(self.seed),
            lease_seconds=SILENCE,
        )
        self.down = {name for name in self.names if self.random.random() < 0.1}

    def address(self) -> str:
        return f"93.184.216.{self.random.randrange(self.servers) + 1}"

    def resolve(self) -> bool:
        names = list(self.frontier.unresolved())
        for name in names:
            until = self.now + self.random.choice([2.0, 1000.0])
            self.frontier.resolved(name, self.address(), self.now, until)
        return bool(names)

    def run(self, urls: int) -> None:
        for number in range(urls):
            name = self.random.choice(self.names)
            delay = self.random.choice([0.0, 0.0, 0.3])
            self.frontier.put(Target(f"http://{name}/{number}", name), self.now, delay)
        while not self.frontier.idle:
            self.resolve()
            while (found := self.frontier.take(self.now)) is not None:
                self.start(*found)
                self.resolve()
            if not self.resolve() and not self.frontier.idle:
                self.wait()

    def wait(self) -> None:
        due = self.frontier.next_at()
        first = min(self.under_way, key=lambda entry: entry[0], default=None)
        if first is not None and (due is None or first[0] <= due):
            self.under_way.remove(first)
            self.now = first[0]
            self.end(first[1], first[2].lease)
        else:
            assert due is not None, "nothing is due, nothing is under way: stuck"
            assert due > self.now or self.frontier.ready, "it would spin"
            self.now = max(self.now, due)

    def start(self, trans: int, lease: Lease) -> None:
        if lease.rests:
            assert self.frontier.done(trans, self.now)
            self.told.append(_url(lease))
            self.ended.append(_url(lease))
            return
        lost = self.random.random() < 0.02  # nothing is ever heard of it
        end = inf if lost else self.now + self.random.expovariate(3)
        start = Start(self.now, lease, end)
        self.judge_start(start)
        self.starts.append(start)
        if not lost:
            self.under_way.append((end, trans, start))

    def judge_start(self, start: Start) -> None:
        host = start.lease.host
        assert host.limits is not None
        assert host.server is not None
        assert start.at >= self.held.get(host.name, 0.0) - EPSILON
        at_once = [entry[2].lease for entry in self.under_way]
        on_host = [lease for lease in at_once if lease.host.name == host.name]
        on_server = [
            lease
            for lease in at_once
            if lease.server is not None and lease.server.address == host.server.address
        ]
        assert len(on_host) < host.limits.per_host
        assert len(on_server) < host.limits.per_server

    def end(self, trans: int, lease: Lease) -> None:
        name = lease.host.name
        chance = self.random.random()
        rests = False
        if name in self.down:
            rests = self.frontier.failed(trans, "refused", self.now)
        elif chance < 0.06:
            asked = self.random.choice([0.0, 2.0, 2.0, 9999.0])
            rests = self.frontier.throttled(trans, asked, self.now)
            self.held[name] = self.now + asked
        else:
            self.frontier.reached(name, self.now)
        if 0.06 < chance < 0.1:
            self.delays[name] = 3.0
            self.policy.heed(name, 3.0)
            self.frontier.limit(name, self.now)
            self.held[name] = self.now + 3.0
        elif chance < 0.2:
            self.frontier.moved(name, self.address(), self.now)
        assert self.frontier.done(trans, self.now)
        if rests or self.random.random() < 0.8:
            self.ended.append(_url(lease))
        else:
            there = self.random.choice(self.names)
            first = lease.item if isinstance(lease.item, Target) else lease.item.target
            visit = Visit(first, Request(f"http://{there}/"), there)
            self.frontier.put(visit, self.now, self.random.choice([0.0, 0.0, 1.0]))


def _url(lease: Lease) -> str:
    item = lease.item
    return item.url if isinstance(item, Target) else item.target.url


rows = st.builds(
    lambda interval, per_host, server_interval, per_server, factor, special: [
        Politeness(
            interval=interval,
            per_host=per_host,
            server_interval=server_interval,
            per_server=per_server,
            factor=factor,
            ceiling=2.0,
            failures_to_rest=3,
            rest=5.0,
        ),
        Politeness(match="h1*.example", interval=special, server_interval=special),
    ],
    st.sampled_from([0.0, 0.1, 1.0]),
    st.integers(1, 3),
    st.sampled_from([0.0, 0.05, 0.5]),
    st.integers(1, 4),
    st.sampled_from([0.0, 1.0, 3.0]),
    st.sampled_from([0.0, 0.7]),
)
frontiers = st.builds(
    config.Frontier,
    queue_count=st.integers(1, 12),
    queue_length=st.integers(1, 4),
    hosts_per_server=st.integers(1, 6),
)


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    rows=rows,
    hosts=st.integers(1, 14),
    servers=st.integers(1, 5),
    settings=frontiers,
)
def test_any_web_is_asked_politely_and_every_url_ends_exactly_once(
    seed: int,
    rows: list[Politeness],
    hosts: int,
    servers: int,
    settings: config.Frontier,
) -> None:
    web = Web(seed, rows, hosts, servers, settings)

    web.run(urls=60)

    assert len(web.ended) == len(set(web.ended)) == 60
    by_host: dict[str, list[Start]] = defaultdict(list)
    by_server: dict[str, list[Start]] = defaultdict(list)
    for start in web.starts:
        by_host[start.lease.host.name].append(start)
        if start.lease.server is not None:
            by_server[start.lease.server.address].append(start)
    for starts in by_host.values():
        for first, second in pairwise(starts):
            limits = second.lease.limits
            assert limits is not None
            gap = second.at - first.at
            assert gap >= first.lease.limits.interval - EPSILON
            assert gap >= second.lease.gap - EPSILON
            if first.end <= second.at:
                took = first.end - first.at
                wanted = min(limits.ceiling, limits.factor * took)
                assert gap >= wanted - EPSILON
    for starts in by_server.values():
        for first, second in pairwise(starts):
            assert second.lease.limits is not None
            wanted = second.lease.limits.server_interval
            assert second.at - first.at >= wanted - EPSILON
