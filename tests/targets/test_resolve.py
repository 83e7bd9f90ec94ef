import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ronda import urls
from ronda.config import Check
from ronda.model import Found, Link, Place, Problem
from ronda.targets import Document, resolve
from ronda.targets.source import Index

PLACE = Place("a.md", 3)
LOCAL = Document("file:///docs/guide/a.md", "file:///docs/")
REMOTE = Document("https://a.example/dir/page")
LIST = Document("file:///docs/list.txt", "file:///docs/", is_list=True)


def resolved(
    url: str, document: Document = LOCAL, base: str = "", **check: object
) -> str | None:
    found = resolve(Link(url, PLACE, base), document, Check(**check))  # type: ignore[arg-type]
    assert not isinstance(found, Problem), found
    return found.url if found else None


def problem(url: str, document: Document = LOCAL) -> str:
    found = resolve(Link(url, PLACE), document, Check())
    assert isinstance(found, Problem)
    assert found.place == PLACE
    return found.message


@pytest.mark.parametrize(
    ("reference", "url"),
    [
        ("HTTPS://B.example", "https://b.example/"),
        ("mailto:me@b.example", "mailto:me@b.example"),
        ("//b.example/x", "https://b.example/x"),
        ("b c.md#part", "file:///docs/guide/b%20c.md#part"),
        ("../b.md", "file:///docs/b.md"),
        ("/b.md", "file:///docs/b.md"),
        ("/", "file:///docs/"),
        ("?x", "file:///docs/guide/a.md?x"),
    ],
)
def test_a_local_document_names_files_and_the_web(reference: str, url: str) -> None:
    assert resolved(reference) == url


@pytest.mark.parametrize(
    ("reference", "url"),
    [
        ("b", "https://a.example/dir/b"),
        ("/b", "https://a.example/b"),
        ("//b.example/x", "https://b.example/x"),
        ("http:b", "http://b/"),
    ],
)
def test_a_fetched_document_is_its_own_base(reference: str, url: str) -> None:
    assert resolved(reference, REMOTE, base_url="https://no.example") == url


def test_the_base_url_stands_for_the_place_of_local_documents() -> None:
    assert resolved("/b", base_url="https://b.example/x/") == "https://b.example/b"
    assert (
        resolved("b", LIST, base_url="https://b.example/x/") == "https://b.example/x/b"
    )


def test_the_base_of_a_document_comes_before_all_others() -> None:
    assert resolved("b", REMOTE, base="/x/") == "https://a.example/x/b"
    assert resolved("b", LOCAL, base="/x/") == "file:///docs/x/b"
    assert resolved("b", LOCAL, base="https://b.example") == "https://b.example/b"


@pytest.mark.parametrize(
    "url", ["", "  ", "#", "javascript:x", "data:,x", "java\nscript:x", "about:blank"]
)
def test_what_is_no_document_is_skipped(url: str) -> None:
    assert resolved(url, fragments=True) is None


def test_a_fragment_alone_is_the_document_when_fragments_are_checked() -> None:
    assert resolved("#part") is None
    assert resolved("#part", fragments=True) == "file:///docs/guide/a.md#part"
    assert resolved("#part", Document("file:///docs/"), fragments=True) is None


def test_an_entry_of_a_list_has_nothing_to_be_relative_to() -> None:
    assert problem("b.example/x", LIST).endswith("as https://b.example/x")


def test_what_does_not_parse_is_a_problem_cut_short() -> None:
    message = problem(f"https://[{'x' * 500}")

    assert message.startswith("not a URL: https://[x")
    assert len(message) < 120


def test_an_entry_of_an_index_is_read() -> None:
    link = Index("https://b.example/s.xml", PLACE)

    assert resolve(link, LIST, Check()) == Found(link.url, PLACE, reads=True)


@pytest.mark.parametrize(
    ("reference", "written"),
    [
        ("https://B.example", "https://B.example"),
        ("HTTPS://b.example/#a", "HTTPS://b.example/#a"),
        ("MailTo:me@b.example", "MailTo:me@b.example"),
        ("https://b.example/", ""),
        ("../b.md", ""),
        ("//b.example/x", ""),
    ],
)
def test_an_absolute_url_is_kept_as_it_is_written(reference: str, written: str) -> None:
    found = resolve(Link(reference, PLACE), LOCAL, Check())

    assert isinstance(found, Found)
    assert found.written == written


CHARACTERS = "abZ09_-~!$&'()*+,;=@:./?#%\\| \t\né"
REFERENCES = st.one_of(
    st.text(CHARACTERS, max_size=12),
    st.text("aZ09_-~!$&'()*+,;=@:./?#", max_size=12),
    st.lists(
        st.sampled_from(["a", "B.html", "..", ".", "", "a:b", ".x", "x=y?z"]),
        max_size=5,
    ).map("/".join),
)
BASES = st.builds(
    "{}{}{}".format,
    st.sampled_from(
        [
            "https://a.example",
            "http://127.0.0.1:8080",
            "http://me:pw@b.example:81",
            "https://[::1]",
            "ftp://c.example",
        ]
    ),
    st.sampled_from(["/", "/dir/", "/dir/page.html", "/a//b/c", "/x;y=z/@w"]),
    st.sampled_from(["", "?q=/a/b", "#f/g", "?q#f?/"]),
)


@settings(max_examples=1000)
@given(BASES, REFERENCES)
def test_a_plain_reference_is_resolved_as_the_parser_does(
    base: str, reference: str
) -> None:
    found = resolve(Link(reference, PLACE), Document(base), Check())

    if isinstance(found, Found):
        assert found.url == urls.join(base, reference)


@given(BASES, REFERENCES)
def test_a_base_on_the_page_is_as_good_as_one_of_its_own(
    base: str, reference: str
) -> None:
    own = resolve(Link(reference, PLACE), Document(base), Check())
    named = resolve(Link(reference, PLACE, base), REMOTE, Check())

    assert own == named or not own or reference.startswith("#")


@pytest.mark.parametrize("base", ["https://[", "data:,x", "javascript:x"])
def test_a_base_that_is_none_is_ignored(base: str) -> None:
    assert resolved("b", REMOTE, base) == "https://a.example/dir/b"


def test_how_a_link_is_related_is_kept() -> None:
    for url in ("b", "https://b.example/", "../b"):
        found = resolve(Link(url, PLACE, rel="nofollow"), REMOTE, Check())

        assert isinstance(found, Found)
        assert found.rel == "nofollow"
