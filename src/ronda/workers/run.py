"""One run: what comes in, what is under way, what has ended, and when all is over."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from ronda.errors import RondaError
from ronda.frontier import Item, Lease
from ronda.frontier.bandwidth import Bandwidth
from ronda.model import (
    RESTING,
    VETOED,
    Answer,
    Ask,
    Done,
    Found,
    Service,
    State,
    Summary,
    Target,
    Verdict,
    Visit,
)
from ronda.workers.account import Account
from ronda.workers.addresses import Addresses
from ronda.workers.balance import Balance
from ronda.workers.crew import Crew, Fate, Member
from ronda.workers.entrance import Entrance
from ronda.workers.feedback import Feedback
from ronda.workers.foreman import Foreman
from ronda.workers.handover import NO_LEAVE, Handover
from ronda.workers.hangs import Hangs, Held
from ronda.workers.heirs import Heirs
from ronda.workers.idle import Idle
from ronda.workers.intake import Intake
from ronda.workers.pages import Page
from ronda.workers.parts import Batches, Parts
from ronda.workers.pushing import Pushing
from ronda.workers.reading import Reading, Room
from ronda.workers.remarks import last_line
from ronda.workers.states import Role, WorkerState
from ronda.workers.visits import begin, begin_bare, charged, target_of
from ronda.workers.why import Why

if TYPE_CHECKING:
    from ronda.store.crawls import CrawlStore
    from ronda.workers.resuming import Resuming

Loop = Callable[["Run", Member], Coroutine[Any, Any, None]]

log = logging.getLogger(__name__)

CRAWLERS = 2  # so that small pages need not wait for a large one


class Run:
    """Counts everything in and everything out; over when the two are equal."""

    def __init__(self, parts: Parts, found: Batches) -> None:
        self._parts = parts
        self._found = found
        self._frontier = parts.frontier
        self._book = parts.book
        self._memory = parts.memory
        self._events = parts.events
        self._survey = parts.survey
        self._fetch = parts.fetch
        self._now = parts.clock.now
        self.now = self._now
        self.epoch = parts.clock.epoch
        self.handlers = parts.handlers
        self.plans = parts.plans
        # Told which visit of a plan waits for its host, and which has its turn there.
        self.waits: Callable[[Visit], None] = _unheard
        self.asks: Callable[[Visit], None] = _unheard
        # Whether a visit is to end before its next task.
        self.is_stopped: Callable[[Visit], bool] = _goes_on
        self.crew = Crew(strict=parts.strict)
        self._balance = Balance()
        self._entrance = Entrance(
            parts, self._balance, self._end, self._entered, self._follow_sitemap
        )
        self._idle = Idle(parts.clock)
        self._grants = parts.grants
        self._addresses = Addresses(
            parts.names,
            parts.frontier,
            parts.clock,
            self._idle.wake,
            parts.grants,
            Handover(parts, self._balance, self._entrance),
        )
        self._feedback = Feedback(
            parts.frontier, self._addresses, parts.is_public, parts.clock, parts.log
        )
        self._intake = Intake(parts, self._start)
        self._pushing = Pushing(parts, self._intake)
        self.reading = Reading(
            parts, self._pushing, self._balance, self._pass_on, self._entrance
        )
        self._heirs = Heirs(
            parts, self.reading, self._entrance, self._end, self._release
        )
        self._hangs = Hangs(
            _longest(parts),
            parts.clock,
            self._heirs.give_up,
            self._cut_off,
        )
        self._bandwidth = Bandwidth(parts.settings.crawl.bandwidth)
        self.account = Account(
            parts,
            self.crew,
            self._balance,
            self._intake,
            self._hangs,
            Why(parts.frontier, self._entrance.gate, parts.book, parts.handlers),
        )
        self._resuming: Resuming | None = None
        self._feeding: asyncio.Task[None] | None = None
        self._foreman: Foreman
        self._tasks: asyncio.TaskGroup
        self._bytes = 0  # that this process received
        self.stopped = ""

    # -- in ----------------------------------------------------------------------

    async def feed(self) -> None:
        """Read all references: whoever comes last must not wait for a slow first."""
        try:
            if self._resuming is not None:
                await self._resuming.carry_out()
            async for batch in self._found:
                for found in batch:
                    self._intake.admit(found)
                # Known before anybody is asked: then the last request to a host is
                # known to be the last, and its connection need not be kept.
                self._balance.fed = self._found.over
        finally:
            self._balance.fed = True
            self._idle.wake()

    def _start(self, item: Item) -> None:
        self._balance.begun += 1
        if self._memory is not None and isinstance(item, Target):
            self._memory.added(item)
        if not self.reading.hold_back(item):
            self._entrance.put(item)

    def carry_on(self, visit: Visit) -> None:
        """Take in a visit that another process has begun."""
        self._balance.begun += 1
        if self.plans is not None:
            visit = self.plans.restored(visit)
        self._entrance.put(visit)

    def visit_plan(self, target: Target, service: Service) -> None:
        """Begin a visit of a target that has a plan; it may end without a request."""
        assert self.plans is not None  # noqa: S101  # who else would call
        self._balance.begun += 1
        step = self.plans.start(target, service, self.epoch())
        if isinstance(step, Ask):
            self.waits(step.visit)
            self._entrance.put(charged(step.visit))
        else:
            assert step.visit is not None  # noqa: S101  # it tells how far it came
            self._end(step.visit, step.verdict, Answer())
            self._pass_on()

    def _entered(self) -> None:
        """Something was queued: its name may have to be found, and a worker woken."""
        if self._frontier.nameless:
            self._addresses.look_up(self._spawn)
        if self._idle:
            self._idle.wake()

    def _end(self, visit: Visit, found: Verdict, answer: Answer) -> None:
        """A visit has ended, and there is nothing to read."""
        result = self._book.record(visit, found, answer)
        if result is not None and self._memory is not None:
            self._memory.ended(result)
        self._balance.ended += 1

    # -- what a fetcher does -----------------------------------------------------------

    async def take(self, me: Member) -> Held | None:
        """The next lease, as soon as there is one; None when the run is over."""
        if me.state is WorkerState.SLEEPING:
            me.become(WorkerState.WAITING, me.since)
        while not self.stopped:
            now = self._now()
            if now >= self._frontier.silent_at:
                self._say_working(now)
            self._entrance.open_anew(now)
            free_at = self._bandwidth.free_at
            if self._grants is not None and now >= self._grants.until:
                free_at = now + NO_LEAVE
            taken = self._frontier.take(now) if free_at <= now else None
            if self._frontier.nameless:
                self._addresses.look_up(self._spawn)
            if taken is not None:
                if self._idle:
                    self._pass_on()
                self.reading.look_for_room()
                return self._hand_out(*taken, me)
            if self._balance.over:
                break
            next_at = self._frontier.next_at()
            if free_at > now:
                next_at = free_at
            self._idle.wake_at(next_at)
            await self._idle.wait()
        self._idle.wake_all()
        return None

    def _hand_out(self, trans: int, lease: Lease, me: Member) -> Held:
        me.become(WorkerState.BEFORE_WORK, lease.started_at, target_of(lease.item).url)
        until = lease.started_at + self._hangs.seconds
        me.hands = held = Held(trans, lease, me, until)
        held.visit = begin_bare(lease.item)  # should the next line raise
        held.visit = self.begin(lease.item)
        if held.visit.progress is not None:
            self.asks(held.visit)
        return held

    def _say_working(self, now: float) -> None:
        """Keep alive what is held here: its own deadline is watched by `Hangs`."""
        for trans in self._hangs:
            self._frontier.working(trans, now)

    def begin(self, item: Item) -> Visit:
        """A visit under way as it is; a target with its first request."""
        visit = begin(item, self.handlers)
        if self._memory is None or visit.request.etag:
            return visit
        if not visit.target.reads and not visit.request.raw:
            return visit
        url, keep = visit.request.url, self._parts.keep
        known = self._memory.known(url)
        if known is None or not (known.etag or known.since):
            return visit
        # A redirect to what is saved already is to be saved as well.
        if keep is not None and (visit.hops or not keep.has(url)):
            return visit
        request = replace(visit.request, etag=known.etag, since=known.since)
        return replace(visit, request=request)

    def ask(self, held: Held, me: Member) -> Awaitable[Answer]:
        """The answer to a request, from the address its host was found at."""
        lease, visit = held.lease, held.visit
        me.become(WorkerState.DOWNLOADING, lease.started_at)
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
        if self._events and not self._events.before_request(visit.request):
            return _known(Answer(error=VETOED))
        if self._memory is not None:
            self._memory.asking(lease)
        self.account.requests += 1
        lease.asked = True
        last = lease.last and self._balance.fed and self._parts.reach is None
        held.asking = self._fetch.ask(visit.request, host.pin, last, address)
        self._hangs.begin(held)
        return held.asking

    def settle(self, held: Held, answer: Answer, step: Ask | Done) -> Page | None:
        """Close a lease: the visit goes on, or its verdict is recorded.

        A page is returned that is still to be read or saved; its visit has not ended.
        """
        trans, lease, visit = held.trans, held.lease, held.visit
        now = lease.ended_at = self._now()
        self._hangs.end(trans)
        if not self._frontier.holds(trans):
            self._feedback.came_late(lease, visit, answer)
            return None  # taken back meanwhile: another worker has it
        # All before the lease ends: a host that is idle would be forgotten, and with
        # it the address that it was moved to.
        if lease.asked:
            step = self._feedback.heed(trans, lease, visit, answer, step)
            self._received(visit, answer, now)
        learnt = isinstance(step, Done) and visit.target.robots
        waiting = self._entrance.learn(lease, visit, answer, now) if learnt else []
        if isinstance(step, Ask):
            self._entrance.put(charged(step.visit), step.delay)
        held.ended = True
        self._frontier.done(trans, now, answer.sent_at)
        if self._memory is not None:
            rests = self._frontier.rests_until(lease.host.name, now)
            self._memory.asked(lease, rests)
        if self._grants is not None:
            rests = self._frontier.rests_until(lease.host.name, now)
            self._grants.asked(lease, rests)
        if self._frontier.nameless:
            self._addresses.look_up(self._spawn)
        page = None
        if learnt:
            self._entrance.let_go_on(waiting)
            self.reading.look_for_room()
        elif isinstance(step, Done):
            page = self._conclude(lease, step.visit or visit, step.verdict, answer)
        elif self._parts.keep is not None and visit.request.raw and lease.asked:
            page = Page(visit, answer, public=False, parent=None, ends=False)
        self._balance.pages_told += page is not None
        if self._idle:
            self._pass_on()
        return page

    def _received(self, visit: Visit, answer: Answer, now: float) -> None:
        if self._events:
            self._events.after_request(visit.request, answer)
        if self._survey is None or not answer.size:
            return
        self._bandwidth.spent(answer.size, now)
        most = self._parts.settings.crawl.max_bytes
        self._survey.bytes += answer.size
        self._bytes += answer.size
        if self._bytes >= (most or inf):
            self.stop(f"{most:,} bytes were received (max_bytes)")

    def _conclude(
        self, lease: Lease, visit: Visit, found: Verdict, answer: Answer
    ) -> Page | None:
        """Record the verdict of a visit; what is left of it to be read or saved."""
        named = self._addresses.timed(visit.host, answer)
        parent, kind = None, ""
        if visit.target.reads and found.state in _READABLE:
            kind = self._pushing.kind(visit, answer)
            parent = self._pushing.parent(visit, kind)
        keeps = self._parts.keep is not None and visit.request.raw
        if parent is None and not keeps:
            self._end(visit, found, named)
            return None
        digest = ""
        if self._survey is not None:
            digest = self._pushing.digest(visit, answer)
        result = self._book.record(visit, found, named, digest, kind)
        server = lease.server
        public = server is None or self._parts.is_public(server.address)
        return Page(visit, answer, public, parent, True, result, digest, kind)

    def _follow_sitemap(self, found: Found) -> None:
        reach = self._parts.reach
        if reach is not None and reach.is_home(found.place.document):
            self._intake.admit(found)

    # -- what crawlers and workers do --------------------------------------------------

    async def read(self, page: Page | Room, me: Member) -> None:
        """Read a page, or let links go on that were held back."""
        if isinstance(page, Page):
            await self.reading.read(page, me)
        else:
            self.reading.let_go_on(self._entrance.put, me)
        self.crew.finished(me, self._now())

    async def keep(self, page: Page, me: Member) -> None:
        """Save a page."""
        await self.reading.keep(page, me)
        self.crew.finished(me, self._now())

    def _pass_on(self) -> None:
        """Wake one more worker if there is work for it, or see that one is in time."""
        if self._frontier.ready or self._balance.over:
            self._idle.wake()
        else:
            self._idle.wake_at(self._frontier.next_at())

    def _release(self, held: Held) -> None:
        self._hangs.end(held.trans)

    def _cut_off(self, held: Held) -> None:
        """End the worker that holds it; what it held goes back."""
        self._foreman.cut_off(held.member)

    def _inherit(self, member: Member, fate: Fate, error: BaseException) -> None:
        """Let nothing be lost of what a worker that died had in its hands."""
        self._heirs.inherit(member, fate, error)
        if fate is Fate.LOST_CREW:
            self.stop(f"the crew could not be rebuilt: {last_line(error)}")
            self.reading.close()
        self._pass_on()

    # -- the whole -------------------------------------------------------------------

    def resume(self, store: "CrawlStore") -> None:
        """Go on where an earlier process was, before anything else is taken in."""
        from ronda.workers.resuming import Resuming  # noqa: PLC0415  # see app

        self._resuming = Resuming(
            store, self._parts, self._intake, self._pushing, self._resume
        )

    def _resume(self, target: Target) -> None:
        self._balance.begun += 1
        if not self.reading.hold_back(target):
            self._entrance.put(target)

    def stop(self, why: str) -> None:
        """Take nothing more; what is under way may end."""
        self.stopped = self.account.interrupted = self.stopped or why
        self._addresses.stopped = True
        if self._feeding is not None:
            self._feeding.cancel()
        self._idle.wake_all()

    async def carry_out(self, loops: Mapping[Role, Loop], count: int) -> None:
        """Feed, and let a crew work, until all is over."""
        bound = {role: partial(loop, self) for role, loop in loops.items()}
        self._foreman = Foreman(self.crew, bound, self._inherit, self._now)
        async with asyncio.TaskGroup() as self._tasks:
            if self._memory is not None:
                self._memory.failed = self._fail
                self._memory.beyond = self._intake.beyond
            self._feeding = self._spawn(self.feed(), "feed")
            if self.stopped:
                self._feeding.cancel()
            start = partial(self._foreman.start, spawn=self._spawn)
            fetchers = start(Role.FETCHER, count)
            crawlers = start(Role.CRAWLER, CRAWLERS)
            if self._parts.keep is not None:
                start(Role.WORKER, 1)
            self._spawn(self.reading.wind_up(fetchers, crawlers), "wind up")
        self._idle.close()
        self._hangs.close()

    def end(self, summary: Summary) -> None:
        """Tell the plug-ins that all is over."""
        if self._events:
            self._events.run_ended(summary)

    def _fail(self, error: RondaError) -> None:
        """End the run by an error that was raised where nobody waits for it."""
        self._spawn(_raised(error), "failure")

    def cut_off(self) -> None:
        """Let others know whom we have asked, and did not hear of."""
        if self._grants is not None:
            for held in self._hangs.all():
                self._grants.asked(held.lease, 0.0)

    def close(self) -> None:
        """Tell the log of what was still under way when the run was cut off."""
        for held in self._hangs.all():
            self._feedback.cut_off(held.lease, held.visit)

    def _spawn(
        self, coroutine: Coroutine[Any, Any, None], name: str
    ) -> asyncio.Task[None]:
        return self._tasks.create_task(coroutine, name=name)


# As from a name server that fails: tried again, and then at an address.
NAME_LATE = Answer(error=6, errno=1, error_text="the name was found too late")
_READABLE = {State.OK, State.WARNING}


def _longest(parts: Parts) -> float:
    """Seconds that one request may take, whoever carries it."""
    seconds = parts.settings.fetch.timeout
    return seconds if parts.plans is None else max(seconds, parts.plans.longest)


def _goes_on(_visit: Visit) -> bool:
    return False


def _unheard(_visit: Visit) -> None:
    """Nobody wants to know."""


async def _raised(error: RondaError) -> None:
    raise error


async def _known(answer: Answer) -> Answer:
    """An answer for which nobody needs to be asked."""
    return answer
