"""One visit outside any run: nobody else is asked, so it may wait between its hops."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from msgspec.structs import replace

from ronda import networks, urls
from ronda.clock import Clock
from ronda.frontier import Policy
from ronda.model import Answer, Ask, Done, Request, Verdict, Visit
from ronda.workers.addresses import unreached
from ronda.workers.parts import Address, Fetch


class Names(Protocol):
    """What a visit needs of the name servers."""

    async def find(self, name: str) -> "Found":
        """The addresses of a host name."""


class Found(Address, Protocol):
    """An address, and those to try when nobody is there."""

    @property
    def others(self) -> tuple[str, ...]:
        """In their order."""


class Advances(Protocol):
    """Whoever knows what an answer means: the handler of a scheme, or plans."""

    def advance(self, visit: Visit, answer: Answer, now: float) -> Ask | Done:
        """The verdict, or the next request (now: epoch)."""


Told = Callable[[Request, Answer], None]


def _unheard(_request: Request, _answer: Answer) -> None:
    """Nobody wants to know."""


class Alone:
    """Carries a visit from hop to hop, each pinned to the address of its host."""

    def __init__(
        self,
        fetch: Fetch,
        names: Names,
        policy: Policy,
        is_public: Callable[[str], bool],
        clock: Clock,
    ) -> None:
        self._fetch = fetch
        self._names = names
        self._policy = policy
        self._is_public = is_public
        self._clock = clock

    async def carry_out(
        self, visit: Visit, handler: Advances, told: Told = _unheard
    ) -> tuple[Visit, Answer, Verdict]:
        """The visit as it last asked, what came back, and what that means.

        Args:
            visit: with its first request.
            handler: knows what an answer means.
            told: hears each request and its answer.
        """
        while True:
            address, answer = await self._ask(visit.request)
            told(visit.request, answer)
            step = handler.advance(visit, answer, self._clock.utc().timestamp())
            if isinstance(step, Done):
                # Only of a plan does the end say more than the last request.
                last = step.visit if visit.progress is not None else None
                return last or visit, answer, step.verdict
            visit = step.visit
            if address and self._is_public(address):
                visit = replace(visit, request=replace(visit.request, public=True))
            limits = self._policy.limits(visit.host, address)
            gap = max(limits.interval, limits.server_interval, step.delay)
            await asyncio.sleep(gap)

    async def _ask(self, request: Request) -> tuple[str, Answer]:
        """The address that was asked at last, and its answer."""
        host = urls.host(request.url)
        if address := networks.literal(host):
            return address, await self._fetch.ask(request, "", True, address)
        found = await self._names.find(host)
        if found.failure is not None:
            return "", found.failure
        address, *others = found.address, *found.others
        answer = await self._fetch.ask(request, address, True, address)
        while others and unreached(answer):
            address = others.pop(0)
            answer = await self._fetch.ask(request, address, True, address)
        return address, answer
