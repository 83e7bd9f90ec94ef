"""OPML: the outlines of feed readers and outliners."""

from collections.abc import Iterator

from ronda.model import Link, Place
from ronda.targets.source import folded
from ronda.targets.xmlstream import Element

ROOTS = ("opml",)
_ATTRIBUTES = ("xmlUrl", "htmlUrl", "url")


def links(elements: Iterator[Element], document: str) -> Iterator[Link]:
    """What the outlines point at: the feed, its site, or a page."""
    for element in elements:
        if element.name != "outline" or element.text is not None:
            continue
        words = element.attributes.get("text") or element.attributes.get("title", "")
        place = Place(document, element.line, element.column, folded(words))
        for name in _ATTRIBUTES:
            if url := element.attributes.get(name, "").strip():
                yield Link(url, place)
