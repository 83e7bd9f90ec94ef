"""What is wrong with a store, in one line, and whether it may heal by itself."""

import re
import sqlite3

from sqlalchemy.exc import DBAPIError

from ronda.errors import StoreBusyError, StoreError

# PostgreSQL's classes of what passes: connections, resources, locks, shutdown, and
# transactions that stood in each other's way.
_PASSING = ("08", "53", "55", "57", "40")
# Refused before there was a connection, the server's code does not reach us.
_REFUSED = (
    "password authentication failed",
    "no password supplied",
    "no pg_hba.conf entry",
    "does not exist",
    "invalid connection option",
)
_SQLITE = {
    sqlite3.SQLITE_BUSY: "locked by another program",
    sqlite3.SQLITE_LOCKED: "locked by another program",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the disk cannot be read or written",
    sqlite3.SQLITE_IOERR_SHMSIZE: "the disk is full",
    sqlite3.SQLITE_READONLY: "it cannot be written",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened, or a file beside it",
    sqlite3.SQLITE_CORRUPT: (
        "damaged: move it away, and `ronda db restore BACKUP` makes it anew"
    ),
    sqlite3.SQLITE_NOTADB: "not a database",
}
_SQLITE_PASSING = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
)
_POSTGRES = {"53100": "the disk of PostgreSQL is full"}
_SECRETS = (
    # To the last @: a password may hold one, if it should not.
    (re.compile(r"((?:://|postgres\w*:)[^:/@]*:).*@"), r"\1***@"),
    (re.compile(r"(password=)[^&\s]*"), r"\1***"),
)
_PREFIX = re.compile(
    r"^connection (failed|is bad): (connection to server .*? failed: )?"
)


def ours(error: Exception, where: str) -> StoreError:
    """An error of SQLAlchemy or a driver as one of ours."""
    origin = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(origin, sqlite3.Error):
        code = getattr(origin, "sqlite_errorcode", 0)
        family = code & 0xFF
        words = _SQLITE.get(code) or _SQLITE.get(family)
        passes = family in _SQLITE_PASSING
    else:
        state = getattr(origin, "sqlstate", None) or ""
        words, passes = _POSTGRES.get(state), _passes(origin, state)
    kind = StoreBusyError if passes else StoreError
    return kind(f"{where}: {words or _first_line(origin or error)}")


def is_damage(error: sqlite3.Error) -> bool:
    """Whether a file does not hold what SQLite has once written into it."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF == sqlite3.SQLITE_CORRUPT


def without_secrets(text: str) -> str:
    """A text in which no password is to be read."""
    for pattern, instead in _SECRETS:
        text = pattern.sub(instead, text)
    return text


def _passes(origin: BaseException | None, state: str) -> bool:
    from psycopg import OperationalError  # noqa: PLC0415  # most stores are a file

    if state:
        return state[:2] in _PASSING
    # Not reached, or lost; all else comes with a code.
    refused = any(words in str(origin) for words in _REFUSED)
    return isinstance(origin, OperationalError) and not refused


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    words = _PREFIX.sub("", lines[0]).removeprefix("FATAL:  ") if lines else ""
    return without_secrets(words) or type(error).__name__
