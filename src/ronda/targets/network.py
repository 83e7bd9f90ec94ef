"""The links of a document that was fetched over the network."""

import io
from collections.abc import Iterator

from msgspec.structs import replace

from ronda import config, urls
from ronda.errors import InputError
from ronda.model import Found, Link, Place, Problem
from ronda.targets import formats
from ronda.targets.encoding import as_utf8
from ronda.targets.resolve import Document, resolve
from ronda.targets.source import Readable, Source
from ronda.targets.streams import LIMIT, opened


def links_of(
    body: bytes,
    url: str,
    content_type: str,
    check: config.Check,
    limit: int = LIMIT,
) -> Iterator[Found | Problem]:
    """What a fetched document refers to.

    Args:
        body: what came, unpacked from its Content-Encoding.
        url: where it came from at last, normalised.
        content_type: the header as it came; may be empty.
        check: the settings; its base_url is for local documents only.
        limit: bytes that are read of a packed file, such as a sitemap's.
    """
    place = Place(urls.without_credentials(url))
    try:
        stream = opened(io.BytesIO(body), limit)
        source = formats.of_answer(url, content_type, stream.head)
        if source is None:
            return
        # No text has NUL bytes; a parser may keep 40 bytes of complaint for each.
        data = as_utf8(stream.read(), formats.charset(content_type)).replace(b"\0", b"")
    except InputError as error:
        yield Problem(place, str(error), grave=False)
        return
    yield from _resolved(source, io.BytesIO(data), url, replace(check, base_url=""))
    if stream.cut:
        words = f"unpacks to more than {limit:,} bytes: the rest is not read"
        yield Problem(place, words, grave=False)


def _resolved(
    source: Source, stream: Readable, url: str, check: config.Check
) -> Iterator[Found | Problem]:
    document = Document(url)
    for item in source.read(stream, urls.without_credentials(url), check):
        if isinstance(item, Link):
            found = resolve(item, document, check)
            if found is not None:
                yield found
        elif source is not formats.TEXT:
            # The user wrote none of it: that a feed or a table holds no links we can
            # read is no mistake of his, and words on a page of text are not even news.
            yield replace(item, grave=False)
