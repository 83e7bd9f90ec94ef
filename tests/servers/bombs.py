"""Small bodies that unpack to 10 GB, made part by part from one repeated block.

A block may be repeated when nothing in it refers back before its beginning and it ends
at a whole byte; where Python has no packer, it was packed by hand.
"""

import gzip
import zlib
from collections.abc import Callable, Iterator

UNPACKED_BYTES = 10_000_000_000
_MEGABYTE = 1_000_000
_TOGETHER = 100  # blocks in a part


def _repeated(
    begin: bytes, block: bytes, size: int, end: bytes = b""
) -> Iterator[bytes]:
    """The block, which unpacks to `size`, as often as it takes."""
    yield begin
    for _ in range(-(-UNPACKED_BYTES // (size * _TOGETHER))):
        yield block * _TOGETHER
    yield end


def _flat_block(text: bytes) -> bytes:
    """A raw deflate block: a full flush lets it stand anywhere."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(text) + packer.flush(zlib.Z_FULL_FLUSH)


def packed(text: bytes) -> Iterator[bytes]:
    """A text again and again, as gzip; its checksum at the end is wrong."""
    times = max(1, _MEGABYTE // len(text))
    block = _flat_block(text * times)
    head = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
    return _repeated(head, block, len(text) * times, b"\3\0" + bytes(8))


def _gzip() -> Iterator[bytes]:
    return packed(b" ")


def _deflate() -> Iterator[bytes]:
    block = _flat_block(b" " * _MEGABYTE)
    return _repeated(b"\x78\x9c", block, _MEGABYTE, b"\3\0" + bytes(4))


def _twice() -> Iterator[bytes]:
    """10 MB of gzip, packed once more to some kilobytes."""
    yield gzip.compress(b"".join(_gzip()), 9)


class _Bits:
    """Bits as brotli packs them: the lowest first."""

    def __init__(self) -> None:
        self._value = self._count = 0

    def add(self, value: int, count: int) -> "_Bits":
        self._value |= value << self._count
        self._count += count
        return self

    def whole(self) -> bytes:
        """All of them, filled up to a whole byte."""
        return self._value.to_bytes((self._count + 7) // 8, "little")


def _brotli() -> Iterator[bytes]:
    """RFC 7932: codes with one symbol take no bits, so 16 MB fit into 14 bytes."""
    size = 1 << 24
    bits = _Bits().add(0, 1).add(2, 2).add(size - 1, 24).add(0, 1)  # not last, length
    bits.add(0, 3).add(0, 6).add(0, 2).add(0, 2)  # one block type and one tree each
    for symbol, width in ((ord(" "), 8), (504, 10), (0, 6)):  # literals, commands, …
        bits.add(1, 2).add(0, 2).add(symbol, width)  # a simple code of one symbol
    bits.add(size - 22_594, 24)  # command 504 inserts 22,594 and so many more
    bits.add(0, 1).add(3, 2).add(0, 1).add(0, 2)  # an empty block up to a whole byte
    # The head: a window of 64 KB, and an empty block.
    return _repeated(b"\x0c", bits.whole(), size, b"\3")


def _zstd() -> Iterator[bytes]:
    """RFC 8878: a block of one repeated byte, 128 KB long, takes 4 bytes."""
    size = 128 * 1024
    block = (size << 3 | 1 << 1).to_bytes(3, "little") + b" "
    head = b"\x28\xb5\x2f\xfd" + b"\x00" + b"\x58"  # a window of 2 MB
    return _repeated(head, block, size, b"\x01\0\0")


# By the name of the encoding that it is sent with.
BOMBS: dict[str, Callable[[], Iterator[bytes]]] = {
    "gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
    "gzip, gzip": _twice,
}
