"""What a review of `ronda crawl` found, and must not be found again."""

import contextlib
import os
import random
import signal
import socket
import sqlite3
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from e2e import odd
from e2e.command import Command, Ended
from e2e.site import HTML, Made, crawl, found, made, page, paths, places
from e2e.test_crawl_resume import TICK, ended_when, resumed
from e2e.test_crawl_save import archived, tree
from servers.process import HOST
from servers.site import Site

SECONDS = 30.0  # guards against hanging
DB = ("--db", "site.db")
ROBOTS = ("GET", "/robots.txt")
TAG = "a" * 1000
LOCATIONS = (
    "location = /robots.txt { try_files $uri =404; }",
    "location /index-of-indexes {",
    "default_type text/xml; return 200 '<sitemapindex><sitemap><loc>",
    "http://127.0.0.1:PORT${request_uri}x</loc></sitemap></sitemapindex>'; }",
    "location = /foreign { default_type text/html;",
    """add_header ETag '"été"'; return 200 "<a href=/a.html>"; }""",
    f'location = /long {{ default_type text/html; set $tag "{TAG}";',
    f"""add_header ETag '"{"$tag" * 70}"'; return 200 "<a href=/a.html>"; }}""",
    "location = /busy { add_header Retry-After 3600 always; return 429; }",
    "location = /said.html { add_header X-Robots-Tag nofollow; }",
    "location = /style { default_type text/css; return 200 'a { b: url(/a.png) }'; }",
)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Site(tmp_path / "nginx", *LOCATIONS) as opened:
        yield opened


@contextlib.contextmanager
def holding(
    folder: Path, held: str, *locations: str, path: str = "/held"
) -> Iterator[tuple[Site, Made]]:
    """A site one page of which comes when it is told to."""
    with made(lambda _: held.encode()) as server:
        ours = f"proxy_pass http://{HOST}:{server.port}/held;"
        with Site(folder, f"location = {path} {{ {ours} }}", *locations) as site:
            yield site, server


def killed(ronda: Command, server: Made, *command: str) -> None:
    """Kill a crawl while a page is held."""
    server.told.clear()
    server.heard.clear()
    assert ended_when(ronda.start("crawl", *command), server.heard.is_set)
    server.told.set()


def whole_and_resumed(
    ronda: Command, server: Made, *command: str
) -> tuple[Ended, Ended]:
    """What comes of a crawl in one process, and in two."""
    server.told.set()
    whole = crawl(ronda, *command)
    killed(ronda, server, *command, *DB)
    return whole, resumed(ronda, *command, *DB)


class TestSitemaps:
    def test_a_public_robots_txt_leads_to_no_private_address(
        self, ronda: Command, site: Site
    ) -> None:
        secret = site.url("/secret.xml", host="127.0.0.3")
        site.write("/robots.txt", f"Sitemap: {secret}\n")
        site.write("/", page())
        public = site.url(host="127.0.0.2")
        ended = crawl(ronda, public, "--guard-allow", "127.0.0.2/32")

        assert {asked.address for asked in site.asked()} == {"127.0.0.2"}
        assert ended.results[secret]["reason"] == "address_refused"

    @pytest.mark.parametrize("limit", ["--max-pages", "--depth"])
    def test_an_index_without_end_obeys_the_limits(
        self, ronda: Command, site: Site, limit: str
    ) -> None:
        site.write("/robots.txt", "Sitemap: /index-of-indexes\n")
        site.write("/", page())
        ended = crawl(ronda, site.url(), limit, "4", "--max-time", "10")

        assert (ended.summary["interrupted"], ended.summary["left"]) == ("", 0)
        assert 4 <= len(ended.results) <= 7  # and the last one is only checked


