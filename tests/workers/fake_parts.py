"""A run whose network is a dictionary."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Any

from msgspec.structs import replace

from ronda import networks
from ronda.clock import Clock, SystemClock
from ronda.config import Check, Fetch, Politeness, Settings
from ronda.fetch import Guard
from ronda.fetch.names import Address
from ronda.frontier import Frontier, Policy, Scope
from ronda.model import Answer, Found, Place, Problem, Request, Result, Summary
from ronda.probes import Handler, Handlers
from ronda.simulation.loop import VirtualClock, carry_out
from ronda.store import Spool
from ronda.targets import anchors, links_of, media_type
from ronda.workers.book import Book
from ronda.workers.feed import Feed
from ronda.workers.gate import Shelf
from ronda.workers.parts import Log, Parts
from ronda.workers.run import Run
from ronda.workers.worker import LOOPS

SECONDS = 20.0  # guards against hanging; nothing takes as long
OK = Answer(status=200)
MISSING = Answer(status=404)
NOBODY = Answer(error=7, errno=111)  # connection refused
QUICK = Settings(check=Check(robots=False), fetch=Fetch(retry_gap=0.01))
POLITE = Settings(fetch=Fetch(retry_gap=0.01))  # asks for robots.txt

Reply = Answer | list[Answer] | Callable[[Request], Awaitable[Answer]]


def page(body: str, kind: str = "text/html") -> Answer:
    """A page that was read."""
    header = f"Content-Type: {kind}\r\n".encode()
    return Answer(status=200, headers=(header,), body=body.encode())


def moved(to: str, status: int = 302) -> Answer:
    """A redirect."""
    return Answer(status=status, headers=(f"Location: {to}\r\n".encode(),))


def found(*urls: str, document: str = "list.txt", reads: bool = False) -> list[Found]:
    """References, one a line."""
    return [
        Found(url, Place(document, line), reads) for line, url in enumerate(urls, 1)
    ]


class FakeFetch:
    """Answers from a dictionary by URL; a list is answered one by one, to its last.

    What the guard refuses is not asked; some addresses are of nobody.
    """

    def __init__(
        self,
        replies: dict[str, Reply],
        default: Answer,
        guard: Guard | None,
        nobody: frozenset[str],
    ) -> None:
        self._replies = replies
        self._default = default
        self._guard = guard
        self._nobody = nobody
        self.asked: list[tuple[str, str, str]] = []  # method, URL, address
        self.requests: list[Request] = []
        self.under_way = 0
        self.dropped = 0
        self.deaths = 0

    async def ask(
        self, request: Request, address: str, last: bool, server: str
    ) -> Answer:
        refused = self._guard.check(request, address) if self._guard else None
        if refused is not None:
            return refused
        self.asked.append((request.method, request.url, address))
        self.requests.append(request)
        self.under_way += 1
        try:
            await asyncio.sleep(0)
            if address in self._nobody:
                return NOBODY
            reply = self._replies.get(request.url, self._default)
            if isinstance(reply, list):
                return reply.pop(0) if len(reply) > 1 else reply[0]
            return reply if isinstance(reply, Answer) else await reply(request)
        finally:
            self.under_way -= 1

    def drop(self, asking: "asyncio.Future[Answer]") -> None:
        self.dropped += 1

    @property
    def urls(self) -> list[str]:
        return [url for _, url, _ in self.asked]


class FakeNames:
    """Every name has an address, or some, but for those that have a fault."""

    def __init__(
        self, addresses: dict[str, str | Answer], seconds: float, clock: Clock
    ) -> None:
        self.held: dict[str, asyncio.Event] = {}  # names that are told only then
        self._addresses = addresses
        self._seconds = seconds  # that an answer holds
        self._now = clock.now
        self._known: dict[str, Address] = {}
        self.asked: list[str] = []

    async def find(self, name: str) -> Address:
        known = self._known.get(name)
        if known is None or self._now() >= known.until:
            self.asked.append(name)
            await asyncio.sleep(0)
            if name in self.held:
                await self.held[name].wait()
            self._known[name] = self._look_up(name)
        return self._known[name]

    def _look_up(self, name: str) -> Address:
        said = self._addresses.get(name, "127.0.0.1")
        until = self._now() + self._seconds
        if isinstance(said, Answer):
            return Address(failure=said, until=until)
        first, *others = said.split()
        return Address(first, others=tuple(others), until=until)

    def known(self, name: str) -> Address:
        return self._known.get(name) or Address()

    def next_address(self, name: str) -> str:
        known = self.known(name)
        if not known.others:
            return ""
        first, *others = known.others
        self._known[name] = replace(known, address=first, others=tuple(others))
        return first


class FakeShelf:
    """Files by authority, each with its age in seconds."""

    def __init__(self, files: dict[str, tuple[bytes, float]] | None = None) -> None:
        self.files = files or {}

    def get(self, authority: str) -> tuple[bytes, float] | None:
        return self.files.get(authority)

    def put(self, authority: str, body: bytes) -> None:
        self.files[authority] = body, 0.0

    def grow(self, seconds: float) -> None:
        """Let all of them be older."""
        for name, (body, age) in self.files.items():
            self.files[name] = body, age + seconds


class FakeLog:
    """A request log that is a list."""

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []

    def add(self, *, url: str, **entry: Any) -> None:
        self.entries.append({"url": url, **entry})


@dataclass
class Play:
    """A run: what it is given, and what came of it."""

    found: Iterable[Found | Problem]
    replies: dict[str, Reply] = field(default_factory=dict)
    default: Answer = OK
    settings: Settings = QUICK
    addresses: dict[str, str | Answer] = field(default_factory=dict)
    scope: Scope = field(default_factory=lambda: Scope([], []))
    lease_seconds: float = 300.0
    workers: int = 8
    handlers: dict[str, Handler] = field(default_factory=dict)  # by scheme
    watch: Callable[[Run], Awaitable[None]] | None = None
    shelf: Shelf | None = None
    log: Log | None = None
    guard: Guard | None = None
    nobody: frozenset[str] = frozenset()  # addresses where no connection is taken
    names_hold: float = inf  # seconds
    held_names: dict[str, asyncio.Event] = field(default_factory=dict)
    cut_off: bool = False  # as by a signal, once `watch` is over
    more: dict[str, Any] = field(default_factory=dict)  # further parts, of a crawl
    late: Callable[[], dict[str, Any]] = dict  # those that need the event loop
    clock: Clock = field(default_factory=SystemClock)  # virtual: in no time at all
    prepare: Callable[[Run], None] | None = None  # told the run before it is begun

    def __post_init__(self) -> None:
        self.fetch = FakeFetch(self.replies, self.default, self.guard, self.nobody)
        self.names = FakeNames(self.addresses, self.names_hold, self.clock)
        self.names.held = self.held_names
        self.heard: list[Result] = []
        self.results: list[Result] = []
        self.summary = Summary()
        if isinstance(self.clock, VirtualClock):
            carry_out(self._play(), self.clock)  # raises if it would never end
        else:
            asyncio.run(self._play())

    async def _play(self) -> None:
        with Spool() as spool:
            book = Book(
                spool,
                self.clock,
                _anchors,
                self.settings,
                keep_ok=True,
                listener=self.heard.append,
            )
            politeness = Policy(self.settings.politeness)
            handlers = Handlers(self.settings)
            handlers._made.update(self.handlers)
            self.frontier = Frontier(
                politeness.limits,
                self.settings.frontier,
                longest=politeness.longest,
                lease_seconds=self.lease_seconds,
            )
            parts = Parts(
                settings=self.settings,
                clock=self.clock,
                frontier=self.frontier,
                handlers=handlers,
                scope=self.scope,
                fetch=self.fetch,
                names=self.names,
                read=partial(links_of, check=self.settings.check),
                book=book,
                policy=politeness,
                is_public=is_public,
                shelf=self.shelf,
                log=self.log,
                strict=True,
            )
            parts = replace(parts, **self.more, **self.late())
            self.run = Run(parts, Feed(self.found))
            if self.prepare is not None:
                self.prepare(self.run)
            try:
                await self._carry_out()
            finally:
                self.run.close()
            self.results = list(spool)
            self.summary = self.run.account.summary()

    async def _carry_out(self) -> None:
        most = None if isinstance(self.clock, VirtualClock) else SECONDS
        async with asyncio.timeout(most), asyncio.TaskGroup() as tasks:
            carried = tasks.create_task(self.run.carry_out(LOOPS, self.workers))
            watch = tasks.create_task(self._watch())
            if self.cut_off:
                await watch
                carried.cancel()
            else:
                await carried
                watch.cancel()

    async def _watch(self) -> None:
        if self.watch is not None:
            await self.watch(self.run)

    @property
    def reasons(self) -> dict[str, str]:
        """The reason of each URL, each of which must stand there once."""
        by_url = {result.url: result.reason for result in self.results}
        assert len(by_url) == len(self.results), "a URL has two results"
        return by_url


def _anchors(body: bytes, url: str, content_type: str) -> frozenset[str] | None:
    kind = media_type(url, content_type)
    return anchors(body, content_type if content_type.startswith(kind) else kind)


def is_public(address: str) -> bool:
    return networks.kind(address) is networks.Kind.PUBLIC


def with_politeness(settings: Settings, **limits: float) -> Settings:
    """Settings with other limits."""
    row = Politeness(**limits)  # type: ignore[arg-type]
    return replace(settings, politeness=(row,))


async def until(said: Callable[[], bool]) -> None:
    """Wait for something that nobody tells of."""
    while not said():  # noqa: ASYNC110  # there is no event to wait for
        await asyncio.sleep(0.001)


def with_check(settings: Settings, **values: Any) -> Settings:
    """Settings with other checks."""
    return replace(settings, check=replace(settings.check, **values))
