"""Large HTML, a piece at a time: a tree of it may take seventy times its size."""

import re
from collections.abc import Iterator

from ronda.targets.plainhtml import Reader, Row

LARGE = 256 * 1024  # characters beyond which no tree is made of a page
_PIECE = 64 * 1024  # characters
# Text to a browser that runs scripts, and to a tokenizer: by another name it is not.
_NOSCRIPT = re.compile(r"<noscript(?=[\s/>])", re.IGNORECASE)


def rows(text: str, piece: int = _PIECE) -> Iterator[Row]:
    """Every URL of a page, in its order, as it is read."""
    for reader in _read(text, piece):
        yield from reader.taken()


def anchors(text: str) -> Iterator[str]:
    """Every id of a page, and every name of an anchor."""
    for reader in _read(text, _PIECE):
        yield from reader.names
        reader.taken()


def _read(text: str, piece: int) -> Iterator[Reader]:
    """The reader, after each piece of the page."""
    # Not at the top: see hypertext.
    from turbohtml import Tokenizer  # noqa: PLC0415

    text = _NOSCRIPT.sub("<x-script", text)
    tokenizer = Tokenizer()
    reader = Reader(tokenizer.position)
    for start in range(0, len(text), piece):
        tokenizer.feed(text[start : start + piece])
        tokenizer.dispatch(reader)
        yield reader
    tokenizer.close()
    tokenizer.dispatch(reader)
    reader.end()
    yield reader
