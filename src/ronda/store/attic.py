"""Files of one run that are seldom looked at: on disk, so that memory stays small."""

from tempfile import TemporaryFile
from typing import IO


class Attic:
    """Bytes by name; what is put there again takes the place of what was."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None  # most runs need none
        self._places: dict[str, tuple[int, int]] = {}
        self._end = 0

    def __setitem__(self, name: str, data: bytes) -> None:
        if self._file is None:
            self._file = TemporaryFile()  # noqa: SIM115  # ends with the run
        self._file.seek(self._end)
        self._file.write(data)
        self._places[name] = self._end, len(data)
        self._end += len(data)

    def __getitem__(self, name: str) -> bytes:
        offset, size = self._places[name]
        assert self._file is not None  # noqa: S101  # something was put into it
        self._file.seek(offset)
        return self._file.read(size)

    def close(self) -> None:
        """Give up all of it."""
        if self._file is not None:
            self._file.close()
