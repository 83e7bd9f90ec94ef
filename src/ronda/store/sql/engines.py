"""A database of either engine: opened, spoken to, its errors in our words."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from ronda.errors import StoreError
from ronda.store.sql import faults, sqlite

PATIENCE = 10.0  # seconds for another process to let go of an SQLite file

# A PostgreSQL that fell silent is given up after a minute, not after hours. What the
# URL says goes before it.
CONNECTING = {
    "application_name": "ronda",
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",  # milliseconds
}


def default_path() -> Path:
    """Where the store is that nobody named."""
    given = os.environ.get("XDG_STATE_HOME", "")
    folder = Path(given) if given else Path("~/.local/state").expanduser()
    return folder / "ronda" / "ronda.db"


def no_folder(where: str) -> str:
    """That a file has no folder to be in, if that is so; else empty."""
    folder = Path(where).parent
    try:
        return "" if folder.is_dir() else f"there is no folder {folder}"
    except OSError:  # closed to us: it is there
        return ""


class Database:
    """One database, whichever engine it is of."""

    def __init__(self, where: str = "", *, patience: float = PATIENCE) -> None:
        """Open it; PostgreSQL is asked when it is first needed.

        Args:
            where: a path, or postgresql://…; empty: the file of this user.
            patience: seconds for another process to let go of an SQLite file.
        """
        self.where = where or str(default_path())
        self.shown = faults.without_secrets(self.where)
        self.is_postgres = self.where.startswith(("postgresql:", "postgres:"))
        self.path = None if self.is_postgres else Path(self.where).absolute()
        self._errors: tuple[type[Exception], ...] = (SQLAlchemyError, sqlite3.Error)
        # PostgreSQL's clock less our monotonic one; None: it was not asked yet.
        self._offset: float | None = None
        if self.path is None:
            self.engine = self._server()
        else:
            self.engine = self._file(self.path, patience)
        self._writer = self.engine.execution_options(writes=True)
        self._reader = self.engine
        if self.is_postgres:
            self._reader = self.engine.execution_options(
                isolation_level="REPEATABLE READ"
            )

    def _file(self, path: Path, patience: float) -> Engine:
        if "://" in self.where:
            raise StoreError(f"--db {self.shown}: neither a file nor postgresql://…")
        try:
            if path == default_path().absolute():
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            sqlite.find(path)
        except OSError as error:
            words = no_folder(self.where) or error.strerror
            raise StoreError(f"--db {self.shown}: {words}") from error
        with self.in_one_line():
            sqlite.own(path, patience)
        return sqlite.engine(path, patience)

    def _server(self) -> Engine:
        import psycopg  # noqa: PLC0415  # most stores are a file

        self._errors = (SQLAlchemyError, psycopg.Error)
        try:
            url = make_url(self.where).set(drivername="postgresql+psycopg")
        except (ArgumentError, ValueError):
            words = "not of the form postgresql://user:password@host:port/name"
            raise StoreError(f"--db {self.shown}: {words}") from None
        options = {key: CONNECTING[key] for key in CONNECTING.keys() - url.query.keys()}
        return create_engine(url, pool_pre_ping=True, connect_args=options)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that writes: committed at its end, or undone by any error."""
        with self.in_one_line(), self._writer.begin() as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that only reads, and sees one and the same store throughout."""
        with self.in_one_line(), self._reader.connect() as connection:
            yield connection

    @contextmanager
    def in_one_line(self) -> Iterator[None]:
        """Say what is wrong with the store as people need it."""
        try:
            yield
        except self._errors as error:
            raise faults.ours(error, f"--db {self.shown}") from error

    def epoch(self) -> float:
        """The moment by the clock that all who share the store go by.

        That of PostgreSQL goes on steadily, however this machine's may jump.
        """
        if self._offset is None:
            return time.time()
        return time.monotonic() + self._offset

    def set_clock(self) -> None:
        """Learn what PostgreSQL's clock says."""
        if self.is_postgres:
            with self.reading() as connection:
                sql = "SELECT extract(epoch FROM clock_timestamp())::float8"
                before = time.monotonic()
                found: float = connection.exec_driver_sql(sql).scalar_one()
                self._offset = found - (before + time.monotonic()) / 2

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()
