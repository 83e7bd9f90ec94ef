"""One run: what comes in, what is under way, what has ended, and when all is over."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

from msgspec.structs import replace

from ronda import urls
from ronda.frontier import Item, Lease, Wait
from ronda.model import (
    RESTING,
    Answer,
    Ask,
    Done,
    Place,
    Problem,
    State,
    Summary,
    Verdict,
    Visit,
)
from ronda.workers.addresses import Addresses
from ronda.workers.feed import ThreadedFeed
from ronda.workers.feedback import Feedback
from ronda.workers.gate import Gate, Passed, has_robots
from ronda.workers.idle import Idle
from ronda.workers.intake import Intake
from ronda.workers.parts import Batches, Parts
from ronda.workers.visits import begin, charged
from ronda.workers.why import Why

Work = Callable[["Run"], Coroutine[Any, Any, None]]


class Run:
    """Counts everything in and everything out; over when the two are equal."""

    def __init__(self, parts: Parts, found: Batches) -> None:
        self._parts = parts
        self._found = found
        self._frontier = parts.frontier
        self._book = parts.book
        self._fetch = parts.fetch
        self._now = parts.clock.now
        self.handlers = parts.handlers
        self._gate: Gate | None = None
        if parts.settings.check.robots:
            agent = parts.settings.fetch.agent
            self._gate = Gate(agent, parts.shelf, self._heed_delay, parts.attic)
        self._idle = Idle(parts.clock)
        self._addresses = Addresses(
            parts.names, parts.frontier, parts.clock, self._idle.wake
        )
        self._feedback = Feedback(
            parts.frontier, self._addresses, parts.is_public, parts.clock, parts.log
        )
        self._intake = Intake(parts, self._start)
        self._why = Why(parts.frontier, self._gate, parts.book, parts.handlers)
        self._feeding: asyncio.Task[None] | None = None
        # Leases that a worker of ours is busy with.
        self._held: dict[int, tuple[Lease, Visit]] = {}
        # One page at a time: taken apart it is many times as large, and its thread
        # takes turns with the loop, for which answers wait.
        self._reading = asyncio.Lock()
        # Balanced at the end: every visit begun has ended, and nothing is being read.
        self.begun = 0
        self.ended = 0
        self.requests = 0
        self.fed = False
        self.stopped = ""
        self.started_at = self._now()

    # -- in ----------------------------------------------------------------------

    async def feed(self) -> None:
        """Read all references: whoever comes last must not wait for a slow first."""
        try:
            async for batch in self._found:
                for found in batch:
                    self._intake.admit(found)
                # Known before anybody is asked: then the last request to a host is
                # known to be the last, and its connection need not be kept.
                self.fed = self._found.over
        finally:
            self.fed = True
            self._idle.wake()

    def _start(self, item: Item) -> None:
        self.begun += 1
        self._put(item)

    def _put(self, item: Item, delay: float = 0.0) -> None:
        if self._gate is not None and has_robots(item):
            passed = self._gate.check(item, self._now())
            if isinstance(passed, Visit):
                self.begun += 1
                item = passed
            elif passed is not True:
                self._turn_away(item, passed)
                return
        self._frontier.put(item, self._now(), delay)
        if self._frontier.nameless:
            self._addresses.look_up(self._spawn)
        if self._idle:
            self._idle.wake()

    def _turn_away(self, item: Item, passed: Passed) -> None:
        """End an item that may not be asked; one that only waits is left alone."""
        if isinstance(passed, Verdict):
            self._book.record(self.begin(item), passed, Answer())
            self.ended += 1
        elif isinstance(passed, Answer):
            # As if it had been asked, for the last time, and met the same fault.
            visit = self.begin(item)
            tries = self._parts.settings.fetch.retries
            last = replace(
                visit,
                request=replace(visit.request, method="GET", fresh=True),
                attempts=visit.attempts + tries,
            )
            handler = self.handlers.of(visit.target.url)
            step = handler.advance(last, passed, self._parts.clock.utc().timestamp())
            if isinstance(step, Done):
                self._book.record(visit, step.verdict, passed)
            self.ended += 1

    # -- the worker's four steps ---------------------------------------------------

    async def take(self) -> tuple[int, Lease] | None:
        """The next lease, as soon as there is one; None when the run is over."""
        while not self.stopped:
            now = self._now()
            if now >= self._frontier.silent_at:
                self._say_working(now)
            if self._gate is not None and now >= self._gate.ends_at:
                self._ask_anew(self._gate.ended(now))
            taken = self._frontier.take(now)
            if self._frontier.nameless:
                self._addresses.look_up(self._spawn)
            if taken is not None:
                if self._idle:
                    self._pass_on()
                return taken
            if self._over:
                break
            self._idle.wake_at(self._frontier.next_at())
            await self._idle.wait()
        self._wake_all()
        return None

    def _ask_anew(self, hosts: set[str]) -> None:
        """Let those pass the gate again who are queued by rules that have ended."""
        for host in hosts:
            for item in self._frontier.recall(host):
                self._put(item)

    def _say_working(self, now: float) -> None:
        """Keep alive what is held here: a slow answer is not a lost worker."""
        for trans in self._held:
            self._frontier.working(trans, now)

    def begin(self, item: Item) -> Visit:
        """A visit under way as it is; a target with its first request."""
        return begin(item, self.handlers)

    def ask(self, trans: int, lease: Lease, visit: Visit) -> Awaitable[Answer]:
        """The answer to a request, from the address its host was found at."""
        host, server = lease.host, lease.server
        if server is not None:
            address = server.address
        elif lease.rests:
            return _known(Answer(error=RESTING, error_text=lease.rests))
        else:
            failure = self._addresses.failure(host.name) if host.name else None
            if failure is not None:
                return _known(failure)
            if host.name and ":" not in host.name:  # found only just now: come back
                return _known(NAME_LATE)
            address = ""
        self.requests += 1
        lease.asked = True
        self._held[trans] = lease, visit
        last = lease.last and self.fed
        return self._fetch.ask(visit.request, host.pin, last, address)

    def settle(
        self, trans: int, lease: Lease, visit: Visit, answer: Answer, step: Ask | Done
    ) -> bool:
        """Close a lease: the visit goes on, or its verdict is recorded.

        True when the visit's page is still to be read; only then has it not ended.
        """
        now = lease.ended_at = self._now()
        self._held.pop(trans, None)
        if not self._frontier.holds(trans):
            self._feedback.came_late(lease, visit, answer)
            return False  # taken back meanwhile: another worker has it
        # All before the lease ends: a host that is idle would be forgotten, and with
        # it the address that it was moved to.
        if lease.asked:
            step = self._feedback.heed(trans, lease, visit, answer, step)
        learnt = isinstance(step, Done) and visit.target.robots
        waiting = self._learn(lease, visit, answer, now) if learnt else []
        if isinstance(step, Ask):
            self._put(charged(step.visit), step.delay)
        self._frontier.done(trans, now, answer.sent_at)
        if self._frontier.nameless:
            self._addresses.look_up(self._spawn)
        to_read = False
        if learnt:
            self._let_go_on(waiting)
        elif isinstance(step, Done):
            named = self._addresses.timed(visit.host, answer)
            self._book.record(step.visit or visit, step.verdict, named)
            to_read = visit.target.reads and step.verdict.state in _READABLE
            self.ended += not to_read
        if self._idle:
            self._pass_on()
        return to_read

    def _learn(
        self, lease: Lease, visit: Visit, answer: Answer, now: float
    ) -> list[tuple[Item, Passed]]:
        """Take in a robots.txt; those of strangers are kept for runs to come."""
        assert self._gate is not None  # noqa: S101  # it asked for the file
        server = lease.server
        keep = server is not None and self._parts.is_public(server.address)
        return list(self._gate.learn(visit, answer, now, keep=keep))

    def _heed_delay(self, host: str, delay: float) -> None:
        self._parts.policy.heed(host, delay)
        self._frontier.limit(host, self._now())

    def _let_go_on(self, waiting: list[tuple[Item, Passed]]) -> None:
        """Let go on, or end, those who waited for a robots.txt."""
        for item, passed in waiting:
            if passed is True:
                self._frontier.put(item, self._now())
            elif passed is False:
                self._put(item)  # the rules were refused to a stranger's link only
            else:
                self._turn_away(item, passed)
        self.ended += 1

    async def read(self, lease: Lease, visit: Visit, answer: Answer) -> None:
        """Follow the links on a document that the user named; then its visit ends."""
        kind = answer.header("content-type")
        links = self._parts.read(answer.body, visit.request.url, kind)
        if answer.cut and answer.body:
            limit = self._parts.settings.fetch.body_limit
            words = f"longer than {limit:,} bytes (body_limit): links may be missing"
            place = Place(urls.without_credentials(visit.request.url))
            self._intake.tell(Problem(place, words, grave=False))
        server = lease.server
        public = server is None or self._parts.is_public(server.address)
        async with self._reading:
            async for batch in ThreadedFeed(links):
                for found in batch:
                    self._intake.admit_fetched(found, visit.request.url, public)
        self.ended += 1
        self._pass_on()

    @property
    def _over(self) -> bool:
        return self.fed and self.begun == self.ended

    def _pass_on(self) -> None:
        """Wake one more worker if there is work for it, or see that one is in time."""
        if self._frontier.ready or self._over:
            self._idle.wake()
        else:
            self._idle.wake_at(self._frontier.next_at())

    # -- the whole -------------------------------------------------------------------

    def stop(self, why: str) -> None:
        """Take nothing more; what is under way may end."""
        self.stopped = self.stopped or why
        self._addresses.stopped = True
        if self._feeding is not None:
            self._feeding.cancel()
        self._wake_all()

    def _wake_all(self) -> None:
        self._idle.wake_all()

    async def carry_out(self, work: "Work", count: int) -> None:
        """Feed, and let some workers work, until all is over."""
        async with asyncio.TaskGroup() as self._tasks:
            self._feeding = self._spawn(self.feed(), "feed")
            for number in range(count):
                self._spawn(work(self), f"worker {number}")
        self._idle.close()

    def close(self) -> None:
        """Tell the log of what was still under way when the run was cut off."""
        for lease, visit in self._held.values():
            self._feedback.cut_off(lease, visit)

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

    def waiting(self, count: int) -> list[Wait]:
        """The hosts with the longest queues, and what they wait for."""
        now = self._now()
        names = [name for name, _ in self._frontier.waiting(count)]
        return [found for name in names if (found := self._frontier.why(name, now))]

    def why(self, text: str) -> list[Wait]:
        """What a URL or a host waits for."""
        return self._why(text, self._now())

    def summary(self) -> Summary:
        """The run so far in numbers."""
        return Summary(
            counts=dict(self._book.counts),
            excluded=len(self._intake.excluded),
            problems=tuple(self._intake.problems),
            requests=self.requests,
            seconds=self.seconds,
            interrupted=self.stopped,
            left=self.total - self.done,
        )


# As from a name server that fails: tried again, and then at an address.
NAME_LATE = Answer(error=6, errno=1, error_text="the name was found too late")
_READABLE = {State.OK, State.WARNING}


async def _known(answer: Answer) -> Answer:
    """An answer for which nobody needs to be asked."""
    return answer
