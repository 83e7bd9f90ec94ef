"""Workers with nothing to do: woken one at a time, by others or by the clock."""

import asyncio
from collections import deque

from ronda.clock import Clock


class Idle:
    """Those who wait, first come first woken, and one timer for all of them."""

    def __init__(self, clock: Clock) -> None:
        self._now = clock.now
        self._loop = asyncio.get_running_loop()
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def __bool__(self) -> bool:
        return bool(self._waiters)

    async def wait(self) -> None:
        """Wait to be woken."""
        waiter = self._loop.create_future()
        self._waiters.append(waiter)
        await waiter

    def wake(self) -> None:
        """Wake one."""
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return

    def wake_all(self) -> None:
        """Wake everybody."""
        while self._waiters:
            self.wake()

    def wake_at(self, moment: float | None) -> None:
        """Wake one at a moment, unless one is woken sooner anyway."""
        if moment is None:
            return
        delay = max(0.0, moment - self._now())
        if self._timer is not None:
            if self._timer.when() <= self._loop.time() + delay:
                return
            self._timer.cancel()
        self._timer = self._loop.call_later(delay, self._on_time)

    def _on_time(self) -> None:
        self._timer = None
        self.wake()

    def close(self) -> None:
        """Wake nobody any more."""
        if self._timer is not None:
            self._timer.cancel()
