"""Dialling for programs: by our name servers, past the guard, at one address."""

import asyncio
import os

from msgspec import Struct

from ronda import networks, urls
from ronda.clock import Clock
from ronda.fetch.guard import Guard
from ronda.fetch.names import Names
from ronda.fetch.passage.pacing import Pacing
from ronda.fetch.passage.permit import No, Permit, Told
from ronda.fetch.passage.wish import Wish
from ronda.model import GUARDED

CONNECT = 20.0  # seconds that a server has to take a connection
LIMIT = 1 << 16  # bytes of a head, and that are read ahead


class Line(Struct):
    """A connection with a server."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


class Dialler:
    """Connects programs with whom they may ask."""

    def __init__(
        self, names: Names, guard: Guard, clock: Clock, told: Told, pacing: Pacing
    ) -> None:
        self._names = names
        self._guard = guard
        self._clock = clock
        self._told = told
        self._pacing = pacing

    async def dial(self, wish: Wish) -> Line | No:
        """A connection, when its turn has come, or why there is none."""
        permit = wish.permit
        found = permit.begin() or await self._find(permit, wish.host)
        if isinstance(found, No):
            return found
        await self._pacing.turn(urls.host_key(f"http://{wish.host}/"), found[0])
        # Looked at after the wait: meanwhile the run may have been somewhere public.
        refusals = [self._guard.refusal(one, permit.public) for one in found]
        if all(refusals):
            return permit.refuse(f"{urls.shown(wish.host)}: {refusals[0]}")
        allowed = [one for one, words in zip(found, refusals, strict=True) if not words]
        return await self._connect(wish, allowed)

    async def _find(self, permit: Permit, host: str) -> list[str] | No:
        address = networks.literal(host)
        if address:
            return [address]
        found = await self._names.find(host)
        if found.failure is None:
            return [found.address, *found.others]
        words = f"{urls.shown(host)}: {found.failure.error_text}"
        if found.failure.error == GUARDED:
            return permit.refuse(words)
        return No(502, words)

    async def _connect(self, wish: Wish, addresses: list[str]) -> Line | No:
        said = No(502, "")
        for address in addresses:
            if self._guard.is_public(address):
                wish.permit.public = True
            self._told(wish.host, address, wish.asked, self._clock.epoch())
            try:
                async with asyncio.timeout(CONNECT):
                    opened = asyncio.open_connection(address, wish.port, limit=LIMIT)
                    return Line(*await opened)
            except TimeoutError:
                said = No(504, f"{address}: no connection in {CONNECT:g} s")
            except OSError as error:
                words = os.strerror(error.errno) if error.errno else str(error)
                said = No(502, f"{address}: {words}")
        return said
