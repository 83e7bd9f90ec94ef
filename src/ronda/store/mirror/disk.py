"""Files below one folder: written whole or not at all, and never through a link."""

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

OWN = ".ronda-mirror"  # the folder of what is not of the site
_PART = "part"  # one is enough: one file is written at a time
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


class Disk:
    """Reads and writes by a path of names with slashes; any fault is an OSError."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        with contextlib.ExitStack() as undo:
            self._root = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            undo.callback(os.close, self._root)
            self._own = self._enter(self._root, OWN, make=True)
            undo.pop_all()

    def write(self, path: str, body: bytes) -> None:
        """Put a file in its place: the old one is there until the new one is."""
        with self._told(path), self._parent(path, make=True) as (parent, name):
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
            part = os.open(_PART, flags, 0o666, dir_fd=self._own)
            with os.fdopen(part, "wb") as file:
                file.write(body)
            os.replace(_PART, name, src_dir_fd=self._own, dst_dir_fd=parent)

    def read(self, path: str) -> bytes:
        """The bytes of a file."""
        with self._told(path), self._parent(path) as (parent, name):
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
            with os.fdopen(os.open(name, flags, dir_fd=parent), "rb") as file:
                return file.read()

    def has(self, path: str) -> bool:
        """Whether there is a file."""
        try:
            with self._parent(path) as (parent, name):
                os.stat(name, dir_fd=parent, follow_symlinks=False)
        except OSError:
            return False
        return True

    def remove(self, path: str) -> None:
        """Take a file away, if it is there."""
        with (
            contextlib.suppress(FileNotFoundError),
            self._told(path),
            self._parent(path) as (parent, name),
        ):
            os.unlink(name, dir_fd=parent)

    def close(self) -> None:
        """Let go of the folder."""
        os.close(self._own)
        os.close(self._root)

    @contextlib.contextmanager
    def _parent(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """The folder that a file stands in, reached step by step, and its name."""
        *folders, name = path.split("/")
        at = os.dup(self._root)
        try:
            for folder in folders:
                inner = self._enter(at, folder, make=make)
                os.close(at)
                at = inner
            yield at, name
        finally:
            os.close(at)

    @staticmethod
    def _enter(parent: int, name: str, *, make: bool) -> int:
        try:
            return os.open(name, _FOLDER, dir_fd=parent)
        except FileNotFoundError:
            if not make:
                raise
        os.mkdir(name, dir_fd=parent)
        return os.open(name, _FOLDER, dir_fd=parent)

    @contextlib.contextmanager
    def _told(self, path: str) -> Iterator[None]:
        """Name the whole path in an error, not only its last step."""
        try:
            yield
        except OSError as error:
            code = error.errno or errno.EIO
            full = str(self._folder / path)
            raise OSError(code, error.strerror or str(error), full) from error
