"""An event loop whose time is made up: it leaps to the next timer and never waits."""

import asyncio
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from math import inf
from selectors import SelectorKey, SelectSelector
from typing import Any, TypeVar

T = TypeVar("T")

FIRST = 1000.0  # monotonic seconds at which every simulation begins
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)  # and the date
_EPOCH = EPOCH.timestamp()
RESOLUTION = 1e-9  # seconds: timers that are this close are due together


class StuckError(RuntimeError):
    """What is simulated would never end."""


class VirtualClock:
    """Time that stands still until the loop moves it; its date may be set wrong."""

    def __init__(self) -> None:
        self.moment = FIRST
        self.offset = 0.0  # seconds by which the date is ahead of what it should be

    def now(self) -> float:
        """Monotonic seconds."""
        return self.moment

    def utc(self) -> datetime:
        """The date, as the machine believes it to be."""
        return EPOCH + timedelta(seconds=self.moment - FIRST + self.offset)

    def epoch(self) -> float:
        """The same in seconds."""
        return _EPOCH + self.moment - FIRST + self.offset

    def jump(self, seconds: float) -> None:
        """Set the date: what is monotonic does not feel it."""
        self.offset += seconds

    @property
    def seconds(self) -> float:
        """How long the simulation has taken, in its own time."""
        return self.moment - FIRST


class Leaps(SelectSelector):
    """Moves the clock where others would sleep; there are no sockets to wait for."""

    def __init__(self, clock: VirtualClock, seconds: float, steps: float) -> None:
        super().__init__()
        self._clock = clock
        self._seconds = seconds
        self._steps = steps

    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        """Nothing, at once; it was time that passed."""
        if timeout is None:
            raise StuckError("nothing is due any more, and not all is over")
        self._steps -= 1
        if timeout > 0:
            self._clock.moment += timeout
        if self._clock.seconds > self._seconds:
            self._raise(f"not over after {self._seconds:,.0f} s of simulated time")
        if self._steps < 0:
            self._raise("so many steps that it must go round in circles")
        return []

    def _raise(self, words: str) -> None:
        self._seconds = self._steps = inf  # so that the tasks can be cancelled
        raise StuckError(words)


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop under a virtual clock, which stops what would never end."""

    def __init__(
        self, clock: VirtualClock, seconds: float = inf, steps: float = inf
    ) -> None:
        super().__init__(Leaps(clock, seconds, steps))
        self._clock_resolution = RESOLUTION  # the base class took the machine's
        self.time = clock.now  # type: ignore[method-assign]  # asked a lot


def carry_out(
    coroutine: Coroutine[Any, Any, T],
    clock: VirtualClock,
    *,
    seconds: float = inf,
    steps: float = inf,
) -> T:
    """Run a coroutine to its end in simulated time.

    Args:
        coroutine: what is simulated; it may sleep, but not wait for a thread.
        clock: the clock it is told to live by.
        seconds: of simulated time that it may take.
        steps: turns of the loop that it may take.

    Raises:
        StuckError: it would never end, or not within that time.
    """
    with asyncio.Runner(
        loop_factory=lambda: VirtualLoop(clock, seconds, steps)
    ) as runner:
        return runner.run(coroutine)
