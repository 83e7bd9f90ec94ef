"""Targets that wait on disk, while the frontier is full."""

from itertools import islice

from ronda.model import Target
from ronda.store.packing import Packing
from ronda.store.scratch import Records, Scratch


class Overflow:
    """Targets: first in, first out. Their space is used again once all are out."""

    def __init__(self) -> None:
        self._file = Scratch()
        self._records = Records(self._file)
        self._packing = Packing(Target)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def push(self, target: Target) -> None:
        """Put a target behind all others."""
        self._file.append_record(self._packing.pack(target))
        self._count += 1

    def pop(self, count: int) -> list[Target]:
        """Take out the targets that are here longest, at most so many."""
        records = islice(self._records, min(count, self._count))
        taken = [self._packing.unpack(data) for data in records]
        self._count -= len(taken)
        if taken and not self._count:
            self._file.clear()
            self._records = Records(self._file)
        return taken

    def close(self) -> None:
        """Give up all of them."""
        self._file.close()
