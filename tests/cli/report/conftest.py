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

Write = Callable[..., str]


@pytest.fixture(scope="session")
def results() -> tuple[Result, ...]:
    return RESULTS


@pytest.fixture(scope="session")
def summary() -> Summary:
    return SUMMARY


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
