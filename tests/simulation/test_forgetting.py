"""A process that has met many hosts, and has let go of all of them, holds nothing."""

import asyncio
from pathlib import Path

import pytest

from ronda.config import Fetch, Intervals, Settings
from ronda.config import Store as StoreSettings
from ronda.simulation.listing import listing
from ronda.simulation.loop import carry_out
from ronda.simulation.traits import Traits
from ronda.simulation.watchers import Scene, Watcher, enrolled
from ronda.store.sql.store import Store
from ronda.workers import due

HOUR, DAY = 3600.0, 86_400.0
STATES = ("ok", "warning", "temporary", "broken", "blocked", "unknown")
SETTINGS = Settings(
    fetch=Fetch(concurrency=20, retries=1),
    store=StoreSettings(lease=10 * DAY),
    schedule=(Intervals(**dict.fromkeys(STATES, HOUR), confirm=1),),
)
TRAITS = Traits(
    seed=3, hosts=40, servers=25, urls=120, skew=0.0, errors=0.1, redirects=0.3
)


@pytest.fixture(autouse=True)
def _seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    """Days pass here, in which looking around would take the most of the time."""
    monkeypatch.setattr(due, "TICK", HOUR)
    monkeypatch.setattr(due, "LETTING_GO", 60.0)


def held(watcher: Watcher) -> dict[str, int]:
    """How much there is in each place that has something for each host met."""
    holdings, run = watcher.watch.holdings, watcher._run
    homes, gate = run._frontier._homes, run._entrance.gate
    assert gate is not None
    places = {
        "servers held": holdings.servers,
        "homes of hosts": holdings._home,
        "addresses held": holdings._at,
        "unwritten": holdings._ended,
        "hosts": homes.hosts,
        "servers": homes.servers,
        "outside": homes.outside,
        "dismissed": homes.dismissed,
        "told by others": homes.earlier,
        "known robots": gate._known,
        "their ends": gate._ends,
        "waiting for robots": gate._waiting,
        "attic": watcher._attic,
        "delays": gate._delays,
        "heeded": run._parts.policy._delays,
    }
    return {name: len(place) for name, place in places.items()}


def test_of_hosts_that_were_let_go_nothing_is_left(tmp_path: Path) -> None:
    found = {}
    with Store(str(tmp_path / "store.db")) as store:
        scene = Scene(TRAITS, SETTINGS, store)
        # Of each host the page that some forbid: those are met, and never asked again.
        every = listing(TRAITS, range(TRAITS.hosts))
        urls = [url for url in every if url.endswith("/1")]
        enrolled(urls, store, scene.settings, scene.clock.epoch())

        async def play() -> None:
            scene.web.loop = asyncio.get_running_loop()
            watcher = Watcher(scene)
            life = asyncio.create_task(watcher.live())
            await asyncio.sleep(3 * HOUR)  # each host is met some times
            # Nothing is due any more, whatever is known ends, and somebody looks.
            with store.database.writing() as connection:
                connection.exec_driver_sql("UPDATE schedule SET next_due = NULL")
                connection.exec_driver_sql("UPDATE server SET due_at = NULL")
            await asyncio.sleep(3 * DAY)
            watcher._run._entrance.open_anew(scene.clock.now())
            found.update(held(watcher))
            watcher.stop()
            await life

        carry_out(play(), scene.clock, seconds=30 * DAY)

    assert {name: count for name, count in found.items() if count} == {}
    assert scene.results > 2 * TRAITS.hosts
    assert scene.umpire.broken == []
