"""Results that come after the claims of a process were lost."""

import asyncio
from pathlib import Path

import pytest

from processes import entry
from ronda.clock import SystemClock
from ronda.config import Settings
from ronda.frontier import Frontier, Policy
from ronda.model import Standing
from ronda.store.sql.store import Store
from ronda.store.sql.values import Due, Entry
from ronda.workers.desk import Desk
from ronda.workers.watch import Watch


def test_they_are_refused_and_that_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[Entry] = []

    async def write(store: Store, desk: Desk) -> None:
        settings = Settings()
        frontier = Frontier(Policy(settings.politeness).limits, settings.frontier)
        clock = SystemClock()
        watch = Watch(settings, store, desk, frontier, clock, clock.epoch)
        watch.heard = heard.append
        watch.process = 99  # which others have buried
        watch._turns.entries.append(entry(Due(1, "http://a.test/", 1, Standing())))
        await watch.leave()

    with Store(str(tmp_path / "ronda.db")) as store:
        desk = Desk(lambda _words: None)
        asyncio.run(write(store, desk))
        desk.close()

    assert heard == []
    assert "results refused" in caplog.text
    assert "process=99 number=1" in caplog.text
