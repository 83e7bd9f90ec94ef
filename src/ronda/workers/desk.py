"""The store's own thread: what blocks is done there, one thing after the other."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from ronda.errors import StoreBusyError

P = ParamSpec("P")
T = TypeVar("T")

FIRST_GAP, LONGEST_GAP = 0.25, 5.0  # seconds between two tries


class Desk:
    """Calls are carried out in the order in which they were made.

    What must not be lost is tried until it succeeds, and holds up all that was called
    for later: a claim must never be made before a release that goes before it.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell  # one line for people
        self._thread = ThreadPoolExecutor(1, "store")
        self._closing = threading.Event()
        self.busy_since: str = ""  # why the store cannot be used, while it cannot

    async def call(
        self, function: Callable[P, T], *args: P.args, **named: P.kwargs
    ) -> T:
        """Do it once."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._thread, lambda: function(*args, **named)
        )

    async def insist(
        self, function: Callable[P, T], *args: P.args, **named: P.kwargs
    ) -> T:
        """Do it, as often as it takes until the store can be used again."""
        return await self.call(self._insist, lambda: function(*args, **named))

    def _insist(self, function: Callable[[], T]) -> T:
        gap = FIRST_GAP
        while True:
            try:
                found = function()
            except StoreBusyError as error:
                if self._closing.is_set():
                    raise
                self._told(str(error))
                self._closing.wait(gap)
                gap = min(2 * gap, LONGEST_GAP)
            else:
                self._recovered()
                return found

    def _told(self, words: str) -> None:
        if not self.busy_since:
            self._tell(f"{words}; results are kept until it can be used again")
        self.busy_since = words

    def _recovered(self) -> None:
        if self.busy_since:
            self._tell("the store can be used again")
            self.busy_since = ""

    def give_up(self) -> None:
        """Try nothing again: the next failure is raised."""
        self._closing.set()

    def close(self) -> None:
        """Wait for what is being done."""
        self._thread.shutdown()
