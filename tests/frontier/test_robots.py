"""robots.txt by RFC 9309."""

import base64
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import cases
from ronda.frontier.robots import SIZE_LIMIT, Access, Robots, access
from ronda.model import Answer

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


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_a_file_that_is_too_long_is_cut_at_any_kind_of_line_end(end: bytes) -> None:
    head = b"User-agent: *" + end + b"Disallow: /deep" + end
    data = head + b"Disallow: /" + b"a" * SIZE_LIMIT

    assert not Robots.parse(data).allows("ronda", "/deep/x")
    assert Robots.parse(data).allows("ronda", "/" + "a" * SIZE_LIMIT)


def test_a_line_that_ends_at_the_limit_is_read() -> None:
    head, last = b"User-agent: *\n", b"\nDisallow: /page"
    data = head + b"#" * (SIZE_LIMIT - len(head) - len(last)) + last

    assert not Robots.parse(data).allows("ronda", URL)
    assert not Robots.parse(data + b"\n# and more").allows("ronda", URL)
    assert Robots.parse(data + b"-that-goes-on").allows("ronda", URL)


# -- who is meant ------------------------------------------------------------------


@pytest.mark.parametrize(
    "agent",
    [
        "ronda",
        "RONDA",
        " ronda ",
        "ronda/1.0",
        "Ronda/1.0 (+http://a.test)",
        "ronda (x)",
    ],
)
def test_an_agent_is_known_by_its_product_token(agent: str) -> None:
    robots = Robots.parse(b"User-agent: Ronda/2 and more\nDisallow: /page\n")

    assert not robots.allows(agent, URL)


@pytest.mark.parametrize("agent", ["rond", "rondabot", "ronda2", "other ronda", ""])
def test_a_token_is_not_a_part_of_another(agent: str) -> None:
    robots = Robots.parse(b"User-agent: ronda\nDisallow: /\n")

    assert robots.allows(agent, URL)


@pytest.mark.parametrize(
    ("name", "all_"),
    [("*", True), ("* # all", True), ("* ronda", True), ("*ronda", False)],
)
def test_all_are_meant_by_a_star_alone(name: str, all_: bool) -> None:
    robots = Robots.parse(f"User-agent: {name}\nDisallow: /\n".encode())

    assert robots.allows("other", URL) is not all_


def test_groups_of_one_agent_are_one() -> None:
    robots = Robots.parse(
        b"User-agent: ronda\nDisallow: /a\n"
        b"User-agent: other\nDisallow: /b\n"
        b"User-agent: third\nUser-agent: RONDA\nDisallow: /c\n"
    )

    answers = [robots.allows("ronda", path) for path in ("/a", "/b", "/c", "/d")]
    assert answers == [False, True, False, True]


def test_a_group_without_rules_is_still_a_group() -> None:
    robots = Robots.parse(b"User-agent: *\nDisallow: /\n\nUser-agent: ronda\n")

    assert robots.allows("ronda", URL)
    assert not robots.allows("other", URL)


@pytest.mark.parametrize(
    "between",
    [
        b"",
        b"\n\n",
        b"# words\n",
        b"Sitemap: http://a.test/s.xml\n",
        b"Crawl-delay: 5\n",
        b"Host: a.test\n",
        b"no colon at all\n",
    ],
)
def test_only_a_rule_ends_the_agents_of_a_group(between: bytes) -> None:
    robots = Robots.parse(
        b"User-agent: ronda\n" + between + b"User-agent: other\nDisallow: /page\n"
    )

    assert not robots.allows("ronda", URL)
    assert not robots.allows("other", URL)


@pytest.mark.parametrize("rule", [b"Disallow:\n", b"Allow: /else\n", b"Disallow: /x\n"])
def test_any_rule_ends_the_agents_of_a_group(rule: bytes) -> None:
    robots = Robots.parse(
        b"User-agent: ronda\n" + rule + b"User-agent: other\nDisallow: /page\n"
    )

    assert robots.allows("ronda", URL)


