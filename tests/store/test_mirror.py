"""A site on disk, to be read offline."""

import errno
import posixpath
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ronda import urls
from ronda.errors import UrlError
from ronda.store.mirror import Mirror
from ronda.store.mirror.index import Index, Saved
from ronda.store.mirror.names import SEGMENT, WHOLE, folded, plain
from ronda.targets.rewrite import rewritten

HTML = "text/html"
SITE = "http://site.test"
OWN = ".ronda-mirror"


def left(
    body: bytes, _kind: str, _charset: str, _url: str, _to: Callable[[str], str]
) -> bytes:
    """Rewrites nothing."""
    return body


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and OWN not in path.parts
    }


def name(path: str, media_type: str = HTML) -> str:
    return "/".join(plain(SITE + path, media_type)).removeprefix("site.test/")


# -- names --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/", "index.html"),
        ("/a/", "a/index.html"),
        ("/a", "a.html"),
        ("/a.html", "a.html"),
        ("/a.HTM", "a.HTM"),
        ("/a.php", "a.php.html"),
        ("/a?b=1&c=2", "a@b=1&c=2.html"),
        ("/a.html?b=1", "a@b=1.html"),
        ("/?b", "index@b.html"),
        ("/a?", "a@.html"),
        ("/a?b=/../c", "a@b=%2F..%2Fc.html"),
        ("/p%C3%A1gina%20um", "página um.html"),
        ("/a%2Fb%00%5C", "a%2Fb%00%5C.html"),
        ("/%FF", "%FF.html"),
        ("/a//b", "a/_/b.html"),
        ("/a./b /..x", "a%2E/b%20/..x.html"),
        ("/con/aux.html", "_con/_aux.html"),
        ("/.well-known/x", ".well-known/x.html"),
        ("/wiki/Talk:A*", "wiki/Talk%3AA%2A.html"),
    ],
)
def test_a_page_has_the_name_of_its_path(path: str, expected: str) -> None:
    assert name(path) == expected


@pytest.mark.parametrize(
    ("path", "media_type", "expected"),
    [
        ("/style?v=2", "text/css", "style@v=2.css"),
        ("/style.css?v=2", "text/css", "style@v=2.css"),
        ("/logo.png?v=2", "image/png", "logo@v=2.png"),
        ("/data/", "application/json", "data/index"),
        ("/data/", "", "data/index.html"),
        ("/data", "", "data"),
    ],
)
def test_what_is_no_page_keeps_its_ending(
    path: str, media_type: str, expected: str
) -> None:
    assert name(path, media_type) == expected


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://site.test:8080/", "site.test_8080"),
        ("http://[::1]/", "[%3A%3A1]"),
        ("http://.ronda-mirror/", "_.ronda-mirror"),
        ("http://user:secret@site.test/", "site.test"),
        ("file:///etc/passwd", "_"),
    ],
)
def test_a_host_is_one_folder(url: str, host: str) -> None:
    assert plain(url, HTML)[0] == host


segments = st.text("ab.A%2eEf~@_ \\:*é\0\n", max_size=6) | st.sampled_from(
    ["..", ".", "%2e%2e", "%2E.", "con", "NUL.txt", "a" * 300, "é" * 200, "index.html"]
)
addresses = st.builds(
    lambda scheme, host, path, query: f"{scheme}://{host}/{'/'.join(path)}{query}",
    st.sampled_from(["http", "https"]),
    st.sampled_from(["site.test", "site.test:81", "[::1]", "xn--p-xdb.test"]),
    st.lists(segments, max_size=5) | st.just(["deep"] * 60),
    st.just("") | segments.map(lambda text: f"?{text}"),
)
types = st.sampled_from([HTML, "text/css", "image/png", ""])


def is_safe(step: str) -> bool:
    return (
        step not in {"", ".", "..", OWN}
        and not step.endswith((".", " "))
        and step.isprintable()
        and not set(step) & set('/\\:*?"<>|')
        and len(step.encode()) <= SEGMENT + 1
    )


@given(addresses | st.text(), types)
def test_a_name_leads_nowhere_but_below_its_folder(url: str, media_type: str) -> None:
    steps = plain(url, media_type)

    assert len(steps) >= 2
    assert all(map(is_safe, steps))
    assert len("/".join(steps).encode()) <= WHOLE + SEGMENT


