"""The control socket: takes commands for the daemon while it lives."""

import asyncio
import contextlib
import pwd
import socket
import struct
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ronda.clock import Clock, SystemClock
from ronda.config import Control
from ronda.errors import UsageError
from ronda.server.console import places
from ronda.server.console.monitor import Monitor, Who
from ronda.server.console.replies import Form, Reply, rendered
from ronda.server.console.sessions import Hall, Limits, Session
from ronda.server.console.talk import Talk

UNIX, TCP = "unix", "tcp"
_FULL = rendered(Reply("505", "too many connections: try again later"), Form())


class Console:
    """Takes commands on a Unix socket and over TCP, as far as they can be had.

    Without a socket the daemon serves all the same: what is missing is told.
    """

    def __init__(
        self,
        settings: Control,
        monitor: Monitor,
        tell: Callable[[str], None],
        *,
        clock: Clock | None = None,
        limits: Limits = Limits(),  # noqa: B008  # frozen
    ) -> None:
        """Get ready.

        Raises:
            SettingsError: control.listen is no address.
        """
        self._settings = settings
        self._tell = tell  # one line for people
        self._hall = Hall(monitor, clock or SystemClock(), limits, {})
        self._path = places.socket_path(settings.socket)
        self._address = places.address(settings.listen) if settings.listen else None
        self._identity: tuple[int, int] | None = None  # of the socket that is ours
        self._servers: list[asyncio.Server] = []
        self._over = False
        self._tasks: dict[str, set[asyncio.Task[None]]] = {UNIX: set(), TCP: set()}
        self.ports: tuple[int, ...] = ()  # on which TCP is listened to

    async def __aenter__(self) -> Self:
        if self._path is not None:
            await self._open("control.socket", self._listen_here(self._path))
        if self._address is not None:
            await self._open("control.listen", self._listen(*self._address))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for server in self._servers:
            server.close()
        self._over = True
        self._remove()
        tasks = [task for tasks in self._tasks.values() for task in tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # -- opening -----------------------------------------------------------------------

    async def _open(self, name: str, opening: Coroutine[Any, Any, None]) -> None:
        try:
            await opening
        except UsageError as error:
            self._tell(f"{name}: {error}; going on without it")
        except (OSError, UnicodeError) as error:  # some names cannot be looked up
            words = getattr(error, "strerror", None) or str(error)
            self._tell(f"{name}: {words}; going on without it")

    async def _listen_here(self, path: Path) -> None:
        listening = places.bound(path)
        self._identity = places.identity(path)
        server = await asyncio.start_unix_server(
            partial(self._met, UNIX),
            sock=listening,
            limit=self._hall.limits.line,
            backlog=places.BACKLOG,
        )
        self._servers.append(server)

    async def _listen(self, host: str, port: int) -> None:
        server = await asyncio.start_server(
            partial(self._met, TCP),
            host,
            port,
            limit=self._hall.limits.line,
            backlog=places.BACKLOG,
        )
        self._servers.append(server)
        self.ports = tuple(one.getsockname()[1] for one in server.sockets)
        if not places.is_loopback(host):
            words = "others can reach it, and tokens travel unencrypted"
            self._tell(f"control.listen: {host} is not loopback: {words}")

    def _remove(self) -> None:
        """Take the socket away, unless another daemon has its own there by now."""
        if self._path is None or self._identity is None:
            return
        if places.identity(self._path) == self._identity:
            self._path.unlink(missing_ok=True)

    # -- connections -------------------------------------------------------------------

    def _met(
        self, kind: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Somebody has connected; each of the two sockets has a limit of its own."""
        tasks = self._tasks[kind]
        if self._over:
            writer.transport.abort()  # he came while we went
            return
        if len(tasks) >= self._settings.connections:
            writer.write(_FULL)
            writer.close()
            return
        serving = self._serve(kind, reader, writer)
        task = asyncio.create_task(serving, name=f"console {kind}")
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    async def _serve(
        self, kind: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        session = Session(kind, _peer(kind, writer), self._hall.clock.now())
        talk = Talk(reader, writer, session, self._hall)
        try:
            self._hall.sessions[session] = None
            await talk.go_on(self._settings.idle)
        finally:
            self._hall.sessions.pop(session, None)
            session.unsubscribe()
            await _close(writer, self._hall.limits.stall)


async def _close(writer: asyncio.StreamWriter, seconds: float) -> None:
    """Let the last reply go out, but do not wait for it for ever."""
    writer.close()
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(seconds):
            await writer.wait_closed()
            return
    writer.transport.abort()


def _peer(kind: str, writer: asyncio.StreamWriter) -> Who | None:
    """Who is at the other end of a Unix socket: the daemon's user, or root."""
    connected = writer.get_extra_info("socket")
    if kind == TCP:  # where he has to say it; one that is gone must be noticed
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        return None
    size = struct.calcsize("3i")
    found = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    _, user, _ = struct.unpack("3i", found)
    try:
        name = pwd.getpwuid(user).pw_name
    except KeyError:
        name = str(user)
    return Who(name, administrator=True)
