import io
import time

import pytest

from ronda import config
from ronda.model import Link, Place, Problem
from ronda.targets.source import Index
from ronda.targets.xmlfile import read

NAMESPACE = b'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
LAUGHS = b"".join(
    b'<!ENTITY l%d "%s">' % (number, b"&l%d;" % (number - 1) * 10)
    for number in range(1, 10)
)


def items(data: bytes) -> list[Link | Problem]:
    return list(read(io.BytesIO(data), "a.xml", config.Check()))


def test_a_sitemap_gives_its_pages() -> None:
    found = items(
        b'<?xml version="1.0"?>\n<urlset ' + NAMESPACE + b">\n"
        b"<url><loc> https://a.example/?b=1&amp;c=2\n</loc><priority>1</priority></url>\n"
        b"<url><loc>https://a.example/d</loc></url></urlset>"
    )

    assert found == [
        Link("https://a.example/?b=1&c=2", Place("a.xml", 3, 6)),
        Link("https://a.example/d", Place("a.xml", 5, 6)),
    ]


def test_an_index_gives_sitemaps_that_are_read_too() -> None:
    (link,) = items(
        b"<sitemapindex " + NAMESPACE + b"><sitemap><loc>https://a.example/s.xml</loc>"
        b"</sitemap></sitemapindex>"
    )

    assert isinstance(link, Index)


def test_an_outline_gives_feeds_and_sites_with_their_names() -> None:
    found = items(
        b'<opml version="2.0"><body><outline text="All">\n<outline text="A feed"'
        b' xmlUrl="https://a.example/feed" htmlUrl="https://a.example/"/>'
        b'<outline url="https://b.example"/></outline></body></opml>'
    )

    assert [
        (item.url, item.place.text) for item in found if isinstance(item, Link)
    ] == [
        ("https://a.example/feed", "A feed"),
        ("https://a.example/", "A feed"),
        ("https://b.example", ""),
    ]


def test_a_root_that_is_not_known_is_a_problem_that_names_it() -> None:
    (problem,) = items(b"<rss><channel/></rss>")

    assert isinstance(problem, Problem)
    assert "<rss>" in problem.message


def test_damaged_xml_keeps_what_was_read_before() -> None:
    found = items(b"<urlset><url><loc>https://a.example</loc></url><url></urlset>")

    assert [type(item) for item in found] == [Link, Problem]


@pytest.mark.parametrize(
    "declaration",
    [
        b'<!ENTITY l0 "ha">' + LAUGHS,
        b'<!ENTITY l9 SYSTEM "file:///etc/passwd">',
        b'<!ENTITY % l9 SYSTEM "https://a.example/evil.dtd"> %l9;',
    ],
)
def test_entities_are_refused_at_once(declaration: bytes) -> None:
    before = time.process_time()

    (problem,) = items(
        b"<!DOCTYPE urlset [" + declaration + b"]>"
        b"<urlset><url><loc>https://a.example/&l9;</loc></url></urlset>"
    )

    assert isinstance(problem, Problem)
    assert "entities" in problem.message
    assert time.process_time() - before < 1


def test_an_entity_of_a_dtd_elsewhere_does_not_cut_a_url() -> None:
    (problem,) = items(
        b'<!DOCTYPE urlset SYSTEM "https://a.example/x.dtd">'
        b"<urlset><url><loc>https://a.example/&x;/y</loc></url></urlset>"
    )

    assert isinstance(problem, Problem)


def test_a_doctype_without_entities_is_harmless() -> None:
    (link,) = items(
        b'<!DOCTYPE opml SYSTEM "https://a.example/opml.dtd">'
        b'<opml><outline url="https://b.example"/></opml>'
    )

    assert isinstance(link, Link)
