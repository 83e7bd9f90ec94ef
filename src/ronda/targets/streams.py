"""Input with an end: streams that give no more than a limit, and say so."""

import gzip
import io
import zlib

from ronda.errors import InputError
from ronda.targets.source import Readable

# Bytes of one document that are read. The largest sitemap allowed is 50 MB, the largest
# lists that people check are near it; past this it is a mistake or a bomb.
LIMIT = 100 * 1024 * 1024
# The same for documents, which are taken apart as a whole and take a multiple of it.
DOCUMENT_LIMIT = 16 * 1024 * 1024
HEAD = 1024  # bytes by which a format is told
_MARKUP = (b"<", b"{", b"[")  # what begins so must be seen whole
_CHUNK = 1024 * 1024  # bytes read at once
_GZIP = b"\x1f\x8b"


class Bounded:
    """A stream that ends at a limit, whose beginning can be seen before it is read."""

    def __init__(self, stream: Readable, limit: int = LIMIT) -> None:
        self.head = _filled(stream, HEAD)
        self.cut = False
        self._ahead = io.BytesIO(self.head)
        self._stream = stream
        self._left = self._limit = limit

    def shorten(self, limit: int) -> None:
        """Lower the limit, before anything is read."""
        self._left = self._limit = min(limit, self._limit)

    @property
    def problem(self) -> str:
        """What to say when it was cut."""
        return f"larger than {self._limit // 1024 // 1024} MB: the rest is not read"

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes, all that the limit allows when negative.

        Raises:
            InputError: the compressed data is damaged.
        """
        wanted = self._left if size < 0 else min(size, self._left)
        data = self._ahead.read(wanted)
        if size < 0:  # pipes give what they have, not what is asked for
            data = self._rest(data, wanted)
        elif not data:
            data = _read(self._stream, wanted)
        self._left -= len(data)
        if not self._left and size and not self.cut:
            self.cut = bool(self._ahead.read(1) or _read(self._stream, 1))
        return data

    def _rest(self, data: bytes, wanted: int) -> bytes:
        chunks, size = [data], len(data)
        while size < wanted:
            more = _read(self._stream, min(_CHUNK, wanted - size))
            if not more:
                break
            chunks.append(more)
            size += len(more)
        return b"".join(chunks)


def opened(stream: Readable, limit: int = LIMIT) -> Bounded:
    """A stream bounded, and unpacked where it is gzip's.

    Raises:
        InputError: the compressed data is damaged from its first bytes.
    """
    plain = Bounded(stream, limit)
    if not is_packed(plain.head):
        return plain
    # GzipFile asks for no more of a file than read().
    unpacked = gzip.GzipFile(fileobj=plain)  # type: ignore[call-overload]
    return Bounded(unpacked, limit)


def is_packed(data: bytes) -> bool:
    """Whether data begins as gzip's does."""
    return data.startswith(_GZIP)


def _filled(stream: Readable, size: int) -> bytes:
    """Enough to tell a format by: pipes may give less than is asked for.

    A line of a list is enough, so that a slow writer's first URLs need not wait.
    """
    data = _read(stream, size)
    while len(data) < size and (data[:1] in _MARKUP or b"\n" not in data):
        more = _read(stream, size - len(data))
        if not more:
            break
        data += more
    return data


def _read(stream: Readable, size: int) -> bytes:
    try:
        return stream.read(size)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"damaged gzip data: {error}") from None
