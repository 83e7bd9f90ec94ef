"""Three readers of HTML give one result: by a tree, by tokens, by the library."""

from collections.abc import Callable
from html import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ronda.model import Link
from ronda.targets import hypertext, largehtml, plainhtml
from ronda.targets.encoding import markup


def by_tree(page: str) -> list[Link]:
    return list(hypertext.links(page, "x"))


def by_tokens(page: str) -> list[Link]:
    rows = list(largehtml.rows(page, piece=7))
    return list(hypertext._of_rows(rows, hypertext._base(rows), "x"))


def by_the_standard_library(page: str) -> list[Link]:
    rows = plainhtml.rows(page)
    return list(hypertext._of_rows(rows, hypertext._base(rows), "x"))


READERS = [by_tree, by_tokens, by_the_standard_library]

VALUES = st.one_of(
    st.text("ab/.?#=&;:,'\"()<>%\\@ \n\té😀\x01", max_size=12),
    st.sampled_from(
        [
            "x.html",
            "/x y",
            "javascript:x",
            "data:,x",
            "https://b.example",
            "//c",
            "0;u=x",
        ]
    ),
)
SOURCE_SET = st.lists(st.sampled_from(["a", "b,", "c 2x", "/d 1w,", ","])).map(" ".join)
STYLE = st.lists(
    st.sampled_from(
        ["url(a)", "url( 'b' )", '@import "c";', "/* url(no) */", "url(", '"', "x{y:z}"]
    )
).map(" ".join)
WORDS = st.sampled_from(["one", " ", "two  three", "\n", "&amp;", "é😀", "", "x" * 200])


@st.composite
def elements(draw: st.DrawFn, tag: str, *names: str) -> str:
    """A start tag with some of the attributes, in any order."""
    chosen = draw(st.lists(st.sampled_from([*names, "id", "STYLE"]), unique=True))
    kinds = {"srcset": SOURCE_SET, "imagesrcset": SOURCE_SET, "STYLE": STYLE}
    pairs = [f'{name}="{escape(draw(kinds.get(name, VALUES)))}"' for name in chosen]
    return " ".join([f"<{tag}", *pairs]) + ">"


def around(tag: st.SearchStrategy[str], name: str) -> st.SearchStrategy[str]:
    inner = st.one_of(WORDS, elements("img", "src", "alt"), st.just("<b>bold</b>"))
    body = st.lists(inner, max_size=4).map("".join)
    return st.tuples(tag, body, st.just(f"</{name}>")).map("".join)


PARTS = st.one_of(
    WORDS,
    around(elements("a", "href", "rel", "alt", "title", "cite"), "a"),
    elements("img", "src", "srcset", "alt", "longdesc"),
    elements("link", "href", "rel", "imagesrcset"),
    elements("area", "href", "rel", "alt"),
    elements("meta", "http-equiv", "content"),
    elements("embed", "src"),
    elements("input", "src", "alt", "value"),
    elements("base", "href"),
    around(elements("form", "action", "method"), "form"),
    around(elements("object", "data", "codebase", "archive"), "object"),
    around(elements("applet", "code", "codebase", "archive"), "applet"),
    around(elements("blockquote", "cite"), "blockquote"),
    around(elements("video", "src", "poster"), "video"),
    elements("iframe", "src").map(lambda tag: f"{tag}<a href=no></iframe>"),
    elements("option", "value").map(lambda tag: f"<select>{tag}x</option></select>"),
    elements("td", "background").map(lambda tag: f"<table><tr>{tag}</table>"),
    elements("img", "src").map(lambda tag: f"<noscript>\n {tag}</noscript>"),
    STYLE.map(lambda css: f"<style>{css}</style>"),
    elements("script", "src").map(lambda tag: f"{tag}'<a href=no>'</script>"),
    st.sampled_from(
        ["<!-- <a href=no>\n -->", "<p>", "</p>\n", "<textarea><a></textarea>"]
    ),
)
PAGES = st.lists(PARTS, max_size=12).map(lambda parts: "<body>" + "".join(parts))


@settings(max_examples=150, deadline=None)
@given(PAGES)
def test_all_readers_find_the_same_links_in_the_same_order(page: str) -> None:
    expected = by_tree(page)

    assert by_tokens(page) == expected
    assert by_the_standard_library(page) == expected


@pytest.mark.parametrize("read", READERS)
def test_the_base_of_the_page_counts_for_all(read: Callable[[str], list[Link]]) -> None:
    found = read("<a href=x>x</a><base target=_top><base href=/b/><base href=/c/>")

    assert [(link.url, link.base) for link in found] == [("x", "/b/")]


KOI8 = "<meta charset=KOI8-R><a href=я>"
DECLARED = [
    KOI8.encode("koi8-r"),
    "<META content='x; charset=koi8-r' http-equiv=x><a href=я>".encode("koi8-r"),
    f"<!-- <meta charset=utf-8> -->{KOI8}".encode("koi8-r"),
    KOI8.encode("utf-8-sig"),
    KOI8.encode("utf-16"),
    "<meta charset=nonsense><a href=я>".encode(),
    "<meta charset=utf-16><a href=я>".encode(),
]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("page", DECLARED)
def test_the_charset_is_told_by_mark_then_by_the_page_for_all(
    read: Callable[[str], list[Link]], page: bytes
) -> None:
    (link,) = read(markup(page))

    assert link.url == "я"
