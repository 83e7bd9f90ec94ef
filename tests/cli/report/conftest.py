"""A small run with one of every verdict, and one way to write it."""

from collections.abc import Callable
from io import StringIO

import pytest

from ronda.cli.report import FORMATS, Style
from ronda.model import (
    Certificate,
    Hop,
    Place,
    Problem,
    Result,
    Site,
    Slow,
    State,
    Summary,
    Timings,
)

GUIDE, INDEX = "docs/guide.md", "https://example.org/index.html"

RESULTS = (
    Result(
        url="https://example.org/gone",
        verdict=State.BROKEN,
        reason="http_404",
        message="404 Not Found",
        status=404,
        address="192.0.2.1",
        timings=Timings(0.001, 0.01, 0.03, 0.12, 0.125),
        bytes=512,
        found_in=(Place(INDEX, 7), Place(GUIDE, 12, 5, "the old page")),
        checked_at="2026-01-01T10:00:00Z",
    ),
    Result(
        url="http://user:secret@example.org/",
        verdict=State.WARNING,
        reason="moved_permanently",
        message="moved permanently",
        hops=(
            Hop("http://user:secret@example.org/", 301, "https://example.org/"),
            Hop("https://example.org/", 308, "https://user:secret@example.org/en/"),
        ),
        status=200,
        address="192.0.2.1",
        timings=Timings(total=1.5),
        certificate=Certificate(subject="example.org", ends_at="2026-03-01T00:00:00Z"),
        found_in=(Place(GUIDE, 3, 1, "http://user:secret@example.org/"),),
        checked_at="2026-01-01T10:00:01Z",
    ),
    Result(
        url="https://slow.example/",
        verdict=State.TEMPORARY,
        reason="connect_timeout",
        message="no connection within 10 s",
        found_in=(Place(GUIDE, 100, 22),),
        checked_at="2026-01-01T10:00:30Z",
        attempts=3,
    ),
    Result(
        url="https://wall.example/",
        verdict=State.BLOCKED,
        reason="http_403",
        message="403 Forbidden",
        status=403,
        found_in=(Place(""),),
    ),
    Result(
        url="gopher://old.example/",
        verdict=State.UNSUPPORTED,
        reason="no_handler",
        message="no handler for scheme 'gopher'",
        found_in=(Place("-", 2),),
    ),
    Result(
        url="https://never.example/",
        verdict=State.UNKNOWN,
        reason="not_checked",
        message="not checked",
    ),
    Result(
        url="https://example.org/fine",
        verdict=State.OK,
        reason="http_200",
        message="200 OK",
        status=200,
        address="192.0.2.1",
        timings=Timings(total=0.0124),
        found_in=(Place(GUIDE, 4, 1),),
        checked_at="2026-01-01T10:00:02Z",
    ),
)

SUMMARY = Summary(
    counts=dict.fromkeys(State, 1),
    excluded=1200,
    problems=(
        Problem(Place("lists/bad.txt", 3), "not a URL: http://"),
        Problem(Place("missing.md"), "no such file"),
    ),
    requests=12,
    seconds=3.42,
    interrupted="Ctrl-C",
    left=5,
)

HOME, ABOUT, NEWS = (f"https://site.example/{name}" for name in ("", "about", "news"))

