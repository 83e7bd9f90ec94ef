"""The request log of a run: what was asked, whom and when, for `ronda audit`."""

from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
from msgspec import Struct

from ronda import urls
from ronda.config import Politeness
from ronda.errors import UsageError
from ronda.model import REQUEST_LOG, REQUEST_LOG_VERSION


class Head(Struct, frozen=True):
    """The first line: what the run had to keep to."""

    log: str
    version: int
    agent: str
    started_at: str  # ISO 8601, UTC
    politeness: tuple[Politeness, ...]


class Entry(Struct, frozen=True, kw_only=True):
    """One request; written when it has ended."""

    at: float  # epoch seconds of its start
    seconds: float | None  # to its answer; None: it was cut off
    host: str
    server: str
    method: str
    url: str
    kind: str  # page, hop, get, retry, robots
    status: int
    error: int
    gap: float  # seconds that had to pass since the host's last start
    rule: str  # by which


class RequestLog:
    """A file of JSON lines, written as the run goes on."""

    def __init__(self, path: Path) -> None:
        try:
            # Unbuffered: whoever kills the run does not kill the proof.
            self._file = path.open("wb", buffering=0)
        except OSError as error:
            raise UsageError(f"--request-log {path}: {error.strerror}") from None
        self._encode = msgspec.json.Encoder().encode

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def begin(
        self, agent: str, started_at: str, politeness: Iterable[Politeness]
    ) -> None:
        """Write the first line."""
        rows = tuple(politeness)
        head = Head(REQUEST_LOG, REQUEST_LOG_VERSION, agent, started_at, rows)
        self._write(head)

    def add(self, *, url: str, **entry: Any) -> None:
        """Write a request; nothing of a user or a password."""
        self._write(Entry(url=urls.without_credentials(url), **entry))

    def _write(self, value: Struct) -> None:
        self._file.write(self._encode(value) + b"\n")
