import io

import pytest
import turbohtml

from ronda import config
from ronda.model import Link, Place
from ronda.targets import hypertext, largehtml, plainhtml
from ronda.targets.hypertext import read

EVERYTHING = """<base href="/b/">
<meta http-equiv=refresh content="0; url='next.html'"><meta name=x content="0; url=no">
<link rel=icon href=lk imagesrcset="a1.png 1x, a2.png 2x"><link rel=manifest href=ma>
<link rel="preconnect" href=//no><link rel="DNS-Prefetch" href=//no>
<style>@import "imp.css"; a { b: url( 'u.css' ) } /* url(no) */</style>
<body background=bg.png style="background: url(st.png)">
<a href=" a1 ">one <b>two</b></a> <a href="javascript:no()">x</a> <a href="#f">x</a>
<map><area href=ar alt="an area"></map>
<img src=i srcset="s1 1x, s2 2x" alt="a picture"> <img src="data:image/png;base64,no">
<img longdesc=lo>
<script src=sc>var no = '<a href="no">'</script> <iframe src=if></iframe> <embed src=em>
<picture><source srcset="p1, p2 2x"></picture>
<audio src=au><source src=so srcset=so2><track src=tr></audio>
<video src=vi poster=po></video> <input src=in> <object data=ob></object>
<applet codebase=cb code=ap.class archive="x.jar, /y.jar"></applet>
<object codebase="/oc/" data=od archive="z1 z2" classid="clsid:no"></object>
<select><option value="/op">x<option value="no">x<option value=op.html></select>
<form action=fo></form> <form method=POST action=no></form>
<blockquote cite=ci></blockquote> <q cite=qc></q> <ins cite=ic></ins>
<del cite=dc></del> <table><tr><td background=td></table>
<svg><use xlink:href="#u"/><image href="im1"/></svg>
<noscript><img src=ns></noscript> <template><a href=tm>x</a></template>
<!-- <a href=no> --> <a ping=no href=a2><img alt="pic"></a> <p data="no" name=x>
"""
EXPECTED = """
next.html lk a1.png a2.png ma imp.css u.css bg.png st.png a1 #f ar i s1 s2 lo sc
if em p1 p2 au so so2 tr vi po in ob cb/ap.class cb/x.jar /y.jar /oc/od  /oc/z1
/oc/z2 /op op.html fo ci qc ic dc td #u im1 ns tm a2
"""


def links(html: str | bytes) -> list[Link]:
    data = html.encode() if isinstance(html, str) else html
    return [
        item
        for item in read(io.BytesIO(data), "a.html", config.Check())
        if isinstance(item, Link)
    ]


def test_every_attribute_that_names_a_url_is_read() -> None:
    assert [link.url for link in links(EVERYTHING)] == EXPECTED.split()


def test_the_frames_of_a_frameset_are_read() -> None:
    (link,) = links("<frameset><frame src=fr></frameset>")

    assert (link.url, link.place.tag) == ("fr", "frame")


def test_the_tag_of_what_names_a_url_is_kept_and_css_for_that_of_a_style() -> None:
    found = links("<img src=x style='a:url(y)'><style>@import 'z'</style><IMG SRC=w>")

    assert [(link.url, link.place.tag) for link in found] == [
        *(("x", "img"), ("y", "css"), ("z", "css"), ("w", "img"))
    ]


def test_how_a_page_is_related_to_what_it_names_is_kept_in_lower_case() -> None:
    found = links(
        "<link rel='Canonical' href=a><a rel='NoFollow ugc' href=b>x</a><a href=c>x</a>"
        "<map><area rel=nofollow href=d></map><form rel=no action=e></form>"
        "<a rel=next style='x:url(s)' href=f>x</a>"
    )

    assert [(link.url, link.rel) for link in found] == [
        *(("a", "canonical"), ("b", "nofollow ugc"), ("c", ""), ("d", "nofollow")),
        *(("e", ""), ("f", "next"), ("s", "")),
    ]


