"""Processes that share a store and die: nobody is asked too early, nothing is lost."""

import asyncio
import random
from pathlib import Path

import pytest
from sqlalchemy import func, select

from ronda.config import Fetch, Frontier, Intervals, Politeness, Settings, Store
from ronda.simulation.listing import listing
from ronda.simulation.loop import carry_out
from ronda.simulation.traits import Traits
from ronda.simulation.watchers import Scene, Watcher, enrolled
from ronda.store.sql import store as sql
from ronda.store.sql.schema import history, request, schedule, server
from ronda.workers import due

SEEDS = 10  # `make torture` plays some hundred more
PATIENCE = (60.0, 120.0, 600.0, *[3600.0] * 12)  # seconds for the last to be checked
SECONDS = 7 * 86_400.0
STEPS = 3_000_000
LEASE = 30.0


def traits(seed: int) -> Traits:
    choose = random.Random(seed)
    hosts = choose.randint(5, 40)
    return Traits(
        seed=seed,
        hosts=hosts,
        servers=choose.randint(1, hosts),
        urls=choose.randint(30, 250),
        skew=choose.choice([0.0, 0.8]),
        latency=choose.choice([0.01, 0.3, 2.0]),
        errors=choose.choice([0.0, 0.1, 0.3]),
        redirects=choose.choice([0.0, 0.3, 0.6]),
        restless=choose.choice([0.0, 0.3]),
        waits=choose.choice([(0,), (0, 1, 5, 30), (5, 120)]),
    )


def settings(seed: int) -> Settings:
    choose = random.Random(seed)
    return Settings(
        # What a host does after a request that was never heard of, only its umpire
        # knows: limits that depend on that are left out.
        politeness=(
            Politeness(
                interval=choose.choice([0.2, 1.0, 3.0]),
                server_interval=choose.choice([0.0, 0.5]),
                per_host=1000,
                per_server=1000,
                factor=0.0,
                failures_to_rest=1_000_000,
            ),
        ),
        frontier=Frontier(queue_length=choose.choice([1, 5, 100])),
        fetch=Fetch(concurrency=choose.choice([1, 5, 50]), retries=1),
        store=Store(lease=LEASE, batch=choose.choice([1, 10, 1000])),
        schedule=(Intervals(confirm=1),),
    )


class Play:
    """Some processes over some hours, and the end of all of them."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.random = random.Random(seed)
        self.store = sql.Store(str(folder / "store.db"))
        self.scene = Scene(traits(seed), settings(seed), self.store)
        names = range(traits(seed).hosts)
        found = listing(traits(seed), names)
        clock = self.scene.clock
        self.urls = enrolled(found, self.store, self.scene.settings, clock.epoch())

    def carry_out(self) -> None:
        carry_out(self._play(), self.scene.clock, seconds=SECONDS, steps=STEPS)

    async def _play(self) -> None:
        self.scene.web.loop = asyncio.get_running_loop()
        lives: list[tuple[Watcher, asyncio.Task[None]]] = []
        for _ in range(self.random.randint(3, 12)):
            while len(lives) < 3:
                lives.append(self._born())
            await asyncio.sleep(self.random.choice([0.01, 0.5, 3.0, 40.0]))
            watcher, life = lives.pop(self.random.randrange(len(lives)))
            await watcher.die(life)
            if self.random.random() < 0.2:
                self.scene.clock.jump(self.random.choice([-3600.0, 60.0, 86_400.0]))
        for watcher, life in lives:
            watcher.stop()
            await life
        # Hosts may rest, a clock that was set back makes targets due later, and who has
        # died is missed after a while only.
        watcher, life = self._born()
        for seconds in PATIENCE:
            await asyncio.sleep(seconds)
            if not self._unchecked():
                break
        watcher.stop()
        await life

    def _unchecked(self) -> int:
        with self.store.database.reading() as connection:
            never = select(func.count()).where(schedule.c.last_check_at == 0)
            return connection.scalar(never) or 0

    def _born(self) -> tuple[Watcher, "asyncio.Task[None]"]:
        watcher = Watcher(self.scene)
        return watcher, asyncio.create_task(watcher.live())


@pytest.fixture(autouse=True)
def _seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hours pass here, in which looking around would take the most of the time."""
    monkeypatch.setattr(due, "TICK", 60.0)
    monkeypatch.setattr(due, "LETTING_GO", 5.0)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_whoever_dies_nothing_is_lost_and_nobody_asked_too_early(
    seed: int, tmp_path: Path
):
    judge(seed, tmp_path)


def judge(seed: int, folder: Path) -> None:
    """Play, and see that all is well."""
    play = Play(seed, folder)
    with play.store:
        play.carry_out()

        assert play.scene.umpire.broken == []
        with play.store.database.reading() as connection:
            checked = select(func.count()).where(schedule.c.last_check_at > 0)
            held = select(func.count()).where(server.c.holder.is_not(None))
            waiting = select(func.count()).select_from(request)
            written = select(func.count()).select_from(history)
            assert connection.scalar(checked) == play.urls
            assert connection.scalar(held) == 0
            assert connection.scalar(waiting) == 0
            assert (connection.scalar(written) or 0) <= play.scene.results
        assert play.store.upkeep.check() == []
