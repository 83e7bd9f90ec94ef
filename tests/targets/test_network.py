import gzip

import pytest

from ronda.config import Check
from ronda.model import Found, Problem
from ronda.targets import links_of, media_type

PAGE = "https://a.example/dir/page"


def found(
    body: bytes | str, kind: str = "text/html", url: str = PAGE
) -> list[Found | Problem]:
    data = body.encode() if isinstance(body, str) else body
    return list(links_of(data, url, kind, Check()))


def urls(body: bytes | str, kind: str = "text/html", url: str = PAGE) -> list[str]:
    return [item.url for item in found(body, kind, url) if isinstance(item, Found)]


@pytest.mark.parametrize(
    ("body", "kind", "path"),
    [
        ("<a href=x>", "text/html; charset=utf-8", "page"),
        ("<a href=x>", "", "page"),
        ("<a href=x>", "text/plain", "page"),
        ("[a](x)", "text/markdown", "page"),
        ("[a](x)", "text/plain; charset=utf-8", "a.md?raw=1"),
        ("https://a.example/dir/x\nwords\n", "text/plain", "robots.txt"),
        ('["https://a.example/dir/x"]', "application/json", "page"),
        ("<urlset><loc>x</loc></urlset>", "application/xml", "page"),
        ("url,b\nx,y", "text/csv", "page"),
    ],
)
def test_the_format_is_told_by_type_then_name_then_beginning(
    body: str, kind: str, path: str
) -> None:
    assert urls(body, kind, f"https://a.example/dir/{path}") == [
        "https://a.example/dir/x"
    ]


@pytest.mark.parametrize("kind", ["image/png", "application/pdf", "", "video/mp4"])
def test_what_holds_no_links_gives_nothing(kind: str) -> None:
    assert found(b"\x89PNG https://b.example", kind) == []


def test_words_on_a_page_of_text_are_not_problems() -> None:
    (item,) = found(b"one\n\xff\ntwo https://b.example", "text/plain")

    assert isinstance(item, Found)
    assert item.place.line == 3


def test_the_base_of_the_page_counts() -> None:
    assert urls("<base href=//b.example/c/><a href=x>") == ["https://b.example/c/x"]


def test_only_entries_of_an_index_are_read() -> None:
    (page,) = found("<urlset><loc>/x</loc></urlset>", "text/xml")
    (index,) = found(
        "<sitemapindex><sitemap><loc>/x</loc></sitemap></sitemapindex>", "text/xml"
    )

    assert isinstance(page, Found)
    assert isinstance(index, Found)
    assert (page.reads, index.reads) == (False, True)


def test_the_charset_of_the_header_counts_before_that_of_the_page() -> None:
    body = "<meta charset=utf-8><a href=я>".encode("koi8-r")

    assert urls(body, "text/html; charset=KOI8-R") == ["https://a.example/dir/%D1%8F"]


@pytest.mark.parametrize("charset", ["punycode", "idna", "rot13", "nonsense", "\0"])
def test_a_charset_that_is_none_is_ignored(charset: str) -> None:
    assert urls("<a href=x>", f"text/html; charset={charset}") == [
        "https://a.example/dir/x"
    ]


def test_packed_sitemaps_are_unpacked() -> None:
    body = gzip.compress(b"<urlset><loc>/x</loc></urlset>")

    assert urls(body, "application/gzip", "https://a.example/s.xml.gz") == [
        "https://a.example/x"
    ]


def test_no_more_is_read_of_a_body_than_the_limit_packed_or_not() -> None:
    page = b"<a href=x>x</a>".ljust(5000)

    for body in (page, gzip.compress(page)):
        item, problem = links_of(body, PAGE, "text/html", Check(), limit=4000)

        assert isinstance(item, Found)
        assert isinstance(problem, Problem)
        assert problem.message == "more than 4,000 bytes: the rest is not read"
        assert not problem.grave


def test_a_page_in_utf_16_is_read_by_its_mark() -> None:
    assert urls("<a href=я>".encode("utf-16")) == ["https://a.example/dir/%D1%8F"]


def test_the_canonical_page_can_be_told() -> None:
    item, other = found("<link rel=Canonical href=/c><a href=d rel='x nofollow'>d</a>")

    assert isinstance(item, Found)
    assert isinstance(other, Found)
    assert (item.place.tag, item.rel) == ("link", "canonical")
    assert (other.place.tag, other.rel) == ("a", "x nofollow")


def test_a_damaged_body_is_a_problem() -> None:
    (problem,) = found(b"\x1f\x8b damaged", "application/gzip")

    assert isinstance(problem, Problem)


def test_an_archive_is_not_unpacked_in_search_of_links() -> None:
    body = gzip.compress(bytes(5000))[:-4]

    assert found(body, "application/gzip", "https://a.example/a.tar.gz") == []


def test_a_document_that_cannot_be_read_is_no_mistake_of_the_user() -> None:
    assert found("<rss/>", "text/xml") == []  # nor is it worth a word
    (problem,) = found("<urlset><loc>", "text/xml")

    assert isinstance(problem, Problem)
    assert not problem.grave


def test_a_link_that_is_no_url_is_told_and_the_rest_goes_on() -> None:
    problem, item = found("<a href='https://['>x</a><a href=x>")

    assert isinstance(problem, Problem)
    assert problem.grave
    assert isinstance(item, Found)


def test_passwords_are_not_shown_in_places() -> None:
    (item,) = found("<a href=x>", "text/html", "https://me:secret@a.example/")

    assert item.place.document == "https://a.example/"


def test_the_media_type_comes_from_the_name_where_the_server_is_vague() -> None:
    assert media_type("file:///a.md", "") == "text/markdown"
    assert media_type("https://a.example/a.md", "Text/HTML; x=y") == "text/html"
    assert media_type("https://a.example/a", "text/plain") == "text/plain"
