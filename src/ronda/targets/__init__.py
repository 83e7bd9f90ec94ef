"""Where targets come from.

In come the user's arguments, or a document that was fetched. Out go the URLs they
refer to, resolved and normalised, each with its place; what cannot be used goes out as
a problem, and the rest goes on. One file a format, one row a format in `SOURCES`.
"""

from ronda.targets.anchors import anchors
from ronda.targets.formats import SOURCES, media_type
from ronda.targets.inputs import gather, may_block
from ronda.targets.network import links_of
from ronda.targets.resolve import Document, resolve
from ronda.targets.source import Source

__all__ = [
    "SOURCES",
    "Document",
    "Source",
    "anchors",
    "gather",
    "links_of",
    "may_block",
    "media_type",
    "resolve",
]