# -- what is meant -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        ("/page", "/page"),
        ("/page", "/pages/x?y"),
        ("/a*b", "/a/x/b/c"),
        ("/a*b$", "/a/b/b"),
        ("*b", "/a/b"),
        ("/a**b", "/ab"),
        ("/a*", "/a"),
        ("/a*$", "/abc"),
        ("/$", "/"),
        ("/a$b", "/a$b/c"),
        ("/a$$", "/a$"),
        ("/a?", "/a?b"),
        # one path, two spellings
        ("/%41", "/A"),
        ("/A", "/%41"),
        ("/%7euser", "/~user"),
        ("/~user", "/%7Euser"),
        ("/b%61r", "/%62ar"),
        ("/a%2fb", "/a%2Fb"),
        ("/a%2Fb", "/a%2fb"),
        ("/ä", "/%C3%A4"),
        ("/%c3%a4", "/%C3%A4"),
        ("/ä", "/ä"),
        ("/%C3%A4", "/ä"),
        ("/a b", "/a%20b"),
        ("/a|b", "/a%7Cb"),
        ("/a%3Ab", "/a:b"),
        # RFC 9309's own
        ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar"),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
        ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html"),
        ("/path/foo-%24", "/path/foo-$"),
    ],
)
def test_a_path_that_is_meant_is_disallowed(rule: str, path: str) -> None:
    robots = Robots.parse(f"User-agent: *\nDisallow: {rule}\n".encode())

    assert not robots.allows("ronda", path)
    assert not robots.allows("ronda", f"https://a.test{path}")


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        ("/page", "/Page"),
        ("/page", "/a/page"),
        ("page", "/page"),
        ("/a$", "/a/"),
        ("/a$b", "/a"),
        ("/a*b$", "/a/b/c"),
        ("/a*a$", "/a"),
        ("/a/b", "/a%2Fb"),  # not the same path
        ("/a?b", "/a%3Fb"),
        ("/a?b=c&d", "/a?b=c%26d"),
        ("/a%25", "/a%"),
        ("/a%2A", "/ab"),
        ("/a%24", "/a"),
        ("$", "/"),
    ],
)
def test_a_path_that_is_not_meant_is_allowed(rule: str, path: str) -> None:
    robots = Robots.parse(f"User-agent: *\nDisallow: {rule}\n".encode())

    assert robots.allows("ronda", path)


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        ("/baz", "/%62%61%7A"),
        ("/foo-%24", "/foo-$"),
        ("/a%2fb", "/a%2Fb"),
        ("/x/index.html", "/x/"),
        ("/x/index.htm", "/x/"),
    ],
)
def test_an_allowance_holds_for_the_other_spelling_of_a_url(
    rule: str, path: str
) -> None:
    robots = Robots.parse(f"User-agent: *\nDisallow: /\nAllow: {rule}\n".encode())

    assert robots.allows("ronda", path)


@pytest.mark.parametrize(
    ("rules", "allowed"),
    [
        ("Allow: /p\nDisallow: /page", False),
        ("Disallow: /p\nAllow: /page", True),
        ("Disallow: /page\nAllow: /page", True),
        ("Disallow: /pa*\nAllow: /pag", True),  # as long, and allow wins
        ("Allow: /pag\nDisallow: /*e$", True),
        ("Allow: /pa\nDisallow: /pa***", False),
        ("Allow: /pag\nDisallow: /%70%61", True),  # counted as it is compared
    ],
)
def test_the_longest_rule_decides_and_allow_on_a_tie(rules: str, allowed: bool) -> None:
    robots = Robots.parse(f"User-agent: *\n{rules}\n".encode())

    assert robots.allows("ronda", URL) is allowed


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("", "/"),
        ("http://a.test", "/"),
        ("http://a.test?page", "/?page"),
        ("http://u:p@a.test:80/page#x", "/page"),
        ("//a.test/page", "/page"),
        ("a.test/page", "/page"),
        ("a.test?u=http://b.test/", "/?u=http://b.test/"),
        ("/page?u=//b.test", "/page?u=//b.test"),
        ("/#page", "/"),
    ],
)
def test_the_path_and_query_of_a_url_are_judged(url: str, path: str) -> None:
    robots = Robots.parse(f"User-agent: *\nDisallow: {path}$\n".encode())

    assert not robots.allows("ronda", url)


