"""Places in a range, as few bytes: the distances between them, pressed."""

import struct
import zlib
from collections.abc import Sequence
from itertools import accumulate, chain
from operator import sub

FEW = 64  # places that are not worth pressing
_PLAIN = b"\0"  # how bytes begin that are not pressed; pressed ones begin otherwise


def pack(places: Sequence[int]) -> bytes:
    """Places in order, below 65,536; some may be there more than once."""
    if len(places) > FEW:
        distances = _bytes(list(map(sub, places, chain((0,), places))))
        # The upper halves are nearly all 0: beside each other they take no space.
        pressed = zlib.compress(distances[::2] + distances[1::2], 1)
        if len(pressed) < 2 * len(places):
            return pressed
    return _PLAIN + _bytes(places)


def unpack(data: bytes) -> Sequence[int]:
    """The places that were packed."""
    if data[:1] == _PLAIN:
        return _numbers(data[1:])
    halves = zlib.decompress(data)
    count = len(halves) // 2
    both = bytearray(len(halves))
    both[::2], both[1::2] = halves[:count], halves[count:]
    return list(accumulate(_numbers(both)))


def _bytes(numbers: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(numbers)}H", *numbers)


def _numbers(data: bytes | bytearray) -> Sequence[int]:
    return struct.unpack(f"<{len(data) // 2}H", data)
