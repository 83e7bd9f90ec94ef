"""What a daemon does beside its checks."""

import asyncio
from pathlib import Path
from typing import Any

from processes import DAY, Office
from ronda.config import Settings
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


async def _until_due(store: Store, told: list[str]) -> None:
    due = asyncio.Event()
    quiet: Any = Quiet()
    errands = Errands(Settings(), store, quiet, told.append, due.set)
    running = asyncio.create_task(errands.run())
    await asyncio.wait_for(due.wait(), 60)
    running.cancel()
    await asyncio.wait([running])
