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
from ronda.targets.source import Source
from ronda.targets.streams import HEAD, LIMIT, Bounded, is_packed, opened
from ronda.targets.xmlfile import OTHER


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
        limit: bytes that are read of it, once it is unpacked as a sitemap may be.
    """
    packed: Bounded | None = None
    try:
        if is_packed(body):
            packed = opened(io.BytesIO(body), limit)
        head = packed.head if packed else body[:HEAD]
        source = formats.of_answer(url, content_type, head)
        if source is None:
            return
        data = packed.read() if packed else body[:limit]
    except InputError as error:
        yield _note(url, str(error))
        return
    if source.is_text:
        data = _text(data, formats.charset(content_type))
    yield from _resolved(source, data, url, check)
    if packed.cut if packed else len(body) > limit:
        yield _note(url, f"more than {limit:,} bytes: the rest is not read")


def _note(url: str, words: str) -> Problem:
    return Problem(Place(urls.without_credentials(url)), words, grave=False)


def _text(data: bytes, charset: str) -> bytes:
    """Text has no NUL bytes; a parser may keep 40 bytes of complaint for each."""
    data = as_utf8(data, charset)
    return data.replace(b"\0", b"") if b"\0" in data else data


def _resolved(
    source: Source, data: bytes, url: str, check: config.Check
) -> Iterator[Found | Problem]:
    document, name = Document(url), urls.without_credentials(url)
    check = replace(check, base_url="") if check.base_url else check
    for item in source.read(io.BytesIO(data), name, check):
        found = resolve(item, document, check) if isinstance(item, Link) else item
        if isinstance(found, Found):
            yield found
        elif found is not item:  # a link that is none is a mistake of the page
            if found is not None:
                yield found
        elif source is not formats.TEXT and not found.message.startswith(OTHER):
            # That a feed or a table holds no links we can read is no mistake of the
            # user's, and words on a page of text are not even news.
            yield replace(found, grave=False)
