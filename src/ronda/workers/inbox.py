"""What one role hands to another: in order, and no more than there is room for."""

import asyncio
from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class Inbox(Generic[T]):
    """A queue between workers, bounded by number and by weight.

    Whoever puts waits while it is full. That cannot lock: fetchers put for crawlers,
    crawlers for workers, and workers put for nobody.
    """

    def __init__(self, most: int, heaviest: int) -> None:
        self._most = most
        self._heaviest = heaviest
        self._items: deque[tuple[T, int]] = deque()
        self._weight = 0
        self._takers: deque[asyncio.Future[None]] = deque()
        self._putters: deque[asyncio.Future[None]] = deque()
        self._closed = False

    def __len__(self) -> int:
        return len(self._items)

    @property
    def full(self) -> bool:
        """Whether whoever puts something has to wait."""
        return len(self._items) >= self._most or self._weight >= self._heaviest

    async def put(self, item: T, weight: int = 0) -> None:
        """Add an item, once there is room."""
        while self.full and not self._closed:
            await _wait(self._putters)
        self.add(item, weight)
        if not self.full:  # one that went may have made room for several
            _wake(self._putters)

    def add(self, item: T, weight: int = 0) -> None:
        """Add an item, whether there is room or not: it must not be lost."""
        self._items.append((item, weight))
        self._weight += weight
        _wake(self._takers)

    async def get(self) -> T | None:
        """The next item; None once it is closed."""
        while not self._items:
            if self._closed:
                return None
            await _wait(self._takers)
        item, weight = self._items.popleft()
        self._weight -= weight
        if not self.full:
            _wake(self._putters)
        return item

    def close(self) -> None:
        """Let everybody go: there will be nothing more."""
        self._closed = True
        for waiters in (self._takers, self._putters):
            while waiters:
                _wake(waiters)


async def _wait(waiters: deque[asyncio.Future[None]]) -> None:
    waiter = asyncio.get_running_loop().create_future()
    waiters.append(waiter)
    try:
        await waiter
    except asyncio.CancelledError:
        # Woken and cancelled at once: the call is for somebody else.
        if waiter.done() and not waiter.cancelled():
            _wake(waiters)
        raise


def _wake(waiters: deque[asyncio.Future[None]]) -> None:
    while waiters:
        waiter = waiters.popleft()
        if not waiter.done():
            waiter.set_result(None)
            return
