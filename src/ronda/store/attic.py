"""Files of one run that are seldom looked at: on disk, so that memory stays small."""

from tempfile import TemporaryFile
from typing import IO

SLACK = 1 << 20  # bytes of what is no longer wanted that are not worth moving anything


class Attic:
    """Bytes by name; what is put there again takes the place of what was.

    The file has at most `SLACK` bytes more than twice what is wanted: beyond that, all
    of it is moved together. So each byte that comes moves one that was there, at most.
    """

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None  # most runs need none
        self._places: dict[str, tuple[int, int]] = {}
        self._wanted = 0  # bytes
        self._end = 0

    def __len__(self) -> int:
        return len(self._places)

    def __setitem__(self, name: str, data: bytes) -> None:
        if self._file is None:
            self._file = TemporaryFile()  # noqa: SIM115  # ends with the run
        self._file.seek(self._end)
        self._file.write(data)
        self._wanted += len(data) - self._places.get(name, (0, 0))[1]
        self._places[name] = self._end, len(data)
        self._end += len(data)
        self._tidy(self._file)

    def __getitem__(self, name: str) -> bytes:
        offset, size = self._places[name]
        assert self._file is not None  # noqa: S101  # something was put into it
        self._file.seek(offset)
        return self._file.read(size)

    def __delitem__(self, name: str) -> None:
        self._wanted -= self._places.pop(name)[1]
        assert self._file is not None  # noqa: S101  # something was put into it
        self._tidy(self._file)

    def _tidy(self, file: IO[bytes]) -> None:
        """Move what is wanted together, if less than half of the file is."""
        if self._end <= 2 * self._wanted + SLACK:
            return
        self._end = 0
        # From the first to the last, each to a place before its own: none is written
        # over that was not moved yet.
        for name, (offset, size) in sorted(self._places.items(), key=_offset):
            file.seek(offset)
            data = file.read(size)
            file.seek(self._end)
            file.write(data)
            self._places[name] = self._end, size
            self._end += size
        file.truncate(self._end)

    def close(self) -> None:
        """Give up all of it."""
        if self._file is not None:
            self._file.close()


def _offset(item: tuple[str, tuple[int, int]]) -> int:
    return item[1][0]
