"""Watches the event loop from a thread: what blocks it is named, and counted.

A page that takes too long to be read, or a plug-in that waits, holds up every answer.
"""

import asyncio
import logging
import sys
import threading
import time
import traceback
from types import FrameType, TracebackType
from typing import Self

log = logging.getLogger(__name__)

BEAT = 0.5  # seconds between two signs of life
LATE = 1.0  # seconds after which their lack is a lag
_OURS = "ronda"


class Watchdog:
    """Remembers how often the loop was held up, for how long, and last by what."""

    def __init__(self, late: float = LATE, beat: float = BEAT) -> None:
        self._late = late
        self._beat = beat
        self._loop = asyncio.get_running_loop()
        self._watched = threading.get_ident()
        self._seen_at = time.monotonic()
        self._over = threading.Event()
        self._told = False  # of the lag that goes on
        self.count = 0
        self.longest = 0.0
        self.culprit = ""  # of the longest

    async def __aenter__(self) -> Self:
        self._sign()
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._timer.cancel()
        self._measure()

    def _sign(self) -> None:
        self._measure()
        self._timer = self._loop.call_later(self._beat, self._sign)

    def _measure(self) -> None:
        now = time.monotonic()
        lag = now - self._seen_at - self._beat
        if self._told:
            self.longest = max(self.longest, lag)
        self._told = False
        self._seen_at = now

    def _watch(self) -> None:
        while not self._over.wait(self._beat):
            lag = time.monotonic() - self._seen_at - self._beat
            if lag < self._late or self._told:
                continue
            self._told = True
            self.count += 1
            frame = sys._current_frames().get(self._watched)  # noqa: SLF001
            found = _named(frame) if frame is not None else ""
            if lag > self.longest or not self.culprit:
                self.culprit = found
            log.warning("event loop held up by %s seconds=%.1f", found, lag)

    @property
    def words(self) -> str:
        """What there is to tell, or nothing."""
        if not self.count:
            return ""
        times = "once" if self.count == 1 else f"{self.count:,} times"
        return (
            f"the event loop was held up {times}, for up to {self.longest:.1f} s, "
            f"last in {self.culprit}"
        )


def _named(frame: FrameType) -> str:
    """The innermost call of ours, and what it called."""
    stack = traceback.extract_stack(frame)
    ours = [entry for entry in stack if f"/{_OURS}/" in entry.filename]
    inner = stack[-1]
    entry = ours[-1] if ours else inner
    name = f"{entry.name} ({entry.filename.rpartition('/')[2]}, line {entry.lineno})"
    return name if entry is inner else f"{name}, which called {inner.name}"
