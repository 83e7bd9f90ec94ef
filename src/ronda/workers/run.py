"""One run: what comes in, what is under way, what has ended, and when all is over."""

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from ronda import urls
from ronda.errors import RondaError
from ronda.frontier import Item, Lease, Wait
from ronda.frontier.bandwidth import Bandwidth
from ronda.model import (
    RESTING,
    VETOED,
    Answer,
    Ask,
    Done,
    Found,
    Site,
    State,
    Summary,
    Target,
    Verdict,
    Visit,
)
from ronda.probes import verdict
from ronda.workers.addresses import Addresses
from ronda.workers.balance import Balance
from ronda.workers.crew import Crew, Fate, Glimpse, Member
from ronda.workers.feedback import Feedback
from ronda.workers.foreman import Foreman, is_grave
from ronda.workers.gate import Gate, Passed, has_robots
from ronda.workers.hangs import Hangs, Held
from ronda.workers.idle import Idle
from ronda.workers.intake import Intake
from ronda.workers.pages import Page
from ronda.workers.parts import Batches, Parts
from ronda.workers.pushing import Pushing
from ronda.workers.reading import Reading, Room
from ronda.workers.remarks import last_line, remarks
from ronda.workers.states import Role, WorkerState
from ronda.workers.visits import begin, begin_bare, charged
from ronda.workers.why import Why

if TYPE_CHECKING:
    from ronda.store.crawls import CrawlStore
    from ronda.workers.resuming import Resuming

Loop = Callable[["Run", Member], Coroutine[Any, Any, None]]

log = logging.getLogger(__name__)

