"""What pages ask of robots."""

import signal
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.model import Answer
from ronda.probes.directives import HEAD, VALUE, directives, of_headers, of_page

AGENT = "ronda/1.0 (+http://a.test)"
PATIENCE = 5.0  # seconds


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("noindex", {"noindex"}),
        ("NoIndex, NOFOLLOW", {"noindex", "nofollow"}),
        ("noindex,nofollow,", {"noindex", "nofollow"}),
        ("noindex nofollow", {"noindex", "nofollow"}),
        ("none", {"noindex", "nofollow"}),
        ("all", set()),
        ("index, follow", set()),
        ("", set()),
        ("something-new, noarchive", {"noarchive"}),
        # to some only
        ("googlebot: nofollow", set()),
        ("ronda: nofollow", {"nofollow"}),
        ("Ronda : noindex, nofollow", {"noindex", "nofollow"}),
        ("noarchive, googlebot: noindex, nofollow", {"noarchive"}),
        ("googlebot: noindex, ronda: nofollow", {"nofollow"}),
        # with a value
        ("max-snippet:20", {"max-snippet: 20"}),
        (
            "Max-Snippet: -1, max-image-preview : Large",
            {"max-snippet: -1", "max-image-preview: Large"},
        ),
        (
            "unavailable_after: 25 Jun 2010 15:00:00 PST",
            {"unavailable_after: 25 Jun 2010 15:00:00 PST"},
        ),
        (
            "unavailable_after: Friday, 25-Jun-10 15:00:00 GMT, noindex",
            {"unavailable_after: Friday, 25-Jun-10 15:00:00 GMT", "noindex"},
        ),
        (
            "unavailable_after: 2010-06-25T15:00:00+00:00,ronda:nofollow",
            {"unavailable_after: 2010-06-25T15:00:00+00:00", "nofollow"},
        ),
        (
            "googlebot: unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT, noindex",
            set(),
        ),
        (
            "ronda: unavailable_after: 25 Jun 2010 15:00:00 PST, noarchive",
            {"unavailable_after: 25 Jun 2010 15:00:00 PST", "noarchive"},
        ),
        ("unavailable_after: " + "9" * 300, {"unavailable_after: " + "9" * VALUE}),
    ],
)
def test_a_header_is_a_list_of_directives(value: str, found: set[str]) -> None:
    line = f"X-Robots-Tag: {value}\r\n".encode()

    assert of_headers((b"HTTP/1.1 200 OK\r\n", line), AGENT) == found


def test_several_headers_are_taken_together() -> None:
    lines = (
        b"HTTP/1.1 200 OK\r\n",
        b"x-robots-tag: noarchive\r\n",
        b"Content-Type: text/html\r\n",
        b"X-ROBOTS-TAG:ronda: nofollow\r\n",
        b"X-Robots-Tag: other: noindex\r\n",
        b"X-Robots-Tags: nosnippet\r\n",
    )

    assert of_headers(lines, "RONDA") == {"noarchive", "nofollow"}


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ('<meta name="robots" content="noindex, nofollow">', {"noindex", "nofollow"}),
        ("<META CONTENT='none' NAME='Robots'/>", {"noindex", "nofollow"}),
        ("<meta name=robots content=noindex>", {"noindex"}),
        ("<meta\n\tname = robots\n\tcontent = 'noindex'\n>", {"noindex"}),
        ("<meta name=robots content=noindex,nofollow/>", {"noindex", "nofollow"}),
        ("<meta name=ronda content=nofollow>", {"nofollow"}),
        ("<meta name=RONDA content=nofollow>", {"nofollow"}),
        ("<meta name=googlebot content=nofollow>", set()),
        (
            '<meta name="robots" content="noindex&#44;nofollow">',
            {"noindex", "nofollow"},
        ),
        (
            "<meta name=robots content=noindex><meta name=robots content=nofollow>",
            {"noindex", "nofollow"},
        ),
        ('<meta content="x > y" name=robots content=noindex>', set()),
        ('<meta title=">" name=robots content=noindex>', {"noindex"}),
        ("<meta name=robots>", set()),
        ("<meta content=noindex>", set()),
        ("<meta property=robots content=noindex>", set()),
        ("<metaname=robots content=noindex>", set()),
        ("<body><p><meta name=robots content=noindex>", {"noindex"}),
        ("<noscript><meta name=robots content=noindex></noscript>", {"noindex"}),
        # not markup
        ("<!-- <meta name=robots content=noindex> -->", set()),
        ("<!-- <meta name=robots content=noindex>", set()),
        ("<!-- x --><meta name=robots content=noindex>", {"noindex"}),
        ("<script>'<meta name=robots content=noindex>'</script>", set()),
        ("<SCRIPT src=x></script ><meta name=robots content=noindex>", {"noindex"}),
        ("<title><meta name=robots content=noindex></title>", set()),
        ("<template><meta name=robots content=noindex></template>", set()),
        ("<title-bar><meta name=robots content=noindex>", {"noindex"}),
        ("<textarea><meta name=robots content=noindex>", set()),
        ("&lt;meta name=robots content=noindex>", set()),
    ],
)
def test_a_tag_speaks_to_all_robots_or_to_one(page: str, found: set[str]) -> None:
    assert of_page(f"<!doctype html><head>{page}".encode(), AGENT) == found


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1", "shift-jis"])
def test_a_page_may_be_in_any_encoding(encoding: str) -> None:
    page = "<title>x</title><meta name=robots content=noindex>".encode(encoding)

    assert of_page(page, AGENT) == {"noindex"}


