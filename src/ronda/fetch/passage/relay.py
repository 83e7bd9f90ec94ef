"""Relaying between a program and a server, no faster than the slower of them."""

import asyncio
import contextlib
from collections.abc import Callable

from ronda.fetch.passage import web
from ronda.fetch.passage.dialling import Line
from ronda.fetch.passage.wish import Wish

IDLE = 60.0  # seconds without a byte in any direction, after which it is over
LINGER = 5.0  # the same, once a program has sent all, and may be gone
CHUNK = 1 << 16  # bytes read at once
HEADS = 10  # that one answer may have: interim ones, and its own


class Relay:
    """One connection on both its sides."""

    def __init__(self, wish: Wish, program: Line, server: Line) -> None:
        self._wish = wish
        self._program = program
        self._server = server
        self._seconds = IDLE
        self._patience = asyncio.timeout(IDLE)

    async def carry(self) -> None:
        """Carry bytes until both have ended, one takes too long, or it is too much."""
        self._program.writer.write(self._wish.yes)
        self._server.writer.write(self._wish.head)
        with contextlib.suppress(TimeoutError):
            async with self._patience, asyncio.TaskGroup() as group:
                up = group.create_task(self._up(), name="passage up")
                group.create_task(self._down(up.cancel), name="passage down")

    async def _up(self) -> None:
        whole = await self._copy(self._program, self._server, self._wish.body)
        if self._wish.answers:
            await self._wait_for_end()
        elif whole:
            _half_close(self._server)

    async def _wait_for_end(self) -> None:
        """See when a program has had enough; what it says meanwhile is for nobody."""
        with contextlib.suppress(OSError):
            while await self._program.reader.read(CHUNK):
                pass
        self._seconds = LINGER
        self._go_on()

    async def _down(self, stop: Callable[[], object]) -> None:
        most = await self._pass_heads() if self._wish.answers else None
        whole = await self._copy(self._server, self._program, most)
        if whole and not self._wish.answers:
            _half_close(self._program)  # what it still sends is let through
        else:
            stop()

    async def _pass_heads(self) -> int | None:
        """Pass on the head of the answer, so that it says that the connection ends.

        Returns the bytes that follow it; None: all there are.
        """
        for _ in range(HEADS):
            try:
                head = await self._server.reader.readuntil(b"\r\n\r\n")
            except (EOFError, asyncio.LimitOverrunError, OSError) as error:
                # Not HTTP, or cut off: the program is to see what we have seen.
                self._program.writer.write(getattr(error, "partial", b""))
                return None
            self._wish.permit.spend(len(head))
            if not web.is_interim(head):
                self._program.writer.write(web.closing(head))
                return web.length(self._wish.head, head)
            self._program.writer.write(head)
        return None

    async def _copy(self, source: Line, sink: Line, most: int | None) -> bool:
        """Carry bytes one way; whether all went well to the end."""
        left = CHUNK if most is None else most
        with contextlib.suppress(OSError):
            while left and (data := await source.reader.read(min(left, CHUNK))):
                self._go_on()
                if not self._wish.permit.spend(len(data)):
                    self._cut()
                    return False
                sink.writer.write(data)
                await sink.writer.drain()
                left -= 0 if most is None else len(data)
            return True
        self._cut()
        return False

    def _go_on(self) -> None:
        now = asyncio.get_running_loop().time()
        self._patience.reschedule(now + self._seconds)

    def _cut(self) -> None:
        for side in (self._program, self._server):
            side.writer.transport.abort()


def _half_close(line: Line) -> None:
    with contextlib.suppress(OSError):
        if line.writer.can_write_eof():
            line.writer.write_eof()