CRAWLERS = 2  # so that small pages need not wait for a large one
MOST_LEFT = 10  # hosts that are told of with what was not checked there


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
        self.crew = Crew(strict=parts.strict)
        self._balance = Balance()
        self._gate: Gate | None = None
        if parts.settings.check.robots:
            agent = parts.settings.fetch.agent
            named = self._follow_sitemap if parts.settings.crawl.sitemaps else None
            self._gate = Gate(agent, parts.shelf, self._heed, parts.attic, named)
        self._idle = Idle(parts.clock)
        self._addresses = Addresses(
            parts.names, parts.frontier, parts.clock, self._idle.wake
        )
        self._feedback = Feedback(
            parts.frontier, self._addresses, parts.is_public, parts.clock, parts.log
        )
        self._intake = Intake(parts, self._start)
        self._pushing = Pushing(parts, self._intake)
        self.reading = Reading(
            parts, self._pushing, self._balance, self._pass_on, self._room
        )
        self._hangs = Hangs(
            parts.settings.fetch.timeout, parts.clock, self._give_up, self._cut_off
        )
        self._bandwidth = Bandwidth(parts.settings.crawl.bandwidth)
        self._why = Why(parts.frontier, self._gate, parts.book, parts.handlers)
        self._resuming: Resuming | None = None
        self._feeding: asyncio.Task[None] | None = None
        self._foreman: Foreman
        self._tasks: asyncio.TaskGroup
        self.requests = 0
        self._bytes = 0  # that this process received
        self.stopped = ""
        self.started_at = self._now()

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

    def _room(self) -> int:
        """How many targets may still wait in memory, those at the gate too."""
        held = self._gate.waiting if self._gate is not None else 0
        return self._frontier.room - held

    def _start(self, item: Item) -> None:
        self._balance.begun += 1
        if self._memory is not None and isinstance(item, Target):
            self._memory.added(item)
        if not self.reading.hold_back(item):
            self._put(item)

    def _put(self, item: Item, delay: float = 0.0) -> None:
        if self._gate is not None and has_robots(item):
            passed = self._gate.check(item, self._now())
            if isinstance(passed, Visit):
                self._balance.begun += 1
                item = passed
            elif passed is False:
                return  # it waits in the gate
            elif passed is not True:
                self._turn_away(item, passed)
                return
        self._frontier.put(item, self._now(), delay)
        if self._frontier.nameless:
            self._addresses.look_up(self._spawn)
        if self._idle:
            self._idle.wake()

    def _turn_away(self, item: Item, passed: Verdict | Answer) -> None:
        """End an item that may not be asked."""
        if isinstance(passed, Verdict):
            self._end(self.begin(item), passed, Answer())
        else:
            # As if it had been asked, for the last time, and met the same fault.
            visit = self.begin(item)
            tries = self._parts.settings.fetch.retries
            last = replace(
                visit,
                request=replace(visit.request, method="GET", fresh=True),
                attempts=visit.attempts + tries,
            )
            handler = self.handlers.of(visit.target.url)
            step = handler.advance(last, passed, self.epoch())
            found = step.verdict if isinstance(step, Done) else verdict("own_fault")
            self._end(visit, found, passed)

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
            if self._gate is not None and now >= self._gate.ends_at:
                self._ask_anew(self._gate.ended(now))
            free_at = self._bandwidth.free_at
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
        me.become(WorkerState.BEFORE_WORK, lease.started_at, _url(lease.item))
        until = lease.started_at + self._hangs.seconds
        me.hands = held = Held(trans, lease, me, until)
        held.visit = begin_bare(lease.item)  # should the next line raise
        held.visit = self.begin(lease.item)
        return held

    def _ask_anew(self, hosts: set[str]) -> None:
        """Let those pass the gate again who are queued by rules that have ended."""
        for host in hosts:
            for item in self._frontier.recall(host):
                self._put(item)

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
        self.requests += 1
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
        waiting = self._learn(lease, visit, answer, now) if learnt else []
        if isinstance(step, Ask):
            self._put(charged(step.visit), step.delay)
        held.ended = True
        self._frontier.done(trans, now, answer.sent_at)
        if self._memory is not None:
            rests = self._frontier.rests_until(lease.host.name, now)
            self._memory.asked(lease, rests)
        if self._frontier.nameless:
            self._addresses.look_up(self._spawn)
        page = None
        if learnt:
            self._let_go_on(waiting)
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

    def _learn(
        self, lease: Lease, visit: Visit, answer: Answer, now: float
    ) -> list[tuple[Item, Passed]]:
        """Take in a robots.txt; those of strangers are kept for runs to come."""
        assert self._gate is not None  # noqa: S101  # it asked for the file
        server = lease.server
        public = server is not None and self._parts.is_public(server.address)
        keep = public or self._memory is not None
        learnt = self._gate.learn(visit, answer, now, keep=keep, public=public)
        return list(learnt)

    def _follow_sitemap(self, found: Found) -> None:
        reach = self._parts.reach
        if reach is not None and reach.is_home(found.place.document):
            self._intake.admit(found)

    def _heed(self, host: str, delay: float) -> None:
        self._parts.policy.heed(host, delay)
        self._frontier.limit(host, self._now())

    def _let_go_on(self, waiting: list[tuple[Item, Passed]]) -> None:
        """Let go on, or end, those who waited for a robots.txt."""
        self._balance.ended += 1
        for item, passed in waiting:
            try:
                self._let_one_go_on(item, passed)
            except Exception as error:  # the others wait, and must not be forgotten
                if is_grave(error):
                    raise
                log.exception("failed after robots.txt url=%s", urls.shown(_url(item)))
                found = verdict("own_fault", last_line(error))
                self._end(begin_bare(item), found, Answer())
        self.reading.look_for_room()

    def _let_one_go_on(self, item: Item, passed: Passed) -> None:
        if passed is True:
            self._frontier.put(item, self._now())
        elif passed is False:
            self._put(item)  # the rules were refused to a stranger's link only
        else:
            self._turn_away(item, passed)

    # -- what crawlers and workers do --------------------------------------------------

    async def read(self, page: Page | Room, me: Member) -> None:
        """Read a page, or let links go on that were held back."""
        if isinstance(page, Page):
            await self.reading.read(page, me)
        else:
            self.reading.let_go_on(self._put, me)
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

    # -- workers that hang or die ------------------------------------------------------

    def _give_up(self, held: Held) -> bool:
        """Answer in the place of somebody who does not: the soft way."""
        asking = held.asking
        if not isinstance(asking, asyncio.Future) or asking.done():
            return False
        self._fetch.drop(asking)
        words = f"nothing was heard of it for {self._hangs.seconds:.0f} s"
        asking.set_result(Answer(error=28, error_text=words))
        return True

    def _cut_off(self, held: Held) -> None:
        """End the worker that holds it; what it held goes back."""
        self._foreman.cut_off(held.member)

    def _inherit(self, member: Member, fate: Fate, error: BaseException) -> None:
        """Let nothing be lost of what a worker that died had in its hands."""
        hands = member.hands
        if isinstance(hands, Held):
            self._take_over(hands, fate, error)
        elif isinstance(hands, Page):
            self.reading.take_over(hands, member.role, fate, last_line(error))
        elif isinstance(hands, Room):
            target = self.reading.refill_again(fate)
            if target is not None:
                found = verdict("worker_died", last_line(error))
                self._end(begin_bare(target), found, Answer())
        if fate is Fate.LOST_CREW:
            self.stop(f"the crew could not be rebuilt: {last_line(error)}")
            self.reading.close()
        self._pass_on()

    def _take_over(self, held: Held, fate: Fate, error: BaseException) -> None:
        now = held.lease.ended_at = self._now()
        self._hangs.end(held.trans)
        if fate is not Fate.GIVEN_UP:
            # If it is neither held nor ended, it was taken back: another has it.
            if not self._frontier.give_back(held.trans, now) and held.ended:
                self._frontier.put(held.lease.item, now)
            return
        if not self._frontier.done(held.trans, now) and not held.ended:
            return  # taken back: another has it, and may fare better
        words = "".join(traceback.format_exception(error))
        if held.visit.target.robots:
            answer = Answer(error=2, error_text=last_line(error))
            self._let_go_on(self._learn(held.lease, held.visit, answer, now))
        else:
            found = verdict("worker_died", last_line(error))
            self._end(held.visit, found, Answer(error_text=words))

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
            self._put(target)

    def stop(self, why: str) -> None:
        """Take nothing more; what is under way may end."""
        self.stopped = self.stopped or why
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

    def close(self) -> None:
        """Tell the log of what was still under way when the run was cut off."""
        for held in self._hangs.all():
            self._feedback.cut_off(held.lease, held.visit)

    def _spawn(
        self, coroutine: Coroutine[Any, Any, None], name: str
    ) -> asyncio.Task[None]:
        return self._tasks.create_task(coroutine, name=name)

    @property
    def fed(self) -> bool:
        """Whether all input was read."""
        return self._balance.fed

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

    def glimpses(self) -> tuple[Glimpse, ...]:
        """What each worker is doing."""
        return self.crew.glimpses(self._now(), urls.shown)

    def open(self) -> list[tuple[str, int]]:
        """What the end of the run waits for."""
        return list(self._balance.open())

    def waiting(self, count: int) -> list[Wait]:
        """The hosts with the longest queues, and what they wait for."""
        now = self._now()
        names = [name for name, _ in self._frontier.waiting(count)]
        return [found for name in names if (found := self._frontier.why(name, now))]

    def why(self, text: str) -> list[Wait]:
        """What a URL or a host waits for; without one, the hosts that hold it up."""
        return self._why(text, self._now()) if text else self.waiting(MOST_LEFT)

    def summary(self) -> Summary:
        """The run so far in numbers."""
        left = self.total - self.done
        return Summary(
            counts=dict(self._book.counts),
            excluded=len(self._intake.excluded),
            problems=tuple(self._intake.problems),
            requests=self.requests,
            seconds=self.seconds,
            interrupted=self.stopped,
            left=left,
            left_at=dict(self._frontier.waiting(MOST_LEFT)) if left else {},
            site=self._site(),
            remarks=tuple(remarks(self.crew, self._hangs, self._parts)),
        )

    def _site(self) -> Site | None:
        if self._survey is None:
            return None
        return self._survey.site(self._book.places, self._intake.beyond)


# As from a name server that fails: tried again, and then at an address.
NAME_LATE = Answer(error=6, errno=1, error_text="the name was found too late")
_READABLE = {State.OK, State.WARNING}


def _url(item: Item) -> str:
    return (item if isinstance(item, Target) else item.target).url


async def _raised(error: RondaError) -> None:
    raise error


async def _known(answer: Answer) -> Answer:
    """An answer for which nobody needs to be asked."""
    return answer