def test_only_the_head_of_a_page_is_read() -> None:
    tag = b"<meta name=robots content=noindex>"

    assert of_page(b" " * (HEAD - len(tag)) + tag, AGENT) == {"noindex"}
    assert of_page(b" " * HEAD + tag, AGENT) == frozenset()


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        (b"text/html; charset=utf-8", {"noarchive", "noindex"}),
        (b"application/xhtml+xml", {"noarchive", "noindex"}),
        (b"", {"noarchive", "noindex"}),
        (b"text/plain", {"noarchive"}),
    ],
)
def test_an_answer_speaks_by_its_headers_and_by_its_page(
    kind: bytes, found: set[str]
) -> None:
    answer = Answer(
        200,
        headers=(b"Content-Type: " + kind, b"X-Robots-Tag: noarchive"),
        body=b"<meta name=robots content=noindex>",
    )

    assert directives(answer, AGENT) == found


def test_an_answer_without_a_word_asks_for_nothing() -> None:
    assert directives(Answer(200), AGENT) == frozenset()


# -- anything at all ---------------------------------------------------------------

PIECES = st.lists(
    st.sampled_from(
        [
            *("<meta", "<!--", "-->", "<script", "</script", ">", "<", "/", " ", "="),
            *("'", '"', "name", "content", "robots", "ronda", "noindex", "none", ","),
            *(":", "unavailable_after", "&", "&#44;", "\0", "ä"),
        ]
    )
).map(lambda pieces: "".join(pieces).encode())


@given(st.one_of(st.binary(), PIECES), st.text(max_size=10))
def test_any_page_and_any_header_can_be_read(data: bytes, agent: str) -> None:
    page = of_page(data, agent)
    headers = of_headers((b"X-Robots-Tag: " + data, data), agent)

    assert all(isinstance(one, str) for one in page | headers)


@pytest.mark.parametrize(
    "piece",
    [
        *(b"<meta ", b"<meta name=robots content=", b"<!--", b"<script", b"<script>"),
        *(b"<meta '", b'<meta "', b"<meta name='", b"<", b"<meta a= ", b"<title "),
        *(b"<meta " + b" " * 100, b"a=", b"unavailable_after:,", b"noindex,", b"a:"),
        *(b"&#" + b"9" * 5000, b"&#x" + b"f" * 5000, b"&", b"&amp"),
        *(b"unavailable_after:x" + b" " * 4000, b"unavailable_after:x" + b"," * 4000),
    ],
)
def test_a_hostile_page_is_read_once(piece: bytes, in_time: None) -> None:
    data = piece * (HEAD // len(piece))
    assert len(of_page(data, AGENT)) <= 1
    assert len(of_page(b"<meta " + data + b'"', AGENT)) <= 1
    inner = b"<meta name=robots content='" + data.replace(b"'", b"") + b"'>"
    assert len(of_page(inner, AGENT)) <= 2
    assert len(of_headers((b"X-Robots-Tag: " + data,) * 50, AGENT)) <= 2


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
