"""The door of the passage: who comes in is heard, connected, and seen out."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from ronda.clock import Clock
from ronda.fetch.guard import Guard
from ronda.fetch.names import Names
from ronda.fetch.passage import socks, web
from ronda.fetch.passage.dialling import Dialler, Line
from ronda.fetch.passage.pacing import Gap, Pacing
from ronda.fetch.passage.permit import No, Permit, Told
from ronda.fetch.passage.relay import Relay
from ronda.fetch.passage.wish import Wish

HEAD = 10.0  # seconds within which a program must have said what it wants
CONNECTIONS = 1024  # at once, of all programs; more are closed


class Passage:
    """Lets programs ask whom the guard allows, by HTTP or SOCKS on the same port."""

    def __init__(
        self, names: Names, guard: Guard, clock: Clock, told: Told, gap: Gap
    ) -> None:
        self._dialler = Dialler(names, guard, clock, told, Pacing(gap))
        self._permits: dict[str, Permit] = {}
        self._open = 0

    @contextlib.asynccontextmanager
    async def permit(self, public: bool) -> AsyncIterator[Permit]:
        """A permit for one run: what it has open is closed at the end."""
        permit = Permit(public)
        self._permits[permit.password] = permit
        try:
            yield permit
        finally:
            del self._permits[permit.password]
            for task in permit.serving:
                task.cancel()
            await asyncio.gather(*permit.serving, return_exceptions=True)

    async def meet(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Serve one connection, to its end."""
        self._open += 1
        try:
            if self._open <= CONNECTIONS:
                await self._serve(Line(reader, writer))
        except (EOFError, TimeoutError, asyncio.LimitOverrunError, OSError):
            pass  # a program that breaks off is nobody's concern
        finally:
            self._open -= 1
            writer.close()

    async def _serve(self, program: Line) -> None:
        async with asyncio.timeout(HEAD):
            first = await program.reader.readexactly(1)
            is_socks = first == socks.VERSION
            wish: Wish | No | None
            if is_socks:
                wish = await socks.hear(program.reader, program.writer, self._permits)
            else:
                wish = await web.hear(first, program.reader, self._permits)
        if isinstance(wish, Wish):
            await self._grant(wish, program)
        elif wish is not None:
            await _say(program, (socks if is_socks else web).no(wish))

    async def _grant(self, wish: Wish, program: Line) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  # it is one that is awaited
        if wish.permit.password not in self._permits:  # it ended while we listened
            return
        wish.permit.serving.add(task)
        try:
            async with wish.permit.at_once:
                server = await self._dialler.dial(wish)
                if isinstance(server, No):
                    await _say(program, wish.no(server))
                    return
                try:
                    await Relay(wish, program, server).carry()
                finally:
                    server.writer.close()
        finally:
            wish.permit.serving.discard(task)


async def _say(program: Line, words: bytes) -> None:
    program.writer.write(words)
    async with asyncio.timeout(HEAD):
        await program.writer.drain()
