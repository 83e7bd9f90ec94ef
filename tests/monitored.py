"""A daemon by hand, its control socket, and clients that speak to it."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import msgspec

from ronda.clock import Clock
from ronda.config import Control
from ronda.errors import DeniedError, NotFoundError
from ronda.model import State, TaskResult
from ronda.server.console import Console
from ronda.server.console.monitor import (
    Entity,
    Event,
    Record,
    RoundLine,
    Rounds,
    ServiceLine,
    Started,
    Stopped,
    TaskLine,
    TaskState,
    VisitLine,
    Who,
)
from ronda.server.console.sessions import Limits

SECONDS = 30.0  # guards against hanging; nothing takes as long
NOW = 1_800_000_000.0
TOKENS = {"operator": "s3cret", "lisboa": "t0ken"}
# As the seed's picture has them.
TASKS = [
    TaskLine(*row)
    for row in (
        (
            *("congruence", "run_tcl", "Record Data Congruence Check"),
            *("00_congruence.tcl", "Tcl"),
        ),
        (
            *("url_status_codes", "run_bash", "Check URL Status Codes"),
            *("01_check_urls_status_codes.sh", "Bash"),
        ),
        (
            *("wfs_capabilities", "run_bash", "WFS Capabilities"),
            *("10_wfs_urls_capabilities.sh", "Bash"),
        ),
        (
            *("wfs_ogr_info", "run_bash", "WFS OGRinfo Capabilities"),
            *("20_wfs_url_ogrinfo.sh", "Bash"),
        ),
        (
            *("wms_capabilities", "run_bash", "WMS Capabilities"),
            *("30_wms_urls_capabilities.sh", "Bash"),
        ),
        (
            *("wms_gdal_info", "run_bash", "WMS GDAL info Capabilities"),
            *("40_wms_url_gdalinfo.sh", "Bash"),
        ),
    )
]
STATES = [
    TaskState("congruence", State.OK, "ok", "good", NOW, 0.25),
    TaskState("url_status_codes", State.BROKEN, "http_404", "Not Found", NOW, 1.5),
]
EVENT = Event(
    *(7, "https://user:secret@example.org/wms", State.BROKEN, "http_404", "Not Found"),
    at=NOW,
    tasks=(TaskResult("url_status_codes", State.BROKEN, "http_404", "Not Found", 1.5),),
)


class FakeMonitor:
    """Knows three targets (7, 8, 9), two owners (1, 3) and the rounds 40 and 41."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.listeners: list[Callable[[Event], None]] = []
        self.gate: asyncio.Event | None = None  # that slow commands wait for
        self.fault: Exception | None = None  # what the next command raises
        self.ended = False
        self.many = 3  # records of an owner

    async def check(
        self,
        gids: Sequence[int],
        owners: Sequence[int],
        patterns: Sequence[str],
        starter: Who,
    ) -> list[Started]:
        self.asked.append(("check", gids, owners, patterns, starter.name))
        if gids and not set(gids) & {7, 8, 9}:
            raise NotFoundError("none of the services exists")
        begun = [Started(50, f"{len(gids)} services", len(gids))] if gids else []
        known = [eid for eid in owners if eid in (1, 3)]
        begun += [Started(51 + eid, f"entity {eid}", 10) for eid in known]
        return begun + [Started(60, one, 5) for one in patterns if "%" in one]

    async def stop(self, number: int | None, who: Who) -> list[Stopped]:
        self.asked.append(("stop", number, who.name))
        if number not in (None, 40, 41):
            raise NotFoundError(f"no round {number} is under way")
        if number == 41 and not who.administrator:
            raise DeniedError("round 41 was begun by operator")
        numbers = [40, 41] if number is None else [number]
        return [Stopped(one, f"round {one}") for one in numbers]

    async def rounds(self) -> Rounds:
        queued = RoundLine(40, "Câmara\tde Lisboa", 10, 20, 100, "lisboa")
        return Rounds(11, 4, 50, (queued,), (RoundLine(41, "biggest", 1, 9, 10),))

    def visits(self) -> list[VisitLine]:
        return [VisitLine(7, "Map", "WMS", "1.3.0", "wms_capabilities", NOW - 65)]

    def tasks(self) -> list[TaskLine]:
        if self.fault:
            raise self.fault
        return TASKS

    async def entities(self, pattern: str, alphabetic: bool) -> list[Entity]:
        self.asked.append(("entities", pattern, alphabetic))
        if self.gate is not None:
            await self.gate.wait()
        return [Entity(3, "Lisboa", 229), Entity(1, "operator", 2)]

    async def records(self, eid: int, offset: int, limit: int) -> list[Record]:
        self.asked.append(("records", eid, offset, limit))
        if eid != 3:
            return []
        row = ("Map \x1b[31m red\nline", "example.org", "WMS", "1.3.0")
        return [Record(7 + n, *row) for n in range(min(limit, self.many))]

    async def services(
        self, gids: Sequence[int], patterns: Sequence[str]
    ) -> list[ServiceLine]:
        self.asked.append(("services", gids, patterns))
        url = "https://user:secret@example.org/wms"
        row = ("Map", "Lisboa", url, "WMS", "1.3.0", "a-b-c")
        return [ServiceLine(gid, *row, tuple(STATES)) for gid in gids if gid == 7]

    async def task_results(self, gid: int) -> list[TaskState]:
        if gid not in (7, 8):
            raise NotFoundError(f"no service {gid}")
        return STATES if gid == 7 else []

    def why(self, text: str) -> list[str]:
        self.asked.append(("why", text))
        return [] if text == "nobody" else [f"{text or 'all'}: its turn", "2 waiting"]

    async def stats(self) -> dict[str, Any]:
        return {"targets": 12345, "states": {"ok": 12000, "broken": 345}, "rate": [1.5]}

    def subscribe(self, tell: Callable[[Event], None]) -> Callable[[], None]:
        self.listeners.append(tell)
        return lambda: self.listeners.remove(tell)

    def shutdown(self) -> None:
        self.ended = True

    async def who(self, name: str, token: str) -> Who | None:
        good = TOKENS.get(name) == token
        return Who(name, administrator=name == "operator") if good else None


