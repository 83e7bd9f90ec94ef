"""Time as an argument: the one place that reads the machine's clocks."""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What the engine needs of time."""

    def now(self) -> float:
        """Monotonic seconds: for deadlines and gaps."""

    def utc(self) -> datetime:
        """The aware moment: for what is stored."""

    def epoch(self) -> float:
        """The same in seconds: for dates that servers write."""


class SystemClock:
    """The machine's own clocks."""

    now = staticmethod(time.monotonic)
    epoch = staticmethod(time.time)

    def utc(self) -> datetime:
        """The aware moment: for what is stored."""
        return datetime.now(UTC)
