"""SQLite: a file found or begun, told from those of others, and how it is spoken to."""

import errno
import os
import sqlite3
import stat
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event

from ronda.errors import StoreError

APPLICATION = 0x526F5374  # "RoSt": whose file it is
CRAWL = 0x526F6E64  # what `ronda crawl --db` writes into its own
# Half of SQLite's own: results are written here and there, each with the pages it lies
# on, and that is half as much to write (5 kB a result instead of 9).
PAGE = 2048  # bytes
LOG_PAGES = 32_000  # after which the log is emptied: 64 MB
# Of each connection, of which a daemon has two: one for claims and turns, one for all
# else; now and then they change places, so both fill in time. The system caches the
# file anyway: at a million targets neither sixteen times as much nor the file mapped
# into memory made more than 5 % of a difference to the ledger (57 µs of CPU a result
# mapped, 60 not), and none to an import. But mapped, all that was ever
# looked at counts as the daemon's memory, which then grows as the file does.
CACHE_KB = 4 * 1024


def find(path: Path) -> None:
    """Begin an empty file for the user alone, since URLs may hold passwords.

    Raises:
        OSError: it cannot be, or what is there cannot be used.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        return
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "not a file")
    # SQLite would speak of a "disk I/O error"; it writes a second file beside it.
    for may, where, words in (
        (os.R_OK, path, "it cannot be read by this user"),
        (os.W_OK, path, "it cannot be written by this user"),
        (os.W_OK, path.parent, "its folder cannot be written by this user"),
    ):
        if not os.access(where, may):
            raise OSError(errno.EACCES, words)


def own(path: Path, patience: float) -> None:
    """Mark an empty file as ours; that of another program is left as it is."""
    with closing(sqlite3.connect(path, timeout=patience, isolation_level=None)) as file:
        if _is_ours(file, path):
            return
        file.execute(f"PRAGMA page_size = {PAGE}")  # of a file that has none yet
        file.execute("BEGIN EXCLUSIVE")
        if not _is_ours(file, path):  # another process may have been faster
            file.execute(f"PRAGMA application_id = {APPLICATION}")
        file.execute("COMMIT")


def _is_ours(file: sqlite3.Connection, path: Path) -> bool:
    [application] = file.execute("PRAGMA application_id").fetchone()
    [tables] = file.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if application == APPLICATION:
        return True
    if application == CRAWL:
        raise StoreError(f"--db {path}: holds a crawl: name another file")
    if application or tables:
        raise StoreError(f"--db {path}: the database of another program")
    return False


def engine(path: Path, patience: float) -> Engine:
    """The way to speak to a file that is ours."""
    made = create_engine(
        URL.create("sqlite+pysqlite", database=str(path)),
        connect_args={"timeout": patience, "check_same_thread": False},
        # The last that was used: what it has cached holds, as nobody wrote meanwhile.
        pool_use_lifo=True,
    )
    event.listen(made, "connect", _prepare)
    event.listen(made, "begin", _begin)
    return made


def _prepare(connection: sqlite3.Connection, _record: Any) -> None:
    connection.isolation_level = None  # `_begin` says when a transaction begins
    for pragma in (
        "journal_mode = WAL",
        # A kill loses nothing; a power cut may lose the last commits, but no more.
        "synchronous = NORMAL",
        f"wal_autocheckpoint = {LOG_PAGES}",
        f"cache_size = -{CACHE_KB}",
        "mmap_size = 0",  # whatever SQLite was built with: see CACHE_KB
        "foreign_keys = ON",
        "temp_store = MEMORY",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    # To write it is taken at once: a reader cannot become a writer while others write.
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
