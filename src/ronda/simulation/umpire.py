"""Sees every request as those see it who are asked, and calls what breaks the rules."""

from collections.abc import Callable
from math import inf

from ronda.frontier import Limits
from ronda.model import Answer

SLACK = 1e-6  # seconds that rounding may cost
MOST = 20  # broken rules that are told
PATIENCE = 1.0  # seconds that are waited at least after a 429 or 503


_NONE = Limits()


class Asked:
    """One politeness key, as it knows itself."""

    __slots__ = (
        "active",
        "address",
        "delay",
        "ended_in",
        "failures",
        "held_until",
        "last_at",
        "limits",
        "server",
        "started_at",
    )

    def __init__(self) -> None:
        # Of a host: where it was asked last, and the limits that hold there.
        self.address = ""
        self.server: Asked | None = None
        self.limits = _NONE
        self.active = 0
        self.started_at = -inf
        self.ended_in: float | None = None  # seconds of the last that was started
        self.last_at = -inf  # when the last answer went out
        self.held_until = -inf
        self.delay = 0.0  # that it asks for in its robots.txt
        self.failures = 0  # connections in a row


class Start:
    """One request under way."""

    __slots__ = ("at", "host", "limits", "server")

    def __init__(self, host: Asked, server: Asked, limits: Limits, at: float) -> None:
        self.host = host
        self.server = server
        self.limits = limits
        self.at = at


class Umpire:
    """Judges gaps and numbers at once, of hosts and of servers, without the frontier.

    It knows the rules, and asks nobody what was meant: only what came, and when.
    """

    def __init__(self, limits: Callable[[str, str], Limits]) -> None:
        self._limits = limits
        self._servers: dict[str, Asked] = {}
        self.broken: list[str] = []
        self.under_way = 0

    def start(self, host: Asked, name: str, address: str, now: float) -> Start:
        """A request comes in."""
        server = host.server
        if server is None or host.address != address:
            server = self._move(host, name, address)
        limits = host.limits
        due = self._due(host, server, limits, now)
        if due > now + SLACK:
            self._call(f"{name} at {address} is asked {due - now:.3f} s early", now)
        if host.active >= limits.per_host:
            self._call(f"{name} is asked {host.active + 1} times at once", now)
        if server.active >= limits.per_server:
            self._call(f"{address} is asked {server.active + 1} times at once", now)
        for one in (host, server):
            one.active += 1
            one.started_at, one.ended_in = now, None
        self.under_way += 1
        return Start(host, server, limits, now)

    def _move(self, host: Asked, name: str, address: str) -> Asked:
        host.address, host.limits = address, self._limits(name, address)
        server = self._servers.get(address)
        if server is None:
            server = self._servers[address] = Asked()
        host.server = server
        return server

    def _due(self, host: Asked, server: Asked, limits: Limits, now: float) -> float:
        """The moment before which nobody may ask."""
        gap = limits.interval
        due = server.started_at + limits.server_interval
        # An answer of this very moment may not have been heard yet.
        if now > host.last_at:
            due = max(due, host.held_until)
            gap = max(gap, min(host.delay, limits.crawl_delay_limit))
            if host.ended_in is not None:
                gap = max(gap, min(limits.ceiling, limits.factor * host.ended_in))
        return max(due, host.started_at + gap)

    def end(self, start: Start, now: float) -> None:
        """A request is over, whatever came of it."""
        for one in (start.host, start.server):
            one.active -= 1
            one.last_at = now
            if one.started_at == start.at:
                one.ended_in = now - start.at
        self.under_way -= 1

    def answered(
        self, start: Start, answer: Answer, now: float, *, tired: bool
    ) -> None:
        """An answer went out; it may ask for a rest.

        Args:
            start: of its request.
            answer: what is said.
            now: the moment.
            tired: failed connections count: there is no other address to try.
        """
        host, limits = start.host, start.limits
        if answer.status in {429, 503}:
            asked = float(answer.header("retry-after") or 0)
            host.held_until = max(host.held_until, now + max(asked, PATIENCE))
        if answer.reached:
            host.failures = 0
        elif tired and now >= host.held_until:  # else it was asked before its rest
            host.failures += 1
            if host.failures >= limits.failures_to_rest:
                host.held_until = max(host.held_until, now + limits.rest)

    def delays(self, start: Start, delay: float) -> None:
        """A host tells in its robots.txt what gap it wishes for."""
        start.host.delay = delay

    def misled(self, name: str, address: str, now: float) -> None:
        """A host is asked where it does not live."""
        self._call(f"{name} is asked at {address or 'no address'}", now)

    def _call(self, words: str, now: float) -> None:
        if len(self.broken) < MOST:
            self.broken.append(f"at {now:.3f}: {words}")
