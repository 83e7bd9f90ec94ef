"""`make torture`: the long form of what the tests try for a minute. Bounded, and on
loopback only: kill -9 a thousand times on each engine, hundreds of simulated crews, a
million targets over simulated days and over half an hour.
"""  # noqa: D205

import argparse
import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "simulation")]

TARGETS, HOSTS = 1_000_000, 100_000
FLAT = 1.10  # of the memory at the beginning
WARM = 180  # seconds of the real soak after which memory is first looked at
DAY = 86_400.0


def kills(count: int, engine: str, processes: int) -> None:
    """Kill daemons against nginx, and judge by its log, the store and what was told."""
    from e2e.torture import LOCATIONS, Torture, listening
    from servers.databases import Databases
    from servers.postgres import Postgres
    from servers.site import Site

    with TemporaryDirectory(prefix="ronda-torture-") as name, Postgres() as postgres:
        folder = Path(name)
        folder.chmod(0o755)
        databases = Databases(folder / "databases", lambda: postgres)
        (folder / "databases").mkdir()
        with (
            databases.fresh(engine, folder / "store" / "ronda.db") as where,
            Site(folder / "site", *LOCATIONS) as site,
            listening() as told,
        ):
            torture = Torture(folder, where, site, told, seed=int(time.time()))
            torture.register()
            torture.play(count, processes)
            torture.judge()
            print(
                f"{engine}: {torture.kills} kills of {processes} processes, "
                f"{len(site.asked()):,} requests, "
                f"{sum(map(len, torture.history().values())):,} results "
                f"({torture.left_behind:,} of those who were killed), "
                f"{len(told.batches):,} batches told ({told.times.total():,} sent): "
                "nothing lost, nothing doubled, nobody asked too early",
                flush=True,
            )


def crews(count: int) -> None:
    """Play simulated processes that share a store, by their seeds."""
    import test_watchers

    first = int(time.time())
    for seed in range(first, first + count):
        with TemporaryDirectory(prefix="ronda-torture-") as name:
            test_watchers.judge(seed, Path(name))
    print(f"{count} simulated crews from seed {first}: all well", flush=True)


def days(targets: int, hosts: int, count: int) -> None:
    """Simulate days, and look at the memory at the end of each."""
    from ronda.config import Fetch, Settings
    from ronda.simulation.listing import listing
    from ronda.simulation.loop import carry_out
    from ronda.simulation.traits import Traits
    from ronda.simulation.watchers import Scene, Watcher, enrolled
    from ronda.store.sql.store import Store

    traits = Traits(seed=1, hosts=hosts, servers=hosts // 2, urls=targets)
    settings = Settings(fetch=Fetch(concurrency=400))
    with (
        TemporaryDirectory(prefix="ronda-torture-") as name,
        Store(str(Path(name) / "ronda.db")) as store,
    ):
        scene = Scene(traits, settings, store)
        urls = listing(traits, range(hosts))
        enrolled(urls, store, settings, scene.clock.epoch())
        sizes: list[tuple[float, float]] = []

        async def play() -> None:
            scene.web.loop = asyncio.get_running_loop()
            watcher = Watcher(scene)
            life = asyncio.create_task(watcher.live())
            for hour in range(1, 24 * count + 1):
                await asyncio.sleep(3600.0)
                sizes.append(_memory(os.getpid()))
                rss, own = sizes[-1]
                words = f"hour {hour}: {scene.results:,} results, {rss:.0f} MB"
                print(f"  {words}, {own:.0f} MB of it not files", flush=True)
            watcher.stop()
            await life

        carry_out(play(), scene.clock)
    assert scene.umpire.broken == [], scene.umpire.broken
    _tell_flat(f"{count} simulated days, {targets:,} targets", sizes[23:])


def soak(targets: int, minutes: float) -> None:
    """Serve a million targets against nginx, and look at the memory."""
    from bench.nginx import Nginx

    with TemporaryDirectory(prefix="ronda-torture-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with Nginx(folder) as nginx:
            (folder / "urls.txt").write_text("\n".join(_urls(nginx, targets)))
            (folder / "ronda.toml").write_text(
                "[[politeness]]\ninterval = 0.25\n\n[check]\nrobots = false\n"
            )
            ronda = [sys.executable, "-m", "ronda"]
            add = [*ronda, "target", "add", "--file", "urls.txt", "--db", "r.db"]
            begun = time.monotonic()
            subprocess.run([*add, "--no-progress"], cwd=folder, check=True)
            print(
                f"  {targets:,} added in {time.monotonic() - begun:.0f} s", flush=True
            )
            serve = [*ronda, "serve", "--db", "r.db", "--quiet"]
            daemon = subprocess.Popen(serve, cwd=folder)
            try:
                sizes = list(_sizes(daemon.pid, minutes))
            finally:
                daemon.terminate()
                code = daemon.wait()
            assert code == 0, code
    _tell_flat(f"{minutes:g} minutes, {targets:,} targets", sizes)


def _urls(nginx: "object", targets: int) -> Iterator[str]:
    addresses, port = nginx.addresses, nginx.http  # type: ignore[attr-defined]
    for number in range(targets):
        address = addresses[number % len(addresses)]
        yield f"http://{address}:{port}/{number % 1000}.html?{number}"


def _sizes(pid: int, minutes: float) -> Iterator[tuple[float, float]]:
    begun = time.monotonic()
    while (passed := time.monotonic() - begun) < minutes * 60:
        time.sleep(10)
        size = _memory(pid)
        if passed >= min(WARM, minutes * 12):
            yield size
        if int(passed) % 300 < 10:
            words = f"{size[0]:.0f} MB, {size[1]:.0f} MB of it not files"
            print(f"  after {passed / 60:.0f} min: {words}", flush=True)


def _memory(pid: int) -> tuple[float, float]:
    """Megabytes in memory, and those of them that are not mapped files."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    found = dict(line.split(":", 1) for line in lines)
    return tuple(int(found[key].split()[0]) / 1024 for key in ("VmRSS", "RssAnon"))  # type: ignore[return-value]


def _tell_flat(what: str, sizes: list[tuple[float, float]]) -> None:
    first, most = sizes[0][0], max(size for size, _ in sizes)
    flat = most <= FLAT * first
    words = "flat" if flat else "NOT FLAT"
    print(f"{what}: {first:.0f} MB, at most {most:.0f} MB: {words}", flush=True)
    assert flat


def main() -> None:
    """All of it, or one part."""
    options = argparse.ArgumentParser(prog="make torture")
    options.add_argument("--only", choices=["kills", "crews", "days", "soak"])
    options.add_argument("--kills", type=int, default=1000)
    options.add_argument("--crews", type=int, default=300)
    # The first day warms up: memory is compared with what it was at its end.
    options.add_argument("--days", type=int, default=2, choices=range(2, 100))
    options.add_argument("--minutes", type=float, default=30.0)
    options.add_argument("--targets", type=int, default=TARGETS)
    options.add_argument("--engine", choices=["sqlite", "postgresql"])
    given = options.parse_args()
    if given.only in (None, "kills"):
        for engine, processes in (("sqlite", 1), ("postgresql", 3)):
            if given.engine in (None, engine):
                kills(given.kills, engine, processes)
    if given.only in (None, "crews"):
        crews(given.crews)
    if given.only in (None, "days"):
        days(given.targets, given.targets // (TARGETS // HOSTS), given.days)
    if given.only in (None, "soak"):
        soak(given.targets, given.minutes)


if __name__ == "__main__":
    main()