class TestConditions:
    @pytest.mark.parametrize("path", ["/foreign", "/long"])
    def test_a_tag_that_cannot_be_sent_back_is_not(
        self, ronda: Command, site: Site, path: str
    ) -> None:
        site.write("/a.html", page())
        first = crawl(ronda, site.url(path), *DB)
        mark = site.mark()
        second = crawl(ronda, site.url(path), *DB)

        [again] = [asked for asked in site.asked(mark) if asked.target == path]
        assert (again.status, again.conditional) == (200, False)
        assert found(second)[1] == found(first)[1]
        assert second.summary["counts"]["ok"] == len(second.results) == 2

    def test_a_page_that_was_cut_is_wanted_whole(
        self, ronda: Command, site: Site
    ) -> None:
        site.write("/", page("/a.html", words="word " * 5000))
        site.write("/a.html", page())
        command = (site.url(), *DB, "--max-page-size", "20000")
        first = crawl(ronda, *command)
        mark = site.mark()
        second = crawl(ronda, *command)

        [again] = [asked for asked in site.asked(mark) if asked.target == "/"]
        assert (again.status, again.conditional) == (200, False)
        assert "longer than 20,000 bytes" in first.problems[0][2]
        assert second.problems == first.problems

    def test_the_style_of_a_page_that_says_nofollow_is_read_again(
        self, ronda: Command, site: Site
    ) -> None:
        style = '<link rel="stylesheet" href="/style">'
        site.write("/said.html", page(head=style))
        site.write("/a.png", "picture")
        command = (site.url("/said.html"), *DB)
        first, second = crawl(ronda, *command), crawl(ronda, *command)

        assert second.summary["site"]["unchanged"] > 0
        assert set(second.results) == set(first.results)
        assert site.url("/a.png") in second.results

    def test_a_robots_txt_of_an_own_machine_is_asked_for_in_each_round(
        self, ronda: Command, site: Site
    ) -> None:
        site.write("/robots.txt", "User-agent: *\nDisallow: /other\n")
        site.write("/", page("/secret.html"))
        site.write("/secret.html", page())
        crawl(ronda, site.url(), *DB)
        site.write("/robots.txt", "User-agent: *\nDisallow: /secret\n")
        second = crawl(ronda, site.url(), *DB)

        assert site.times()[ROBOTS] == 2
        secret = second.results[site.url("/secret.html")]
        assert secret["reason"] == "robots_disallow"


@contextlib.contextmanager
def breaking() -> Iterator[tuple[str, list[bool]]]:
    """A site with a page that ends too early, once something is in the list."""
    cut: list[bool] = []

    def talk(connection: socket.socket) -> None:
        _, path = odd.read_head(connection)
        body = page("/t.html" if path == "/" else "/", words="whole").encode()
        sent = body[:30] if cut and path == "/t.html" else body
        head = f"HTTP/1.1 200 OK\r\n{HTML}\r\nContent-Length: {len(body)}\r\n"
        connection.sendall(f"{head}Connection: close\r\n\r\n".encode() + sent)

    with odd.serving(talk) as port:
        yield f"http://{HOST}:{port}/", cut


class TestSaved:
    def test_what_was_cut_short_is_not_saved(self, ronda: Command) -> None:
        with breaking() as (url, cut):
            crawl(ronda, url, "--save", "good")
            good = tree(ronda.folder / "good")
            cut.append(True)
            crawl(ronda, url, "--save", "good", "--retries", "0")
            crawl(ronda, url, "--save", "new", "--retries", "0")

        assert [b"whole" in body for body in good.values()] == [True, True]
        assert tree(ronda.folder / "good") == good
        [name] = tree(ronda.folder / "new")
        assert name.endswith("index.html")

    def test_the_next_crawl_moves_no_pictures_either(
        self, ronda: Command, site: Site
    ) -> None:
        site.write("/", page('<img src="/a.png">', words="word " * 100))
        site.write("/a.png", "picture" * 20_000)
        command = (site.url(), *DB, "--save", "copy")
        crawl(ronda, *command)
        before, mark = tree(ronda.folder / "copy"), site.mark()
        crawl(ronda, *command)

        moved = [sum(a.bytes for a in site.asked()[at]) for at in _around(mark)]
        assert moved[1] < 0.05 * moved[0]
        assert tree(ronda.folder / "copy") == before
        assert len(before) == 2

    def test_a_part_that_is_too_large_is_told_of(
        self, ronda: Command, site: Site
    ) -> None:
        site.write("/", page('<img src="/a.png">'))
        site.write("/a.png", "picture" * 20_000)
        command = (site.url(), "--save", "copy", "--max-page-size", "100000")
        ended = crawl(ronda, *command)

        [(url, _, words)] = ended.problems
        assert url == site.url("/a.png")
        assert words == "longer than 100,000 bytes (body_limit): not saved"
        assert len(tree(ronda.folder / "copy")) == 1

    def test_an_archive_holds_every_page_after_a_kill(
        self, ronda: Command, tmp_path: Path
    ) -> None:
        # Large, and not to be packed: what is read waits to be archived.
        chance, size, count = random.Random(1), 60_000, 20
        names = [f"/p{number}.html" for number in range(count)]
        archive = ronda.folder / "site.warc.gz"
        with holding(tmp_path / "nginx", page()) as (site, server):
            site.write("/", page("/held", *names))
            for number, name in enumerate(names):
                noise = f"<p>{chance.randbytes(size).hex()}"
                site.write(name, page(f"/gone{number % 2}.html", noise))
            command = (site.url(), *DB, "--warc", archive.name)
            process = ronda.start("crawl", *command)
            assert ended_when(process, lambda: _size(archive) > 5 * size)
            server.told.set()
            ended = resumed(ronda, *command)

        records = archived(archive)
        whole = {url for kind, url, _ in records if kind == "response"}
        assert {site.url(name) for name in names} <= whole
        for gone in ("/gone0.html", "/gone1.html"):
            documents = [place[0] for place in places(ended)[site.url(gone)]]
            assert len(documents) == len(set(documents)) == count // 2


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _around(mark: int) -> tuple[slice, slice]:
    return slice(mark), slice(mark, None)


