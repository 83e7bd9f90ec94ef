"""The made-up web: it answers requests as the network would, and has them judged."""

import asyncio
from collections.abc import Awaitable, Sequence

from ronda.model import Answer, Request
from ronda.simulation.chance import Chance
from ronda.simulation.fates import ROBOTS, Fate, Fates, Instead
from ronda.simulation.homes import Home, Homes
from ronda.simulation.ledger import Ledger
from ronda.simulation.loop import VirtualClock
from ronda.simulation.traits import Traits
from ronda.simulation.umpire import Start, Umpire


class CrashError(Exception):
    """Kills the worker that meets it, as a bug of ours would."""


class Web:
    """Answers in its own time; sometimes never, and sometimes with a crash."""

    # Given, because to ask which loop is running is a call of the system.
    loop: asyncio.AbstractEventLoop
    deaths = 0  # it has no processes

    def __init__(
        self,
        traits: Traits,
        clock: VirtualClock,
        umpire: Umpire,
        *,
        hosts: Sequence[int],
        ledger: Ledger | None,
    ) -> None:
        chance = Chance(traits.seed)
        self.homes = Homes(traits, chance)
        self.fates = Fates(traits, chance, hosts)
        self._now = clock.now
        self._umpire = umpire
        self._ledger = ledger
        self.requests = 0
        self.seconds = 0.0  # of answering, of all requests together

    def ask(
        self, request: Request, address: str, last: bool, server: str
    ) -> Awaitable[Answer]:
        """One request, one answer; or a crash, or nothing for ever."""
        now = self._now()
        home = self.homes[request.url.split("/", 3)[2]]  # none has a port
        self.requests += 1
        home.requests += 1
        start = self._umpire.start(home.asked, home.name, server, now)
        if server not in home.told:
            self._umpire.misled(home.name, server, now)
        if self._ledger is not None:
            self._ledger.ask(request, now)
        fate = self.fates.of(request, home, now)
        if fate.instead:
            return self._fail(request, home, start, fate)
        asking: asyncio.Future[Answer] = self.loop.create_future()
        self.loop.call_later(
            fate.seconds, self._answer, asking, request, home, start, fate.answer
        )
        return asking

    def drop(self, asking: asyncio.Future[Answer]) -> None:
        """Nothing to do: one that hangs is watched by whoever made it hang."""

    def _answer(
        self,
        asking: "asyncio.Future[Answer]",
        request: Request,
        home: Home,
        start: Start,
        answer: Answer,
    ) -> None:
        now = self._now()
        self._end(home, start)
        if asking.done():
            return  # the round was stopped meanwhile
        self._umpire.answered(start, answer, now, tired=not home.restless)
        if answer.body and request.url.endswith(ROBOTS):
            self._umpire.delays(start, self.fates.delay(home))
        elif self._ledger is not None:
            self._tell(self._ledger, request, answer)
        asking.set_result(answer)

    def _end(self, home: Home, start: Start) -> None:
        now = self._now()
        seconds = now - start.at
        self.seconds += seconds
        home.seconds += seconds
        self._umpire.end(start, now)

    def _tell(self, ledger: Ledger, request: Request, answer: Answer) -> None:
        ledger.answered(request, answer, answer.header("location"))
        if answer.body:
            ledger.read(request.url, self.fates.links(request.url))

    # -- what is not to be expected of a network -----------------------------------

    def _fail(
        self, request: Request, home: Home, start: Start, fate: Fate
    ) -> Awaitable[Answer]:
        """Four ways: at once, later, silence that can be given up, and that cannot."""
        if self._ledger is not None:
            self._ledger.failed(request.url)
        error = CrashError(f"made up, for {request.url}")
        if fate.instead is Instead.CRASH:
            self._end(home, start)
            raise error
        if fate.instead is Instead.HANG_HARD:
            return self._never(home, start)
        asking: asyncio.Future[Answer] = self.loop.create_future()
        asking.add_done_callback(lambda _: self._end(home, start))
        if fate.instead is Instead.CRASH_LATE:
            self.loop.call_later(fate.seconds, _raise, asking, error)
        return asking

    async def _never(self, home: Home, start: Start) -> Answer:
        never: asyncio.Future[Answer] = self.loop.create_future()
        try:
            return await never
        finally:
            self._end(home, start)


def _raise(asking: "asyncio.Future[Answer]", error: Exception) -> None:
    if not asking.done():
        asking.set_exception(error)
