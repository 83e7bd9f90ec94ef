"""The judge: gaps between starts and numbers at once, per host and per server.

A log's clock ticks in steps, its resolution, and proves no more than they do. A gap is
too short when even one step more would leave it so. A request counts as under way from
its start until one step before its end; so one that is shorter than a step never does.
"""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import lru_cache
from heapq import heappop, heappush, nsmallest
from itertools import groupby, pairwise
from typing import NamedTuple

from ronda.frontier.audit.entries import (
    CUT_OFF,
    MICROSECONDS,
    UNKNOWN,
    Entry,
    Requests,
    microseconds,
)
from ronda.frontier.audit.outcome import Audit, Key, Mention, Tally, Violation
from ronda.frontier.politeness import OWN, Limits

RESOLUTION = 1e-6  # seconds: of our own logs
UNLIMITED = OWN.per_host
_MANY = 65_536  # pairs of host and server whose limits are remembered

LimitsOf = Callable[[str, str], Limits]


def audit(
    entries: Iterable[Entry],
    limits: LimitsOf,
    *,
    resolution: float = RESOLUTION,
    keep: int | None = None,
) -> Audit:
    """Judge entries in any order; `keep` bounds the violations told one by one."""
    requests = Requests()
    for entry in entries:
        requests.add(entry)
    return judge(requests, limits, resolution=resolution, keep=keep)


def judge(
    requests: Requests,
    limits: LimitsOf,
    *,
    resolution: float = RESOLUTION,
    keep: int | None = None,
) -> Audit:
    """Judge requests that were collected before."""
    made = _Judge(requests, limits, microseconds(resolution))
    found = made.violations()
    if keep is None:
        kept = sorted(found, key=_when)
    else:  # the first few of a million need no room for all; 0 would not look at any
        kept = nsmallest(max(1, keep), found, _when)[:keep]
    return Audit(
        requests=len(requests),
        resolution=resolution,
        hosts=tuple(made.tallies["host"]),
        servers=tuple(made.tallies["server"]),
        broken=dict(made.broken),
        violations=tuple(kept),
        unjudged=made.unjudged,
    )


def _when(violation: Violation) -> tuple[float, float]:
    return violation.second.at, violation.first.at


class _Bound(NamedTuple):
    """The limits of one key for one request."""

    gap: int  # microseconds
    rule: str
    at_once: int


class _Run(NamedTuple):
    """All requests of one host or server, by their starts."""

    key: Key
    name: str
    numbers: list[int]


class _Judge:
    """Goes through the requests key by key; the tallies are complete at its end."""

    def __init__(self, requests: Requests, limits: LimitsOf, step: int) -> None:
        self._requests = requests
        self._step = step
        self._hosts, self._servers = requests.hosts.all(), requests.servers.all()
        self._rules = requests.rules.all()
        self._limits = limits
        self._bound = lru_cache(_MANY)(self._new_bound)
        self.tallies: dict[Key, list[Tally]] = {"host": [], "server": []}
        self.broken: Counter[str] = Counter()
        nameless = zip(requests.host, requests.server, strict=True)
        self.unjudged = sum(
            not self._hosts[host] and not self._servers[server]
            for host, server in nameless
        )

    def violations(self) -> Iterator[Violation]:
        """Every violation, host by host and then server by server."""
        at = self._requests.at
        order = sorted(range(len(at)), key=at.__getitem__)
        for run in self._runs(order):
            yield from self._judged(run)

    def _runs(self, order: list[int]) -> Iterator[_Run]:
        requests = self._requests
        keys: tuple[tuple[Key, list[str], Callable[[int], int]], ...] = (
            ("host", self._hosts, requests.host.__getitem__),
            ("server", self._servers, requests.server.__getitem__),
        )
        for key, names, number_of in keys:
            # Sorting is stable: within a key they stay in the order of their starts.
            for number, group in groupby(sorted(order, key=number_of), key=number_of):
                if names[number]:
                    yield _Run(key, names[number], list(group))

    def _judged(self, run: _Run) -> Iterator[Violation]:
        before = self.broken.total()
        shortest, allowed = yield from self._gaps(run)
        most, at_once = yield from self._at_once(run)
        tally = Tally(
            name=run.name,
            requests=len(run.numbers),
            shortest=None if shortest is None else shortest / MICROSECONDS,
            interval=allowed / MICROSECONDS,
            most=most,
            at_once=None if at_once >= UNLIMITED else at_once,
            violations=self.broken.total() - before,
        )
        self.tallies[run.key].append(tally)

    def _gaps(self, run: _Run) -> Generator[Violation, None, tuple[int | None, int]]:
        """Judge the gaps; returns the shortest, and the one asked for there."""
        at = self._requests.at
        shortest, asked = None, self._of(run.key, run.numbers[0]).gap
        for first, second in pairwise(run.numbers):
            # Hosts that share a server may have different limits for it: each keeps
            # its own, whoever was asked before it.
            allowed, rule, _ = self._of(run.key, second)
            limit = allowed
            if run.key == "host" and self._requests.gap[second] > allowed:
                allowed, rule = self._requests.gap[second], self._rule(second)
            gap = at[second] - at[first]
            if shortest is None or gap < shortest:
                # The settings' own limit, where there is one: a reader looks for it.
                shortest, asked = gap, limit or allowed
            if gap + self._step < allowed:
                seconds = allowed / MICROSECONDS, gap / MICROSECONDS
                yield self._violation(run, rule, seconds, (first, second))
        return shortest, asked

    def _at_once(self, run: _Run) -> Generator[Violation, None, tuple[int | None, int]]:
        """Judge the numbers at once; returns the most, and how many were allowed."""
        most, known = 1, False
        allowed = self._of(run.key, run.numbers[0]).at_once
        under_way: list[tuple[int, int]] = []  # until when, and which
        for number in run.numbers:
            until, now = self._until(number), self._requests.at[number]
            known = known or until is not None
            if until is None or until <= now:
                continue
            while under_way and under_way[0][0] <= now:
                heappop(under_way)
            count, allowed = len(under_way) + 1, self._of(run.key, number).at_once
            if count > allowed:
                pair = under_way[0][1], number
                yield self._violation(run, f"per_{run.key}", (allowed, count), pair)
            heappush(under_way, (until, number))
            most = max(most, count)
        return most if known else None, allowed

    def _until(self, number: int) -> int | None:
        """The moment to which a request was under way for sure."""
        end = self._requests.end[number]
        if end == UNKNOWN:
            return None
        if end == CUT_OFF:
            return self._requests.last[self._requests.log[number]] + 1
        return end - self._step

    def _of(self, key: Key, number: int) -> _Bound:
        requests = self._requests
        return self._bound(key, requests.host[number], requests.server[number])

    def _new_bound(self, key: Key, host: int, server: int) -> _Bound:
        limits = self._limits(self._hosts[host], self._servers[server])
        if key == "host":
            return _Bound(microseconds(limits.interval), limits.rule, limits.per_host)
        gap = microseconds(limits.server_interval)
        return _Bound(gap, "server_interval", limits.per_server)

    def _rule(self, number: int) -> str:
        return self._rules[self._requests.rule[number]] or "interval"

    def _violation(
        self, run: _Run, limit: str, values: tuple[float, float], pair: tuple[int, int]
    ) -> Violation:
        self.broken[limit] += 1
        mentions = map(self._mention, pair)
        return Violation(run.key, run.name, limit, *values, *mentions)

    def _mention(self, number: int) -> Mention:
        requests = self._requests
        at = requests.at[number] / MICROSECONDS
        return Mention(requests.log[number], requests.line[number], at)
