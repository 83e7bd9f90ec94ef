"""What a daemon does beside its checks."""

import asyncio
from pathlib import Path
from typing import Any

from processes import DAY, Office
from ronda.config import PlannedRound, Settings
from ronda.store.sql.catalogue import Query
from ronda.store.sql.schema import schedule
from ronda.store.sql.store import Store
from ronda.workers.errands import Errands


class Quiet:
    """A notifier who has nothing to tell."""

    async def run(self) -> None:
        await asyncio.Event().wait()


def test_what_a_wrong_clock_wrote_is_put_right_at_the_start_and_told(
    tmp_path: Path,
) -> None:
    told: list[str] = []
    with Store(str(tmp_path / "ronda.db")) as store:
        office, now = Office(store.database), store.database.epoch()
        office.watch("http://a.test/", due=now + 365 * DAY)
        asyncio.run(_until_due(store, told))

        assert office.row(schedule).next_due < now + DAY
    words = "what a clock that was ahead has written is put right"
    assert told == [f"{words}: 1 targets, 0 servers, 0 results"]


def test_a_round_whose_time_has_come_begins_once_with_what_it_chooses(
    tmp_path: Path,
) -> None:
    told: list[str] = []
    planned = PlannedRound(
        name="daily", cron="0 6 * * *", choose="new", order="biggest", forced=True
    )
    with Store(str(tmp_path / "ronda.db")) as store:
        office, now = Office(store.database), store.database.epoch()
        # Nobody was there for two days: the newest of its moments counts.
        store.rounds.begin("daily", Query(), now - 2 * DAY)
        office.watch("http://a.test/", "http://b.test/", due=now + DAY)
        office.set(schedule, 2, last_check_at=now - DAY)
        asyncio.run(_until_due(store, told, Settings(rounds=(planned,))))

        newest, oldest = store.rounds.list()
        assert (newest.name, newest.total, newest.ended_at) == ("daily", 1, None)
        assert oldest.total == 0
        assert [one.target_id for one in store.rounds.left(newest.id)] == [1]
    assert told == ["round daily: 1 targets"]


async def _until_due(
    store: Store, told: list[str], settings: Settings | None = None
) -> None:
    due = asyncio.Event()
    quiet: Any = Quiet()
    errands = Errands(settings or Settings(), store, quiet, told.append, due.set)
    running = asyncio.create_task(errands.run())
    await asyncio.wait_for(due.wait(), 60)
    running.cancel()
    await asyncio.wait([running])
