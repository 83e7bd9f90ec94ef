"""Who is told: takes what is sent by POST, and answers as it is told to."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import NamedTuple, Self

from servers.process import HOST

MOST = 16 * 1024 * 1024  # bytes of a body
SECONDS = 30.0  # the longest a connection is kept


class Sent(NamedTuple):
    """What came in once; header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Receiver:
    """A small HTTP server on loopback, on the event loop of the test."""

    def __init__(self) -> None:
        self.sent: list[Sent] = []
        self.answer: Callable[[Sent], int] = lambda _: 204  # the status
        self.headers = ""  # lines of the answer
        self.at_once = self.most_at_once = 0
        self.gate = asyncio.Event()  # closed: answers are held back
        self.gate.set()
        self._came = asyncio.Condition()
        self._server: asyncio.Server
        self._open: set[asyncio.StreamWriter] = set()

    def url(self, path: str = "/told", host: str = HOST) -> str:
        """Where it listens."""
        return f"http://{host}:{self._server.sockets[0].getsockname()[1]}{path}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, HOST, 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.gate.set()
        self._server.close()
        for writer in self._open:
            writer.transport.abort()
        await self._server.wait_closed()

    async def has(self, number: int) -> None:
        """Wait until so many have come in."""
        async with asyncio.timeout(SECONDS), self._came:
            await self._came.wait_for(lambda: len(self.sent) >= number)

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._open.add(writer)
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                async with asyncio.timeout(SECONDS):
                    await self._talk(reader, writer)
        finally:
            self.at_once -= 1
            self._open.discard(writer)
            writer.close()

    async def _talk(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.strip().split("\r\n")
        method, path, _ = first.split(" ")
        pairs = (line.split(": ", 1) for line in lines)
        headers = {name.lower(): value for name, value in pairs}
        size = int(headers.get("content-length", 0))
        assert size <= MOST
        one = Sent(method, path, headers, await reader.readexactly(size))
        self.sent.append(one)
        async with self._came:
            self._came.notify_all()
        await self.gate.wait()
        status = self.answer(one)
        end = f"{self.headers}Content-Length: 0\r\nConnection: close\r\n\r\n"
        writer.write(f"HTTP/1.1 {status} Said\r\n{end}".encode())
        await writer.drain()