@pytest.mark.parametrize(
    ("line", "understood"),
    [
        ("Disallow: /page", True),
        ("disallow:/page", True),
        ("DISALLOW\t:\t/page\t", True),
        ("Disallow /page", True),
        ("Disallow\t/page # words", True),
        ("Dissallow: /page", True),
        ("Disallow: /page # words", True),
        ("Disallow everything /page", False),
        ("Disallowed: /page", False),
        ("X-Disallow: /page", False),
        ("Disallow", False),
        ("# Disallow: /page", False),
    ],
)
def test_a_line_is_a_key_and_a_value(line: str, understood: bool) -> None:
    robots = Robots.parse(f"User-agent: *\n{line}\n".encode())

    assert robots.allows("ronda", URL) is not understood


def test_utf_16_is_read_as_far_as_it_is_ascii() -> None:
    data = "User-agent: *\r\nDisallow: /page\r\n".encode("utf-16")

    assert not Robots.parse(data).allows("ronda", URL)


# -- what is told ------------------------------------------------------------------


def test_the_rule_that_decides_is_told() -> None:
    robots = Robots.parse(b"User-agent: *\nDisallow: /p\nAllow: /page\n")

    decided = robots.decide("ronda", URL)
    assert decided is not None
    assert (decided.allow, decided.path) == (True, "/page")
    assert robots.decide("ronda", "http://a.test/else") is None


def test_a_rule_knows_its_line_its_words_and_its_group() -> None:
    robots = Robots.parse(
        b"# words\r\n\r\nUser-agent: Ronda/1 # us\rUser-Agent:*\n\n"
        b"Disallow: /\xc3\xa4\nDisallow: /\xc3\xa4\n"
    )

    decided = robots.decide("ronda", "/%C3%A4/x")
    assert decided is not None
    assert (decided.line, decided.text, decided.path) == (6, "/ä", "/%C3%A4")
    assert decided.agents == ("Ronda/1", "*")


def test_a_group_knows_all_its_agents() -> None:
    robots = Robots.parse(
        b"User-agent: a\nUser-agent: B\nUser-agent: b\nDisallow: /\n"
        b"User-agent: c\nAllow: /\nUser-agent: b\nAllow: /\n"
    )

    group = robots.group("b")
    assert group is not None
    assert group.agents == ["a", "B", "b", "b"]


@pytest.mark.parametrize(
    ("text", "delay"),
    [
        *(("2", 2.0), ("0.5", 0.5), (".5", 0.5), ("3.", 3.0), ("0", 0.0)),
        *(("soon", None), ("-1", None), ("nan", None), ("1_0", None), ("1e99", None)),
        *(("", None), ("5 s", None), ("9" * 400, None)),
    ],
)
def test_a_crawl_delay_is_a_number_of_seconds(text: str, delay: float | None) -> None:
    robots = Robots.parse(f"User-agent: *\nCrawl-delay: {text}\n".encode())

    assert robots.crawl_delay("ronda") == delay


def test_each_agent_has_its_own_crawl_delay_and_the_longest_counts() -> None:
    robots = Robots.parse(
        b"Crawl-delay: 9\nUser-agent: a\nCrawl-delay: 5\nCrawl-delay: 4\n"
        b"User-agent: b\nCrawl-delay: 2\nDisallow: /page\n"
        b"User-agent: b\nCrawl-delay: 3\n"
    )

    assert [robots.crawl_delay(agent) for agent in "abc"] == [5.0, 3.0, None]
    assert not robots.allows("a", URL)


def test_sitemaps_belong_to_nobody() -> None:
    robots = Robots.parse(
        b"Sitemap: http://a.test/1.xml\nUser-agent: x\nSitemap: http://a.test/2.xml\n"
    )

    assert robots.sitemaps == ["http://a.test/1.xml", "http://a.test/2.xml"]


