"""HTML: every attribute and style that names a URL, with its place and words."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ronda import config, urls
from ronda.model import Link, Place, Problem
from ronda.targets import largehtml, plainhtml
from ronda.targets.attributes import BLANK, NAMING, is_own, rel_of, urls_of, words_of
from ronda.targets.encoding import markup
from ronda.targets.largehtml import LARGE
from ronda.targets.plainhtml import Row
from ronda.targets.source import Readable, folded

if TYPE_CHECKING:
    import turbohtml

_NOWHERE = (0, -1)  # line and column, the latter from 0


def read(
    stream: Readable, document: str, _options: config.Check
) -> Iterator[Link | Problem]:
    """The links of an HTML document; bookmark files of browsers are such documents."""
    return iter(links(stream.read(), document))


def links(data: bytes | str, document: str) -> Iterable[Link]:
    """The links of a page, read by its byte order mark, <meta>, UTF-8 or Latin."""
    text = data if isinstance(data, str) else markup(data)
    if len(text) > LARGE:
        top = largehtml.rows(text[:LARGE])  # a base stands there, or nowhere
        return _of_rows(largehtml.rows(text), _base(top), document)
    # Not at the top: a quarter of the start-up time, which a list of URLs spares.
    import turbohtml  # noqa: PLC0415

    try:
        # A template's links are links, also when it would become a shadow root.
        page = turbohtml.parse(text, allow_declarative_shadow_roots=False)
        return list(_of_tree(page, document))
    except Exception:  # a young parser's fault must not lose the page
        rows = plainhtml.rows(text)
        return _of_rows(rows, _base(rows), document)


def anchors(data: bytes | str) -> Iterable[str]:
    """Every name within a page that a fragment can point at."""
    text = data if isinstance(data, str) else markup(data)
    if len(text) > LARGE:
        return largehtml.anchors(text)
    import turbohtml  # noqa: PLC0415  # see links

    try:
        page = turbohtml.parse(text, positions=False)
        elements = page.select("[id], a[name]")
    except Exception:  # a young parser's fault must not lose the page
        return plainhtml.anchors(text)
    ids = [element.attr("id") or "" for element in elements]
    return ids + [e.attr("name") or "" for e in elements if e.tag == "a"]


def _base(rows: Iterable[Row]) -> str:
    """The first base of a page; one that is too long is none, and is not kept."""
    base = next((row.url for row in rows if row.tag == "base"), "")
    return base if len(base) <= urls.LONGEST else ""


def _of_rows(rows: Iterable[Row], base: str, document: str) -> Iterator[Link]:
    for row in rows:
        if row.tag != "base":
            words = folded(row.text)
            place = Place(document, row.line, row.column, words, row.tag)
            yield Link(row.url, place, base, row.rel)


def _of_tree(page: "turbohtml.Document", document: str) -> Iterator[Link]:
    """The links of a tree. This loop is hot: anchors come before all other cases."""
    base = _base(row for e in page.select("base[href]") for row in _rows(e, e.tag))
    are_plain = page.select_one("a[rel],a[style]") is None  # spares two questions each
    last = _NOWHERE
    for element in page.select(NAMING):
        tag = element.tag
        url = element.attr("href") if tag == "a" else None
        if not url or (not are_plain and element.attr("style")):
            yield from _of_rows(_rows(element, tag), base, document)
            continue
        at = element.position or _NOWHERE
        url = url.strip(BLANK)
        # An anchor left open is there again in every paragraph that follows.
        if url and at != last and not (":" in url and is_own(url)):
            place = Place(document, at[0], at[1] + 1, folded(_words(element)), "a")
            rel = "" if are_plain else (element.attr("rel") or "").lower()
            yield Link(url, place, base, rel)
        last = at


def _rows(element: "turbohtml.Element", tag: str) -> Iterator[Row]:
    line, column = element.position or _NOWHERE
    tag = tag.lower()  # SVG's have capitals in them
    values = {name: element.attr(name) or "" for name in element.attrs}
    if tag == "style":
        values["style"] = element.text
    for kind, url in urls_of(tag, values):
        row = Row(kind, url, line, column + 1)
        if kind == tag:
            row.rel = rel_of(tag, values)
            row.text = _words(element) if tag == "a" else words_of(tag, values)
        yield row


def _words(anchor: "turbohtml.Element") -> str:
    """The words of an anchor, or else of the picture in it."""
    # Anchors nest through tables. Taking words only of the innermost keeps a hostile
    # page linear.
    text = anchor.text if anchor.find("a") is None else ""
    if text.strip():
        return text
    picture = anchor.find(["img", "a"])
    return (picture.attr("alt") or "") if picture and picture.tag == "img" else ""
