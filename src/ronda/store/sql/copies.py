"""Backups: a copy of a store in one file, and a store out of such a file."""

import gzip
import os
import sqlite3
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import delete, update

from ronda.errors import StoreError
from ronda.store.sql import faults, sqlite
from ronda.store.sql.engines import Database
from ronda.store.sql.migrating import VERSION_TABLE, is_current, migrate, newest
from ronda.store.sql.releasing import due_at
from ronda.store.sql.schema import batch, process, server
from ronda.store.sql.transfer import Transfer, require_empty

DAMAGED = "this backup is damaged"
COMPRESSION = 3  # of 9: half the time of 6, for a tenth more
SQLITE_MAGIC, GZIP_MAGIC = b"SQLite format 3\0", b"\x1f\x8b"


def backup(database: Database, path: Path) -> None:
    """Copy a store as it is at this moment; a daemon may go on meanwhile.

    SQLite gives an SQLite file, PostgreSQL an export that is packed with gzip.

    Raises:
        StoreError: the file is there already, or cannot be written.
    """
    with _in_one_line(path), _new(path) as part:
        if database.path is None:
            with gzip.open(part, "wb", COMPRESSION) as packed:
                Transfer(database).export(packed)
        else:
            with _sound(database), closing(_opened(database.path)) as file:
                file.execute("VACUUM INTO ?", (str(part),))


def restore(database: Database, path: Path) -> None:
    """Fill an empty store from a backup or an export.

    Raises:
        StoreError: the store is not empty, or the file is not to be used.
    """
    with _in_one_line(path):
        with path.open("rb") as file:
            magic = file.read(len(SQLITE_MAGIC))
        if magic == SQLITE_MAGIC:
            _restore_file(database, path)
            return
        opened = gzip.open if magic.startswith(GZIP_MAGIC) else open
        with opened(path, "rb") as lines:
            Transfer(database).load(lines, str(path))


def discard(path: Path) -> None:
    """Remove a store that was just made, unless somebody has put something into it."""
    if not path.exists():
        return
    try:
        with closing(Database(str(path))) as database:
            if is_current(database):
                with database.reading() as connection:
                    require_empty(connection, database.shown)
    except StoreError:
        return
    for suffix in ("", "-wal", "-shm"):
        path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)


def _opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


def _restore_file(database: Database, path: Path) -> None:
    if database.path is None:
        words = "a copy of an SQLite store: export that one, and import it here"
        raise StoreError(f"{path}: {words}")
    with database.reading() as connection:
        require_empty(connection, database.shown)
    read_only = f"{path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(read_only, uri=True)) as source:
        _require_sound(source, path)
        with database.in_one_line(), closing(sqlite3.connect(database.path)) as into:
            source.backup(into)
    migrate(database)
    with database.writing() as connection:
        # The processes were of another store.
        held = update(server).where(server.c.holder.is_not(None))
        free = held.values(holder=None, inherited=True, due_at=due_at())
        connection.execute(free)
        connection.execute(update(batch).values(holder=None))
        connection.execute(delete(process))


def _require_sound(source: sqlite3.Connection, path: Path) -> None:
    [application] = source.execute("PRAGMA application_id").fetchone()
    if application != sqlite.APPLICATION:
        raise StoreError(f"{path}: not a backup of Ronda's")
    [version] = source.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone()  # noqa: S608
    if version > newest():
        raise StoreError(f"{path}: written by a newer Ronda: use that one")
    [found] = source.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise StoreError(f"{path}: {DAMAGED}: {' '.join(found.split())}")


@contextmanager
def _new(path: Path) -> Iterator[Path]:
    """A file for the user alone that has its name only once it is whole."""
    if path.exists():
        raise StoreError(f"{path}: is there already")
    handle, name = tempfile.mkstemp(".part", f"{path.name}.", path.parent)
    part = Path(name)
    try:
        yield part
        os.fsync(handle)
        part.rename(path)
    finally:
        os.close(handle)
        part.unlink(missing_ok=True)


@contextmanager
def _sound(database: Database) -> Iterator[None]:
    """Say of damage that it is the store's, and not its copy's."""
    try:
        yield
    except sqlite3.Error as error:
        if faults.is_damage(error):
            raise faults.ours(error, f"--db {database.shown}") from error
        raise


@contextmanager
def _in_one_line(path: Path) -> Iterator[None]:
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise StoreError(f"{path}: damaged: {error}") from error
    except sqlite3.Error as error:
        if faults.is_damage(error):
            raise StoreError(f"{path}: {DAMAGED}: take another one") from error
        raise faults.ours(error, str(path)) from error
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}") from error
