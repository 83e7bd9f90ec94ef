"""What is due, claimed from the store as there is room for it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from itertools import islice
from math import ceil, inf

from ronda import urls
from ronda.clock import Clock
from ronda.model import Found, Place, Problem, Service, Visit
from ronda.store.sql.store import Store
from ronda.store.sql.values import URL_KIND, Claimed, Due, Queued
from ronda.workers.desk import Desk
from ronda.workers.gate import WEB
from ronda.workers.planned import Planned
from ronda.workers.watch import Watch

AHEAD = 20_000  # targets under way at most
AT_ONCE = 200  # servers claimed at once
FIRST = 20  # targets of a server that are claimed with it; more when they are done
TICK = 5.0  # seconds after which it is looked what others have changed
LETTING_GO = 0.5  # seconds after which it is looked what can be let go
LOOK = 30.0  # seconds after which servers that are held are looked through again
SOON = 5.0  # seconds: what is due so soon counts, if all that is due is to be done
_NOWHERE = Place("")

Robots = dict[str, tuple[bytes, float]]  # files by authority, with their ages


class DueFeed:
    """References as they fall due, in lists; it ends when it is stopped."""

    def __init__(
        self,
        watch: Watch,
        store: Store,
        desk: Desk,
        clock: Clock,
        length: int,
        robots: Callable[[Robots], None],
    ) -> None:
        self._watch = watch
        self._store = store
        self._desk = desk
        self._clock = clock
        self._robots = robots  # told the robots.txt files that are known
        self._changed = asyncio.Event()
        self._poked = True
        self._claim_at = 0.0  # monotonic: nothing new is due before
        self._next_at: float | None = None  # the same, if nobody changes anything
        self._looked_at = -inf  # monotonic: what others changed; -inf: look at once
        self._length = min(FIRST, length)
        self.until_done = False  # end when nothing more is due
        self._soon = False  # something is
        self._goes_on = False  # more servers that are held have room
        self.over = False
        self.visits: Callable[[Visit], None] = _unheard  # told what is carried on
        self.planned: Planned | None = None  # has what is more than a URL
        watch.changed = self._changed.set

    def poke(self) -> None:
        """Look at once: somebody has changed what is due, at servers held too."""
        self._poked = True
        self._looked_at = -inf
        self._changed.set()

    def stop(self) -> None:
        """Claim nothing more."""
        self.over = True
        self._changed.set()

    def waits(self) -> tuple[str, int]:
        """What it waits for, in words, and for how many seconds, if that is known."""
        next_at = self._next_at
        if self.over:
            return "nothing more is begun", 0
        if next_at == inf:
            return "no target is planned for this process", 0
        left = 0.0 if next_at is None else next_at - self._clock.now()
        if left <= 0:
            return "looking for targets that are due", 0
        return "seconds until the next target is due", ceil(left)

    async def __aiter__(self) -> AsyncIterator[list[Found | Problem]]:
        """All that falls due."""
        while not self.over:
            self._changed.clear()
            await self._follow_rounds()
            found = await self._more()
            if not self.over:
                found += await self._claim()
            if plain := await self._plain(found):
                yield [Found(due.url, _NOWHERE) for due in plain]
            elif found or self._goes_on:
                continue  # they have begun, or wait for the turn of their rounds
            elif self._is_done():
                self.over = True
            else:
                self._watch.look()
                await self._wait()

    @property
    def _is_full(self) -> bool:
        """Whether so much waits for its round that only plain URLs are wanted.

        Else a long round of slow visits would keep them from being claimed.
        """
        return self.planned is not None and self.planned.is_full

    async def _follow_rounds(self) -> None:
        """Notice rounds that were stopped, and what others changed at held servers."""
        now = self._clock.now()
        if now - self._looked_at < LOOK:
            return
        self._looked_at = now
        self._watch.holdings.look_again()
        if self.planned is not None:
            live = await self._desk.insist(self._store.rounds.live)
            self.planned.keep({one.id for one in live})

    async def _plain(self, found: list[Due]) -> list[Due]:
        """Those that are URLs and no more; the others begin by their plans."""
        if self.planned is None:
            return found
        plain = [due for due in found if due.kind == URL_KIND]
        if len(plain) < len(found):
            others = [due for due in found if due.kind != URL_KIND]
            numbers = [due.id for due in others]
            facts = await self._desk.insist(self._store.services.facts, numbers)
            self.planned.offer(
                (due, facts.get(due.id) or Service(due.id, due.kind)) for due in others
            )
        return plain

    def _is_done(self) -> bool:
        idle = not self._watch.holdings.under_way and self._clock.now() < self._claim_at
        return self.until_done and idle and not self._soon

    async def _wait(self) -> None:
        """Until there is room, or somebody pokes, or something falls due."""
        until = min(self._claim_at, self._clock.now() + TICK)
        if not self._watch.holdings.all_busy:
            until = min(until, self._clock.now() + LETTING_GO)
        try:
            async with asyncio.timeout(max(0.0, until - self._clock.now())):
                await self._changed.wait()
        except TimeoutError:
            pass

    # -- of servers that are held ----------------------------------------------------

    async def _more(self) -> list[Due]:
        """Due targets of servers that are held and have room."""
        found: list[Due] = []
        room = AHEAD - self._watch.holdings.under_way
        hungry = list(islice(self._watch.holdings.hungry(), AT_ONCE))
        self._goes_on = room > 0 and len(hungry) == AT_ONCE
        for server, count, held in hungry if room > 0 else ():
            asked = self._desk.insist(self._of_server, server, count, held)
            due, robots = await asked
            self._robots(robots)
            new = self._watch.holdings.add(server, due)
            self._watch.meet(server, _hosts(new))
            if len(due) < count:
                self._watch.holdings.may_have_more(server, more=False)
            found += new
        return found

    def _of_server(
        self, server: int, count: int, held: Iterable[int]
    ) -> tuple[list[Due], Robots]:
        now = self._watch.wall()
        found = self._store.claims.more(
            self._watch.process,
            server,
            now,
            count=count,
            held=set(held),
            details=self._watch.details,
            plain=self._is_full,
        )
        return found, self._store.robots.load(_authorities(found), now)

    # -- of others -------------------------------------------------------------------

    async def _claim(self) -> list[Due]:
        """Due targets of servers that nobody holds, and visits handed over to us."""
        now = self._clock.now()
        room = min(AHEAD - self._watch.holdings.under_way, AT_ONCE * self._length)
        if room <= 0 or (now < self._claim_at and not self._poked):
            return []
        self._poked = False
        count = max(1, room // self._length)
        self._watch.holdings.looks()
        claimed, queued, next_due, robots = await self._desk.insist(self._ask, count)
        self._robots(robots)
        found: list[Due] = []
        for one in claimed:
            due = self._watch.holdings.take(one)
            self._watch.meet(one.id, _hosts(due))
            if len(one.due) < self._length:
                self._watch.holdings.may_have_more(one.id, more=False)
            found += due
        for one_queued in queued:
            if self._watch.holdings.carry_on(one_queued):
                self._watch.meet(one_queued.due.server, [one_queued.visit.host])
                self.visits(one_queued.visit)
        self._claim_at = now if len(claimed) == count else now + min(next_due, TICK)
        self._next_at = now if len(claimed) == count else now + next_due
        self._soon = next_due <= SOON
        return found

    def _ask(self, count: int) -> tuple[list[Claimed], list[Queued], float, Robots]:
        store, process = self._store, self._watch.process
        now = self._watch.wall()
        claimed = store.claims.claim(
            process,
            now,
            count=count,
            length=self._length,
            details=self._watch.details,
            plain=self._is_full,
        )
        queued = store.claims.requests(process)
        next_due = store.claims.next_due(now)
        wait = inf if next_due is None else max(0.05, next_due - now)
        if self._is_full:  # what is due first may be what there is no room for
            wait = max(wait, TICK)
        due = [each for one in claimed for each in one.due]
        return claimed, queued, wait, store.robots.load(_authorities(due), now)


def _hosts(due: Iterable[Due]) -> set[str]:
    return {urls.host_key(each.url) for each in due}


def _authorities(due: Iterable[Due]) -> set[str]:
    of_web = (each.url for each in due if each.url.startswith(WEB))
    return {urls.authority(url) for url in of_web}


def _unheard(_visit: Visit) -> None:
    """Nobody carries on."""
