"""What a crawl under way tells of itself, and how it ends when it is told to."""

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from e2e.command import Command
from e2e.site import Made, grown, made, page
from servers.site import Site

SECONDS = 30.0  # guards against hanging
LOOK = 0.001  # seconds between two looks at a server's log
AT_ONCE = ("--concurrency", "3", "--no-robots")


@contextmanager
def held(
    ronda: Command, *options: str, **how: int
) -> Iterator[tuple[Made, subprocess.Popen[bytes]]]:
    """A crawl that waits for one page."""
    env = {"XDG_RUNTIME_DIR": str(ronda.folder), "TERM": "xterm"}
    ways = {"/": "/other", "/other": "/held"}
    with made(lambda path: page(ways.get(path, "/")).encode()) as server:
        process = ronda.start("crawl", server.url(), *AT_ONCE, *options, env=env, **how)
        try:
            assert server.heard.wait(SECONDS)
            yield server, process
        finally:
            server.told.set()
            process.communicate(timeout=SECONDS)


def read_until(descriptor: int, words: bytes) -> str:
    """What comes, until some words do."""
    data, until = b"", time.monotonic() + SECONDS
    while words not in data:
        assert time.monotonic() < until
        data += os.read(descriptor, 65_536)
    return data.decode()


class TestView:
    def test_a_signal_prints_every_worker_and_what_the_end_waits_for(
        self, ronda: Command
    ) -> None:
        with held(ronda) as (server, process):
            process.send_signal(signal.SIGUSR1)
            assert process.stderr is not None
            text = read_until(process.stderr.fileno(), b"not over: ")
            server.told.set()
            out, err = process.communicate(timeout=SECONDS)

        first, *lines = text.splitlines()
        assert "fetchers: " in first
        assert "crawlers: 2 waiting" in first
        workers = {line[2:15].strip(): line[15:].split() for line in lines}
        assert {"fetcher 1", "fetcher 2", "fetcher 3", "crawler 1"} <= set(workers)
        on = [words for words in workers.values() if words[-1].endswith("/held")]
        assert [(words[0], words[2]) for words in on] == [("downloading", "s")]
        assert "not over: visits that have not ended: 1" in text
        assert process.returncode == 0
        assert b"3 checked" in out
        assert err == b""

    def test_watch_shows_the_crew(self, ronda: Command) -> None:
        ours, theirs = os.openpty()
        with held(ronda, "--watch", "--no-colour", stderr=theirs) as (_, _process):
            os.close(theirs)
            text = read_until(ours, b"/held")
        os.close(ours)

        assert "2/3 checked" in text
        assert "fetchers: 2 waiting, 1 downloading; crawlers: 2 waiting" in text

    def test_why_tells_what_the_run_waits_for(self, ronda: Command) -> None:
        env = {"XDG_RUNTIME_DIR": str(ronda.folder)}
        with held(ronda) as (_, process):
            plain = ronda("why", env=env)
            [told] = json.loads(ronda("why", "--format", "json", env=env).out)

        first, *lines = plain.out.splitlines()
        assert plain.code == 0
        assert first.startswith(f"process {process.pid}, under way for ")
        assert "  visits that have not ended: 1" in lines
        [crew] = [line for line in lines if "fetchers:" in line]
        assert "1 downloading" in crew
        assert any("/held" in line and "downloading" in line for line in lines)
        assert told["open"] == [["visits that have not ended", 1]]
        busy = [seen["on"] for seen in told["crew"] if seen["state"] == "downloading"]
        assert [url.rpartition("/")[2] for url in busy] == ["held"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Site(tmp_path_factory.mktemp("site") / "nginx") as opened:
        grown(opened, 200)
        yield opened


class TestEnd:
    @pytest.mark.parametrize("seed", range(20))
    def test_ctrl_c_at_any_moment_ends_it_in_order(
        self, ronda: Command, site: Site, seed: int
    ) -> None:
        chance = random.Random(seed)  # the seed is in the test's name
        requests, instant = chance.randrange(1, 100), chance.random() * 0.005
        options = ("--format", "json", "--concurrency", "4")
        if seed % 2:
            options += ("--db", "site.db", "--save", "copy")
        process = self.started(ronda, site, requests, *options)
        until = time.monotonic() + instant
        while time.monotonic() < until:
            pass
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)

        report = json.loads(out)
        assert b"Traceback" not in err
        assert process.returncode == 130
        assert report["summary"]["interrupted"] == "interrupted"
        assert report["summary"]["left"] > 0
        assert err.count(b"\nstopping: ") == 1
        assert len(report["results"]) == report["summary"]["checked"]
        assert not [r for r in report["summary"]["remarks"] if "worker" in r]

    def test_a_report_that_has_begun_is_written_to_its_end(
        self, ronda: Command, site: Site
    ) -> None:
        process = ronda.start("crawl", site.url(), "--format", "json")
        assert process.stdout is not None
        begun = os.read(process.stdout.fileno(), 1)  # the rest does not fit the pipe
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)

        assert len(json.loads(begun + out)["results"]) > 200
        assert b"Traceback" not in err

    def started(
        self, ronda: Command, site: Site, requests: int, *options: str
    ) -> subprocess.Popen[bytes]:
        """A crawl that has made some requests."""
        log = Path(site.root.parent / "access.log")
        before = log.read_bytes().count(b"\n") if log.exists() else 0
        process = ronda.start("crawl", site.url(), *options)
        until = time.monotonic() + SECONDS
        while process.poll() is None:
            if log.exists() and log.read_bytes().count(b"\n") >= before + requests:
                break
            assert time.monotonic() < until
            with suppress(subprocess.TimeoutExpired):
                process.wait(LOOK)
        return process

    def test_what_is_under_way_may_end(self, ronda: Command) -> None:
        with held(ronda, "--format", "json") as (server, process):
            process.send_signal(signal.SIGINT)
            assert process.stderr is not None
            read_until(process.stderr.fileno(), b"once more ends it at once")
            server.told.set()
            out, _ = process.communicate(timeout=SECONDS)
            held_url = server.url("/held")

        report = json.loads(out)
        assert process.returncode == 130
        urls = {result["url"] for result in report["results"]}
        assert held_url in urls
        assert report["summary"]["left"] == 0

    def test_a_second_one_ends_it_at_once(self, ronda: Command) -> None:
        with held(ronda) as (_, process):
            assert process.stderr is not None
            process.send_signal(signal.SIGINT)
            read_until(process.stderr.fileno(), b"once more ends it at once")
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=SECONDS)

        assert process.returncode == 130
        assert b"Traceback" not in err
