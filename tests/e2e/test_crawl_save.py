"""`ronda crawl --save` and `--warc`: what can be read offline, and in an archive."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from warcio.archiveiterator import ArchiveIterator

from e2e.command import Command
from e2e.site import crawl, page
from e2e.test_crawl_resume import killed_at
from servers.site import Site

LINK = re.compile(r"""(?:href|src)="([^"]*)"|url\(['"]?([^)'"]*)['"]?\)""")
SAVED = ("--save", "copy", "--warc", "site.warc.gz")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Site(
        tmp_path / "nginx", "location = /old { return 301 /new.html; }"
    ) as opened:
        yield opened


def write(site: Site) -> set[str]:
    """A site with everything that has to be rewritten; its pages and parts."""
    style = '<link rel="stylesheet" href="/css/a.css">'
    links = (
        "/dir/",
        "dir/page.html#part",
        "/old",
        "/search.html?q=a b",
        "/sp ace.html",
    )
    image = '<img src="/img/a.png" alt="a">'
    outside = "http://127.0.0.2:1/outside"
    site.write("/", page(*links, image, outside, "/gone.html", head=style))
    site.write("/css/a.css", '@import "more/b.css";\na { b: url(../img/b.png) }')
    site.write("/css/more/b.css", "a { b: url('/img/c.png') }")
    base = '<base href="/dir/deep/">'
    site.write("/dir/", page("page.html", "../"))
    site.write("/dir/page.html", page("x.html", "/", "#part", head=base))
    site.write("/dir/deep/x.html", page("../../search.html?q=2", "../page.html"))
    site.write("/new.html", page("/"))
    site.write("/search.html", page("/dir/"))
    site.write("/sp ace.html", page("/sp%20ace.html"))
    for name in ("a", "b", "c"):
        site.write(f"/img/{name}.png", f"picture {name}")
    return {
        *("/", "/dir/", "/dir/page.html", "/dir/deep/x.html", "/new.html"),
        *("/search.html?q=a%20b", "/search.html?q=2", "/sp%20ace.html"),
        *("/css/a.css", "/css/more/b.css", *(f"/img/{n}.png" for n in "abc")),
    }


def tree(folder: Path) -> dict[str, bytes]:
    """The files of the site, without what is not of it."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and ".ronda-mirror" not in file.parts
    }


def lost(folder: Path) -> list[tuple[str, str]]:
    """The relative links that lead to no file."""
    found = []
    for name, body in tree(folder).items():
        if not name.endswith((".html", ".css")):
            continue
        for match in LINK.finditer(body.decode()):
            link = unquote((match[1] or match[2]).partition("#")[0])
            if link and not link.startswith("http:"):
                assert not link.startswith("/"), link
                if not (folder / name).parent.joinpath(link).is_file():
                    found.append((name, link))
    return found


def archived(file: Path) -> list[tuple[str, str, bytes]]:
    """The records of an archive: kind, URL and body, all digests being right."""
    records = []
    with file.open("rb") as stream:
        for record in ArchiveIterator(stream, check_digests="raise"):
            url = record.rec_headers.get_header("WARC-Target-URI") or ""
            records.append((record.rec_type, url, record.content_stream().read()))
    return records


class TestTree:
    def test_all_that_is_saved_can_be_read_offline(
        self, ronda: Command, site: Site
    ) -> None:
        pages = write(site)
        crawl(ronda, site.url(), "--save", "copy", "--retries", "0")

        files = tree(ronda.folder / "copy")
        assert len(files) == len(pages)
        assert lost(ronda.folder / "copy") == []
        [first] = [
            files[name] for name in files if name.count("/") == 1 and "index" in name
        ]
        text = first.decode()
        assert 'href="http://127.0.0.2:1/outside"' in text
        assert f'href="{site.url("/gone.html")}"' in text
        assert 'href="dir/page.html#part"' in text
        assert 'href="new.html"' in text  # where /old leads to

    def test_the_next_crawl_asks_only_for_what_is_not_there(
        self, ronda: Command, site: Site
    ) -> None:
        write(site)
        command = (site.url(), "--db", "site.db", "--save", "copy", "--retries", "0")
        crawl(ronda, *command)
        before = tree(ronda.folder / "copy")
        [name] = [name for name in before if name.endswith("/x.html")]
        (ronda.folder / "copy" / name).unlink()
        mark = site.mark()
        crawl(ronda, *command)

        again = {a.target for a in site.asked(mark) if a.status == 200}
        assert "/dir/deep/x.html" in again
        assert "/" not in again
        assert tree(ronda.folder / "copy") == before

    def test_a_redirect_to_a_page_that_is_there_already_leads_there_too(
        self, ronda: Command, site: Site
    ) -> None:
        site.write("/", page("/new.html", "/a.html"))
        site.write("/a.html", page("/old"))  # redirected to /new.html
        site.write("/new.html", page("/"))
        options = ("--save", "copy", "--db", "site.db", "--concurrency", "1")
        crawl(ronda, site.url(), *options)

        [text] = [b for n, b in tree(ronda.folder / "copy").items() if "a.html" in n]
        assert b'href="new.html"' in text

    @pytest.mark.parametrize(
        "option",
        ["--save", "--warc"],
    )
    def test_a_place_that_cannot_be_is_one_clear_line(
        self, ronda: Command, option: str
    ) -> None:
        (ronda.folder / "file").write_text("my diary")
        ended = crawl(ronda, "http://127.0.0.1:1/", option, "file")

        assert (ended.code, ended.err.count("\n"), ended.out) == (2, 1, "")
        assert ended.err.startswith(f"ronda: {option} file: ")
        assert (ronda.folder / "file").read_text() == "my diary"


class TestArchive:
    def test_it_opens_in_warcio_and_holds_what_came(
        self, ronda: Command, site: Site
    ) -> None:
        pages = write(site)
        crawl(ronda, site.url(), "--warc", "site.warc.gz", "--retries", "0")

        records = archived(ronda.folder / "site.warc.gz")
        assert [kind for kind, _, _ in records[:3]] == [
            "warcinfo",
            "request",
            "response",
        ]
        bodies = {url: body for kind, url, body in records if kind == "response"}
        assert {site.url(path) for path in pages} <= set(bodies)
        assert bodies[site.url("/")] == (site.root / "index.html").read_bytes()
        asked = [url for kind, url, _ in records if kind == "request"]
        answered = [url for kind, url, _ in records if kind == "response"]
        assert asked == answered
        assert len(asked) == len(set(asked))


class TestResume:
    def test_a_killed_crawl_ends_with_the_same_tree_and_a_whole_archive(
        self, ronda: Command, site: Site
    ) -> None:
        write(site)
        whole = crawl(ronda, site.url(), "--save", "whole", "--retries", "0")
        command = (site.url(), "--db", "site.db", *SAVED, "--retries", "0")
        for requests in (2, 4, 4, 5):
            assert killed_at(ronda, site, requests, *command, "--concurrency", "2")

        ended = crawl(ronda, *command)

        assert tree(ronda.folder / "copy") == tree(ronda.folder / "whole")
        assert lost(ronda.folder / "copy") == []
        records = archived(ronda.folder / "site.warc.gz")
        urls = {url for kind, url, _ in records if kind == "response"}
        assert urls >= {u for u, r in whole.results.items() if r["verdict"] == "ok"}
        assert set(ended.results) == set(whole.results)
