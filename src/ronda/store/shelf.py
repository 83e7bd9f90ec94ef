"""robots.txt files that outlive a run, so that hosts are asked for them once a day.

One small file an authority, below the user's cache folder. Any of them may be deleted
at any time, and one that cannot be read or written is only asked for again.
"""

import contextlib
import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import NamedTemporaryFile

OLD = 30 * 86_400.0  # seconds after which a file is of no use


def cache_folder() -> Path:
    """Where the user's programs keep what can be had again."""
    try:
        given = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    except RuntimeError:  # a user without a home, as in some containers
        given = Path(os.devnull)  # below which nothing can be kept
    return given / "ronda"


class Shelf:
    """Files by authority; the first line of each names it."""

    def __init__(self, folder: Path, wall: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._wall = wall  # epoch seconds: the age counts over runs

    def get(self, authority: str) -> tuple[bytes, float] | None:
        """The file of an authority, and how many seconds ago it was put there."""
        try:
            with self._path(authority).open("rb") as file:
                age = self._wall() - os.fstat(file.fileno()).st_mtime
                name, _, body = file.read().partition(b"\n")
        except (OSError, ValueError):
            return None
        # One from the future was put there before the clock was set.
        return (body, age) if name == authority.encode() and age >= 0 else None

    def put(self, authority: str, body: bytes) -> None:
        """Keep a file: all of it, or nothing."""
        with contextlib.suppress(OSError, ValueError):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with (
                NamedTemporaryFile(dir=self._folder, delete=False) as file,
                contextlib.ExitStack() as undo,
            ):
                undo.callback(Path(file.name).unlink)
                file.write(authority.encode() + b"\n" + body)
                file.flush()
                moment = self._wall()
                os.utime(file.name, (moment, moment))
                Path(file.name).replace(self._path(authority))
                undo.pop_all()

    def tidy(self) -> None:
        """Delete what is too old to be of use."""
        with contextlib.suppress(OSError):
            for path in self._folder.iterdir():
                with contextlib.suppress(OSError):  # others may be tidying too
                    if self._wall() - path.stat().st_mtime > OLD:
                        path.unlink()

    def _path(self, authority: str) -> Path:
        return self._folder / hashlib.sha256(authority.encode()).hexdigest()[:32]
