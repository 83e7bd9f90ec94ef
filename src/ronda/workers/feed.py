"""References as they are read: a slice at a time, or from a thread if that may wait."""

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterable
from itertools import islice
from typing import Generic, TypeVar

T = TypeVar("T")

SLICE = 2048  # items read in one turn of the loop: some 25 ms
AHEAD = 4000  # items a thread reads before they are wanted


class Feed(Generic[T]):
    """An iterable that is quick to read, in slices between which others have a turn.

    A thread would cost more: both would fight for the interpreter all the while.
    """

    def __init__(self, items: Iterable[T]) -> None:
        self._items = iter(items)
        self.over = False  # nothing follows what was given

    async def __aiter__(self) -> AsyncIterator[list[T]]:
        """All items, in lists."""
        while not self.over:
            batch = list(islice(self._items, SLICE))
            self.over = len(batch) < SLICE
            yield batch
            await asyncio.sleep(0)


class ThreadedFeed(Generic[T]):
    """An iterable that may block, such as lines of standard input, made asynchronous.

    The thread is a daemon: one that is stuck in a read must not outlive a Ctrl-C.
    """

    def __init__(self, items: Iterable[T]) -> None:
        self._items = items
        self._buffer: deque[T] = deque()
        self._loop = asyncio.get_running_loop()
        self._some = asyncio.Event()
        self._told = False  # the loop knows that there is something
        self._room = threading.Event()
        self._over = False  # the thread has read the last one
        self.over = False  # nothing follows what was given
        self._error: Exception | None = None

    async def __aiter__(self) -> AsyncIterator[list[T]]:
        """All items, in lists of as many as have been read by then."""
        threading.Thread(target=self._read, name="feed", daemon=True).start()
        while not self._over or self._buffer:
            await self._some.wait()
            self._some.clear()
            self._told = False  # before taking: what comes later is told anew
            batch = [self._buffer.popleft() for _ in range(len(self._buffer))]
            self._room.set()
            self.over = self._over and not self._buffer
            yield batch
        if self._error is not None:
            raise self._error

    def _read(self) -> None:
        try:
            for item in self._items:
                self._buffer.append(item)
                if not self._told:
                    self._tell()
                # In this order: room that is made after the look is not missed.
                self._room.clear()
                if len(self._buffer) >= AHEAD:
                    self._room.wait()
        except Exception as error:  # raised again where it is awaited
            self._error = error
        self._over = True
        self._tell()

    def _tell(self) -> None:
        self._told = True
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._some.set)
