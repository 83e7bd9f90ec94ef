"""`ronda db export` and `import`: all of a store as lines of JSON."""

import gzip
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import IO

import click

from ronda.cli.report.words import counted
from ronda.cli.watch.counting import Counting
from ronda.cli.watch.session import Session, shows_progress, with_store
from ronda.errors import UsageError

File = IO[bytes] | gzip.GzipFile

_STANDARD = "-"
_PACKED = b"\x1f\x8b"
_LEVEL = 6  # of gzip's 9


@click.command(short_help="Write the whole store as lines of JSON.")
@click.argument("file", default=_STANDARD)
@shows_progress
@with_store
def export(session: Session, file: str) -> int:
    """Write all of the store, as it is at this moment, as lines of JSON.

    Without a FILE, or to -, it goes to standard output; a name that ends in .gz is
    packed. It holds the passwords that stand in URLs. `ronda db import` reads it, into
    a store of either engine.

    \b
    Examples:
      ronda db export everything.jsonl.gz
      ronda db export | ronda db import - --db postgresql://db.example.org/ronda

    Ends with 0, with 2 when the file is there already or cannot be written.
    """  # noqa: D301  # click reads \b
    with (
        session.opened() as store,
        Counting(session.settings.report, "lines written") as counting,
        _written(file) as out,
    ):
        lines = store.transfer.export(_Counted(out, counting))
    if file != _STANDARD:
        session.tell(
            [f"{file}: {counted(lines, 'line')}"], {"file": file, "lines": lines}
        )
    return 0


@click.command("import", short_help="Read an export into an empty store.")
@click.argument("file")
@shows_progress
@with_store
def import_(session: Session, file: str) -> int:
    """Read into an empty store what `ronda db export` wrote, all of it or nothing.

    - is standard input; what is packed by gzip is unpacked.

    \b
    Examples:
      ronda db import everything.jsonl.gz --db new.db
      ronda db export --db old.db | ronda db import - --db new.db

    Ends with 0, with 2 when the store is not empty or the file cannot be used.
    """  # noqa: D301  # click reads \b
    with (
        _read(file) as source,
        session.opened(make=True) as store,
        Counting(session.settings.report, "lines read") as counting,
    ):
        rows = store.transfer.load(_Counted(source, counting), file)
        where = store.database.shown
    session.tell([f"{where}: {counted(rows, 'row')}"], {"db": where, "rows": rows})
    return 0


class _Counted:
    """A file whose lines are counted as they pass."""

    def __init__(self, file: File, counting: Counting) -> None:
        self._file = file
        self._counting = counting

    def write(self, data: bytes, /) -> int:
        self._counting.add(data.count(b"\n"))
        return self._file.write(data)

    def readline(self, size: int, /) -> bytes:
        self._counting.add(1)
        return self._file.readline(size)


@contextmanager
def _written(name: str) -> Iterator[File]:
    """A new file for the user alone, which is there only if all was written."""
    if name == _STANDARD:
        yield sys.stdout.buffer
        return
    try:
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UsageError(f"{name}: is there already") from None
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            if not name.endswith(".gz"):
                yield file
                return
            with gzip.GzipFile("", "wb", _LEVEL, file) as packed:
                yield packed
    except BaseException:
        Path(name).unlink()
        raise


@contextmanager
def _read(name: str) -> Iterator[File]:
    """A file, or standard input, unpacked."""
    try:
        with _opened(name) as file:
            if not file.peek(2).startswith(_PACKED):
                yield file
                return
            with gzip.GzipFile(fileobj=file) as unpacked:
                yield unpacked
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UsageError(f"{name}: damaged: {error}") from None


def _opened(name: str) -> BufferedReader:
    try:
        # Not sys.stdin, which would be closed.
        return (
            os.fdopen(os.dup(0), "rb") if name == _STANDARD else Path(name).open("rb")
        )
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror}") from None
