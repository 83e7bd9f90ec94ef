"""Finds the addresses of hosts, which the frontier must know before it lets us ask."""

from collections import deque
from collections.abc import Callable, Coroutine
from math import inf
from typing import Any

from msgspec.structs import replace

from ronda import networks
from ronda.clock import Clock
from ronda.frontier import Frontier, Lease
from ronda.model import Answer
from ronda.workers.parts import Grants, Resolve

AT_ONCE = 64  # names that are looked up at the same time


class Addresses:
    """Asks the name servers for every host that waits for its address."""

    def __init__(
        self,
        names: Resolve,
        frontier: Frontier,
        clock: Clock,
        found: Callable[[], None],
        grants: Grants | None = None,
        refused: Callable[[str], None] | None = None,
    ) -> None:
        self._grants = grants  # has to be asked for leave; None: all servers are ours
        self._refused = refused  # told each host that is not ours to ask
        self._names = names
        self._frontier = frontier
        self._now = clock.now
        self._found = found  # told after every host
        self._waiting: deque[str] = deque()
        self._tasks = 0
        self.stopped = False

    def look_up(
        self, spawn: Callable[[Coroutine[Any, Any, None], str], object]
    ) -> None:
        """Take in the hosts that are new; spawns the tasks that find them."""
        for name in self._frontier.unresolved():
            self._waiting.append(name)
            if self._tasks < AT_ONCE:
                self._tasks += 1
                spawn(self._work(), "names")

    async def _work(self) -> None:
        while self._waiting and not self.stopped:
            name = self._waiting.popleft()
            address, until = await self._find(name)
            if await self._may_ask(name, address):
                self._frontier.resolved(name, address, self._now(), until)
            elif self._refused is not None:
                self._refused(name)
            self._found()
        self._tasks -= 1

    async def _find(self, name: str) -> tuple[str, float]:
        address = networks.literal(name)
        if address:
            return address, inf
        found = await self._names.find(name)
        return found.address, found.until

    async def _may_ask(self, name: str, address: str) -> bool:
        """Whether this process holds, or may hold, the server at an address."""
        grants = self._grants
        if grants is None or not address:
            return True
        server = networks.short(address)
        return grants.holds(name, server) or await grants.grant(name, server)

    def failure(self, name: str) -> Answer | None:
        """The answer to give for a host that has no address."""
        return self._names.known(name).failure

    def move_on(self, lease: Lease, answer: Answer, now: float) -> bool:
        """Try the next address of a host, if nobody was there at the one tried."""
        host = lease.host
        if not unreached(answer):
            return False
        if host.stays and host.server is not lease.server:
            return True  # it has moved on since this was asked
        if self._grants is not None and host.valid_until <= now:
            return True  # it is about to
        address = self._names.next_address(host.name)
        if address and self._grants is not None:
            self._frontier.expire(host.name, now)  # leave has to be asked for first
        elif address:
            self._frontier.moved(host.name, address, now)
        return bool(address)

    def timed(self, name: str, answer: Answer) -> Answer:
        """An answer with the time its host's name took: libcurl got an address."""
        seconds = self._names.known(name).seconds
        if not seconds:
            return answer
        return replace(answer, timings=replace(answer.timings, name=seconds))


def unreached(answer: Answer) -> bool:
    """Whether no connection could be made: refused, unreachable, timed out."""
    return answer.error in {7, 28} and not answer.reached