def test_an_anchor_left_open_is_one_link() -> None:
    assert len(links("<p><a href=x>one<p>two<p>three<p>four")) == 1


def test_a_page_is_read_all_the_same_where_the_fast_parser_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = links(EVERYTHING), {*hypertext.anchors("<p id=a><a name=b>"), ""}

    def fail(*_arguments: object, **_options: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(turbohtml, "parse", fail)
    found = links(EVERYTHING), {*hypertext.anchors("<p id=a><a name=b>"), ""}

    assert found == expected


def test_the_spare_parser_finds_the_same_anchors() -> None:
    page = "<p id=a><a name=b>x</a><a id=c name=d></a><p name=no>"

    assert set(hypertext.anchors(page)) - {""} == plainhtml.anchors(page) - {""}


@pytest.mark.parametrize("mark", ["<a ", '<a "', "<![", "<!--", "</", "<?"])
def test_the_spare_parser_is_quick_with_hostile_pages(mark: str) -> None:
    assert plainhtml.rows(mark * 100_000 + "--><a href=x>")[-1].url == "x"


def test_a_base_counts_for_links_before_it_too_and_only_the_first() -> None:
    found = links("<link href=x><base href=/one/><base href=/two/><a href=y>z</a>")

    assert [(link.url, link.base) for link in found] == [("x", "/one/"), ("y", "/one/")]


def test_a_link_keeps_its_line_column_and_words() -> None:
    (link,) = links("<p>\n  <a\n href=x>  some\n <i>words</i> </a>")

    assert link.place == Place("a.html", 2, 3, "some words", "a")


def test_the_words_of_a_picture_are_its_description() -> None:
    found = links("<a href=x><img src=y alt='a cat'></a>")

    assert [link.place.text for link in found] == ["a cat", "a cat"]


def test_long_words_are_cut() -> None:
    (link,) = links(f"<a href=x>{'word ' * 1000}</a>")

    assert len(link.place.text) == 120


def test_the_charset_is_that_of_the_mark_then_of_the_page() -> None:
    (by_meta,) = links('<meta charset="koi8-r"><a href=я>'.encode("koi8-r"))
    (by_mark,) = links('<meta charset="koi8-r"><a href=я>'.encode("utf-8-sig"))

    assert by_meta.url == by_mark.url == "я"


def test_bookmarks_of_a_browser_are_read() -> None:
    found = links(
        "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<TITLE>Bookmarks</TITLE>\n<DL><p>\n"
        '<DT><A HREF="https://a.example/" ADD_DATE="1">A site</A>\n'
        '<DT><A HREF="place:sort=8">Recent</A>\n</DL>'
    )

    place = Place("a.html", 4, 5, "A site", "a")
    assert found[0] == Link("https://a.example/", place)


def test_nested_anchors_stay_linear() -> None:
    assert len(links("<a href=x>words<table><tr><td>" * 30_000)) == 30_000


PADDING = "<p>words and words</p>\n" * 20_000  # makes a page too large for a tree


def test_a_large_page_has_the_same_links_as_a_small_one() -> None:
    small = {(link.url, link.base) for link in hypertext.links(EVERYTHING, "x")}
    large = {
        (link.url, link.base) for link in hypertext.links(EVERYTHING + PADDING, "x")
    }

    assert len(EVERYTHING + PADDING) > largehtml.LARGE
    assert large == small


def test_the_words_of_a_link_are_whole_where_a_piece_ends_within_them() -> None:
    before = "x" * (64 * 1024 - 20)
    page = f'{before}<a id="here" href="y">one two three</a>{PADDING}'

    [link] = hypertext.links(page, "x")
    assert (link.url, link.place.text) == ("y", "one two three")
    assert set(hypertext.anchors(page)) - {""} == {"here"}


def test_a_large_page_is_not_taken_for_what_its_scripts_say() -> None:
    page = f"<script>'<a href=no>'</script><textarea><a href=no></textarea>{PADDING}"

    assert list(hypertext.links(page, "x")) == []
