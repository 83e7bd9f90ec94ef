"""Where logs are read from: files, packed or not, pipes, standard input."""

import gzip
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from ronda.errors import UsageError
from ronda.urls import shown

LONGEST = 1024 * 1024  # bytes of a line that are read; the rest of it is left out
STDIN = "-"
_GZIP = b"\x1f\x8b"


class Source:
    """A log that can be read more than once: a pipe is copied to a file first."""

    def __init__(self, name: str, files: ExitStack) -> None:
        self._name = name
        self._files = files  # that stay open while there may be a next time
        self._copy: IO[bytes] | None = None

    def lines(self) -> Iterator[bytes]:
        """Its lines, from the first.

        Raises:
            UsageError: it cannot be read, or not to its end.
        """
        try:
            with ExitStack() as stack:
                yield from _lines(_unpacked(self._open(stack), stack))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise self._error(f"damaged gzip data: {error}") from None
        except OSError as error:
            raise self._error(error.strerror or str(error)) from None

    def _error(self, words: str) -> UsageError:
        return UsageError(f"{shown(self._name)}: {words}")

    def _open(self, stack: ExitStack) -> IO[bytes]:
        path = Path(self._name)
        if self._name != STDIN and (path.is_file() or path.is_dir()):
            return stack.enter_context(path.open("rb"))  # of a folder: an OSError
        if self._copy is None:
            pipe = (
                os.fdopen(os.dup(0), "rb") if self._name == STDIN else path.open("rb")
            )
            copy = tempfile.TemporaryFile()  # noqa: SIM115  # the stack closes it
            self._copy = self._files.enter_context(copy)
            with pipe:
                shutil.copyfileobj(pipe, copy)
        self._copy.seek(0)
        return self._copy


def _unpacked(stream: IO[bytes], stack: ExitStack) -> IO[bytes] | gzip.GzipFile:
    packed = stream.read(len(_GZIP)) == _GZIP
    stream.seek(0)
    return stack.enter_context(gzip.open(stream)) if packed else stream


def _lines(stream: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
    while line := stream.readline(LONGEST):
        yield line
        while len(line) == LONGEST and not line.endswith(b"\n"):
            line = stream.readline(LONGEST)
