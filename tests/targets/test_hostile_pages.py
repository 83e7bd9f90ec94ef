"""Pages that are made to hurt take bounded time and memory, and lose no other link."""

import tracemalloc
from collections.abc import Iterator
from itertools import islice

import pytest

from ronda.config import Check
from ronda.model import Found, Problem
from ronda.targets import links_of

PAGE = "https://a.example/dir/page"


def read(body: bytes, kind: str = "text/html") -> Iterator[Found | Problem]:
    return links_of(body, PAGE, kind, Check())


def urls(body: bytes) -> list[str]:
    return [item.url for item in read(body) if isinstance(item, Found)]


def test_a_million_links_on_a_page_are_all_found() -> None:
    body = b"".join(b"<a href=/%d>x</a>" % number for number in range(1_000_000))

    assert sum(isinstance(item, Found) for item in read(body)) == 1_000_000


@pytest.mark.parametrize(
    "body",
    [
        b"<a href=/x>words</a>\n" * 50_000,
        b"<a href=/x>" + b"<img src=/yyyyyyyyyyy>" * 50_000,  # never closed
    ],
    ids=["anchors", "one anchor"],
)
def test_the_links_of_a_large_page_are_not_held_in_memory(body: bytes) -> None:
    tracemalloc.start()
    try:
        count = sum(1 for _ in read(body))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert count >= 50_000
    assert peak < 4 * len(body) + 6_000_000  # the text, and a piece's links


@pytest.mark.parametrize(
    "body",
    [
        b"<img srcset='" + b"/x 1x, " * 300_000 + b"'><a href=last>x</a>",
        b"<style>" + b"a{b:url(/x)}" * 300_000 + b"</style><a href=last>x</a>",
    ],
)
def test_of_one_element_not_millions_of_links_are_taken(body: bytes) -> None:
    found = urls(body)

    assert len(found) == 100_001
    assert found[-1] == "https://a.example/dir/last"


def test_the_first_links_of_a_large_page_come_before_it_is_read_to_its_end() -> None:
    found = read(b"<a href=x>words</a>" * 500_000)

    assert len(list(islice(found, 10))) == 10


@pytest.mark.parametrize("depth", [10_000, 50_000])
@pytest.mark.parametrize("tag", [b"div", b"b", b"table><tr><td", b"svg", b"template"])
def test_deep_nesting_hides_no_link(tag: bytes, depth: int) -> None:
    found = urls(b"<%b>" % tag * depth + b"<a href=x>words</a>")

    assert found == ["https://a.example/dir/x"]


@pytest.mark.parametrize(
    ("reference", "url"),
    [
        (b"x\0y", "https://a.example/dir/xy"),
        (b"x\ny\r\n\tz", "https://a.example/dir/xyz"),
        (b"  x y  ", "https://a.example/dir/x%20y"),
        (b"%zz%", "https://a.example/dir/%zz%"),
        (b"\x01\x02x", "https://a.example/dir/x"),
        (b"https://b\xc3\xbccher.example", "https://xn--bcher-kva.example/"),
        (b"https://xn--a.example", "https://xn--a.example/"),
        (b"\\\\b.example\\x", "https://b.example/x"),
        (b"..//../x", "https://a.example/x"),
    ],
)
def test_odd_links_are_what_browsers_make_of_them(reference: bytes, url: str) -> None:
    assert urls(b"<a href='%b'>x</a>" % reference) == [url]


@pytest.mark.parametrize(
    "reference",
    [
        b"https://xn--\xc2\xad\xc3\xbc.example/",
        b"https://b c.example/",
        b"https://b.example:99999/",
        b"https://%00/",
        b"https://[::",
        b"http://",
        b"x" * 100_000,
    ],
)
def test_a_bad_link_is_one_problem_and_the_rest_goes_on(reference: bytes) -> None:
    problem, found = read(b"<a href='%b'>x</a><a href=y>z</a>" % reference)

    assert isinstance(problem, Problem)
    assert problem.grave
    assert len(problem.message) < 150
    assert isinstance(found, Found)


OWN = [b"javascript:x()", b"JavaScript:x", b"java\nscript:x", b"about:blank", b"blob:x"]
DATA = [b"data:text/html,x", b" DATA:image/png;base64," + b"x" * 200_000]


@pytest.mark.parametrize("reference", [*OWN, *DATA, b" ", b""])
def test_what_a_page_carries_in_itself_is_passed_over(reference: bytes) -> None:
    assert list(read(b"<a href='%b'>x</a>" % reference)) == []


MARKS = [b"<", b"</", b"<!", b"<!--", b"<?", b"&", b"<a ", b"<meta ", b"<style>"]
TAGS = [b'<a href="', b"<a href=x ", b"<a href=x><table><tr><td>", b"<p><a href=x>"]


@pytest.mark.parametrize("piece", [*MARKS, *TAGS, b"<img srcset=',"])
@pytest.mark.parametrize("size", [200_000, 1_000_000])
def test_a_page_of_one_mark_takes_no_longer_than_others(
    piece: bytes, size: int
) -> None:
    body = b"\xe9" + piece * (size // len(piece))

    assert sum(1 for _ in read(body)) <= size
