"""A small web of its own on loopback, with one of every fault, for `ronda demo`."""

import asyncio
import socket
import ssl
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from ronda.cli.demo import certificates
from ronda.cli.demo.behaviours import (
    CALLBACK,
    MISSING,
    PAGES,
    Behaviour,
    Ending,
    table,
)
from ronda.cli.demo.connection import serve
from ronda.cli.demo.names import NameServer

ADDRESS = certificates.ADDRESS

_CONNECTIONS = 256  # open at once on each port


class DemoWeb:
    """The Harbour Museum: `async with DemoWeb() as web`, then check `web.pages`."""

    front: str  # URL of the front page
    pages: tuple[str, ...]  # URLs of all documents, the front page first
    callback: str  # URL at which somebody may be told of changes
    ca_file: str  # who signed the good certificates
    name_server: str  # address:port of the server that knows the demo's names

    def __init__(self, mended_after: float | None = None) -> None:
        """Make it, not yet open.

        Args:
            mended_after: seconds after the first request for it in which what can be
                mended is; None: nobody mends anything.
        """
        self.told: Callable[[bytes], None] = (
            _unheard  # hears what is sent to `callback`
        )
        self._mended_after = mended_after
        self._stack = AsyncExitStack()
        self._group = asyncio.TaskGroup()
        self._tasks: set[asyncio.Task[None]] = set()
        self._table: dict[str, Behaviour] = {}
        self._asked: dict[str, float] = {}  # paths, and when each was first asked for

    async def __aenter__(self) -> Self:
        try:
            await self._open()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        # Not the stack's own __aexit__: our caller's error is not the task group's.
        await self._stack.aclose()

    async def _open(self) -> None:
        """Opens sockets before the tasks that use them, so that they close after."""
        folder = self._stack.enter_context(TemporaryDirectory(prefix="ronda-demo-"))
        files = await asyncio.to_thread(
            certificates.write, Path(folder), datetime.now(UTC)
        )
        self.ca_file = str(files.pop(certificates.CA_NAME))
        contexts = {label: _context(file) for label, file in files.items()}
        sites = {label: self._bind() for label in contexts}
        refused, plain = self._bind(), self._bind()
        self._table = table(_addresses(sites, refused))
        self.front = _url("http", plain)
        self.callback = self.front + CALLBACK[1:]
        self.pages = tuple(self.front + path[1:] for path in PAGES)
        await self._stack.enter_async_context(self._group)
        self._stack.callback(self._cancel)
        self._listen("http", plain, None)
        for label, site in sites.items():
            self._listen(label, site, contexts[label])
        self.name_server = await self._answer_names()

    def documents(self) -> Iterator[tuple[str, bytes]]:
        """The documents, each with its URL."""
        for path, url in zip(PAGES, self.pages, strict=True):
            yield url, self._table[path].answer.partition(b"\r\n\r\n")[2]

    def _bind(self) -> socket.socket:
        """A port of our own; until we listen on it, it refuses."""
        bound = self._stack.enter_context(socket.socket())
        bound.setblocking(False)
        bound.bind((ADDRESS, 0))
        return bound

    def _listen(
        self, label: str, bound: socket.socket, context: ssl.SSLContext | None
    ) -> None:
        bound.listen(_CONNECTIONS)
        self._start(self._accept(bound, context), f"demo {label}")

    def _start(
        self, work: Coroutine[None, None, None], name: str
    ) -> asyncio.Task[None]:
        task = self._group.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _cancel(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def _accept(
        self, listener: socket.socket, context: ssl.SSLContext | None
    ) -> None:
        loop = asyncio.get_running_loop()
        free = asyncio.Semaphore(_CONNECTIONS)

        def end(accepted: socket.socket, _: object) -> None:
            accepted.close()  # its transport did; a task cancelled at birth has none
            free.release()

        while await free.acquire():
            accepted, _ = await loop.sock_accept(listener)
            task = self._start(serve(accepted, context, self._choose), "demo client")
            task.add_done_callback(partial(end, accepted))

    def _choose(self, method: str, path: str, body: bytes) -> tuple[bytes, Ending]:
        behaviour = self._table.get(path, MISSING)
        now = asyncio.get_running_loop().time()
        first = path not in self._asked
        if path in self._table:
            self._asked.setdefault(path, now)
        since = now - self._asked.get(path, now)
        after = self._mended_after
        mended = not first and after is not None and since >= after
        if path == CALLBACK and method == "POST":
            self.told(body)
        return behaviour.reply(method, first=first, mended=mended), behaviour.ending

    async def _answer_names(self) -> str:
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_datagram_endpoint(
            NameServer, local_addr=(ADDRESS, 0)
        )
        self._stack.callback(transport.close)
        return "{}:{}".format(*transport.get_extra_info("sockname"))


def _unheard(_body: bytes) -> None:
    """Nobody wants to know."""


def _context(file: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    context.set_alpn_protocols(["http/1.1"])
    return context


def _addresses(
    sites: dict[str, socket.socket], refused: socket.socket
) -> dict[str, str]:
    """The addresses that the pages link to, by the name they use for them."""
    secure = {
        label: _url("https", site) + "hello.html" for label, site in sites.items()
    }
    return {"refused": _url("http", refused), **secure}


def _url(scheme: str, bound: socket.socket) -> str:
    return f"{scheme}://{ADDRESS}:{bound.getsockname()[1]}/"
