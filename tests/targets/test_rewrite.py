"""Documents with other links in them."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda import urls
from ronda.targets.rewrite import LARGEST, rewritten

PAGE = "http://site.test/docs/page.html"


def page(body: str, url: str = PAGE, charset: str = "") -> str:
    return rewritten(body.encode(), "text/html", charset, url, mark).decode()


def mark(url: str) -> str:
    return f"x/{url.removeprefix('http://site.test')}"


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ('<a href="b.html#part">', 'href="x//docs/b.html#part"'),
        ('<a href="/c?a=1&amp;b=2">', 'href="x//c?a=1&amp;b=2"'),
        ('<a href="\n d.html ">', "x//docs/d.html"),
        ('<img src=i.png srcset="a.png 1x, b.png 2x">', "x//docs/a.png 1x, x//docs/b"),
        ("<source srcset='w.webp 100w'>", 'srcset="x//docs/w.webp 100w"'),
        ("<link imagesrcset='p.png 1x'>", 'imagesrcset="x//docs/p.png 1x"'),
        ("<video poster=p.png src=v.mp4>", 'poster="x//docs/p.png" src="x//docs/v'),
        ("<track src=t.vtt>", 'src="x//docs/t.vtt"'),
        ("<iframe src=f.html>", 'src="x//docs/f.html"'),
        ("<object data=o.pdf>", 'data="x//docs/o.pdf"'),
        ("<body background=b.gif>", 'background="x//docs/b.gif"'),
        ("<form action=go>", 'action="x//docs/go"'),
        ("<p style=\"background:url('s.png')\">", "url('x//docs/s.png')"),
        ("<style>a{b:url(s.png)}</style>", "url(x//docs/s.png)"),
        ('<style>@import "s.css";</style>', '@import "x//docs/s.css"'),
        ('<meta http-equiv=refresh content="5; url=n.html">', "5; url=x//docs/n.html"),
        ("<svg><image xlink:href=s.svg /></svg>", 'xlink:href="x//docs/s.svg"'),
        ("<template><a href=t.html></a></template>", 'href="x//docs/t.html"'),
        ("<noscript><img src=n.png></noscript>", 'src="x//docs/n.png"'),
    ],
)
def test_every_link_of_a_page_is_replaced(markup: str, expected: str) -> None:
    assert expected in page(markup)


@pytest.mark.parametrize(
    "link", ["#top", "", "mailto:a@b.test", "javascript:go()", "data:,x", "http://["]
)
def test_what_is_no_link_to_elsewhere_stays(link: str) -> None:
    assert f'href="{link}"' in page(f'<a href="{link}">x</a>')


def test_a_base_is_obeyed_and_says_no_more_of_it() -> None:
    new = page('<base href="/other/" target="_top"><base href="/no/"><a href="b">')

    assert 'href="x//other/b"' in new
    assert '<base target="_top"><base>' in new


@pytest.mark.parametrize("base", ["data:,x", "http://[", "javascript:x"])
def test_a_base_that_is_none_is_not_obeyed(base: str) -> None:
    assert 'href="x//docs/b"' in page(f'<base href="{base}"><a href="b">')


def test_an_absolute_link_that_stays_keeps_its_spelling() -> None:
    new = rewritten(
        b"<a href='HTTP://Other.test/a b'>", "text/html", "", PAGE, lambda url: url
    )

    assert b'href="HTTP://Other.test/a b"' in new


def test_a_relative_link_to_what_is_not_kept_becomes_absolute() -> None:
    new = rewritten(b"<a href='../b'>", "text/html", "", PAGE, lambda url: url)

    assert b'href="http://site.test/b"' in new


@pytest.mark.parametrize("link", ["/go?to=http://other.test/", "http:/go", "//a.test/"])
def test_a_link_that_only_looks_absolute_becomes_so(link: str) -> None:
    new = rewritten(
        f"<a href='{link}'>".encode(), "text/html", "", PAGE, lambda url: url
    )

    assert f'href="{urls.join(PAGE, link)}"'.encode() in new


def test_the_password_of_a_page_is_in_none_of_its_links() -> None:
    url = PAGE.replace("site", "me:secret@site")

    assert b"secret" not in rewritten(
        b"<a href=b>", "text/html", "", url, lambda url: url
    )


@pytest.mark.parametrize(
    "doctype",
    [
        "<!DOCTYPE html>",
        '<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">',
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://a.test/b.dtd">',
    ],
)
def test_the_doctype_is_kept_whole(doctype: str) -> None:
    assert page(f"{doctype}<p>x").startswith(f"{doctype}<html>")


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        ("<p>é€".encode("cp1252"), "iso-8859-1"),
        ("<meta charset=windows-1252><p>é€".encode("cp1252"), ""),
        ("<meta charset=koi8-r><p>é€".encode(), "utf-8"),
        ("<p>é€".encode("utf-16"), ""),
        ("<p>é€".encode("utf-8-sig"), "latin-1"),
        ("<p>é€".encode(), ""),
    ],
)
def test_a_page_is_written_in_utf_8_and_says_so(body: bytes, charset: str) -> None:
    new = rewritten(body, "text/html", charset, PAGE, mark).decode()

    assert "<p>é€" in new
    assert re.findall(r"charset=\"?([\w-]+)", new) == ["utf-8"]


def test_what_vouches_for_a_file_as_it_came_is_gone() -> None:
    new = page('<link rel=stylesheet href=s.css integrity="sha256-x" crossorigin>')

    assert "integrity" not in new
    assert "crossorigin" not in new


def test_without_a_url_relative_links_stay_and_nothing_else_is_touched() -> None:
    body = b"<a href=b.html><a href='http://site.test/c'>"

    new = rewritten(body, "text/html", "utf-8", "", mark)
    same = rewritten(body, "text/html", "utf-8", "", lambda url: url)

    assert b'href="b.html"' in new
    assert b'href="x//c"' in new
    assert same == body


@pytest.mark.parametrize(
    ("style", "expected"),
    [
        ("a{b:url(i.png)}", "a{b:url(x//docs/i.png)}"),
        ("a{b:url( 'i.png' )}", "a{b:url( 'x//docs/i.png' )}"),
        ('@import "o.css" print;', '@import "x//docs/o.css" print;'),
        ("@import url(/o.css);", "@import url(x//o.css);"),
        ("/* url(no.png) */ a > b {}", "/* url(no.png) */ a > b {}"),
        ("a{b:url(data:,x)}", "a{b:url(data:,x)}"),
        ("a{b:url('i(1).png')}", "a{b:url('x//docs/i%281%29.png')}"),
        ("</style><a href=b>", "</style><a href=b>"),
        ('@charset "latin-1";a{}', "a{}"),
        ('@charset "latin-1";a{b:"é"}', '@charset "utf-8";a{b:"é"}'),
    ],
)
def test_the_links_of_a_style_sheet_are_replaced(style: str, expected: str) -> None:
    body = style.encode("latin-1")

    assert rewritten(body, "text/css", "", PAGE, mark).decode() == expected


@pytest.mark.parametrize("kind", ["text/plain", "image/png", "application/json", ""])
def test_what_is_of_another_type_stays_as_it_is(kind: str) -> None:
    assert rewritten(b"<a href=b>", kind, "", PAGE, mark) == b"<a href=b>"


def test_what_is_very_long_stays_as_it_is() -> None:
    body = b"<a href=b>" + b" " * LARGEST

    assert rewritten(body, "text/html", "", PAGE, mark) is body


def test_a_fault_of_the_parser_leaves_the_page_and_one_of_the_disk_does_not() -> None:
    def fail(_url: str) -> str:
        raise RuntimeError

    def bad_disk(_url: str) -> str:
        raise OSError("disk full")

    assert rewritten(b"<a href=b>", "text/html", "", PAGE, fail) == b"<a href=b>"
    with pytest.raises(OSError, match="disk full"):
        rewritten(b"<a href=b>", "text/html", "", PAGE, bad_disk)


@pytest.mark.parametrize("kind", ["text/html", "text/css"])
@given(text=st.text("<>ahref= '\"/b#?&;\\\0é\n!-stylep()", max_size=200) | st.text())
def test_what_was_rewritten_once_is_not_touched_again(kind: str, text: str) -> None:
    body = text.encode("utf-8", "replace")

    new = rewritten(body, kind, "utf-8", PAGE, mark)

    assert rewritten(new, kind, "utf-8", "", lambda url: url) == new


@given(st.text("<>ahref= '\"/b#?&;\0é\n", max_size=200))
def test_any_page_comes_out_as_one_that_another_parser_reads(text: str) -> None:
    found: list[str | None] = []

    class Reader(HTMLParser):
        def handle_starttag(
            self, _tag: str, attrs: list[tuple[str, str | None]]
        ) -> None:
            found.extend(value for name, value in attrs if name == "href")

    Reader().feed(page(f"<a href='b.html'>{text}"))

    assert found[0] == "x//docs/b.html"