class Client:
    """Somebody at the other end of a socket, who knows the framing."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.reader = reader
        self.writer = writer

    async def ask(self, line: str | bytes) -> str:
        """One command, and its reply in HR, without the empty line."""
        self.send(line)
        return await self.hear()

    def send(self, line: str | bytes) -> None:
        data = line.encode() if isinstance(line, str) else line
        self.writer.write(data + b"\n")

    async def hear(self) -> str:
        return (await self._until(b"\n\n")).removesuffix("\n\n")

    async def tree(self, line: str | bytes) -> dict[str, Any]:
        """One command, and its reply in JSON."""
        self.send(line)
        return await self.hear_tree()

    async def hear_tree(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.json.decode(await self._until(b"\n"))
        return found

    async def _until(self, end: bytes) -> str:
        async with asyncio.timeout(SECONDS):
            return (await self.reader.readuntil(end)).decode()

    async def rest(self) -> bytes:
        """All until the daemon hangs up."""
        async with asyncio.timeout(SECONDS):
            return await self.reader.read()


class Served:
    """A console that is open, and ways to it."""

    def __init__(self, console: Console, monitor: FakeMonitor, path: Path) -> None:
        self.console = console
        self.monitor = monitor
        self.path = path

    @property
    def port(self) -> int:
        return self.console.ports[0]

    @asynccontextmanager
    async def client(self, tcp: bool = False) -> AsyncIterator[Client]:
        limit = 1 << 26
        if tcp:
            opening = asyncio.open_connection("127.0.0.1", self.port, limit=limit)
            reader, writer = await opening
        else:
            reader, writer = await asyncio.open_unix_connection(self.path, limit=limit)
        try:
            yield Client(reader, writer)
        finally:
            writer.transport.abort()


@asynccontextmanager
async def serving(
    folder: Path,
    *,
    monitor: FakeMonitor | None = None,
    clock: Clock | None = None,
    limits: Limits | None = None,
    tell: Callable[[str], None] = lambda words: None,
    **settings: Any,
) -> AsyncIterator[Served]:
    """A console with a daemon by hand, on a Unix socket and over TCP."""
    monitor = monitor or FakeMonitor()
    path = folder / "ronda" / "control.sock"
    given = {"socket": str(path), "listen": "127.0.0.1:0"} | settings
    made = Console(
        Control(**given), monitor, tell, clock=clock, limits=limits or Limits()
    )
    async with made as console:
        yield Served(console, monitor, path)


@contextmanager
def served_beside(folder: Path, **given: Any) -> Iterator[Served]:
    """The same in a thread of its own, for clients in other processes."""
    found: list[Served] = []
    ready, loop = threading.Event(), asyncio.new_event_loop()
    over = asyncio.Event()

    async def serve() -> None:
        async with serving(folder, **given) as served:
            found.append(served)
            ready.set()
            await over.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        assert ready.wait(SECONDS)
        served = found[0]
        served.call = loop.call_soon_threadsafe  # type: ignore[attr-defined]
        yield served
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        loop.close()