CRAWL_RESULTS = (
    Result(
        url="https://site.example/gone",
        verdict=State.BROKEN,
        reason="http_404",
        message="404 Not Found",
        status=404,
        found_in=(
            Place(NEWS, 9, 4, "old news", "a"),
            Place(HOME, 7, 3, "the old page", "a"),
            Place(HOME, 12, 3, "again", "a"),
            *(Place(f"https://site.example/p{n:02}", 5, tag="a") for n in range(10)),
        ),
        depth=1,
    ),
    Result(
        url="https://site.example/logo.png",
        verdict=State.BROKEN,
        reason="http_410",
        message="410 Gone",
        status=410,
        found_in=(Place(ABOUT, 3, 1, tag="img"),),
        depth=2,
    ),
    Result(
        url="https://slow.example/",
        verdict=State.TEMPORARY,
        reason="connect_timeout",
        message="no connection within 10 s",
        found_in=(Place(HOME, 20, 5, tag="a"), Place(ABOUT, 30, 5, tag="a")),
        depth=1,
    ),
    Result(
        url="http://site.example/old",
        verdict=State.WARNING,
        reason="moved_permanently",
        message="moved permanently",
        hops=(
            Hop("http://site.example/old", 301, "https://site.example/old"),
            Hop("https://site.example/old", 302, ABOUT),
        ),
        status=200,
        found_in=(Place(HOME, 15, 5, tag="a"), Place(NEWS, 4, 1, tag="a")),
        depth=1,
    ),
    Result(
        url="https://site.example/login",
        verdict=State.OK,
        reason="http_200",
        message="200 OK",
        hops=(Hop("https://site.example/login", 302, "https://site.example/in"),),
        status=200,
        found_in=(Place(HOME, 2, 1, tag="a"),),
        depth=1,
    ),
    Result(
        url=HOME,
        verdict=State.OK,
        reason="http_200",
        message="200 OK",
        status=200,
        timings=Timings(total=2.41),
        bytes=48_210,
        found_in=(Place(""),),
        media_type="text/html",
        digest="5e" * 32,
    ),
)

SITE = Site(
    pages=14,
    unchanged=3,
    bytes=1_234_567,
    slowest=(
        Slow(HOME, 2.41),
        Slow("https://site.example/search?q=a", 12.3),
        Slow(ABOUT, 0.2),
    ),
    duplicates=(
        (f"{ABOUT}?a=1", ABOUT),
        tuple(f"https://site.example/print/{n}" for n in range(1, 8)),
    ),
    orphans=("https://site.example/lost", "https://site.example/forgotten"),
    beyond={
        "depth": 1204,
        "max_pages": 1,
        "query strings": 20,
        "trap: a calendar": 365,
        "nofollow": 4,
        "content type": 2,
        "a rule of its own": 3,
    },
)

CRAWL_SUMMARY = Summary(
    counts={State.OK: 2, State.WARNING: 1, State.TEMPORARY: 1, State.BROKEN: 2},
    requests=31,
    seconds=14.2,
    interrupted="Ctrl-C",
    left=1025,
    left_at={"b.example": 20, "a.example": 1000},
    site=SITE,
    remarks=("2 workers died and were replaced",),
)

Write = Callable[..., str]


@pytest.fixture(scope="session")
def results() -> tuple[Result, ...]:
    return RESULTS


@pytest.fixture(scope="session")
def summary() -> Summary:
    return SUMMARY


@pytest.fixture(scope="session")
def site() -> Site:
    return SITE


@pytest.fixture(scope="session")
def crawled() -> tuple[tuple[Result, ...], Summary]:
    """What a crawl of a small site found."""
    return CRAWL_RESULTS, CRAWL_SUMMARY


@pytest.fixture(scope="session")
def write() -> Write:
    """A report as text: `write("json", results, summary, verbose=True)`."""

    def written(
        name: str,
        results: tuple[Result, ...] = RESULTS,
        summary: Summary = SUMMARY,
        **style: object,
    ) -> str:
        out = StringIO(newline="")
        FORMATS[name].write(results, summary, out, Style(**style))
        return out.getvalue()

    return written


@pytest.fixture(scope="session")
def tainted() -> Callable[[str], Result]:
    """A result that holds a text wherever text from outside can stand."""

    def result(text: str) -> Result:
        return Result(
            url=text,
            verdict=State.BROKEN,
            reason="http_404",
            message=text,
            hops=(Hop("https://a.example/", 301, text),),
            found_in=(Place(text, 1, 1, text),),
        )

    return result


@pytest.fixture(scope="session")
def tainted_crawl() -> Callable[[str], Summary]:
    """The summary of a crawl that holds a text wherever one from outside can stand."""

    def summary(text: str) -> Summary:
        site = Site(
            slowest=(Slow(text, 2.0),),
            duplicates=((text, text),),
            orphans=(text,),
            beyond={text: 1},
        )
        return Summary(left=2, left_at={text: 1}, site=site, remarks=(text,))

    return summary