class TestKilled:
    def test_a_seed_that_has_moved_keeps_its_scope(
        self, ronda: Command, tmp_path: Path
    ) -> None:
        moved = "location = /old/ { return 301 /new/; }"
        held = page("/new/deep.html")
        with holding(tmp_path / "nginx", held, moved, path="/new/held") as (
            site,
            server,
        ):
            site.write("/new/", page("/new/held"))
            site.write("/new/deep.html", page("/new/deeper.html"))
            site.write("/new/deeper.html", page())
            command = (site.url("/old/"), "--scope", "directory")
            whole, again = whole_and_resumed(ronda, server, *command)

        assert found(again) == found(whole)
        assert site.url("/new/deeper.html") in again.results

    def test_a_page_behind_two_redirects_has_its_links_once(
        self, ronda: Command, tmp_path: Path
    ) -> None:
        moved = [f"location = {r} {{ return 302 /c.html; }}" for r in ("/r1", "/r2")]
        with holding(tmp_path / "nginx", page("/r2"), *moved) as (site, server):
            site.write("/", page("/r1"))
            site.write("/c.html", page("/leaf.html", "/held"))
            whole, again = whole_and_resumed(ronda, server, site.url())

        assert found(again) == found(whole)
        assert len(places(again)[site.url("/leaf.html")]) == 1
        assert again.summary["site"]["pages"] == whole.summary["site"]["pages"]

    def test_a_page_that_was_not_to_be_followed_is_read_behind_a_redirect(
        self, ronda: Command, tmp_path: Path
    ) -> None:
        moved = "location = /r { return 302 /b.html; }"
        with holding(tmp_path / "nginx", page("/r"), moved) as (site, server):
            nofollow = '<a rel="nofollow" href="/b.html">b</a>'
            site.write("/", page(nofollow, "/held"))
            site.write("/b.html", page("/leaf.html"))
            whole, again = whole_and_resumed(ronda, server, site.url())

        assert found(again) == found(whole)
        assert site.url("/leaf.html") in again.results

    def test_a_large_page_that_was_half_read_tells_nothing_twice(
        self, ronda: Command, tmp_path: Path
    ) -> None:
        calls = [f"tel:+49{number:09d}" for number in range(8_000)]
        with holding(tmp_path / "nginx", page()) as (site, server):
            site.write("/", page(*calls[:1000], "/held", *calls[1000:]))
            killed(ronda, server, site.url(), *DB)
            with contextlib.closing(sqlite3.connect(ronda.folder / "site.db")) as db:
                [[told]] = db.execute("SELECT count(*) FROM result")
            ended = resumed(ronda, site.url(), *DB)

        assert 0 < told < len(calls)  # else it was not half read
        assert len(ended.results) == len(calls) + 2
        assert (ended.summary["checked"], ended.summary["left"]) == (len(calls) + 2, 0)
        assert {len(r["found_in"]) for u, r in ended.results.items() if "tel" in u} == {
            1
        }

    def test_a_child_that_was_killed_is_replaced(self, ronda: Command) -> None:
        links = ["/held", *(f"/{number}" for number in range(20))]
        with made(lambda _: page(*links).encode()) as server:
            how = ("--processes", "2", "--format", "json")
            process = ronda.start("crawl", server.url(), *how)
            assert server.heard.wait(SECONDS)
            for child in _children(process.pid):
                os.kill(child, signal.SIGKILL)
            server.told.set()
            out, err = process.communicate(timeout=SECONDS)

        ended = Ended(code=process.returncode, out=out.decode(), err=err.decode())
        assert paths(ended, server.url("")) == {"/", *links}
        assert ended.summary["counts"]["ok"] == len(links) + 1
        words = "1 process that asked died and had to be replaced"
        assert ended.summary["remarks"] == [words]
        assert (ended.code, ended.err) == (0, "")


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    children = [int(c) for t in tasks for c in (t / "children").read_text().split()]
    assert len(children) == 2
    return children


