"""What a daemon does beside its checks.

It tells owners, begins rounds, prunes history, puts right what a wrong clock wrote.
"""

import asyncio
import logging
import time
from collections.abc import Callable

from msgspec.structs import astuple

from ronda.config import Settings
from ronda.errors import StoreBusyError
from ronda.frontier.timetable import Begin, Timetable
from ronda.store.sql.ahead import PulledBack
from ronda.store.sql.store import Store
from ronda.workers.choosing import chosen, words_of
from ronda.workers.notifying import Notifier
from ronda.workers.setback import Setback

log = logging.getLogger(__name__)

TIMETABLE = "the timetable"  # who begins rounds by the clock
DAY = 86_400.0
SOON = 60.0  # seconds after which history is first pruned
LOOK = 60.0  # seconds between two looks at the date: it may be set meanwhile


class Errands:
    """Side tasks, each of which waits for its moment.

    What they ask of the store may take its time, so it is not done at the desk, where
    results would wait for it.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store,
        notifier: Notifier,
        tell: Callable[[str], None],
        due: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._store = store
        self._notifier = notifier
        self._tell = tell  # one line for people
        self._due = due  # told that something has become due
        self._timetable = Timetable(settings.rounds)

    def hurry(self, grace: float) -> None:
        """All is to end: what is being sent has so many seconds."""
        self._notifier.hurry(grace)

    def poke(self) -> None:
        """There may be something to tell owners."""
        self._notifier.wake()

    async def run(self) -> None:
        """Run all of them until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._notifier.run(), name="notices")
            tasks.create_task(self._prune(), name="prune")
            tasks.create_task(self._rounds(), name="rounds")
            tasks.create_task(self._pull_back(), name="pull back")

    async def _rounds(self) -> None:
        """Begin each round at its moments, and let those end that have nothing left."""
        since = self._store.database.epoch()
        while True:
            now = self._store.database.epoch()
            since = min(since, now)
            try:
                begun = await asyncio.to_thread(self._store.rounds.begun, now)
                for round_ in self._timetable.due(begun, since, now):
                    total = await asyncio.to_thread(self._begin, round_, now)
                    self._tell(f"round {round_.row.name}: {total:,} targets")
                    self._due()
                await asyncio.to_thread(self._store.rounds.recount, now)
            except StoreBusyError as error:  # people are told by the desk, once
                log.info("rounds wait for the store: %s", error)
            next_at = self._timetable.next_at(now)
            left = LOOK if next_at is None else next_at - self._store.database.epoch()
            await asyncio.sleep(min(max(left, 0.0), LOOK))

    def _begin(self, round_: Begin, now: float) -> int:
        row = round_.row
        guard = self._settings.serve.recheck_guard
        return self._store.rounds.begin(
            row.name,
            chosen(row, now),
            now,
            forced=row.forced,
            guard=guard,
            started_at=round_.at,
            starter=TIMETABLE,
            words=words_of(row),
            order=row.order,
            over=row.over,
        ).total

    async def _prune(self) -> None:
        """Forget history that is older than it has to be, once a day."""
        await asyncio.sleep(SOON)
        retention = self._settings.store.retention * DAY
        while True:
            now = self._store.database.epoch()
            try:
                await asyncio.to_thread(self._store.upkeep.prune, now, retention)
            except StoreBusyError as error:
                log.info("history was not pruned: %s", error)
                await asyncio.sleep(LOOK)
            else:
                await asyncio.sleep(DAY)

    async def _pull_back(self) -> None:
        """Put right what a clock that was ahead has written."""
        setback = Setback()
        while True:
            date = self._store.database.epoch()
            if setback.is_due(time.monotonic(), date):
                try:
                    found = await asyncio.to_thread(self._store.upkeep.pull_back)
                    setback.looked(time.monotonic())
                    self._tell_of(found)
                except StoreBusyError as error:
                    log.info("what a wrong clock wrote waits for the store: %s", error)
            await asyncio.sleep(LOOK)

    def _tell_of(self, found: PulledBack) -> None:
        if any(astuple(found)):
            number = f"{found.targets:,} targets, {found.servers:,} servers"
            words = "what a clock that was ahead has written is put right"
            self._tell(f"{words}: {number}, {found.results:,} results")
            self._due()
