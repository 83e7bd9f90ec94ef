"""HTML: every attribute and style that names a URL, with its place and words."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ronda import config
from ronda.model import Link, Place, Problem
from ronda.targets import largehtml, plainhtml
from ronda.targets.largehtml import LARGE
from ronda.targets.plainhtml import Row
from ronda.targets.source import Readable, folded

if TYPE_CHECKING:
    import turbohtml

# Not documents: what a page carries in itself, or what only its scripts understand.
_OWN = ("javascript:", "data:", "about:", "blob:")
# These warm up a connection to a host; nothing is at the URL itself.
_HINTS = frozenset({"preconnect", "dns-prefetch"})
_DESCRIBED = frozenset({"img", "area", "input"})  # their words are in alt


def read(
    stream: Readable, document: str, _options: config.Check
) -> Iterator[Link | Problem]:
    """The links of an HTML document; bookmark files of browsers are such documents."""
    yield from links(stream.read(), document)


def links(data: bytes | str, document: str) -> Iterator[Link]:
    """The links of a page, read by its byte order mark, <meta>, UTF-8 or Latin."""
    large = len(data) > LARGE
    rows = largehtml.rows(data) if large else _rows(data)
    seen = largehtml.rows(data[:LARGE]) if large else rows  # a base stands at the top
    base = next((row.url for row in seen if row.tag == "base"), "")
    for row in rows:
        if _is_wanted(row):
            place = Place(document, row.line, row.column, folded(row.text))
            yield Link(row.url, place, base)


def anchors(data: bytes | str) -> Iterator[str]:
    """Every name within a page that a fragment can point at."""
    if len(data) > LARGE:
        yield from largehtml.anchors(data)
        return
    import turbohtml  # noqa: PLC0415  # see _rows

    try:
        page = turbohtml.parse(data, positions=False)
        elements = page.select("[id], a[name]")
    except Exception:  # a young parser's fault must not lose the page
        yield from plainhtml.anchors(data)
        return
    for element in elements:
        yield element.attr("id") or ""
        if element.tag == "a":
            yield element.attr("name") or ""


def _is_wanted(row: Row) -> bool:
    if row.url[:11].lower().startswith(_OWN) or row.attribute not in plainhtml.NAMED:
        return False
    match row.tag:
        case "base":
            return False
        case "link":
            return _HINTS.isdisjoint(row.kind.lower().split())
        case "form":  # what answers a POST need not answer a GET
            return row.kind.lower() != "post"
        case tag:
            return row.attribute != "data" or tag == "object"


def _rows(data: bytes | str) -> list[Row]:
    # Not at the top: a quarter of the start-up time, which a list of URLs spares.
    import turbohtml  # noqa: PLC0415

    try:
        # A template's links are links, also when it would become a shadow root.
        page = turbohtml.parse(data, allow_declarative_shadow_roots=False)
        found = page.links()
    except Exception:  # a young parser's fault must not lose the page
        return plainhtml.rows(data)
    return [_row(link.element, link.attribute or "style", link.url) for link in found]


def _row(element: "turbohtml.Element", attribute: str, url: str) -> Row:
    tag = element.tag
    line, column = element.position or (0, -1)
    kind = text = ""
    if tag == "a":
        # Anchors nest through tables. Taking words only of the innermost keeps a
        # hostile page linear.
        text = element.text if element.find("a") is None else ""
        text = text if text.strip() else _alt(element)
    elif tag in _DESCRIBED:
        text = element.attr("alt") or ""
    elif tag in {"link", "form"}:
        kind = element.attr("rel" if tag == "link" else "method") or ""
    return Row(tag, attribute, url, line, column + 1, kind, text)


def _alt(anchor: "turbohtml.Element") -> str:
    """The words of an anchor round a picture."""
    picture = anchor.find(["img", "a"])
    return (picture.attr("alt") or "") if picture and picture.tag == "img" else ""
