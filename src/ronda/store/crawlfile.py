"""The file behind `--db`: one SQLite file for one crawl, held by one process."""

import os
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ronda.errors import UsageError

APPLICATION = 0x526F6E64  # "Rond": whose file it is
VERSION = 1
PATIENCE = 0.5  # seconds for another process to let go of the file
CHUNK = 1000  # rows read at once
LOG = 4000  # pages of 4 kB, after which the log is emptied: seldom, and in 20 ms

T = TypeVar("T")

SCHEMA = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID",
    # The round: these only grow, so that a page costs a few writes at their ends.
    "CREATE TABLE visit (number INTEGER PRIMARY KEY, target BLOB)",
    "CREATE TABLE result (number INTEGER PRIMARY KEY, result BLOB)",
    "CREATE TABLE reading (number INTEGER PRIMARY KEY, page INTEGER)",
    "CREATE TABLE host (name TEXT PRIMARY KEY, next_at REAL, gap REAL) WITHOUT ROWID",
    # The memory over rounds.
    """CREATE TABLE page (id INTEGER PRIMARY KEY, url TEXT UNIQUE, etag TEXT,
    since TEXT, digest TEXT, media_type TEXT, size INTEGER, links BLOB)""",
    "CREATE TABLE robots (authority TEXT PRIMARY KEY, body BLOB, at REAL)",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)


class CrawlFile:
    """Rows that are queued and then written together, and rows that are read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._queue: list[tuple[str, tuple[Any, ...]]] = []
        _create(path)
        with self.in_one_line():
            self._db = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
            try:
                _prepare(self._db, path)
            except BaseException:
                self._db.close()
                raise

    @contextmanager
    def in_one_line(self) -> Iterator[None]:
        """Say what is wrong with the file as people need it."""
        try:
            yield
        except sqlite3.Error as error:
            busy = getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_BUSY
            words = "in use by another process" if busy else str(error)
            raise UsageError(f"--db {self._path}: {words}") from error
        except (msgspec.MsgspecError, zlib.error) as error:
            raise UsageError(f"--db {self._path}: damaged: {error}") from error

    def queue(self, sql: str, *row: Any) -> None:
        """Have a row written by the next commit, after those queued before it."""
        self._queue.append((sql, row))

    def commit(self) -> None:
        """Write all that was queued: all of it, or nothing."""
        if not self._queue:
            return
        with self.in_one_line():
            self._db.execute("BEGIN")
            try:
                for sql, rows in groupby(self._queue, itemgetter(0)):
                    self._db.executemany(sql, map(itemgetter(1), rows))
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # SQLite may have gone back by itself
                    self._db.execute("ROLLBACK")
                raise
        self._queue.clear()

    def rows(self, sql: str, *values: Any) -> list[Any]:
        """What was committed, as a statement asks for it."""
        with self.in_one_line():
            return self._db.execute(sql, values).fetchall()

    def walk(
        self, table: str, columns: str, read: Callable[..., T], join: str = ""
    ) -> Iterator[T]:
        """The rows of a large table in order, without those that come meanwhile.

        Args:
            table: has a `number`.
            columns: what is wanted of each row.
            read: makes a value of them.
            join: where some of them come from.
        """
        [[end]] = self.rows(f"SELECT max(number) FROM {table}")  # noqa: S608
        last = 0
        # In chunks: a statement that stays open keeps the log from being emptied.
        sql = (
            f"SELECT number, {columns} FROM {table} {join}"  # noqa: S608
            f" WHERE number > ? AND number <= ? ORDER BY number LIMIT {CHUNK}"
        )
        while rows := self.rows(sql, last, end):
            last = rows[-1][0]
            for _, *values in rows:
                with self.in_one_line():
                    value = read(*values)
                yield value

    def close(self) -> None:
        """Let go of the file; what was not committed is given up."""
        self._db.close()


def _create(path: Path) -> None:
    """Begin an empty file for the user alone, since URLs may hold passwords."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        # SQLite would speak of a "disk I/O error"; it writes a second file beside it.
        if not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
            raise UsageError(
                f"--db {path}: it cannot be written, or its folder"
            ) from None
    except OSError as error:
        raise UsageError(f"--db {path}: {error.strerror}") from error


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    # SQLite's own lock, kept from the first transaction on: it needs no second file,
    # ends with the process however that ends, and makes each commit cheaper.
    db.execute("PRAGMA locking_mode = EXCLUSIVE")
    db.execute("BEGIN EXCLUSIVE")
    if _is_new(db, path):
        for statement in SCHEMA:
            db.execute(statement)
    db.execute("COMMIT")
    db.execute("PRAGMA journal_mode = WAL")
    # A kill loses nothing; a power cut may lose the last commits, but no more.
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute(f"PRAGMA wal_autocheckpoint = {LOG}")


def _is_new(db: sqlite3.Connection, path: Path) -> bool:
    [application] = db.execute("PRAGMA application_id").fetchone()
    [version] = db.execute("PRAGMA user_version").fetchone()
    [tables] = db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    ours = bool(application == APPLICATION)
    if ours and version != VERSION:
        raise UsageError(f"--db {path}: written by another version of Ronda")
    if not ours and tables:
        raise UsageError(f"--db {path}: the database of another program")
    return not ours
