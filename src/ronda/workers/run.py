"""One run: what comes in, what is under way, what has ended, and when all is over."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Protocol

from msgspec import Struct

from ronda import urls
from ronda.clock import Clock
from ronda.config import Settings
from ronda.frontier import Frontier, Lease, Scope
from ronda.model import (
    Answer,
    Ask,
    Done,
    Found,
    Problem,
    Request,
    State,
    Summary,
    Target,
    Verdict,
    Visit,
)
from ronda.probes import Handlers, Unsupported, verdict
from ronda.workers.book import Book
from ronda.workers.gate import Gate
from ronda.workers.threads import in_thread

BATCH = 2000  # references read at a time
PLENTY = 20_000  # queued visits above which no more are read
RESOLVERS = 64  # names looked up at once

Item = Target | Visit
Work = Callable[["Run"], Coroutine[Any, Any, None]]


class Fetch(Protocol):
    """What a run needs of the room that asks."""

    async def ask(self, request: Request, address: str, last: bool) -> Answer:
        """One request, one answer."""


class Address(Protocol):
    """An address, or the answer to give in its place."""

    @property
    def address(self) -> str:
        """Where the host lives; "" when it has no address."""

    @property
    def failure(self) -> Answer | None:
        """Why it has none."""


class Resolve(Protocol):
    """What a run needs of the name servers."""

    async def find(self, name: str) -> Address:
        """The address of a host name."""

    def known(self, name: str) -> Address:
        """What was found out before."""


class Read(Protocol):
    """What a run needs of the room that finds targets."""

    def __call__(
        self, body: bytes, url: str, content_type: str
    ) -> Iterator[Found | Problem]:
        """The links of a document."""


class Parts(Struct, frozen=True):
    """The parts a run is made of, wired in `app`."""

    settings: Settings
    clock: Clock
    frontier: Frontier
    handlers: Handlers
    scope: Scope
    fetch: Fetch
    names: Resolve
    read: Read
    book: Book


class Run:
    """Counts everything in and everything out; over when the two are equal."""

    def __init__(self, parts: Parts, found: Iterable[Found | Problem]) -> None:
        self._parts = parts
        self._found = iter(found)
        self._frontier = parts.frontier
        self._book = parts.book
        self._now = parts.clock.now
        self.handlers = parts.handlers
        robots = parts.settings.check.robots
        self._gate = Gate(parts.settings.fetch.user_agent) if robots else None
        self._idle: deque[asyncio.Future[None]] = deque()
        self._unnamed: deque[str] = deque()
        self._resolvers = 0
        self._timer: asyncio.TimerHandle | None = None
        self._room = asyncio.Event()
        # Balanced at the end: every visit begun has ended, and nothing is being read.
        self.begun = 0
        self.ended = 0
        self.requests = 0
        self.fed = False
        self.stopped = ""
        self.excluded: set[str] = set()
        self.problems: list[Problem] = []
        self.started_at = self._now()

    # -- in ----------------------------------------------------------------------

    async def feed(self) -> None:
        """Read references while the frontier has room for them."""
        try:
            while batch := await in_thread(lambda: list(islice(self._found, BATCH))):
                for found in batch:
                    self.admit(found)
                while self._frontier.queued > PLENTY:
                    self._room.clear()
                    await self._room.wait()
        finally:
            self.fed = True
            self._wake()

    def admit(self, found: Found | Problem) -> None:
        """Take in a reference: a new URL is put on its way, a known one only noted."""
        if isinstance(found, Problem):
            self.problems.append(found)
            return
        page, fragment = urls.split_fragment(found.url)
        if page not in self._parts.scope:
            self.excluded.add(page)
        elif self._book.note(page, fragment, found.place):
            self._start(page, found.reads)

    def _start(self, page: str, reads: bool) -> None:
        handler = self.handlers[urls.scheme(page)]
        if not handler.allow(page):
            self._refuse(page, isinstance(handler, Unsupported))
            return
        anchors = self._parts.settings.check.fragments
        target = Target(page, handler.classify(page), reads, anchors)
        self.begun += 1
        self._put(target)

    def _refuse(self, page: str, unsupported: bool) -> None:
        if unsupported:
            found = verdict("scheme_unsupported", urls.scheme(page))
        else:
            found = verdict("policy_disallowed")
        target = Target(page, "")
        self._book.record(Visit(target, Request(page), ""), found, Answer())

    def _put(self, item: Item, delay: float = 0.0) -> None:
        if self._gate is not None and _has_robots(item):
            passed = self._gate.check(item)
            if isinstance(passed, Verdict):
                self._turn_away(item, passed)
                return
            if passed is False:
                return
            if isinstance(passed, Visit):
                self.begun += 1
                item = passed
        self._frontier.put(item, self._now(), delay)
        if self._frontier.nameless:
            self._resolve()
        if self._idle:
            self._wake()

    def _turn_away(self, item: Item, found: Verdict) -> None:
        self._book.record(self.begin(item), found, Answer())
        self.ended += 1

    # -- names -------------------------------------------------------------------

    def _resolve(self) -> None:
        for name in self._frontier.unresolved():
            self._unnamed.append(name)
            if self._resolvers < RESOLVERS:
                self._resolvers += 1
                self._spawn(self._name_hosts(), "names")

    async def _name_hosts(self) -> None:
        while self._unnamed:
            name = self._unnamed.popleft()
            found = await self._parts.names.find(name)
            self._frontier.resolved(name, found.address, self._now())
            self._wake()
        self._resolvers -= 1

    # -- the worker's four steps ---------------------------------------------------

    async def take(self) -> tuple[int, Lease] | None:
        """The next lease, as soon as there is one; None when the run is over."""
        while not self.stopped:
            taken = self._frontier.take(self._now())
            if self._frontier.nameless:
                self._resolve()
            if taken is not None:
                if self._idle:
                    self._pass_on()
                return taken
            if self._over:
                break
            waiter = asyncio.get_running_loop().create_future()
            self._idle.append(waiter)
            self._set_timer()
            await waiter
        self._wake_all()
        return None

    def begin(self, item: Item) -> Visit:
        """A visit under way as it is; a target with its first request."""
        if isinstance(item, Visit):
            return item
        handler = self.handlers[urls.scheme(item.url)]
        return Visit(item, handler.begin(item), item.host)

    async def ask(self, request: Request, lease: Lease) -> Answer:
        """The answer to a request, from the address its host was found at."""
        host = lease.host
        if host.server is None and host.name:
            failure = self._parts.names.known(host.name).failure
            if failure is not None:
                return failure
        self.requests += 1
        last = lease.last and self.fed
        return await self._parts.fetch.ask(request, host.pin, last)

    async def settle(
        self, trans: int, visit: Visit, answer: Answer, step: Ask | Done
    ) -> None:
        """Close a lease: the visit goes on, or its verdict is recorded."""
        now = self._now()
        if step.hold:  # before the lease ends: an idle host would be forgotten
            self._frontier.hold(visit.host, now + step.hold)
        if not self._frontier.done(trans, now):
            return  # taken back meanwhile: another worker has it
        if self._frontier.nameless:
            self._resolve()
        if isinstance(step, Ask):
            self._put(step.visit, step.delay)
        else:
            await self._end(visit, answer, step.verdict)
        if not self._room.is_set() and self._frontier.queued < PLENTY:
            self._room.set()
        if self._idle:
            self._pass_on()

    async def _end(self, visit: Visit, answer: Answer, found: Verdict) -> None:
        if visit.target.robots and self._gate is not None:
            for item, passed in self._gate.learn(visit.target, answer):
                if isinstance(passed, Verdict):
                    self._turn_away(item, passed)
                else:
                    self._frontier.put(item, self._now())
        else:
            self._book.record(visit, found, answer)
            if visit.target.reads and answer.body and found.state in _READABLE:
                await self._read(visit, answer)
        self.ended += 1

    async def _read(self, visit: Visit, answer: Answer) -> None:
        """Follow the links on a document that the user named."""
        kind = answer.header("content-type")
        links = self._parts.read(answer.body, visit.request.url, kind)
        for found in await in_thread(lambda: list(links)):
            self.admit(found)

    # -- waking --------------------------------------------------------------------

    @property
    def _over(self) -> bool:
        return self.fed and self.begun == self.ended

    def _pass_on(self) -> None:
        """Wake one more worker if there is work for it, or see that one is in time."""
        if self._frontier.ready or self._over:
            self._wake()
        else:
            self._set_timer()

    def _wake(self) -> None:
        while self._idle:
            waiter = self._idle.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return

    def _wake_all(self) -> None:
        while self._idle:
            self._wake()
        self._room.set()

    def _set_timer(self) -> None:
        """Wake a worker at the moment the frontier has something due."""
        moment = self._frontier.next_at()
        if moment is None:
            return
        loop = asyncio.get_running_loop()
        delay = max(0.0, moment - self._now())
        if self._timer is not None:
            if self._timer.when() <= loop.time() + delay:
                return
            self._timer.cancel()
        self._timer = loop.call_later(delay, self._on_time)

    def _on_time(self) -> None:
        self._timer = None
        self._wake()

    # -- the whole -------------------------------------------------------------------

    def stop(self, why: str) -> None:
        """Take nothing more; what is under way may end."""
        self.stopped = self.stopped or why
        self._feeding.cancel()
        self._wake_all()

    async def carry_out(self, work: "Work", count: int) -> None:
        """Feed, and let some workers work, until all is over."""
        async with asyncio.TaskGroup() as self._tasks:
            self._feeding = self._spawn(self.feed(), "feed")
            for number in range(count):
                self._spawn(work(self), f"worker {number}")
        if self._timer is not None:
            self._timer.cancel()

    def _spawn(
        self, coroutine: Coroutine[Any, Any, None], name: str
    ) -> asyncio.Task[None]:
        return self._tasks.create_task(coroutine, name=name)

    @property
    def counts(self) -> Mapping[State, int]:
        """Verdicts so far."""
        return self._book.counts

    @property
    def done(self) -> int:
        """How many URLs have a verdict."""
        return self._book.counts.total()

    @property
    def total(self) -> int:
        """How many URLs are known to need one."""
        return len(self._book)

    @property
    def seconds(self) -> float:
        """How long the run has taken."""
        return self._now() - self.started_at

    def waiting(self, count: int) -> list[tuple[str, int]]:
        """The hosts with the longest queues."""
        return self._frontier.waiting(count)

    def summary(self) -> Summary:
        """The run so far in numbers."""
        return Summary(
            counts=dict(self._book.counts),
            excluded=len(self.excluded),
            problems=tuple(self.problems),
            requests=self.requests,
            seconds=self.seconds,
            interrupted=self.stopped,
            left=self.total - self.done,
        )


_READABLE = {State.OK, State.WARNING}


def _has_robots(item: Item) -> bool:
    if isinstance(item, Target):
        return not item.robots and item.url.startswith("http")
    return not item.target.robots and item.request.url.startswith("http")
