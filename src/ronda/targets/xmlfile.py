"""XML files: what they are is told by their root element, not by their name."""

from collections.abc import Iterator
from itertools import chain

from ronda import config
from ronda.errors import InputError
from ronda.model import Link, Place, Problem
from ronda.targets import opml, sitemap
from ronda.targets.source import Readable, folded
from ronda.targets.xmlstream import elements

_READERS = {
    **dict.fromkeys(sitemap.ROOTS, sitemap.links),
    **dict.fromkeys(opml.ROOTS, opml.links),
}


OTHER = "XML of a kind that is not read"


def read(
    stream: Readable, document: str, _options: config.Check
) -> Iterator[Link | Problem]:
    """The links of a sitemap, an index of sitemaps, or an OPML file."""
    found = elements(stream)
    try:
        root = next(found)
        reader = _READERS.get(root.name)
        if reader:
            yield from reader(chain([root], found), document)
        else:
            yield Problem(Place(document, root.line), _unknown(root.name))
    except InputError as error:
        yield Problem(Place(document), str(error))


def _unknown(root: str) -> str:
    known = ", ".join(_READERS)
    return f"{OTHER}, <{folded(root)}>; known: {known}"
