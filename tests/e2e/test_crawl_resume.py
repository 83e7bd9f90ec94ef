"""`ronda crawl --db` after `kill -9`: nothing is lost, and nobody asked early."""

import contextlib
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from e2e.command import Command, Ended
from e2e.site import Reply, crawl, found, grown, made, page, places, verdicts
from e2e.test_crawl_plugins import install
from servers.names import Names
from servers.process import HOST
from servers.site import Site

AT_ONCE = 4  # requests
KILLS = 6  # of each crawl
SECONDS = 30.0  # guards against hanging
LOOK = 0.001  # seconds between two looks at a server's log
TICK = 0.002  # seconds: nginx's moments are that coarse


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Site(tmp_path / "nginx") as opened:
        yield opened


def ended_when(process: subprocess.Popen[bytes], happened: Callable[[], bool]) -> bool:
    """Kill a process once something has happened; False if it ended before."""
    until = time.monotonic() + SECONDS
    while process.poll() is None and not happened():
        assert time.monotonic() < until, "nothing happens"
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(LOOK)
    is_killed = process.poll() is None
    process.kill()
    process.communicate()
    return is_killed


def killed_at(
    ronda: Command, site: Site, requests: int, *arguments: str, instant: float = 0.0
) -> bool:
    """Kill a crawl an instant after so many requests; False if it ended before."""
    log = site.root.parent / "access.log"
    before = log.read_bytes().count(b"\n") if log.exists() else 0
    process = ronda.start("crawl", *arguments)

    def happened() -> bool:
        seen = log.read_bytes().count(b"\n") if log.exists() else 0
        if seen < before + requests:
            return False
        until = time.monotonic() + instant
        while time.monotonic() < until:
            pass
        return True

    return ended_when(process, happened)


def resumed(ronda: Command, *arguments: str) -> Ended:
    ended = crawl(ronda, *arguments)
    assert "going on with the crawl that was interrupted" in ended.err
    return ended


class TestKills:
    @pytest.mark.parametrize("seed", range(3))
    def test_no_page_is_lost_and_none_is_asked_again_but_those_under_way(
        self, ronda: Command, site: Site, seed: int
    ) -> None:
        chance = random.Random(seed)  # the seed is in the test's name
        grown(site, 100, seed)
        whole = crawl(ronda, site.url())
        mark, kills = site.mark(), 0
        command = (site.url(), "--db", "site.db", "--concurrency", str(AT_ONCE))
        for _ in range(KILLS):
            requests, instant = chance.randrange(14), chance.random() * 0.005
            kills += killed_at(ronda, site, requests, *command, instant=instant)

        ended = crawl(ronda, *command)

        assert kills == KILLS
        assert verdicts(ended) == verdicts(whole)
        assert {u: set(p) for u, p in places(ended).items()} == {
            u: set(p) for u, p in places(whole).items()
        }
        assert ended.summary["counts"] == whole.summary["counts"]
        assert (ended.summary["left"], ended.code) == (0, 1)
        pages = [
            asked.key for asked in site.asked(mark) if asked.target != "/robots.txt"
        ]
        # Those that were asked for, and those that had just come.
        assert len(pages) - len(set(pages)) <= kills * 2 * AT_ONCE

    def test_one_that_was_killed_before_it_began_begins(
        self, ronda: Command, site: Site
    ) -> None:
        pages = grown(site, 5)
        command = ("crawl", site.url(), "--db", "site.db")
        env = {"PYTHONPATH": install(ronda.folder / "plugins")}
        first = ronda(*command, "--plugin", "deadly", env=env)
        assert first.code == -signal.SIGKILL

        ended = resumed(ronda, *command[1:])

        assert {site.url(path) for path in pages} <= set(ended.results)

    def test_no_host_is_asked_early_by_the_next_process(
        self, ronda: Command, site: Site
    ) -> None:
        site.write("/", page("/a.html", "/b.html"))
        gap = 1.0  # seconds: longer than it takes to start again
        command = (site.url(), "--db", "site.db", "--interval", str(gap))
        for requests in (1, 1, 2):
            assert killed_at(ronda, site, requests, *command)

        moments = [asked.at for asked in site.asked()]
        gaps = [after - before for before, after in pairwise(moments)]
        assert len(gaps) >= 3
        assert min(gaps) + TICK >= gap, gaps

    def test_nor_a_server_by_another_of_its_names(
        self, ronda: Command, site: Site, names: Names
    ) -> None:
        hosts = ["shared-1.ronda.test", "shared-2.ronda.test"]
        gap = 1.0
        seeds = [site.url("/", host=host) for host in hosts]
        rules = ("--server-interval", str(gap), "--name-server", names.server)
        command = (*seeds, "--db", "site.db", *rules)
        for _ in range(3):
            assert killed_at(ronda, site, 1, *command)

        moments = [asked.at for asked in site.asked()]
        gaps = [after - before for before, after in pairwise(moments)]
        assert min(gaps) + TICK >= gap, gaps


