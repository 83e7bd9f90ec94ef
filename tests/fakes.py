"""Hand-written stand-ins for what the engine takes as an argument."""

from datetime import UTC, datetime, timedelta

START = datetime(2026, 1, 1, tzinfo=UTC)


class FakeClock:
    """A clock that moves only when it is told to."""

    def __init__(self, now: float = 1000.0, utc: datetime = START) -> None:
        self._now = now
        self._utc = utc

    def now(self) -> float:
        """Monotonic seconds: for deadlines and gaps."""
        return self._now

    def utc(self) -> datetime:
        """The aware moment: for what is stored."""
        return self._utc

    def epoch(self) -> float:
        """The same in seconds: for dates that servers write."""
        return self._utc.timestamp()

    def advance(self, seconds: float) -> None:
        """Let time pass, on both clocks alike."""
        if seconds < 0:
            raise ValueError("time does not go back")
        self._now += seconds
        self._utc += timedelta(seconds=seconds)