class TestPoliteness:
    def test_no_host_is_asked_early_after_a_restart(
        self, ronda: Command, tmp_path: Path
    ) -> None:
        gap = 1.0  # seconds: longer than it takes to start again
        with holding(tmp_path / "nginx", page()) as (site, server):
            command = (site.url("/held"), *DB, "--interval", str(gap))
            killed(ronda, server, *command)
            process = ronda.start("crawl", *command, "--restart")
            assert ended_when(process, lambda: site.times()[ROBOTS] == 2)
            asked = site.asked()

        assert [a.target for a in asked] == ["/robots.txt", "/held", "/robots.txt"]
        gaps = [after.at - before.at for before, after in pairwise(asked)]
        assert min(gaps) + TICK >= gap, gaps

    def test_a_host_that_asked_for_a_long_rest_has_it(
        self, ronda: Command, site: Site
    ) -> None:
        site.write("/", page("/busy"))
        command = (site.url(), *DB, "--interval", "0.05", "--max-wait", "10")
        crawl(ronda, *command)
        mark = site.mark()
        second = crawl(ronda, *command)

        assert site.asked(mark) == []
        assert second.results[site.url()]["reason"] == "host_resting"


class TestRounds:
    def test_other_seeds_do_not_end_a_crawl_that_was_interrupted(
        self, ronda: Command, tmp_path: Path
    ) -> None:
        with holding(tmp_path / "nginx", page("/c.html")) as (site, server):
            site.write("/", page("/held"))
            site.write("/other.html", page())
            other = (site.url("/other.html"), *DB)
            killed(ronda, server, site.url(), *DB)
            refused = crawl(ronda, *other)
            rest = resumed(ronda, site.url(), *DB)
            allowed = crawl(ronda, *other)

        advice = "call that again to go on, or use --restart to forget it"
        words = f"a crawl of {site.url()} was interrupted; {advice}"
        assert refused.err == f"ronda: --db site.db: {words}\n"
        assert (refused.code, refused.out) == (2, "")
        assert site.url("/c.html") in rest.results
        assert (set(allowed.results), allowed.err) == ({other[0]}, "")

    @pytest.mark.parametrize("rule", [("--exclude", "re:.*"), ("--include", "/docs/")])
    def test_a_seed_that_is_left_out_is_one_clear_line(
        self, ronda: Command, rule: tuple[str, str]
    ) -> None:
        ended = crawl(ronda, "http://127.0.0.1:1/", *DB, *rule)

        words = "left out by --include, --exclude or .rondaignore"
        assert ended.err == f"ronda: http://127.0.0.1:1/: {words}\n"
        assert (ended.code, ended.out) == (2, "")
        assert not (ronda.folder / "site.db").exists()

    def test_max_bytes_comes_to_an_end_in_a_few_calls(
        self, ronda: Command, site: Site
    ) -> None:
        names = [f"/p{number}.html" for number in range(30)]
        site.write("/", page(*names))
        for name in names:
            site.write(name, page(words="word " * 1000))
        limit = ("--max-bytes", "120000", "--concurrency", "1")
        calls = [crawl(ronda, site.url(), *DB, *limit) for _ in range(3)]

        left = [call.summary["left"] for call in calls]
        assert left[0] > left[1] > left[2] == 0
        assert [bool(call.summary["interrupted"]) for call in calls] == [1, 1, 0]
        assert len(calls[2].results) == len(names) + 1