class TestGoingOn:
    """Killed while one page is held: all that was done before is known again."""

    def undisturbed_and_resumed(
        self, ronda: Command, answers: dict[str, Reply], *options: str
    ) -> tuple[Ended, Ended, list[str]]:
        """Both reports, and what was asked after the kill."""
        with made(lambda path: answers.get(path, page().encode())) as server:
            server.told.set()
            whole = crawl(ronda, server.url(), *options)
            server.told.clear()
            server.heard.clear()
            command = (server.url(), "--db", "site.db", *options)
            process = ronda.start("crawl", *command)
            assert ended_when(process, server.heard.is_set)
            server.told.set()
            before = len(server.asked)
            again = resumed(ronda, *command)
            return whole, again, server.asked[before:]

    def test_only_what_was_under_way_is_asked_again(self, ronda: Command) -> None:
        answers: dict[str, Reply] = {
            "/": page("/a").encode(),
            "/a": page("/b", "/").encode(),
            "/b": page("/held", "/a").encode(),
            "/held": page("/c").encode(),
        }
        whole, again, asked = self.undisturbed_and_resumed(ronda, answers)

        assert found(again) == found(whole)
        assert asked == ["/held", "/c"]

    def test_links_that_are_not_asked_are_told_as_before(self, ronda: Command) -> None:
        links = ["foo:bar", "file:///etc/passwd", "http://[::bad", "#part", "/%00"]
        links += ["http://127.0.0.1:1/refused", "/x?excluded"]
        answers: dict[str, Reply] = {
            "/": page(*links, "/a", *links).encode(),
            "/a": page("/held", *links).encode(),
        }
        options = ("--exclude", "*excluded*", "--retries", "0")
        whole, again, _ = self.undisturbed_and_resumed(ronda, answers, *options)

        assert found(again) == found(whole)
        keys = ("counts", "left", "excluded", "problems")
        assert {key: again.summary[key] for key in keys} == {
            key: whole.summary[key] for key in keys
        }

    def test_what_a_sitemap_names_stands_where_it_stood(
        self, ronda: Command, site: Site
    ) -> None:
        grown(site, 20)
        site.write("/robots.txt", "Sitemap: /sitemap.xml\n")
        locs = f"<url><loc>{site.url('/orphan.html')}</loc></url>"
        site.write("/sitemap.xml", f"<urlset>{locs}</urlset>")
        site.write("/orphan.html", page("/", words="alone"))
        whole = crawl(ronda, site.url())
        command = (site.url(), "--db", "site.db", "--concurrency", "1")
        for requests in (1, 2, 8):
            assert killed_at(ronda, site, requests, *command)

        again = resumed(ronda, *command)

        assert found(again) == found(whole)
        assert again.summary["site"]["orphans"] == [site.url("/orphan.html")]

    def test_the_site_as_a_whole_is_told_as_if_nothing_had_happened(
        self, ronda: Command
    ) -> None:
        twin = page("/b", words="twin").encode()
        answers: dict[str, Reply] = {
            "/": page("/a").encode(),
            "/a": twin,
            "/b": page("/held", words="other").encode(),
            "/held": twin,
        }
        whole, again, _ = self.undisturbed_and_resumed(ronda, answers)

        keys = ("pages", "bytes", "duplicates")
        site, other = whole.summary["site"], again.summary["site"]
        assert {key: other[key] for key in keys} == {key: site[key] for key in keys}
        assert len(site["duplicates"]) == 1

    def test_links_that_were_not_followed_are_counted_as_before(
        self, ronda: Command
    ) -> None:
        answers: dict[str, Reply] = {
            "/": page("/a", '<a rel="nofollow" href="/no">no</a>').encode(),
            "/a": page("/held").encode(),
        }
        whole, again, _ = self.undisturbed_and_resumed(ronda, answers)

        assert whole.summary["site"]["beyond"] == {"nofollow": 1}
        assert again.summary["site"]["beyond"] == {"nofollow": 1}

    def test_a_page_with_very_many_links_is_told_once(self, ronda: Command) -> None:
        """Its links come in many batches, and each may be the last before a kill."""
        some = [f"/n{number}" for number in range(500)]
        many = [f"/left-out-{number}" for number in range(10_000)]
        answers: dict[str, Reply] = {"/": page(*some, *many).encode()}
        with made(lambda path: answers.get(path, page().encode())) as server:
            options = (server.url(), "--db", "site.db", "--exclude", "*left-out*")
            process = ronda.start("crawl", *options)
            assert ended_when(process, lambda: len(server.asked) > 2)
            ended = resumed(ronda, *options)

        twice = [u for u, r in ended.results.items() if len(r["found_in"]) > 1]
        assert twice == []
        assert len(ended.results) == len(some) + 1

    def test_names_are_found_again(
        self, ronda: Command, site: Site, names: Names
    ) -> None:
        grown(site, 30)
        url = site.url(host="www.ronda.test")
        command = (url, "--name-server", names.server, "--concurrency", "1")
        whole = crawl(ronda, *command)
        assert killed_at(ronda, site, 10, *command, "--db", "site.db")

        again = resumed(ronda, *command, "--db", "site.db")

        assert found(again) == found(whole)

    def test_max_pages_counts_pages_of_both_processes(self, ronda: Command) -> None:
        answers: dict[str, Reply] = {
            "/": page("/a", *(f"/image{n}.png" for n in range(9))).encode(),
            "/a": page("/held").encode(),
            "/held": page("/c").encode(),
            "/c": page("/d").encode(),
            "/d": page("/e").encode(),
        }
        options = ("--max-pages", "4")
        whole, again, _ = self.undisturbed_and_resumed(ronda, answers, *options)

        assert found(again) == found(whole)

    def test_what_traps_count_goes_on_counting(self, ronda: Command) -> None:
        links = [f"/x?sid={n}abcdefgh" for n in range(8)]
        more = [f"/x?sid={n}ijklmnop" for n in range(8)]
        answers: dict[str, Reply] = {
            "/": page("/a", *links).encode(),
            "/a": page("/held").encode(),
            "/held": page(*more).encode(),
        }
        whole, again, _ = self.undisturbed_and_resumed(ronda, answers)

        assert whole.summary["site"]["beyond"] == {"trap: session id": 6}
        assert again.summary["site"]["beyond"] == {"trap: session id": 6}


