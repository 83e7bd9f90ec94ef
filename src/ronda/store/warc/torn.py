"""Where the last whole record of a web archive ends: a killed run may leave half a one.

Only what ends too early counts as torn. What is wrong in another way is not ours to
cut: it may be somebody's archive, or no archive at all.
"""

import re
import zlib
from typing import IO

_SIGN = b"WARC/"
_CHUNK = 256 * 1024  # bytes
_LONGEST = 1024 * 1024  # bytes of the headers of a record
_LENGTH = re.compile(rb"(?im)^content-length:[ \t]*([0-9]+)[ \t]*\r?$")
_BLANK = b"\r\n\r\n"  # ends the headers of a record, and the record


class DamagedError(Exception):
    """A file is no archive, or not a whole one up to where it ends."""


def packed_end(file: IO[bytes]) -> int:
    """The byte after the last whole member of a file of gzip members."""
    end, rest = 0, b""
    while rest := rest or file.read(_CHUNK):
        unpack = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            is_whole = _unpacked(unpack, rest, file)
        except zlib.error:
            raise DamagedError(f"damaged at byte {end:,}") from None
        if not is_whole:
            break
        rest = unpack.unused_data
        end = file.tell() - len(rest)
    return end


def _unpacked(unpack: "zlib._Decompress", data: bytes, file: IO[bytes]) -> bool:
    """Whether a member is whole; its bytes are dropped, for they may be many."""
    head = unpack.decompress(data, len(_SIGN))
    if not _SIGN.startswith(head):
        raise DamagedError("not a web archive")
    while not unpack.eof:
        data = unpack.unconsumed_tail or file.read(_CHUNK)
        if not data:
            unpack.flush()  # what a limit held back
            break
        unpack.decompress(data, _CHUNK)
    return unpack.eof


def plain_end(file: IO[bytes]) -> int:
    """The byte after the last whole record of a file that is not packed."""
    size = file.seek(0, 2)
    end = 0
    while end < size:
        file.seek(end)
        head = _head(file)
        if head is None:
            break
        found = _LENGTH.search(head)
        if found is None:
            raise DamagedError(f"damaged at byte {end:,}")
        after = end + len(head) + int(found[1]) + len(_BLANK)
        if after > size:
            break
        file.seek(after - len(_BLANK))
        if file.read(len(_BLANK)) != _BLANK:
            raise DamagedError(f"damaged at byte {end:,}")
        end = after
    return end


def _head(file: IO[bytes]) -> bytes | None:
    """The headers of a record, with the blank line; None where the file ends first."""
    lines = bytearray()
    while line := file.readline(_LONGEST):
        lines += line
        if not lines.startswith(_SIGN[: len(lines)]):
            raise DamagedError("not a web archive")
        if len(lines) > _LONGEST:
            raise DamagedError("not a web archive")
        if line == b"\r\n":
            return bytes(lines)
    return None
