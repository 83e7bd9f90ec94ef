"""Rounds: visits of six tasks that ask nobody, begun by rounds, their results stored.

The monitor that rounds descend from waits 100 ms after every task: with six of them and
50 workers it cannot make more than 83 visits a second, whatever the tasks do.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec.structs import replace

from bench.nginx import PAGES, Nginx
from bench.postgres import Postgres
from ronda.app.watching import watch
from ronda.config import (
    Check,
    Intervals,
    Plan,
    Politeness,
    Serve,
    Settings,
    Tasks,
)
from ronda.model import Answer, Done, Service, State, Verdict, Visit
from ronda.probes import Handlers
from ronda.probes.task import Asked, Row
from ronda.store.sql.catalogue import Query
from ronda.store.sql.schema import OPERATOR
from ronda.store.sql.store import Store
from ronda.store.sql.values import Entry
from ronda.workers.desk import Desk
from ronda.workers.enrolment import enrolled

VISITS = 10_000
ROUNDS = 4
TASKS = tuple(f"nothing_{number}" for number in range(6))
BAR = 2000  # visits a second
CAP = 83  # of the monitor that rounds descend from
EVERY = 300.0  # seconds in which all services are to be visited
GOOD = Verdict(State.OK, "fine", "it is fine")


def _ask(_visit: Visit, _service: Service) -> Verdict:
    return GOOD


def _judge(_visit: Visit, _answer: Answer, _now: float) -> Done:
    return Done(GOOD)


NOTHING = tuple(
    Row(name=name, task=Asked(_ask, _judge), description="does nothing")
    for name in TASKS
)


def run() -> dict[str, Any]:
    """Both engines, and services that are really asked."""
    with TemporaryDirectory(prefix="ronda-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        found: dict[str, Any] = {"sqlite": _visits(str(folder / "rounds.db"))}
        with Postgres(folder / "postgres") as postgres:
            found["postgresql"] = _visits(postgres.url)
        with Nginx(folder) as nginx:
            found["services"] = _services(nginx, folder)
    for engine in ("sqlite", "postgresql"):
        speed = found[engine]["visits_a_second"]
        met = "met" if speed >= BAR else "MISSED"
        times = f"{speed / CAP:.0f} times the cap of the seed's monitor"
        print(f"rounds, {engine}: {speed:,} visits/s of 6 tasks ({met}), {times}")
    served = found["services"]
    print(
        f"services: {served['visits']:,} visited in {served['seconds']:.0f} s of the "
        f"{EVERY:.0f} they have, {served['false']} false errors"
    )
    return found


def _settings() -> Settings:
    plan = Plan(kind="service", tasks=TASKS)
    intervals = Intervals(ok=86_400.0)
    return Settings(plans=(plan,), schedule=(intervals,), serve=Serve(recheck_guard=0))


@contextmanager
def _filled(where: str, urls: list[str]) -> Iterator[Store]:
    """A store with services, none of them due but by a round."""
    handlers = Handlers(Settings())
    with Store(where) as store:
        given = [enrolled(url, url, handlers) for url in urls]
        store.adding.add(OPERATOR, given, store.database.epoch())
        described = Service(0, description="a service", type="WMS", version="1.3.0")
        store.services.describe(dict.fromkeys(urls, described))
        yield store


def _visits(where: str) -> dict[str, Any]:
    urls = [
        f"http://127.{number // 250 % 250}.{number % 250}.1/{number}"
        for number in range(VISITS)
    ]
    with _filled(where, urls) as store:
        ids = sorted(row.gid for row in store.services.of_owner(OPERATOR, 0, VISITS))
        now = store.database.epoch()
        for part in range(ROUNDS):
            some = ids[part::ROUNDS]
            store.rounds.begin(f"r{part}", Query(), now, forced=True, ids=some)
        begun = time.monotonic()
        asyncio.run(_carry_out(store, _settings(), NOTHING))
        seconds = time.monotonic() - begun
        done = [one.done for one in store.rounds.list()]
        assert sum(done) == VISITS, done
        stored = sum(len(one.tasks) for one in store.services.find(ids[:1000]))
        assert stored == 6 * len(ids[:1000]), stored
    return {
        "visits": VISITS,
        "rounds": ROUNDS,
        "seconds": round(seconds, 2),
        "visits_a_second": round(VISITS / seconds),
        "results_a_second": round(6 * VISITS / seconds),
    }


async def _carry_out(
    store: Store,
    settings: Settings,
    tasks: tuple[Row, ...],
    heard: Callable[[Entry], None] | None = None,
) -> None:
    desk = Desk(print)
    try:
        async with watch(
            settings, store, desk, print, until_done=True, tasks=tasks, heard=heard
        ) as session:
            await session.carry_out()
    finally:
        desk.close()


def _services(nginx: Nginx, folder: Path) -> dict[str, Any]:
    """10,000 services that are really asked, each of its own host: none may fail."""
    urls = [
        f"http://{nginx.addresses[number % len(nginx.addresses)]}:{nginx.http}"
        f"/{number % PAGES}.html?{number}"
        for number in range(VISITS)
    ]
    false: list[str] = []

    def heard(entry: Entry) -> None:
        if entry.result.verdict not in (State.OK, State.WARNING):
            false.append(f"{entry.result.url}: {entry.result.message}")

    # As an operator of a geoportal would set it: one request a second to a stranger,
    # no gap to his own, which these are.
    settings = replace(
        _settings(),
        plans=(),
        check=Check(robots=False),
        politeness=(Politeness(),),
        tasks=Tasks(workers=50),
    )
    with _filled(str(folder / "services.db"), urls) as store:
        begun = time.monotonic()
        asyncio.run(_carry_out(store, settings, (), heard))
        seconds = time.monotonic() - begun
    return {
        "visits": VISITS,
        "seconds": round(seconds, 1),
        "visits_a_second": round(VISITS / seconds),
        "held_every_5_minutes": seconds < EVERY,
        "false": len(false),
    }
