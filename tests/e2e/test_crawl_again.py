"""`ronda crawl --db`: the next crawl, and what the file is when it is not ours."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.command import Command, Ended
from e2e.site import crawl, found, grown, made, page
from servers.site import Site

LOCATIONS = ("location = /said.html { add_header X-Robots-Tag nofollow; }",)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Site(tmp_path / "nginx", *LOCATIONS) as opened:
        yield opened


def twice(ronda: Command, site: Site, *options: str) -> tuple[Ended, Ended]:
    """A crawl and the next one, of a site that is the same."""
    first, second = (
        crawl(ronda, site.url(), "--db", "site.db", *options) for _ in range(2)
    )
    return first, second


class TestUnchanged:
    def test_a_second_crawl_moves_next_to_nothing_and_reports_the_same(
        self, ronda: Command, site: Site
    ) -> None:
        pages = grown(site, 60, words="word " * 500)
        first, mark = crawl(ronda, site.url(), "--db", "site.db"), site.mark()
        second = crawl(ronda, site.url(), "--db", "site.db")

        before, after = site.asked()[:mark], site.asked(mark)
        moved = [sum(a.bytes for a in some) for some in (before, after)]
        assert moved[1] < 0.05 * moved[0]
        unchanged = [a.target for a in after if a.status == 304]
        assert sorted(unchanged) == sorted(pages)
        assert second.summary["site"]["unchanged"] == len(pages)
        assert second.summary["counts"] == first.summary["counts"]
        assert first.summary["counts"]["broken"] == 3
        now, then = found(second), found(first)
        assert now[1] == then[1]
        assert {u: v for u, (v, _) in now[0].items()} == {
            u: v for u, (v, _) in then[0].items()
        }

    def test_duplicates_and_orphans_are_known_again(
        self, ronda: Command, site: Site
    ) -> None:
        site.write("/robots.txt", "Sitemap: /sitemap.xml\n")
        locs = f"<url><loc>{site.url('/orphan.html')}</loc></url>"
        site.write("/sitemap.xml", f"<urlset>{locs}</urlset>")
        site.write("/", page("/a.html", "/b.html"))
        for name in ("/a.html", "/b.html"):
            site.write(name, page("/", words="the same"))
        site.write("/orphan.html", page("/", words="alone"))

        first, second = twice(ronda, site)

        keys = ("pages", "duplicates", "orphans")
        one, other = (
            {
                key: sorted(map(str, e.summary["site"][key]))
                if key != "pages"
                else e.summary["site"][key]
                for key in keys
            }
            for e in (first, second)
        )
        assert one == other
        assert set(second.results) == set(first.results)

    @pytest.mark.parametrize(
        "name",
        ["/said.html", "/meta.html"],
    )
    def test_a_page_that_says_nofollow_still_says_so(
        self, ronda: Command, site: Site, name: str
    ) -> None:
        site.write("/", page(name))
        head = '<meta name="robots" content="nofollow">' if "meta" in name else ""
        site.write(name, page("/beyond.html", head=head))
        site.write("/beyond.html", page("/further.html"))
        site.write("/further.html", page())

        first, second = twice(ronda, site)

        assert set(second.results) == set(first.results)
        assert site.url("/further.html") not in first.results

    def test_anchors_are_not_kept_and_it_says_so(self, ronda: Command) -> None:
        url = "http://127.0.0.1:1/"
        ended = crawl(ronda, url, "--db", "site.db", "--fragments")

        words = "crawl.db: cannot be used together with check.fragments"
        assert (ended.code, ended.err) == (2, f"ronda: {words}\n")
        assert not (ronda.folder / "site.db").exists()

    def test_a_page_behind_a_redirect_has_its_links_still(
        self, ronda: Command, tmp_path: Path
    ) -> None:
        with Site(tmp_path / "moved", "location = /old { return 301 /new/; }") as site:
            site.write("/", page("/old"))
            site.write("/new/", page("a.html", "b.html"))
            site.write("/new/a.html", page("/new/"))

            first, second = twice(ronda, site)

        assert found(second)[1] == found(first)[1]
        assert site.url("/new/b.html") in second.results


class TestChanged:
    def test_a_changed_page_is_read_again_and_the_others_are_not(
        self, ronda: Command, site: Site
    ) -> None:
        grown(site, 10)
        crawl(ronda, site.url(), "--db", "site.db")
        site.write("/p3.html", page("/new.html", "/newly-broken.html", words="anew"))
        site.write("/new.html", page("/", words="new"))
        mark = site.mark()
        second = crawl(ronda, site.url(), "--db", "site.db")

        read = {a.target for a in site.asked(mark) if a.status == 200}
        assert read == {"/p3.html", "/new.html"}
        places = second.results[site.url("/newly-broken.html")]["found_in"]
        assert [place["document"] for place in places] == [site.url("/p3.html")]
        assert second.summary["counts"]["broken"] == 3

    def test_a_page_that_is_new_is_asked_for_without_conditions(
        self, ronda: Command, site: Site
    ) -> None:
        command = (site.url(), "--db", "site.db", "--concurrency", "1")
        site.write("/", page())
        crawl(ronda, *command)
        site.write("/", page("/new.html"))
        site.write("/new.html", page("/"))
        mark = site.mark()
        crawl(ronda, *command)

        conditions = {a.target: a.conditional for a in site.asked(mark)}
        assert conditions["/"]
        assert not conditions["/new.html"]

    def test_a_page_that_is_gone_is_broken(self, ronda: Command, site: Site) -> None:
        site.write("/", page("/a.html"))
        (site.root / "a.html").write_text(page("/b.html"))
        site.write("/b.html", page())
        crawl(ronda, site.url(), "--db", "site.db")
        (site.root / "a.html").unlink()

        second = crawl(ronda, site.url(), "--db", "site.db")

        assert second.results[site.url("/a.html")]["reason"] == "http_404"
        assert site.url("/b.html") not in second.results

    def test_a_forgetful_server_is_read_whole(self, ronda: Command) -> None:
        with made(lambda path: page("/a" if path == "/" else "/").encode()) as server:
            first = crawl(ronda, server.url(), "--db", "site.db")
            second = crawl(ronda, server.url(), "--db", "site.db")

        assert found(first) == found(second)


class TestFile:
    def test_the_file_is_for_its_user_alone(self, ronda: Command, site: Site) -> None:
        site.write("/", page())
        crawl(ronda, site.url(), "--db", "site.db")

        assert (ronda.folder / "site.db").stat().st_mode & 0o777 == 0o600

    @pytest.mark.parametrize("kind", ["text", "database", "folder", "nowhere"])
    def test_what_is_no_file_of_ours_is_one_clear_line(
        self, ronda: Command, kind: str
    ) -> None:
        file = ronda.folder / "site.db"
        match kind:
            case "text":
                file.write_text("my diary, and nothing else " * 99)
            case "database":
                with sqlite3.connect(file) as database:
                    database.execute("CREATE TABLE mine (a)")
                database.close()
            case "folder":
                file.mkdir()
            case "nowhere":
                file = ronda.folder / "no" / "site.db"
        before = file.read_bytes() if file.is_file() else b""

        ended = crawl(ronda, "http://127.0.0.1:1/", "--db", str(file))

        assert ended.code == 2
        assert ended.err.startswith(f"ronda: --db {file}: ")
        assert (ended.err.count("\n"), ended.out) == (1, "")
        assert before == (file.read_bytes() if file.is_file() else b"")

    def test_a_damaged_file_is_one_clear_line(self, ronda: Command, site: Site) -> None:
        grown(site, 30)
        crawl(ronda, site.url(), "--db", "site.db", "--max-bytes", "5000")
        file = ronda.folder / "site.db"
        data = bytearray(file.read_bytes())
        data[4096:] = bytes(len(data) - 4096)
        file.write_bytes(data)

        ended = crawl(ronda, site.url(), "--db", "site.db")

        assert ended.code == 2
        assert ended.err.startswith("ronda: --db site.db: ")
        assert (ended.err.count("\n"), ended.out) == (1, "")

    def test_a_second_process_is_told_so_at_once(self, ronda: Command) -> None:
        with made(lambda _: page("/held").encode()) as server:
            first = ronda.start("crawl", server.url(), "--db", "site.db")
            assert server.heard.wait(30)
            second = crawl(ronda, server.url(), "--db", "site.db")
            server.told.set()
            out, err = first.communicate(timeout=30)

        assert second.code == 2
        assert second.err == "ronda: --db site.db: in use by another process\n"
        assert first.returncode == 0, err
        assert b"2 checked" in out

    def test_other_seeds_begin_a_round_of_their_own(
        self, ronda: Command, site: Site
    ) -> None:
        grown(site, 10)
        site.write("/alone.html", page())
        crawl(ronda, site.url(), "--db", "site.db", "--max-bytes", "500")
        other = (site.url("/alone.html"), "--db", "site.db")

        refused = crawl(ronda, *other)
        ended = crawl(ronda, *other, "--restart")

        assert refused.code == 2
        assert f"a crawl of {site.url()} was interrupted" in refused.err
        assert set(ended.results) == {site.url("/alone.html")}
        assert ended.err == ""
