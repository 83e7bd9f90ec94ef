"""robots.txt by RFC 9309."""

import base64
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import cases
from ronda.frontier.robots import SIZE_LIMIT, Robots

URL = "http://a.test/page"
PATIENCE = 5.0  # seconds


@pytest.mark.parametrize("case", cases("robots_spec.json"))
def test_the_cases_of_the_standard_and_its_reference_hold(
    case: dict[str, Any],
) -> None:
    robots = Robots.parse(base64.b64decode(case["robotstxt_base64"]))

    assert robots.allows(case["agent"], case["url"]) is case["allowed"]


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbfUser-agent: *\nDisallow: /\n",
        b"User-agent: *\rDisallow: /\r",
        b"User-agent: *\r\nDisallow: /\r\n",
        b"\0User-agent: *\0\nDis\0allow: /\n",
        b"user-agent:*\ndisallow:/",
        b"  User-agent : *  # all\n  Disallow : /  # all\n",
        b"User-agent: *\n\n\nDisallow: /\n",
        b"User-agent: *\nCrawl-delay: 1\nDisallow: /\n",
        b"Sitemap: http://a.test/s.xml\nUser-agent: *\nDisallow: /\n",
        b"\xff\xfe\nUser-agent: *\nDisallow: /\n",
    ],
)
def test_odd_files_are_still_understood(data: bytes) -> None:
    assert not Robots.parse(data).allows("ronda", URL)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"Disallow: /",  # for nobody
        b"User-agent: *\nDisallow:\n",
        b"User-agent: other\nDisallow: /\n",
        b"User-agent: *\nDisallow: /\nAllow: /page\n",
        b"User-agent: *\nDisallow: /\nUser-agent: ronda\nAllow: /\n",
        b"<!doctype html><title>404</title>",
        bytes(1000),
    ],
)
def test_what_nobody_forbids_is_allowed(data: bytes) -> None:
    assert Robots.parse(data).allows("ronda", URL)


def test_what_stands_after_the_limit_is_not_read() -> None:
    rule = b"User-agent: *\nDisallow: /page\n"
    padding = b"# padding\n" * (SIZE_LIMIT // 10)

    assert not Robots.parse(padding[: -len(rule)] + rule).allows("ronda", URL)
    assert Robots.parse(padding + padding + rule).allows("ronda", URL)


def test_a_line_cut_by_the_limit_is_not_read() -> None:
    head = b"User-agent: *\nDisallow: /very/deep\n"
    cut = b"Disallow: /page-that-does-not-exist\n"
    padding = b"#" * (SIZE_LIMIT - len(head) - len(b"\nDisallow: /page"))
    data = head + padding + b"\n" + cut

    assert Robots.parse(data).allows("ronda", URL)
    assert not Robots.parse(data).allows("ronda", "http://a.test/very/deep/x")


def test_the_rule_that_decides_is_told() -> None:
    robots = Robots.parse(b"User-agent: *\nDisallow: /p\nAllow: /page\n")

    decided = robots.decide("ronda", URL)
    assert decided is not None
    assert (decided.allow, decided.path) == (True, "/page")
    assert robots.decide("ronda", "http://a.test/else") is None


@pytest.mark.parametrize(
    ("text", "delay"),
    [("2", 2.0), ("0.5", 0.5), ("soon", None), ("-1", None), ("nan", None)],
)
def test_a_crawl_delay_is_a_number_of_seconds(text: str, delay: float | None) -> None:
    robots = Robots.parse(f"User-agent: *\nCrawl-delay: {text}\n".encode())

    assert robots.crawl_delay("ronda") == delay


def test_sitemaps_belong_to_nobody() -> None:
    robots = Robots.parse(
        b"Sitemap: http://a.test/1.xml\nUser-agent: x\nSitemap: http://a.test/2.xml\n"
    )

    assert robots.sitemaps == ["http://a.test/1.xml", "http://a.test/2.xml"]


PIECES = st.sampled_from(
    [
        *(b"User-agent: *\n", b"User-agent: ronda\n", b"Disallow: ", b"Allow: ", b"/"),
        *(b"*", b"$", b"%", b"%2", b"%zz", b"%E2", b"#", b"\n", b"\r", b"\0", b":"),
        *(b"a", b"\xc3", b"\xa4", b"?", b"(", b"[", b"\\", b"Crawl-delay: 1e999\n"),
    ]
)


@given(st.one_of(st.binary(), st.lists(PIECES).map(b"".join)), st.text(max_size=20))
def test_any_bytes_are_read_and_any_path_is_judged(data: bytes, path: str) -> None:
    robots = Robots.parse(data)

    assert robots.allows("ronda", f"http://a.test/{path}") in {True, False}
    assert robots.allows(path, URL) in {True, False}
    delay = robots.crawl_delay("ronda")
    assert delay is None or 0 <= delay < 1e9


def test_a_rule_of_many_stars_does_not_take_for_ever(in_time: None) -> None:
    robots = Robots.parse(b"User-agent: *\nDisallow: /" + b"*a" * 25 + b"b$\n")

    assert robots.allows("ronda", "http://a.test/" + "a" * 60)


@pytest.fixture
def in_time() -> Iterator[None]:
    """Raises in a test that would take for ever."""

    def stop(*_: object) -> None:
        raise TimeoutError("it takes for ever")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
