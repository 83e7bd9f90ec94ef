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


class SystemClock:
    """The machine's own clocks."""

    now = staticmethod(time.monotonic)

    def utc(self) -> datetime:
        """The aware moment: for what is stored."""
        return datetime.now(UTC)
