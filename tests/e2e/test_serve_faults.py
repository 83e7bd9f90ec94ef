"""`ronda serve` while its store fails and its clock jumps: it forgets nothing."""

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from e2e.daemon import SECONDS, Daemon
from e2e.serving import (
    NO_ROBOTS,
    Served,
    nobody_was_early,
    settings,
    slow,
    until,
)
from servers.postgres import Postgres
from servers.process import require
from servers.site import Site

KEPT = "results are kept until it can be used again"
AGAIN = "the store can be used again"
HOSTS = [f"127.0.0.{number}" for number in range(1, 6)]
PAGES = ("/one.html", "/two.html", "/gone.html")
# A clock that is set by faketime 0.9.10 leaves monotonic time alone, but then refuses
# to sleep by it.
SLEEP = """
import threading, time
time.sleep = lambda seconds: threading.Event().wait(seconds)
"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Site(tmp_path / "site", NO_ROBOTS) as opened:
        opened.write("/one.html", "fine")
        opened.write("/two.html", "fine")
        yield opened


@pytest.fixture(scope="module")
def own_postgres() -> Iterator[Postgres]:
    """A server that may be stopped: nobody else uses it."""
    with Postgres() as server:
        yield server


def busy(folder: Path, where: str, site: Site) -> Served:
    """A store of targets that are due all the time."""
    served = Served(folder, where, settings(again=0.5))
    urls = [site.url(page, host) for host in HOSTS for page in PAGES]
    served.call("target", "add", *urls)
    return served


def goes_on(served: Served) -> None:
    """Every target is checked once more, and what was found is written."""
    before = served.results()

    def all_again() -> bool:
        found = served.results()
        return len(found) == len(HOSTS) * len(PAGES) and all(
            number > before.get(url, 0) for url, number in found.items()
        )

    until(all_again, "it does not go on")


def judge(served: Served, site: Site, env: dict[str, str] | None = None) -> None:
    """What must hold, whatever happened, by the clock of an environment."""
    done = served.command("db", "check", "--db", served.where, env=env or {})
    assert done.code == 0, done
    nobody_was_early(site)
    asked: dict[str, int] = {}
    for one in site.asked():
        url = site.url(one.target, one.address)
        asked[url] = asked.get(url, 0) + 1
    results = served.results()
    assert set(results) == set(served.states())
    for url, number in results.items():
        assert number <= asked[url], url
    assert set(served.states().values()) == {"ok", "broken"}


def lines_with(daemon: Daemon, words: str) -> int:
    return sum(words in line for line in daemon.told)


class TestPostgres:
    @pytest.mark.parametrize("how", ["stop", "kill"])
    def test_it_waits_for_a_server_that_is_away(
        self, tmp_path: Path, own_postgres: Postgres, site: Site, how: str
    ):
        served = busy(tmp_path, own_postgres.url(own_postgres.create()), site)
        with served.serving("--verbose") as daemon:
            daemon.line("http_200")
            getattr(own_postgres, how)()
            try:
                daemon.line(KEPT)
            finally:
                own_postgres.start()
            daemon.line(AGAIN)
            goes_on(served)
            assert daemon.stop() == 0
        assert lines_with(daemon, KEPT) == 1
        assert lines_with(daemon, AGAIN) == 1
        judge(served, site)

    def test_nothing_found_meanwhile_is_lost(
        self, tmp_path: Path, own_postgres: Postgres
    ):
        where = own_postgres.url(own_postgres.create())
        served = Served(tmp_path, where)
        with slow() as held:
            served.call("target", "add", held.url("/held"))
            with served.serving() as daemon:
                assert held.came.wait(SECONDS)
                own_postgres.stop()
                try:
                    held.answers.set()
                    daemon.line(KEPT)
                finally:
                    own_postgres.start()
                daemon.line(AGAIN)
                daemon.line("/held (was unknown)")
                assert daemon.stop() == 0
            assert served.results() == {held.url("/held"): 1}
            assert served.states() == {held.url("/held"): "ok"}

    def test_a_second_signal_ends_it_while_the_server_is_away(
        self, tmp_path: Path, own_postgres: Postgres, site: Site
    ):
        served = busy(tmp_path, own_postgres.url(own_postgres.create()), site)
        with served.serving("--verbose") as daemon:
            daemon.line("http_200")
            own_postgres.stop()
            try:
                daemon.line(KEPT)
                daemon.process.terminate()
                daemon.line("stopping")
                daemon.process.terminate()
                assert daemon.process.wait(SECONDS) == 2
            finally:
                own_postgres.start()
        with served.serving("--verbose") as daemon:
            until(
                lambda: len(served.results()) == len(HOSTS) * len(PAGES),
                "not all were checked",
            )
            assert daemon.stop() == 0
        judge(served, site)

    def test_connections_that_are_cut_are_made_anew(
        self, tmp_path: Path, own_postgres: Postgres, site: Site
    ):
        served = busy(tmp_path, own_postgres.url(own_postgres.create()), site)
        with served.serving("--verbose") as daemon:
            for _ in range(5):
                daemon.line("http_200")
                own_postgres.cut()
            goes_on(served)
            assert daemon.stop() == 0
        judge(served, site)


class TestFile:
    def test_it_waits_while_another_program_locks_it(self, tmp_path: Path, site: Site):
        where = tmp_path / "ronda.db"
        served = busy(tmp_path, str(where), site)
        with served.serving("--verbose") as daemon:
            daemon.line("http_200")
            with closing(sqlite3.connect(where, isolation_level=None)) as other:
                other.execute("PRAGMA busy_timeout = 10000")
                other.execute("BEGIN EXCLUSIVE")
                daemon.line(KEPT)
                other.execute("ROLLBACK")
            daemon.line(AGAIN)
            goes_on(served)
            assert daemon.stop() == 0
        assert lines_with(daemon, KEPT) == 1
        judge(served, site)

    def test_it_waits_while_the_disk_is_full(self, tmp_path: Path, site: Site):
        with disk(tmp_path / "disk", "4m") as folder:
            served = busy(tmp_path, str(folder / "ronda.db"), site)
            with served.serving("--verbose") as daemon:
                daemon.line("http_200")
                filler = folder / "filler"
                fill(filler)
                assert "the disk is full" in daemon.line(KEPT)
                filler.unlink()
                daemon.line(AGAIN)
                goes_on(served)
                assert daemon.stop() == 0
            judge(served, site)

    def test_a_disk_that_stays_full_does_not_keep_it_from_ending(
        self, tmp_path: Path, site: Site
    ):
        with disk(tmp_path / "disk", "4m") as folder:
            served = busy(tmp_path, str(folder / "ronda.db"), site)
            with served.serving("--verbose") as daemon:
                daemon.line("http_200")
                filler = folder / "filler"
                fill(filler)
                daemon.line(KEPT)
                daemon.process.terminate()
                daemon.line("stopping")
                daemon.process.terminate()
                assert daemon.process.wait(SECONDS) == 2
            assert "the disk is full" in daemon.told[-1]
            filler.unlink()
            served.call("db", "check")

    def test_a_file_that_is_removed_ends_it_with_one_line(
        self, tmp_path: Path, site: Site
    ):
        where = tmp_path / "ronda.db"
        served = busy(tmp_path, str(where), site)
        with served.serving("--verbose") as daemon:
            daemon.line("http_200")
            for name in ("ronda.db", "ronda.db-wal", "ronda.db-shm"):
                (tmp_path / name).unlink()
            assert daemon.process.wait(SECONDS) == 2
        assert f"--db {where}: gone while it was served" in daemon.told[-1]
        assert lines_with(daemon, "ronda: ") == 2  # with its first

    def test_a_file_that_is_replaced_ends_it_with_one_line(
        self, tmp_path: Path, site: Site
    ):
        where = tmp_path / "ronda.db"
        served = busy(tmp_path, str(where), site)
        other = Served(tmp_path, str(tmp_path / "other.db"), settings(again=0.5))
        other.call("target", "add", site.url("/one.html"))
        with served.serving("--verbose") as daemon:
            daemon.line("http_200")
            (tmp_path / "other.db").rename(where)
            assert daemon.process.wait(SECONDS) == 2
        assert f"--db {where}: replaced while it was served" in daemon.told[-1]
        assert lines_with(daemon, "ronda: ") == 2  # with its first


class TestClock:
    """A clock that was set back makes what is known late, never early."""

    @pytest.mark.parametrize("shift", ["-1h", "+1d"])
    def test_it_may_have_jumped_when_it_starts(
        self, tmp_path: Path, database_url: str, site: Site, shift: str
    ):
        served = busy(tmp_path, database_url, site)
        with served.serving("--verbose") as daemon:
            goes_on(served)
            daemon.kill()
        env = clock(tmp_path, shift)
        with served.serving("--verbose", env=env) as daemon:
            goes_on(served)
            takes_new_ones(daemon, served, site, env)
            assert daemon.stop() == 0
        judge(served, site, env)

    @pytest.mark.parametrize("shift", ["-1h", "+1d"])
    def test_it_may_jump_while_it_runs(
        self, tmp_path: Path, database_url: str, site: Site, shift: str
    ):
        served = busy(tmp_path, database_url, site)
        env = clock(tmp_path, "+0")
        with served.serving("--verbose", env=env) as daemon:
            goes_on(served)
            clock(tmp_path, shift)
            takes_new_ones(daemon, served, site, env)
            assert daemon.stop() == 0
        # What is ahead of a clock that was set back is put right a minute later.
        judge(served, site, clock(tmp_path, "+1d"))


def takes_new_ones(
    daemon: Daemon, served: Served, site: Site, env: dict[str, str]
) -> None:
    """What is added by the clock as it is now is checked."""
    url = site.url("/one.html", "127.0.0.9")
    done = served.command("target", "add", url, "--db", served.where, env=env)
    assert done.code == 0, done
    daemon.line(f"{url} (was unknown)")


def clock(folder: Path, shift: str) -> dict[str, str]:
    """Set the clock of a daemon: the environment in which it goes by it."""
    require("faketime")
    [library] = Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")
    file = folder / "clock"
    new = folder / "clock.new"
    new.write_text(f"{shift}\n")
    new.rename(file)
    (folder / "sitecustomize.py").write_text(SLEEP)
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    return {
        "LD_PRELOAD": str(library),
        "FAKETIME_TIMESTAMP_FILE": str(file),
        "FAKETIME_CACHE_DURATION": "1",  # seconds after which it looks again
        "DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "NO_FAKE_STAT": "1",
        "PYTHONPATH": path,
        "COVERAGE_PROCESS_START": "",  # slow enough as it is
    }


@contextmanager
def disk(folder: Path, size: str) -> Iterator[Path]:
    """A small disk of its own."""
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={size}", "ronda-test", str(folder)]
    made = subprocess.run(["mount", *options], capture_output=True, check=False)
    if made.returncode:
        pytest.skip("only root may mount a disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(path: Path) -> None:
    """Write until there is no room."""
    with path.open("wb", buffering=0) as file:
        for size in (65_536, 4096, 1):
            try:
                while file.write(bytes(size)) == size:
                    pass
            except OSError:
                continue