@pytest.mark.parametrize(
    ("answer", "means"),
    [
        (Answer(200), Access.FOUND),
        (Answer(404), Access.UNAVAILABLE),
        (Answer(403), Access.UNAVAILABLE),
        (Answer(204), Access.UNAVAILABLE),
        (Answer(301), Access.UNAVAILABLE),  # after too many redirects
        (Answer(429), Access.UNREACHABLE),
        (Answer(500), Access.UNREACHABLE),
        (Answer(error=7), Access.UNREACHABLE),
        (Answer(200, error=28), Access.UNREACHABLE),
    ],
)
def test_what_an_answer_means_for_the_host(answer: Answer, means: Access) -> None:
    assert access(answer) is means


# -- anything at all ---------------------------------------------------------------

PIECES = st.sampled_from(
    [
        *(b"User-agent: *\n", b"User-agent: ronda\n", b"Disallow: ", b"Allow: ", b"/"),
        *(b"*", b"$", b"%", b"%2", b"%zz", b"%E2", b"#", b"\n", b"\r", b"\0", b":"),
        *(b"a", b"\xc3", b"\xa4", b"?", b"(", b"[", b"\\", b"Crawl-delay: 1e999\n"),
        *(b"\xef\xbb\xbf", b"\xff\xfe", b"%41", b"%2a", b"Crawl-delay: 3\n", b" "),
        *(b"Sitemap: ", b"/index.html", b"\xed\xa0\x80", b"User-agent: "),
    ]
)
ANY = st.text(st.characters(), max_size=20)  # half surrogate pairs too


@given(st.one_of(st.binary(), st.lists(PIECES).map(b"".join)), ANY, ANY)
def test_any_bytes_are_read_and_any_agent_and_url_get_an_answer(
    data: bytes, agent: str, path: str
) -> None:
    robots = Robots.parse(data)

    for name in ("ronda", agent):
        assert robots.allows(name, f"http://a.test/{path}") in {True, False}
        assert robots.allows(name, path) in {True, False}
        delay = robots.crawl_delay(name)
        assert delay is None or 0 <= delay < 1e9


@given(st.text("aZ09-._~:;@!,ä", max_size=10), st.sets(st.integers(0, 9)))
def test_no_spelling_of_a_url_escapes_a_rule(path: str, places: set[int]) -> None:
    robots = Robots.parse(f"User-agent: *\nDisallow: /{path}$\n".encode())
    spelled = "".join(
        "".join(f"%{byte:02x}" for byte in letter.encode()) if at in places else letter
        for at, letter in enumerate(path)
    )

    assert not robots.allows("ronda", f"/{spelled}")


@given(st.lists(PIECES).map(b"".join), st.text("/a*$%41?ä", max_size=8))
def test_a_rule_that_decides_stands_in_the_line_it_names(
    data: bytes, path: str
) -> None:
    decided = Robots.parse(data).decide("ronda", f"/{path}")

    if decided is not None:
        whole = data.replace(b"\0", b"")
        line = whole.splitlines()[decided.line - 1].decode("utf-8", "surrogateescape")
        assert decided.text in line
        assert ("disallow" not in line.lower()) is decided.allow


# -- in bounded time -----------------------------------------------------------------


def test_many_agents_and_many_rules_are_read_once(in_time: None) -> None:
    agents = b"".join(b"User-agent: a\nCrawl-delay: 1\n" for _ in range(6_000))
    rules = b"".join(b"Disallow: /%d\n" % number for number in range(15_000))
    robots = Robots.parse(agents + rules)

    assert not robots.allows("a", "/14999")


def test_a_line_as_long_as_the_file_is_read_once(in_time: None) -> None:
    for line in (b" " * SIZE_LIMIT, b"Disallow" * 60_000, b"Allow" + b" a" * 200_000):
        assert Robots.parse(b"User-agent: *\n" + line).allows("ronda", URL)


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
