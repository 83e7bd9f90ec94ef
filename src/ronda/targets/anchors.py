"""What a fragment can point at within a document."""

from ronda.targets import hypertext
from ronda.targets.encoding import as_utf8, decoded
from ronda.targets.formats import HTML, MARKDOWN, charset
from ronda.targets.slugs import slugs

# GitHub puts it before every id of a user's document; its scripts find #id as well.
_PREFIX = "user-content-"


def anchors(data: bytes, media_type: str) -> frozenset[str] | None:
    """Every id and name of a page, every heading of a Markdown document.

    None for documents of any other kind: nobody knows what a fragment means there.

    Args:
        data: the document.
        media_type: its media type, with its charset if it is known.
    """
    kind = media_type.partition(";")[0].strip().lower()
    if kind in HTML.media_types:
        names = set(hypertext.anchors(as_utf8(data, charset(media_type))))
        names |= {name.removeprefix(_PREFIX) for name in names}
    elif kind in MARKDOWN.media_types:
        text = decoded(data, charset(media_type))
        names = {*slugs(text), *hypertext.anchors(text)}
    else:
        return None
    return frozenset(names - {""})
