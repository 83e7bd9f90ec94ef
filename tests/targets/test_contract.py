"""Whatever bytes a source is given, only links and problems come out."""

import io
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ronda import config
from ronda.model import Found, Link, Problem
from ronda.targets import SOURCES, Source, anchors, links_of, plainhtml
from ronda.targets.streams import opened

CHECK = config.Check()
BASED = config.Check(base_url="https://base.example/", fragments=True)

MARKS = [
    *(
        "[",
        "]",
        "(",
        ")",
        "!",
        "<",
        ">",
        "`",
        "```",
        "~~~",
        "<!--",
        "-->",
        "#",
        "*",
        "_",
    ),
    *("\\", '"', "'", ":", "::", "..", ".. _a:", "__", "|", ",", ";", "{", "}", "\n"),
    *(
        "\r",
        "\t",
        "https://a.example",
        "mailto:a@b.example",
        "//",
        "/x",
        "#f",
        "data:x",
    ),
    *(
        "<a href=x>",
        "<base href=/b/>",
        '<img srcset="a 1x, b 2x">',
        "<style>",
        "</style>",
    ),
    *("<?xml", "<urlset>", "<loc>", "</loc>", "<opml>", '<outline xmlUrl="u"/>', "&x;"),
    *("<!DOCTYPE", "\0", "\xff", "\ud800", "[a]: b", "`a <b>`_", ".. image:: x", "url"),
]
SOUP = st.lists(st.sampled_from(MARKS), max_size=40).map(
    lambda marks: " ".join(marks).encode("utf-8", "surrogatepass")
)
ANY_BYTES = st.one_of(st.binary(max_size=400), SOUP, SOUP.map(lambda soup: soup[1:]))


def items(source: Source, data: bytes, check: config.Check) -> Iterator[object]:
    return source.read(io.BytesIO(data), "document", check)


@pytest.mark.parametrize("source", SOURCES, ids=[source.name for source in SOURCES])
@settings(max_examples=150, deadline=None)
@given(data=ANY_BYTES)
def test_any_bytes_give_only_links_and_problems_with_sane_places(
    source: Source, data: bytes
) -> None:
    found = [*items(source, data, CHECK), *items(source, data, BASED)]

    for item in found:
        assert isinstance(item, Link | Problem)
        assert item.place.line >= 0
        assert item.place.column >= 0
        assert len(item.place.text) <= 120


@pytest.mark.parametrize("source", SOURCES, ids=[source.name for source in SOURCES])
@settings(max_examples=100, deadline=None)
@given(data=ANY_BYTES)
def test_any_answer_of_a_server_gives_only_urls_and_problems(
    source: Source, data: bytes
) -> None:
    kind = f"{source.media_types[0]}; charset=latin-1"
    for check in (CHECK, BASED):
        for item in links_of(data, "https://a.example/x", kind, check):
            assert isinstance(item, Found | Problem)
            assert not isinstance(item, Found) or not item.url.startswith("file:")


@settings(max_examples=150, deadline=None)
@given(data=ANY_BYTES)
def test_any_bytes_have_anchors_that_are_not_empty(data: bytes) -> None:
    names = anchors(data, "text/html") | anchors(data, "text/markdown")

    assert "" not in names


@settings(max_examples=150, deadline=None)
@given(data=ANY_BYTES)
def test_the_spare_html_parser_takes_any_bytes(data: bytes) -> None:
    assert all(row.line >= 1 and row.column >= 1 for row in plainhtml.rows(data))


def test_every_suffix_and_media_type_belongs_to_one_source() -> None:
    for rows in ([s.suffixes for s in SOURCES], [s.media_types for s in SOURCES]):
        names = [name for row in rows for name in row]

        assert len(names) == len(set(names))


# XML is given up at its first wrong byte.
PLAIN = [source for source in SOURCES if source.name not in {"sitemap", "opml"}]


@pytest.mark.parametrize("source", PLAIN, ids=[source.name for source in PLAIN])
def test_a_source_reads_what_a_bounded_stream_gives(source: Source) -> None:
    stream = opened(io.BytesIO(b"https://a.example/" * 100_000), limit=50_000)

    list(source.read(stream, "document", CHECK))

    assert stream.cut