@settings(max_examples=50, deadline=None)  # the disk is others' too
@given(st.lists(st.tuples(addresses, types), max_size=12))
def test_each_url_has_a_file_of_its_own_in_this_run_and_the_next(
    tmp_path_factory: pytest.TempPathFactory, pages: list[tuple[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("mirror")
    site: dict[str, str] = {}
    for address, media_type in pages:
        try:
            site.setdefault(urls.normalise(address), media_type)
        except UrlError:
            continue
    with Mirror(folder, left) as mirror:
        first = {url: mirror.save(url, site[url], url.encode()) for url in site}
    with Mirror(folder, left) as mirror:
        again = {url: mirror.save(url, site[url], url.encode()) for url in site}

    assert first == again
    assert len({folded(path) for path in first.values()}) == len(site)
    assert tree(folder) == {path: url.encode() for url, path in first.items()}


# -- saving -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "paths",
    [
        ("/a", "/a/b"),
        ("/a/b", "/a"),
        ("/a", "/A"),
        ("/a/b", "/A", "/A/c"),
        ("/%41", "/A"),
        ("/a", "/A/b", "/a/c", "/a/b"),
    ],
)
def test_files_that_want_the_same_name_are_kept_apart(
    tmp_path: Path, paths: tuple[str, ...]
) -> None:
    with Mirror(tmp_path, left) as mirror:
        for path in paths:
            mirror.save(SITE + path, "image/png", path.encode())

    assert sorted(tree(tmp_path).values()) == sorted(path.encode() for path in paths)
    assert len({folded(path) for path in tree(tmp_path)}) == len(paths)


def test_a_page_that_becomes_something_else_takes_another_name(tmp_path: Path) -> None:
    with Mirror(tmp_path, left) as mirror:
        mirror.save(f"{SITE}/a", HTML, b"page")
        mirror.save(f"{SITE}/a", "application/pdf", b"paper")

    assert tree(tmp_path) == {"site.test/a": b"paper"}


def test_what_was_saved_before_is_known_to_the_next_run(tmp_path: Path) -> None:
    with Mirror(tmp_path, left) as mirror:
        mirror.save(f"{SITE}/new", HTML, b"", redirected_from=[f"{SITE}/old"])
        gone = tmp_path / mirror.save(f"{SITE}/a/gone", HTML, b"")
    gone.unlink()
    gone.parent.rmdir()

    with Mirror(tmp_path, left) as mirror:
        known = [
            path for path in ("/new", "/old", "/a/gone", "/no") if SITE + path in mirror
        ]

    assert known == ["/new", "/old"]


def test_a_folder_is_of_one_run_at_a_time(tmp_path: Path) -> None:
    with (
        Mirror(tmp_path, left),
        pytest.raises(OSError, match="another run is saving there"),
    ):
        Mirror(tmp_path, left)


@pytest.mark.parametrize(
    "link", ["site.test", "site.test/a", OWN, f"{OWN}/index.sqlite"]
)
def test_nothing_is_written_through_a_symbolic_link(tmp_path: Path, link: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    folder = tmp_path / "mirror"
    (folder / link).parent.mkdir(parents=True)
    (folder / link).symlink_to(outside)

    def save() -> None:
        with Mirror(folder, left) as mirror:
            mirror.save(f"{SITE}/a/b", HTML, b"x")

    with pytest.raises(OSError, match=r"Not a directory|symbolic links"):
        save()
    assert not list(outside.iterdir())


def test_a_symbolic_link_in_place_of_a_file_is_replaced(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"mine")
    (tmp_path / "mirror/site.test").mkdir(parents=True)
    (tmp_path / "mirror/site.test/a.html").symlink_to(outside)

    with Mirror(tmp_path / "mirror", left) as mirror:
        mirror.save(f"{SITE}/a", HTML, b"theirs")

    assert outside.read_bytes() == b"mine"
    assert tree(tmp_path / "mirror") == {"site.test/a.html": b"theirs"}


def test_a_disk_that_fails_is_an_error_with_the_path(tmp_path: Path) -> None:
    (tmp_path / "site.test").write_bytes(b"in the way")

    with (
        Mirror(tmp_path, left) as mirror,
        pytest.raises(OSError, match="ot a dir") as bad,
    ):
        mirror.save(f"{SITE}/a", HTML, b"x")

    assert bad.value.filename == str(tmp_path / "site.test/a.html")


def test_an_index_that_is_none_is_an_error(tmp_path: Path) -> None:
    (tmp_path / OWN).mkdir()
    (tmp_path / OWN / "index.sqlite").write_bytes(b"x" * 5000)

    with pytest.raises(OSError, match="not a database"):
        Mirror(tmp_path, left)


def test_a_full_disk_is_told_as_such_by_the_index_too(tmp_path: Path) -> None:
    index = Index(tmp_path / "index.sqlite")
    index._rows("PRAGMA max_page_count = 1")

    def fill() -> None:
        for number in range(1000):
            url = f"{SITE}/{number}"
            index.record(Saved(url, url * 20, HTML, ""), b"", ())

    with pytest.raises(OSError, match="full") as bad:
        fill()
    index.close()

    assert bad.value.errno == errno.ENOSPC


# -- links --------------------------------------------------------------------------

SMALL_SITE = {
    "/": (HTML, "<a href=docs/>D</a><a href='/docs/a?x=1&amp;y=2#part'>A</a>"),
    "/docs/": (HTML, "<base href=/docs/deep/><a href=b.html>B</a><a href=../a>A</a>"),
    "/docs/a?x=1&y=2": (HTML, "<link href=/style?v=1><a href=//site.test>home</a>"),
    "/docs/deep/b.html": (HTML, "<img src='/i (1).png' srcset='/i%20(1).png 2x'>"),
    "/docs": (HTML, "<a href=/moved>M</a><a href=http://other.test/docs/>O</a>"),
    "/style?v=1": ("text/css", "a{b:url('i (1).png')}"),
    "/i%20(1).png": ("image/png", "picture"),
    "/Docs": (HTML, "<a href='/docs'>d</a><a href='/Docs#x'>me</a><a href=no>no</a>"),
    "/p%C3%A1gina": (HTML, "<a href='página#ç'>me</a><style>a{b:url(/docs/)}</style>"),
}


class Links(HTMLParser):
    """The links of a page, as another parser sees them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for key, value in attrs if key in {"href", "src"}]
        self.found += [
            (value or "").split()[0] for key, value in attrs if key == "srcset"
        ]


def links(text: bytes) -> list[str]:
    return Links(text.decode()).found


def relative(folder: Path) -> dict[str, list[str]]:
    """The files that each page leads to, by its relative links."""
    return {
        path: [
            posixpath.normpath(
                posixpath.join(posixpath.dirname(path), unquote(urlsplit(link).path))
            )
            for link in links(body)
            if not urls.is_absolute(link)
        ]
        for path, body in tree(folder).items()
        if path.endswith(".html")
    }


def save_all(mirror: Mirror, *paths: str) -> None:
    for path in paths or SMALL_SITE:
        kind, text = SMALL_SITE[path]
        sources = [f"{SITE}/moved"] if path == "/docs/deep/b.html" else []
        mirror.save(SITE + path, kind, text.encode(), sources)


def test_every_relative_link_leads_to_a_file(tmp_path: Path) -> None:
    with Mirror(tmp_path, rewritten) as mirror:
        save_all(mirror)
        mirror.finish()

    pages = relative(tmp_path)
    files = tree(tmp_path)
    leads = [path for paths in pages.values() for path in paths]
    assert len(leads) == 11
    assert set(leads) <= files.keys()
    assert pages["site.test/index.html"] == [
        "site.test/docs/index.html",
        "site.test/docs/a@x=1&y=2.html",
    ]
    assert pages["site.test/docs/index.html"] == [
        "site.test/docs/deep/b.html",
    ]
    assert b"#part" in files["site.test/index.html"]
    assert files["site.test/style@v=1.css"] == b"a{b:url('i%20%281%29.png')}"


def test_a_link_to_what_is_not_saved_is_absolute(tmp_path: Path) -> None:
    with Mirror(tmp_path, rewritten) as mirror:
        save_all(mirror, "/docs", "/")
        mirror.finish()

    pages = tree(tmp_path)
    assert links(pages["site.test/docs.html"]) == [
        f"{SITE}/moved",
        "http://other.test/docs/",
    ]
    assert links(pages["site.test/index.html"]) == [
        f"{SITE}/docs/",
        f"{SITE}/docs/a?x=1&y=2#part",
    ]


def test_a_run_in_pieces_ends_as_one_in_one_piece(tmp_path: Path) -> None:
    with Mirror(tmp_path / "once", rewritten) as mirror:
        save_all(mirror)
        mirror.finish()

    for path in SMALL_SITE:
        with Mirror(tmp_path / "pieces", rewritten) as mirror:
            save_all(mirror, path)
            mirror.finish()

    assert tree(tmp_path / "pieces") == tree(tmp_path / "once")


def test_a_page_that_is_saved_again_is_rewritten_again(tmp_path: Path) -> None:
    with Mirror(tmp_path, rewritten) as mirror:
        save_all(mirror)
        mirror.finish()
        before = tree(tmp_path)
        mirror.finish()
        save_all(mirror)
        mirror.finish()

    assert tree(tmp_path) == before


def test_work_that_is_broken_off_is_gone_on_with(tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        assert total == len(SMALL_SITE)
        if done == 4:
            raise KeyboardInterrupt

    with Mirror(tmp_path / "once", rewritten) as mirror:
        save_all(mirror)
        mirror.finish()
    with Mirror(tmp_path / "broken", rewritten) as mirror:
        save_all(mirror)
        with pytest.raises(KeyboardInterrupt):
            mirror.finish(stop)
    with Mirror(tmp_path / "broken", rewritten) as mirror:
        mirror.finish()

    assert tree(tmp_path / "broken") == tree(tmp_path / "once")


def test_a_file_that_was_noted_but_not_written_is_not_linked_to(tmp_path: Path) -> None:
    with Mirror(tmp_path, rewritten) as mirror:
        save_all(mirror, "/", "/docs/")
        (tmp_path / "site.test/docs/index.html").unlink()
        mirror.finish()

    assert f"{SITE}/docs/" in links(tree(tmp_path)["site.test/index.html"])


def test_nothing_is_read_when_nothing_was_saved(tmp_path: Path) -> None:
    def refuse(*_: object) -> bytes:
        raise AssertionError

    with Mirror(tmp_path, left) as mirror:
        save_all(mirror)
        mirror.finish()
    with Mirror(tmp_path, refuse) as mirror:
        mirror.finish()

        mirror.save(f"{SITE}/a", HTML, b"")
        with pytest.raises(AssertionError):
            mirror.finish()
