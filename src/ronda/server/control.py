"""The socket of a run: whoever owns the run may ask it what it waits for.

A question is one line of JSON, and so is its answer. Each run has a socket of its own,
named after its process, in a folder that only its user can enter.
"""

import asyncio
import contextlib
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ronda.frontier import Wait
from ronda.workers.crew import Glimpse

SECONDS = 3.0  # that a run may take to answer
LONGEST = 128 * 1024  # bytes of a question: twice the longest URL


class Question(Struct, frozen=True, forbid_unknown_fields=True):
    """What is asked."""

    why: str = ""  # a URL or a host; "": the whole run
    poke: bool = False  # nothing: look at once at what is due in the store


class Reply(Struct, frozen=True):
    """What a run says."""

    process: int
    seconds: float = 0.0  # since it began
    waits: tuple[Wait, ...] = ()
    open: tuple[tuple[str, int], ...] = ()  # what its end waits for, and how many
    crew: tuple[Glimpse, ...] = ()  # asked for the whole run only
    silent: bool = False  # it did not answer in time: stopped, or busy


class Asked(Protocol):
    """What a socket needs of a run."""

    def why(self, text: str) -> list[Wait]:
        """What a URL or a host waits for; without one, the hosts that hold it up."""

    def open(self) -> list[tuple[str, int]]:
        """What the end of the run waits for."""

    def glimpses(self) -> tuple[Glimpse, ...]:
        """What each worker is doing."""

    @property
    def seconds(self) -> float:
        """How long it has taken."""


def folder() -> Path:
    """Where the sockets of this user's runs are."""
    given = os.environ.get("XDG_RUNTIME_DIR", "")
    if given:
        return Path(given) / "ronda"
    return Path(tempfile.gettempdir()) / f"ronda-{os.getuid()}"


class Control:
    """Answers for a run while it goes on; without a socket it runs all the same."""

    def __init__(self, run: Asked, poke: Callable[[], None] | None = None) -> None:
        self._run = run
        self._poke = poke  # told that somebody has changed what is due
        self._path = folder() / f"{os.getpid()}.sock"
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if _is_ours(self._path.parent):
                self._path.unlink(missing_ok=True)
                self._server = await asyncio.start_unix_server(
                    self._talk, self._path, limit=LONGEST
                )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._server is not None:
            self._server.close()
            _remove(self._path)

    async def _talk(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with contextlib.suppress(OSError, ValueError, TimeoutError):
            async with asyncio.timeout(SECONDS):
                line = await reader.readline()
                question = msgspec.json.decode(line, type=Question)
                reply = self._poked() if question.poke else self._reply(question.why)
                writer.write(msgspec.json.encode(reply) + b"\n")
                await writer.drain()
        writer.close()

    def _poked(self) -> Reply:
        if self._poke is not None:
            self._poke()
        return Reply(os.getpid(), self._run.seconds)

    def _reply(self, text: str) -> Reply:
        run = self._run
        reply = Reply(os.getpid(), run.seconds, tuple(run.why(text)))
        if text:
            return reply
        return replace(reply, open=tuple(run.open()), crew=run.glimpses())


async def ask_all(text: str) -> list[Reply]:
    """What each run under way says of a URL or a host."""
    asked = [_ask(path, Question(text)) for path in _sockets()]
    return [reply for reply in await asyncio.gather(*asked) if reply is not None]


def wake_all() -> None:
    """Have the daemons of this user look at once at what is due."""

    async def ask() -> None:
        await asyncio.gather(*(_ask(path, Question(poke=True)) for path in _sockets()))

    asyncio.run(ask())


def _sockets() -> Iterator[Path]:
    if _is_ours(folder()):
        yield from sorted(folder().glob("*.sock"))


async def _ask(path: Path, question: Question) -> Reply | None:
    try:
        async with asyncio.timeout(SECONDS):
            reader, writer = await asyncio.open_unix_connection(path, limit=1 << 24)
            writer.write(msgspec.json.encode(question) + b"\n")
            line = await reader.readline()
            writer.close()
            return msgspec.json.decode(line, type=Reply)
    except ConnectionRefusedError:
        _remove(path)  # its run was killed
    except TimeoutError:
        return Reply(int(path.stem), silent=True) if path.stem.isdecimal() else None
    except (OSError, ValueError):
        pass  # it has just ended, or is not what it seems
    return None


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)


def _is_ours(path: Path) -> bool:
    """Whether nobody but this user can have put anything there."""
    try:
        found = path.lstat()
    except OSError:
        return False
    private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077
    return private and found.st_uid == os.getuid()
