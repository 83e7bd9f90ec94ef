"""A watch: what is due comes from the store, and what was found goes back to it.

It stands between a run and the store. To the run it says which servers are ours to ask;
from the run it hears results and when hosts may be asked again; to the store it brings
both in turns, each of which is one transaction.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from itertools import chain
from random import Random

from msgspec.structs import replace

from ronda.clock import Clock
from ronda.config import Settings
from ronda.frontier import Frontier, Item, Lease
from ronda.frontier.schedule import Schedule, after
from ronda.model import Result, State, Verdict, Visit
from ronda.store.sql.schema import UNRESOLVED
from ronda.store.sql.store import Store
from ronda.store.sql.values import Claimed, Due, Entry, HandedOver, Pace, Turn
from ronda.workers.desk import Desk
from ronda.workers.holdings import Holding, Holdings
from ronda.workers.presence import Presence
from ronda.workers.silence import Silence
from ronda.workers.turns import Turns
from ronda.workers.visits import target_of

log = logging.getLogger(__name__)

MARGIN = 2.0  # seconds before claims lapse, from which nobody is asked any more
_ASKED_FOR = {"retry-after", "backoff"}  # rules by which a host holds us off
MOST_TURNS = 10  # turns' worth of results that may wait before nobody is asked


class Watch:
    """One process's part in the watch, from when it joins to when it leaves."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        desk: Desk,
        frontier: Frontier,
        clock: Clock,
        wall: Callable[[], float],
        random: Random | None = None,
    ) -> None:
        self._settings = settings
        self._store = store
        self._desk = desk
        self._frontier = frontier
        self._clock = clock
        self.wall = wall  # epoch seconds, by the clock that all who share the store use
        self._random = random or Random()  # noqa: S311  # jitter
        self._schedule = Schedule(settings.schedule)
        self.details = self._schedule.needs_details
        self.holdings = Holdings(settings.frontier.queue_length)
        self.process = 0
        self._silence = Silence()
        self._presence = Presence(store.database.path)
        self._turns = Turns()
        self._writing: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._urgent = False  # what came while the last turn was written cannot wait
        self._loop = asyncio.get_running_loop()
        self._held_until = 0.0  # monotonic: what is claimed may be asked to here
        self._lost = asyncio.Event()  # others have buried us
        self.failure: Exception | None = None
        self.changed: Callable[[], None] = _nothing  # told when there is room again
        self.noticed: Callable[[], None] = _nothing  # told when notices were written
        self.heard: Callable[[Entry], None] = _unheard  # told each result
        # Told the URL of a target that is no longer under way here.
        self.left: Callable[[str], None] = _unwatched

    # -- joining and leaving ---------------------------------------------------------

    async def join(self) -> None:
        """Become a process that may claim."""
        self._held_until = self._clock.now() + self._settings.store.lease - MARGIN
        self.process = await self._desk.insist(self._join)

    def _join(self) -> int:
        claims, now = self._store.claims, self.wall()
        claims.bury()
        pool, lease = self._settings.fetch.concurrency, self._settings.store.lease
        return claims.join(pool, now, lease)

    async def stay(self) -> None:
        """Give signs of life until cancelled; ends when others have buried us."""
        lease = self._settings.store.lease
        while not await self._loses(lease / 3):
            begun = self._clock.now()
            if not await self._desk.insist(self._renew, lease):
                self._lost.set()
                return
            self._held_until = begun + lease - MARGIN

    async def _loses(self, seconds: float) -> bool:
        """Wait; whether all was lost meanwhile."""
        try:
            async with asyncio.timeout(seconds):
                return await self._lost.wait()
        except TimeoutError:
            return False

    def _renew(self, lease: float) -> bool:
        self._presence.require()
        self._store.database.set_clock()
        now, frontier, claims = self.wall(), self._frontier, self._store.claims
        signs = claims.signs()
        signs.pop(self.process, None)
        claims.bury(self._silence.of(signs, self._clock.now(), lease))
        return claims.renew(self.process, now, lease, frontier.leased, frontier.queued)

    async def leave(self) -> None:
        """Write what is left, and let go of everything."""
        if self._timer is not None:
            self._timer.cancel()
        if self._writing is not None:
            await asyncio.wait([self._writing])
        while self._turns and self.failure is None:
            await self._write()
        if self.failure is None:
            await self._desk.insist(self._store.claims.leave, self.process)

    @property
    def lost(self) -> bool:
        """Whether another process has taken this one for dead."""
        return self._lost.is_set()

    # -- what the run asks (see parts.Grants) ----------------------------------------

    @property
    def until(self) -> float:
        """The moment to which what is held may be asked at all."""
        crowded = len(self._turns.entries) > MOST_TURNS * self._settings.store.batch
        return 0.0 if crowded else self._held_until

    def holds(self, host: str, server: str) -> bool:
        """Whether a host is known to live at a server that is held."""
        number = self.holdings.holds(server)
        if number is None or not self.holdings.is_home(host, server):
            return False
        self.meet(number, [host])
        return True

    async def grant(self, host: str, server: str) -> bool:
        """Hold the server at which a host was found; False: another process does."""

        def ask() -> Claimed | None:
            return self._store.claims.grant(self.process, host, server, self.wall())

        claimed = await self._desk.insist(ask)
        if claimed is None:
            return False
        self.holdings.take(claimed)
        self.meet(claimed.id, [host])
        self.holdings.may_have_more(claimed.id, more=True)
        self.changed()
        return True

    def asked(self, lease: Lease, rests: float) -> None:
        """A host was asked; when next is only remembered of those who care."""
        limits = lease.limits
        if not rests and (limits is None or not limits.paced):
            return
        now, wall = self._clock.now(), self.wall()
        began = wall - (now - lease.started_at)
        host, server = lease.host, lease.server
        self._turns.hosts[host.name] = Pace(
            asked_at=began,
            next_at=wall + (host.next_at - now),
            # With its Crawl-delay, which who comes next may not know yet.
            gap=max(host.gap, limits.interval if limits is not None else 0.0),
            rests_until=wall + (rests - now) if rests else 0.0,
        )
        number = self.holdings.holds(server.address) if server is not None else None
        if server is not None and number is not None:
            next_at = wall + (server.next_at - now)
            self._turns.servers[number] = Pace(asked_at=began, next_at=next_at)
        # What a host has asked for is written at once: a kill must not let it be asked
        # too early.
        self.write_soon(at_once=bool(rests) or host.rule in _ASKED_FOR)

    def hand_over(self, item: Item) -> None:
        """What another process must carry on, since it holds the server."""
        begun = isinstance(item, Visit)  # else it is only due, at its new server
        found = self.holdings.end(target_of(item).url, unwritten=begun)
        if found is None:
            return
        due, request = found
        if isinstance(item, Visit):
            handed = HandedOver(due, item.host, item, request)
            self._turns.handed.append(handed)
            self.write_soon()
        self.left(due.url)
        self.changed()

    def drop(self, url: str) -> None:
        """A target that has not begun is not to be checked now."""
        self.holdings.end(url, unwritten=False)
        self.changed()

    # -- what the run tells ----------------------------------------------------------

    def ended(self, result: Result) -> None:
        """A target has its verdict."""
        found = self.holdings.end(result.url)
        if found is None:
            return
        due, request = found
        entry = self._entry(due, request, result)
        self._turns.entries.append(entry)
        batch = self._settings.store.batch
        self.write_soon(at_once=len(self._turns.entries) >= batch)
        self.left(due.url)
        self.changed()

    def _entry(self, due: Due, request: int, result: Result) -> Entry:
        now = self.wall()
        if result.reason == "host_resting":
            # Nobody was asked: that says nothing about the target, now or in history.
            result = replace(result, verdict=State.UNKNOWN)
        outcome = after(
            due.standing,
            Verdict(result.verdict, result.reason, result.message),
            now,
            self._schedule.rules(due.url, due.owners, due.labels),
            every=due.every,
            draw=self._random.random(),
        )
        return Entry(
            due=due,
            result=result,
            at=now,
            standing=outcome.standing,
            next_due=outcome.next_due,
            notices=outcome.notices,
            request=request,
        )

    def keep_robots(self, authority: str, body: bytes) -> None:
        """Keep a robots.txt; at once, for it may ask for a delay."""
        self._turns.robots[authority] = body
        self.write_soon(at_once=True)

    # -- to the store ----------------------------------------------------------------

    def write_soon(self, *, at_once: bool = False) -> None:
        """Write when what there is has waited long enough, or at once."""
        if self._writing is not None:
            self._urgent = self._urgent or at_once
            return  # and looked at again after that
        if at_once:
            self._begin_writing()
        elif self._timer is None:
            age = self._settings.store.batch_age
            self._timer = self._loop.call_later(age, self._begin_writing)

    def _begin_writing(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._writing is None and self.failure is None:
            self._writing = self._loop.create_task(self._write(), name="ledger")
            self._writing.add_done_callback(self._written)

    async def _write(self) -> None:
        # All in one go: what is asked of the store from now on is answered after this.
        turn = self._turns.cut(self._settings.store.batch)
        self.holdings.written((entry.due, entry.request) for entry in turn.entries)
        self.holdings.written((handed.due, handed.request) for handed in turn.handed)
        released = self.holdings.let_go(self._frontier.lives)
        for host in chain.from_iterable(holding.hosts for holding in released):
            self._frontier.let_go(host)
        turn = replace(turn, released=tuple(holding.id for holding in released))
        try:
            written = await self._desk.insist(self._record, turn)
        except Exception as error:  # told where the session is waited for
            self.failure = error
            self._lost.set()
            return
        for entry in turn.entries:
            if entry.due.id not in written:
                self.heard(entry)
        if written:  # they are due still, and others check them
            log.warning(
                "results refused, for the claims were lost process=%d number=%d",
                self.process,
                len(written),
            )
        if any(entry.notices for entry in turn.entries):
            self.noticed()

    def _record(self, turn: Turn) -> tuple[int, ...]:
        self._presence.require()
        return self._store.ledger.write(self.process, turn, self.wall()).refused

    def _written(self, task: asyncio.Task[None]) -> None:
        self._writing = None
        if task.cancelled():
            return
        if self._turns:
            many = len(self._turns.entries) >= self._settings.store.batch
            urgent, self._urgent = self._urgent, False
            self.write_soon(at_once=many or urgent)
        self.changed()

    def look(self) -> None:
        """Let go of servers of which nothing is left to do."""
        if self.holdings.idle(self._frontier.lives):
            self.write_soon()

    # -- from the store --------------------------------------------------------------

    def meet(self, server: int, hosts: Iterable[str]) -> None:
        """Tell the frontier whom others have asked, before they are asked here."""
        holding = self.holdings.servers.get(server)
        if holding is None:
            return
        now, wall = self._clock.now(), self.wall()
        if holding.pace is not None and not holding.address.startswith(UNRESOLVED):
            self._recall_server(holding, holding.pace, now, wall)
            holding.pace = None
        for host in hosts:
            pace = holding.unmet.pop(host, None)
            if pace is not None:
                self._recall_host(host, pace, holding.inherited, now, wall)

    def _recall_server(
        self, holding: Holding, pace: Pace, now: float, wall: float
    ) -> None:
        asked_at = now + min(pace.asked_at - wall, 0.0)
        next_at = now + pace.next_at - wall
        if holding.inherited:  # it may have been asked until this moment
            self._frontier.asked_at(holding.address, now, next_at, now)
        elif next_at > now:
            self._frontier.asked_at(holding.address, asked_at, next_at, now)

    def _recall_host(
        self, host: str, pace: Pace, inherited: bool, now: float, wall: float
    ) -> None:
        if pace.rests_until > wall:
            self._frontier.leave_alone(host, now + pace.rests_until - wall)
        asked_at = now + min(pace.asked_at - wall, 0.0)
        next_at = now + pace.next_at - wall
        if inherited:
            self._frontier.asked(host, now, next_at, pace.gap)
        elif pace.asked_at:
            self._frontier.asked(host, asked_at, next_at, pace.gap)


def _unwatched(_url: str) -> None:
    """Nobody counts."""


def _unheard(_entry: Entry) -> None:
    """Nobody listens."""


def _nothing() -> None:
    """Nobody wants to know."""
