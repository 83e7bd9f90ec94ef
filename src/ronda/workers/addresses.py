"""Finds the addresses of hosts, which the frontier must know before it lets us ask."""

from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from msgspec.structs import replace

from ronda.clock import Clock
from ronda.frontier import Frontier, Lease
from ronda.model import Answer
from ronda.workers.parts import Resolve

AT_ONCE = 64  # names that are looked up at the same time


class Addresses:
    """Asks the name servers for every host that waits for its address."""

    def __init__(
        self,
        names: Resolve,
        frontier: Frontier,
        clock: Clock,
        found: Callable[[], None],
    ) -> None:
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
            found = await self._names.find(name)
            now = self._now()
            self._frontier.resolved(name, found.address, now, found.until)
            self._found()
        self._tasks -= 1

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
        address = self._names.next_address(host.name)
        if address:
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
