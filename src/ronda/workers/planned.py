"""Visits that have a plan: begun when it is the turn of their round, until they end."""

import asyncio
from collections.abc import Callable, Collection, Iterable

from msgspec import Struct

from ronda.frontier.rotation import Rotation, Standing
from ronda.model import Service
from ronda.store.sql.values import Due

AT_ONCE = 100  # visits that are begun before others have their turn on the event loop
AHEAD = 2000  # visits that wait in memory for their turn; then no more are claimed
SCHEDULE = 0  # the round of what is due by the schedule, and by nobody's command


class Running(Struct, frozen=True):
    """A visit under way."""

    due: Due
    service: Service
    begun_at: float  # epoch seconds
    task: str = ""  # that is under way


class Planned:
    """Holds what is due and has a plan, and lets it begin as there are workers."""

    def __init__(self, workers: int, batch: int, wall: Callable[[], float]) -> None:
        self._rotation: Rotation[tuple[Due, Service]] = Rotation(workers, batch)
        self.workers = workers
        self._wall = wall
        self._loop = asyncio.get_running_loop()
        self._under_way: dict[str, Running] = {}  # by URL
        self._rounds: dict[str, int] = {}  # of those, which each was begun for
        self._waiting: dict[str, Due] = {}
        self._beginning = False
        self._later: asyncio.Handle | None = None
        self.begin: Callable[[Due, Service], None] = _nobody
        self.dropped: Callable[[str], None] = _unheard  # told what never begins
        self.hungry: Callable[[], None] = _nobody_waits  # told when there is room again
        self.stopped = False

    def offer(self, found: Iterable[tuple[Due, Service]]) -> None:
        """Let visits wait for the turn of their rounds."""
        rounds: dict[int, list[tuple[Due, Service]]] = {}
        for due, service in found:
            self._waiting[due.url] = due
            rounds.setdefault(due.round or SCHEDULE, []).append((due, service))
        for number, some in rounds.items():
            self._rotation.add(number, some)
        self._begin()

    def _begin(self) -> None:
        """Begin what may begin now; one that ends at once lets the next one begin."""
        if self._beginning or self.stopped:
            return  # whoever is at it goes on
        self._beginning, was_full = True, self.is_full
        try:
            for number, (due, service) in self._rotation.begin(AT_ONCE):
                del self._waiting[due.url]
                self._rounds[due.url] = number
                self._under_way[due.url] = Running(due, service, self._wall())
                self.begin(due, service)
        finally:
            self._beginning = False
        if was_full and not self.is_full:
            self.hungry()
        if self._rotation.is_free and self._later is None:
            self._later = self._loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        self._later = None
        self._begin()

    def at(self, url: str, task: str) -> None:
        """A visit has come to a task."""
        found = self._under_way.get(url)
        if found is not None and found.task != task:
            running = Running(found.due, found.service, found.begun_at, task)
            self._under_way[url] = running

    def left(self, url: str) -> None:
        """A visit has ended, or goes on elsewhere."""
        number = self._rounds.pop(url, None)
        if number is not None:  # else it was begun elsewhere, and not by its turn
            del self._under_way[url]
            self._rotation.ended(number)
            self._begin()

    def keep(self, live: Collection[int]) -> None:
        """Forget what waits for rounds that were stopped."""
        was_full = self.is_full
        gone = [one.round for one in self._rotation if one.round not in live]
        for number in gone:
            if number != SCHEDULE:
                for due, _ in self._rotation.drop(number):
                    del self._waiting[due.url]
                    self.dropped(due.url)
        if was_full and not self.is_full:
            self.hungry()

    # -- questions -------------------------------------------------------------------

    def standings(self) -> list[Standing]:
        """How each round stands in this process."""
        return list(self._rotation)

    def running(self) -> list[Running]:
        """The visits under way, the oldest first."""
        return list(self._under_way.values())

    @property
    def is_full(self) -> bool:
        """Whether there is no room for more."""
        return len(self._waiting) >= AHEAD

    @property
    def waiting(self) -> int:
        """How many visits wait for the turn of their round."""
        return len(self._waiting)


def _nobody(_due: Due, _service: Service) -> None:
    """Nobody begins."""


def _nobody_waits() -> None:
    """Nobody wants to know."""


def _unheard(_url: str) -> None:
    """Nobody wants to know."""
