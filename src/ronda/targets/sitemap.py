"""Sitemaps, and indexes of sitemaps."""

from collections.abc import Iterator

from ronda.model import Link, Place
from ronda.targets.source import Index
from ronda.targets.xmlstream import Element

ROOTS = ("urlset", "sitemapindex")


def links(elements: Iterator[Element], document: str) -> Iterator[Link]:
    """The pages a sitemap names; what an index names is read in its turn."""
    kind = Link
    for element in elements:
        if element.name in {"url", "sitemap"}:
            kind = Index if element.name == "sitemap" else Link
        elif element.name == "loc" and element.text and element.text.strip():
            yield kind(
                element.text.strip(), Place(document, element.line, element.column)
            )
