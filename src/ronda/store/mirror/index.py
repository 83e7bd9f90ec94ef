"""What is in a mirror: which URL is in which file, kept beside the files in SQLite.

On disk, because a site may have more pages than memory has room for, and because the
next run, or the same one after a kill -9, goes on with it.
"""

import contextlib
import errno
import os
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import astuple

from ronda.store.mirror.names import folded, tailed

_BATCH = 1000  # rows in memory at once
_SCHEMA = """
CREATE TABLE IF NOT EXISTS files (
    url TEXT PRIMARY KEY, path TEXT NOT NULL,
    media_type TEXT NOT NULL, charset TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS redirects (
    url TEXT PRIMARY KEY, target TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS names (
    folded TEXT PRIMARY KEY, is_folder INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS originals (digest BLOB PRIMARY KEY) WITHOUT ROWID;
"""
_CODES = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_BUSY: errno.EBUSY,
}
_WORDS = {errno.EBUSY: "another run is saving there"}


class Saved(Struct, frozen=True):
    """A file of the mirror."""

    url: str  # whose body it is, without its fragment
    path: str  # below the folder, with slashes
    media_type: str
    charset: str


class Index:
    """Files by URL, and names that are taken; any fault is an OSError."""

    def __init__(self, path: Path) -> None:
        self._path = path
        if path.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        with self._told():
            self._db = sqlite3.connect(
                path, timeout=0, isolation_level=None, check_same_thread=False
            )
            with contextlib.ExitStack() as undo:
                undo.callback(self._db.close)
                self._db.execute("PRAGMA locking_mode = EXCLUSIVE")  # one run at a time
                self._db.execute("PRAGMA journal_mode = WAL")
                self._db.execute("PRAGMA synchronous = NORMAL")
                self._db.executescript(f"BEGIN EXCLUSIVE;{_SCHEMA}COMMIT;")
                undo.pop_all()

    @property
    def is_settled(self) -> bool:
        """Whether all links were rewritten since something was saved last."""
        return bool(self._value("PRAGMA user_version"))

    def settle(self) -> None:
        """Note that all links are rewritten."""
        self._rows("PRAGMA user_version = 1")

    def path_of(self, url: str) -> str | None:
        """The file that a URL leads to, by redirects too."""
        target = self._value("SELECT target FROM redirects WHERE url = ?", url)
        path = self._value("SELECT path FROM files WHERE url = ?", target or url)
        return None if path is None else str(path)

    def of(self, url: str) -> Saved | None:
        """The file of a URL's own body."""
        rows = self._rows("SELECT * FROM files WHERE url = ?", url)
        return Saved(*rows[0]) if rows else None

    def place(self, names: Iterable[str], url: str) -> str:
        """The path for a new file: its own, whoever else wants the same."""
        *folders, name = names
        parent = ""
        for folder in folders:
            # By the name, not the URL: all that is in the folder stays together.
            parent = self._free(parent, folder, folded(parent + folder), True)
        return self._free(parent, name, url, False).removesuffix("/")

    def _free(self, parent: str, name: str, seed: str, is_folder: bool) -> str:
        wanted, number = name, 0
        while True:
            path = f"{parent}{wanted}"
            query = "SELECT is_folder FROM names WHERE folded = ?"
            taken = self._value(query, folded(path))
            if taken is None or (is_folder and taken):
                return f"{path}/"
            wanted = tailed(name, f"{seed} {number}" if number else seed)
            number += 1

    def record(self, saved: Saved, digest: bytes, sources: Iterable[str]) -> None:
        """Note a file, what it holds, and which URLs redirect to it."""
        steps = saved.path.split("/")
        folders = ["/".join(steps[:n]) for n in range(1, len(steps))]
        taken = [(folded(path), 1) for path in folders] + [(folded(saved.path), 0)]
        moved = [(url, saved.url) for url in sources if url != saved.url]
        with self._transaction() as db:
            db.execute("PRAGMA user_version = 0")
            db.executemany("INSERT OR IGNORE INTO names VALUES (?, ?)", taken)
            db.execute("REPLACE INTO files VALUES (?, ?, ?, ?)", astuple(saved))
            db.execute("DELETE FROM redirects WHERE url = ?", (saved.url,))
            db.executemany("REPLACE INTO redirects VALUES (?, ?)", moved)
            db.execute("INSERT OR IGNORE INTO originals VALUES (?)", (digest,))

    def forget(self, saved: Saved) -> None:
        """Note that a file is no more."""
        with self._transaction() as db:
            db.execute("DELETE FROM files WHERE url = ?", (saved.url,))
            db.execute("DELETE FROM names WHERE folded = ?", (folded(saved.path),))

    def is_original(self, digest: bytes) -> bool:
        """Whether a file is as it came."""
        query = "SELECT 1 FROM originals WHERE digest = ?"
        return self._value(query, digest) is not None

    def files(self) -> Iterator[Saved]:
        """All files, which may be forgotten meanwhile."""
        query = "SELECT * FROM files WHERE url > ? ORDER BY url LIMIT ?"
        last = ""
        while rows := self._rows(query, last, _BATCH):
            yield from (Saved(*row) for row in rows)
            last = rows[-1][0]

    def __len__(self) -> int:
        return int(str(self._value("SELECT count(*) FROM files")))

    def close(self) -> None:
        """Let go of the file."""
        with self._told():
            self._db.close()

    def _rows(self, query: str, *values: object) -> list[tuple[str, ...]]:
        with self._told():
            return self._db.execute(query, values).fetchall()

    def _value(self, query: str, *values: object) -> object:
        rows = self._rows(query, *values)
        return rows[0][0] if rows else None

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._told(), self._db as db:
            db.execute("BEGIN")
            yield db

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            code = _CODES.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, errno.EIO)
            raise OSError(
                code, _WORDS.get(code, str(error)), str(self._path)
            ) from error
