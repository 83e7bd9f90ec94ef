import io

import pytest

from ronda.config import Check
from ronda.model import Found, Link
from ronda.targets import links_of
from ronda.targets.stylesheet import read, urls_in


def urls(css: str) -> list[str]:
    return [url for _, url in urls_in(css)]


@pytest.mark.parametrize(
    ("css", "found"),
    [
        ("a{b:url(x.png)}", ["x.png"]),
        ("a{b:URL( 'x y.png' )}", ["x y.png"]),
        ('@import "x.css" screen;', ["x.css"]),
        ("@IMPORT\n'x.css';@import url(y.css);", ["x.css", "y.css"]),
        ("@font-face{src:url(a.woff)format('woff'),url(b.ttf)}", ["a.woff", "b.ttf"]),
        (r"a{b:url(x\)y)} c{d:url('x\'y')} e{f:url(\78 y)}", ["x)y", "x'y", "xy"]),
        ("a{b:image-set(url(x) 1x)}", ["x"]),
        ("a{b:url(x", ["x"]),
        ("/* url(no) @import 'no' */ a{b:url(x)} /* url(no)", ["x"]),
        ("a{content:'url(no)'} b{c:my-url(no)}", []),
        ("@namespace svg url(https://no.example/); @namespace 'no';", []),
        ("@charset 'no'; a{b:url()} c{d:url(two words)} e{f:url('')}", []),
        ("a{b:c}", []),
    ],
)
def test_what_url_and_import_name_is_found(css: str, found: list[str]) -> None:
    assert urls(css) == found


def test_a_url_of_a_sheet_has_its_line_column_and_tag() -> None:
    css = b"/* a\n comment */\na {\n  b: url(x.png);\n}\n"
    (link,) = read(io.BytesIO(css), "a.css", Check())

    assert isinstance(link, Link)
    place = link.place
    assert (place.line, place.column, place.tag) == (4, 6, "css")


def test_the_urls_of_a_sheet_are_seen_from_the_sheet() -> None:
    body = '@charset "koi8-r";a{b:url(я.png);c:url(data:image/png;base64,no)}'
    (found,) = links_of(
        body.encode("koi8-r"), "https://a.example/css/a.css", "text/css", Check()
    )

    assert isinstance(found, Found)
    assert found.url == "https://a.example/css/%D1%8F.png"


STRINGS = ["url('", 'url("', "'", '"', '\\"', "@import '"]
OTHERS = [
    "url(",
    "url( ",
    "url(x ",
    "url(\\",
    "\\",
    "/*",
    "/",
    "@",
    "@import ",
    "@namespace ",
]


@pytest.mark.parametrize("piece", STRINGS + OTHERS)
def test_a_hostile_sheet_takes_no_longer_than_others(piece: str) -> None:
    assert len(urls(piece * 200_000)) <= 200_000
