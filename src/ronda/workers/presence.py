"""Whether the file of a store is still the one that was opened."""

from pathlib import Path

from ronda.errors import StoreError


class Presence:
    """Remembers which file it was.

    SQLite goes on writing to a file that was removed, and all of it would be lost.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path  # None: no file
        self._file = self._now()

    def require(self) -> None:
        """Look whether it is there.

        Raises:
            StoreError: it is gone, or another is in its place.
        """
        if self._now() != self._file:
            raise StoreError(f"--db {self._path}: replaced while it was served")

    def _now(self) -> tuple[int, int] | None:
        if self._path is None:
            return None
        try:
            found = self._path.stat()
        except OSError as error:
            words = f"gone while it was served ({error.strerror})"
            raise StoreError(f"--db {self._path}: {words}") from error
        return found.st_dev, found.st_ino
