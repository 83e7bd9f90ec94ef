"""A run takes no more memory than its settings allow, whatever servers send."""

import sys
from pathlib import Path

import pytest

from e2e.command import Command
from servers.process import require
from servers.rude import Rude

CONCURRENCY = 8
BODY_LIMIT = 1_000_000  # bytes
BESIDES = 100 * 1024 * 1024  # bytes: the program itself, and one page taken apart
PAGES = 16  # twice as many as are asked at once
# Runs a command and writes down its peak, in kilobytes. A process of its own: a child
# begins with the peak of its parent, and the tests' may be any.
MEASURE = """
import pathlib, resource, subprocess, sys
code = subprocess.call(sys.argv[2:])
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
pathlib.Path(sys.argv[1]).write_text(str(peak))
sys.exit(code)
"""


def peak(ronda: Command, *arguments: str) -> tuple[int, str]:
    """The most memory a run took, in bytes, and what it printed."""
    (ronda.folder / "ronda.toml").write_text(f"[fetch]\nbody_limit = {BODY_LIMIT}\n")
    file = ronda.folder / "peak"
    # setpriv: it ends with whoever measures it.
    ending = (require("setpriv"), "--pdeathsig", "KILL")
    ended = ronda(
        *("check", "--no-robots", "--no-progress", "--retries", "0"),
        *("--concurrency", str(CONCURRENCY)),
        *arguments,
        prefix=(sys.executable, "-c", MEASURE, str(file), *ending),
    )
    assert "Traceback" not in ended.err
    return int(Path(file).read_text()) * 1024, ended.out


@pytest.mark.parametrize(
    "path",
    [
        "/bomb/gzip",
        "/bomb/deflate",
        "/bomb/br",
        "/bomb/gzip+gzip",
        "/bomb.xml.gz",
        "/endless-body",
        "/endless-words",
        "/endless-tags",
        "/one-line",
    ],
)
def test_pages_without_an_end_take_no_more_than_the_limit_for_each(
    ronda: Command, rude: Rude, path: str
) -> None:
    pages = [rude.url(rude.fresh(path)) for _ in range(PAGES)]
    most, out = peak(ronda, *pages)

    assert f"{PAGES} ok" in out
    assert most < CONCURRENCY * BODY_LIMIT + BESIDES


def test_pages_of_nothing_but_links_do_so_neither(ronda: Command, rude: Rude) -> None:
    pages = [rude.url(rude.fresh("/endless-links")) for _ in range(CONCURRENCY)]
    most, out = peak(ronda, *pages)

    assert f"{len(pages) + 1} ok" in out  # they all link to one other
    assert most < CONCURRENCY * BODY_LIMIT + BESIDES


def test_headers_without_an_end_take_next_to_nothing(
    ronda: Command, rude: Rude
) -> None:
    paths = ("/endless-headers", "/flood-1xx", "/big-header", "/many-cookies")
    urls = [rude.url(rude.fresh(path)) for path in paths for _ in range(PAGES)]
    most, out = peak(ronda, ronda.listed(urls))

    assert f"{len(urls)} broken" in out
    assert most < BESIDES
