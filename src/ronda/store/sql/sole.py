"""One daemon on one SQLite file, unless they were asked to share it."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ronda.errors import StoreError
from ronda.store.sql.engines import Database


@contextmanager
def sole(database: Database, *, share: bool) -> Iterator[None]:
    """Hold a store for as long as a daemon serves it.

    The lock ends with the process, however that ends. PostgreSQL needs none: whoever
    has its address means to share it.

    Raises:
        StoreError: another daemon has it, and one of the two does not share.
    """
    if database.path is None:
        yield
        return
    path = Path(f"{database.path}.lock")
    try:
        held = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}") from error
    try:
        how = fcntl.LOCK_SH if share else fcntl.LOCK_EX
        try:
            fcntl.flock(held, how | fcntl.LOCK_NB)
        except OSError:
            raise StoreError(_refusal(database, held, share=share)) from None
        os.truncate(held, 0)
        os.pwrite(held, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(held)


def _refusal(database: Database, held: int, *, share: bool) -> str:
    number = os.pread(held, 20, 0).decode("ascii", "replace").strip()
    who = f"process {number}" if number.isdecimal() else "another process"
    words = f"--db {database.shown}: {who} serves it already"
    if share:
        return f"{words}, and does not share: start that one with --share too"
    return f"{words}; stop that one, or start both with --share"