class TestInOrder:
    def test_after_ctrl_c_the_same_command_goes_on(self, ronda: Command) -> None:
        answers = {"/": page("/a").encode(), "/a": page("/held", "/b").encode()}
        with made(lambda path: answers.get(path, page().encode())) as server:
            server.told.set()
            whole = crawl(ronda, server.url())
            server.told.clear()
            server.heard.clear()
            command = (server.url(), "--db", "site.db", "--concurrency", "1")
            process = ronda.start("crawl", *command)
            assert server.heard.wait(SECONDS)
            process.send_signal(signal.SIGINT)
            assert process.stderr is not None
            while b"stopping" not in process.stderr.readline():
                assert process.poll() is None
            server.told.set()
            out, err = process.communicate(timeout=SECONDS)
            asked = len(server.asked)
            again = resumed(ronda, *command)
            rest = server.asked[asked:]

        assert process.returncode == 130
        assert b"interrupted" in out
        assert b"Traceback" not in err
        assert found(again) == found(whole)
        assert rest == ["/b"]

    def test_out_of_time_it_goes_on_too(self, ronda: Command, site: Site) -> None:
        grown(site, 40)
        whole = crawl(ronda, site.url())
        command = (site.url(), "--db", "site.db", "--concurrency", "1")
        slow = ("--interval", "0.05", "--max-time", "0.5")
        first = crawl(ronda, *command, *slow)

        again = resumed(ronda, *command)

        assert first.summary["interrupted"] == "out of time"
        assert first.summary["left"] > 0
        assert first.summary["left_at"] == {HOST: first.summary["left"]}
        assert found(again) == found(whole)

    def test_a_second_crawl_that_was_killed_knows_what_is_unchanged(
        self, ronda: Command, site: Site
    ) -> None:
        pages = grown(site, 30)
        command = (site.url(), "--db", "site.db", "--concurrency", "1")
        first = crawl(ronda, *command)
        assert killed_at(ronda, site, 15, *command)

        again = resumed(ronda, *command)

        assert (again.code, again.summary["left"]) == (1, 0)
        assert places(again) == places(first)
        whole = again.summary["site"]
        assert (whole["pages"], whole["unchanged"]) == (len(pages), len(pages))

    def test_a_crawl_that_has_ended_is_not_gone_on_with(
        self, ronda: Command, site: Site
    ) -> None:
        grown(site, 5)
        crawl(ronda, site.url(), "--db", "site.db")

        assert crawl(ronda, site.url(), "--db", "site.db").err == ""

    def test_restart_begins_anew(self, ronda: Command, site: Site) -> None:
        pages = grown(site, 20)
        whole = crawl(ronda, site.url())
        command = (site.url(), "--db", "site.db", "--concurrency", "1")
        assert killed_at(ronda, site, 10, *command)
        mark = site.mark()

        ended = crawl(ronda, *command, "--restart")

        assert "going on" not in ended.err
        assert {a.target for a in site.asked(mark)} >= pages
        assert {u: r["verdict"] for u, r in ended.results.items()} == {
            u: r["verdict"] for u, r in whole.results.items()
        }
