"""How far a long work is, on standard error: a live line, or plain ones."""

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Self, TextIO, TypeVar

from ronda.cli.progress import LIVE, PLAIN
from ronda.config import Report

T = TypeVar("T")
_CLEAR = "\r\x1b[2K"
_LOOK = 256  # items between two looks at the clock


class Counting:
    """Counts what passes, and tells it now and then; quick works are not told of."""

    def __init__(
        self,
        settings: Report,
        words: str,
        *,
        out: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin at nothing.

        Args:
            settings: whether anything is to be told.
            words: what is counted.
            out: where it is told; not given: standard error.
            clock: in seconds.
        """
        self._words = words
        self._out = out or sys.stderr
        self._clock = clock
        self._live = self._out.isatty() and os.environ.get("TERM") != "dumb"
        self._wanted = settings.progress and not settings.quiet
        self._began = clock()
        self._next_at = self._began + (LIVE if self._live else PLAIN)
        self._drawn = False
        self.count = 0
        self._look_at = _LOOK

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._drawn:
            self._out.write(_CLEAR)
            self._out.flush()

    def over(self, items: Iterable[T]) -> Iterator[T]:
        """The same items, counted."""
        for item in items:
            self.count += 1
            if not self.count % _LOOK:  # the clock costs more than counting
                self._tell()
            yield item

    def add(self, number: int) -> None:
        """So many more have passed."""
        self.count += number
        if self.count >= self._look_at:
            self._look_at = self.count + _LOOK
            self._tell()

    def _tell(self) -> None:
        now = self._clock()
        if not self._wanted or now < self._next_at:
            return
        self._next_at = now + (LIVE if self._live else PLAIN)
        rate = self.count / (now - self._began)
        line = f"{self.count:,} {self._words}, {rate:,.0f}/s"
        self._out.write(f"{_CLEAR}{line}" if self._live else f"{line}\n")
        self._out.flush()
        self._drawn = self._live
