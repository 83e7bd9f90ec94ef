"""A run whose network is a dictionary."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

from ronda.clock import SystemClock
from ronda.config import Check, Fetch, Politeness, Settings
from ronda.fetch.names import Address
from ronda.frontier import Frontier, Policy, Scope
from ronda.model import Answer, Found, Place, Problem, Request, Result, Summary
from ronda.probes import Handler, Handlers
from ronda.probes.accept import Accept
from ronda.store import Spool
from ronda.targets import anchors, links_of, media_type
from ronda.workers.book import Book
from ronda.workers.feed import Feed
from ronda.workers.parts import Parts
from ronda.workers.run import Run
from ronda.workers.worker import work

SECONDS = 20.0  # guards against hanging; nothing takes as long
OK = Answer(status=200)
MISSING = Answer(status=404)
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
    """Answers from a dictionary by URL; a list is answered one by one, to its last."""

    def __init__(self, replies: dict[str, Reply], default: Answer) -> None:
        self._replies = replies
        self._default = default
        self.asked: list[tuple[str, str, str]] = []  # method, URL, address
        self.under_way = 0

    async def ask(self, request: Request, address: str, last: bool) -> Answer:
        self.asked.append((request.method, request.url, address))
        self.under_way += 1
        try:
            await asyncio.sleep(0)
            reply = self._replies.get(request.url, self._default)
            if isinstance(reply, list):
                return reply.pop(0) if len(reply) > 1 else reply[0]
            return reply if isinstance(reply, Answer) else await reply(request)
        finally:
            self.under_way -= 1

    @property
    def urls(self) -> list[str]:
        return [url for _, url, _ in self.asked]


class FakeNames:
    """Every name has an address, or some, but for those that have a fault."""

    def __init__(self, addresses: dict[str, str | Answer]) -> None:
        self._addresses = addresses
        self._known: dict[str, Address] = {}
        self.asked: list[str] = []

    async def find(self, name: str) -> Address:
        if name not in self._known:
            self.asked.append(name)
            said = self._addresses.get(name, "127.0.0.1")
            await asyncio.sleep(0)
            if isinstance(said, str):
                first, *others = said.split()
                self._known[name] = Address(first, others=tuple(others))
            else:
                self._known[name] = Address(failure=said)
        return self._known[name]

    def known(self, name: str) -> Address:
        return self._known.get(name) or Address()

    def next_address(self, name: str) -> str:
        known = self.known(name)
        if not known.others:
            return ""
        first, *others = known.others
        self._known[name] = Address(first, others=tuple(others))
        return first


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

    def __post_init__(self) -> None:
        self.fetch = FakeFetch(self.replies, self.default)
        self.names = FakeNames(self.addresses)
        self.heard: list[Result] = []
        self.results: list[Result] = []
        self.summary = Summary()
        asyncio.run(self._play())

    async def _play(self) -> None:
        clock = SystemClock()
        with Spool() as spool:
            book = Book(
                spool,
                clock,
                _anchors,
                Accept(self.settings.check.accept),
                fragments=self.settings.check.fragments,
                keep_ok=True,
                listener=self.heard.append,
            )
            politeness = Policy(self.settings.politeness)
            handlers = Handlers(self.settings)
            handlers._made.update(self.handlers)
            self.frontier = Frontier(
                politeness.limits, lease_seconds=self.lease_seconds
            )
            parts = Parts(
                settings=self.settings,
                clock=clock,
                frontier=self.frontier,
                handlers=handlers,
                scope=self.scope,
                fetch=self.fetch,
                names=self.names,
                read=partial(links_of, check=self.settings.check),
                book=book,
            )
            self.run = Run(parts, Feed(self.found))
            async with asyncio.timeout(SECONDS), asyncio.TaskGroup() as tasks:
                carried = tasks.create_task(self.run.carry_out(work, self.workers))
                watch = tasks.create_task(self._watch())
                await carried
                watch.cancel()
            self.results = list(spool)
            self.summary = self.run.summary()

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


def with_politeness(settings: Settings, **limits: float) -> Settings:
    """Settings with other limits."""
    return Settings(settings.check, Politeness(**limits), settings.fetch)  # type: ignore[arg-type]
