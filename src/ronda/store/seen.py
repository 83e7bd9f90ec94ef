"""The URLs of a run by number, in at most 36 bytes of memory each.

Not the URLs are kept but their 64-bit hashes, in tables of slots that are probed one
after the other. Two URLs with one hash would be taken for one: among a million URLs the
chance that this happens at all is 1 in 37 million, among ten million 1 in 370,000
(n² / 2⁶⁵), and its price is one URL that is not visited. Nobody outside can bring it
about, since Python's hash of a string is keyed anew in each process (SipHash).
"""

from array import array

SEGMENTS = 512  # tables, so that growing is done in small steps: 6 ms at 10 million
_BITS = SEGMENTS.bit_length() - 1  # of a hash that choose the table …
_LOW = SEGMENTS - 1  # … which are the lowest
_FEW = 8  # slots that a table begins with
_FREE = -1  # no string has this hash: CPython keeps it for errors

_Table = tuple["array[int]", "array[int]"]  # hashes, and the numbers that they have


def _table(slots: int) -> _Table:
    return array("q", [_FREE]) * slots, array("I", [0]) * slots


class Seen:
    """Numbers URLs 0, 1, 2, … in the order in which they are first seen."""

    def __init__(self) -> None:
        # Slots are a power of two, and at most two thirds of them are taken: there is
        # always a free one, at which a search ends.
        self._tables = [_table(_FEW) for _ in range(SEGMENTS)]
        self._room = array("I", [_FEW * 2 // 3]) * SEGMENTS  # until a table grows
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, url: str) -> bool:
        return self.number(url) >= 0

    def number(self, url: str) -> int:
        """The number of a URL; -1 if it was not seen."""
        key = hash(url)
        hashes, numbers = self._tables[key & _LOW]
        mask = len(hashes) - 1
        slot = key >> _BITS & mask
        while (found := hashes[slot]) != key:
            if found == _FREE:
                return -1
            slot = slot + 1 & mask
        return numbers[slot]

    def add(self, url: str) -> int:
        """The number of a URL, which is the next one if it is new."""
        # The search stands here once more: a call would cost as much as the search.
        key = hash(url)
        segment = key & _LOW
        hashes, numbers = self._tables[segment]
        mask = len(hashes) - 1
        slot = key >> _BITS & mask
        while (found := hashes[slot]) != key:
            if found == _FREE:
                break
            slot = slot + 1 & mask
        else:
            return numbers[slot]
        hashes[slot] = key
        number = numbers[slot] = self._count
        self._count = number + 1
        room = self._room[segment] = self._room[segment] - 1
        if not room:
            self._grow(segment)
        return number

    def _grow(self, segment: int) -> None:
        old = self._tables[segment]
        slots = 2 * len(old[0])
        hashes, numbers = self._tables[segment] = _table(slots)
        mask = slots - 1
        for key, number in zip(*old, strict=True):
            if key != _FREE:
                slot = key >> _BITS & mask
                while hashes[slot] != _FREE:
                    slot = slot + 1 & mask
                hashes[slot] = key
                numbers[slot] = number
        self._room[segment] = slots * 2 // 3 - slots // 3
