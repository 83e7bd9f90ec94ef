"""Large HTML, a piece at a time: a tree of it may take seventy times its size."""

from collections.abc import Iterator

from ronda.targets.encoding import decoded
from ronda.targets.plainhtml import Reader, Row

LARGE = 256 * 1024  # bytes beyond which no tree is made of a page
_PIECE = 64 * 1024  # characters


def rows(data: bytes | str) -> Iterator[Row]:
    """Every URL of a page, in its order, as it is read."""
    for reader in _read(data):
        yield from reader.taken()


def anchors(data: bytes | str) -> Iterator[str]:
    """Every id of a page, and every name of an anchor."""
    for reader in _read(data):
        yield from reader.names
        reader.names.clear()
        reader.rows.clear()


def _read(data: bytes | str) -> Iterator[Reader]:
    """The reader, after each piece of the page."""
    # Not at the top: see hypertext.
    from turbohtml import Tokenizer  # noqa: PLC0415

    text = data if isinstance(data, str) else decoded(data)
    tokenizer = Tokenizer()
    reader = Reader(tokenizer.position)
    for start in range(0, len(text), _PIECE):
        tokenizer.feed(text[start : start + _PIECE])
        tokenizer.dispatch(reader)
        yield reader
    tokenizer.close()
    tokenizer.dispatch(reader)
    reader.handle_endtag("a")  # one that was left open ends with the page
    yield reader
