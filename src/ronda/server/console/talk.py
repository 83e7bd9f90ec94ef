"""One connection: lines are read, carried out and answered in order."""

import asyncio
import contextlib
from collections import deque

from ronda.server.console import shapes
from ronda.server.console.commands import answer
from ronda.server.console.monitor import Event
from ronda.server.console.replies import Reply, rendered
from ronda.server.console.sessions import Hall, Session

MANY = 200  # rows that take longer to draw than others should wait
PIECE = 64 * 1024  # bytes that are handed to a client at once


class Talk:
    """Serves one client, and never waits for one that does not read."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        session: Session,
        hall: Hall,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._session = session
        self._hall = hall
        self._limits = hall.limits
        self._replies = False  # a reply is half written: events must wait
        self._events: deque[Event] = deque()  # those that do
        self._dropped = 0  # events that a slow client has missed
        session.tell = self._hear

    async def go_on(self, idle: float) -> None:
        """Answer until the client leaves, or falls silent for too long."""
        with contextlib.suppress(TimeoutError, OSError):
            while True:
                line = await self._line(idle)
                if not line:
                    return
                session = self._session
                session.commands += 1
                session.last_at = self._hall.clock.now()
                reply = await answer(line, session, self._hall)
                await self._send(reply)
                if reply.closes:
                    return
                await asyncio.sleep(0)  # a thousand lines at once: others have a turn

    async def _line(self, idle: float) -> bytes:
        """The next line; nothing at the end, or when it is too long."""
        session = self._session
        seconds: float | None = idle
        if session.who is None:
            seconds = min(idle, self._limits.strangers)
        elif session.end is not None:
            seconds = None  # who listens may be silent
        try:
            async with asyncio.timeout(seconds):
                return await self._reader.readuntil(b"\n")
        except asyncio.LimitOverrunError:
            words = f"a line has {self._limits.line:,} bytes at most"
            await self._send(Reply("103", words, closes=True))
            await self._throw_away()
        except asyncio.IncompleteReadError:
            pass  # half a line is no command
        return b""

    async def _throw_away(self) -> None:
        """Read what is still coming, or the reply would be lost with it."""
        if self._writer.can_write_eof():
            self._writer.write_eof()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._limits.linger):
                while await self._reader.read(PIECE):
                    pass

    # -- writing -----------------------------------------------------------------------

    async def _send(self, reply: Reply) -> None:
        """Write a reply piece by piece, as fast as the client reads."""
        data = await self._rendered(reply)
        self._replies = True
        try:
            for start in range(0, len(data), PIECE):
                self._writer.write(data[start : start + PIECE])
                async with asyncio.timeout(self._limits.stall):
                    await self._writer.drain()
        except TimeoutError:
            self._writer.transport.abort()  # what waits there will not be read
            raise
        finally:
            self._replies = False
        while self._events:
            self._tell(self._events.popleft())

    async def _rendered(self, reply: Reply) -> bytes:
        """A reply as bytes; a long one in a thread, so that nobody waits for it."""
        form = self._session.form
        if reply.table is None or len(reply.table.rows) < MANY:
            return rendered(reply, form)
        return await asyncio.to_thread(rendered, reply, form)

    def _hear(self, event: Event) -> None:
        """A result: told at once, after a reply that is half written, or not at all."""
        if not self._replies:
            self._tell(event)
        elif len(self._events) < self._limits.waiting:
            self._events.append(event)
        else:
            self._dropped += 1

    def _tell(self, event: Event) -> None:
        transport = self._writer.transport
        if transport.is_closing():
            return
        if transport.get_write_buffer_size() > self._limits.backlog:
            self._dropped += 1
            return
        form = self._session.form
        fields = shapes.event(event, self._dropped)
        words = event.message if form.json else shapes.event_line(event, self._dropped)
        reply = Reply("200", words, fields, state=event.state)
        self._writer.write(rendered(reply, form))
        self._dropped = 0
