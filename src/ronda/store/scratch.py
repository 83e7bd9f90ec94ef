"""Temporary files of a run: written at the end, read anywhere, gone with the run."""

import os
from contextlib import suppress
from tempfile import TemporaryFile

PIECE = 64 * 1024  # bytes read or written at once
_SIZE = 4  # bytes that hold the length of a record


class Scratch:
    """Bytes on disk, at offsets that the one who writes them keeps."""

    def __init__(self) -> None:
        self._file = TemporaryFile("wb", buffering=PIECE)  # noqa: SIM115  # see close
        self._write = self._file.write  # looked up once: it is called for each link
        self.size = 0

    def append(self, data: bytes) -> int:
        """Write bytes; returns where they are."""
        offset = self.size
        self._write(data)
        self.size = offset + len(data)
        return offset

    def append_record(self, data: bytes) -> int:
        """Write bytes that `Records` tells from the next ones; returns where."""
        return self.append(len(data).to_bytes(_SIZE) + data)

    def read(self, offset: int, size: int) -> bytes:
        """The bytes from an offset on: fewer than asked for only at the end."""
        self._file.flush()
        return os.pread(self._file.fileno(), size, offset)

    def clear(self) -> None:
        """Give the space back."""
        self._file.seek(0)
        self._file.truncate()
        self.size = 0

    def close(self) -> None:
        """Delete the file; what a full disk did not take is not wanted any more."""
        with suppress(OSError):
            self._file.close()


class Records:
    """The records of a file from an offset on; goes on when more were written."""

    def __init__(self, file: Scratch, offset: int = 0, piece: int = PIECE) -> None:
        self._file = file
        self._piece = piece
        self._offset = offset  # up to which the file was read
        self._head = b""  # what was read of it last …
        self._used = 0  # … and how much of that was taken out

    def __iter__(self) -> "Records":
        return self

    def __next__(self) -> bytes:
        size = self._take(_SIZE)
        if not size:
            raise StopIteration
        return self._take(int.from_bytes(size))

    def _take(self, size: int) -> bytes:
        if len(self._head) - self._used < size:
            read = self._file.read(self._offset, max(size, self._piece))
            self._offset += len(read)
            self._head = self._head[self._used :] + read
            self._used = 0
        start = self._used
        self._used = min(start + size, len(self._head))
        return self._head[start : self._used]
