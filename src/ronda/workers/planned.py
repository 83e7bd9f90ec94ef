"""Visits that have a plan: begun when it is the turn of their round, until they end."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Collection, Iterable

from msgspec import Struct
from msgspec.structs import replace

from ronda import urls
from ronda.frontier.rotation import Rotation, Standing
from ronda.model import Service
from ronda.store.sql.values import Due

log = logging.getLogger(__name__)

AT_ONCE = 100  # visits that are begun before others have their turn on the event loop
AHEAD = 2000  # visits that wait in memory for their turn; then no more are claimed
SCHEDULE = 0  # the round of what is due by the schedule, and by nobody's command

Wanted = tuple[Due, Service]


class Running(Struct, frozen=True):
    """A visit under way."""

    due: Due
    service: Service
    round: int
    begun_at: float  # epoch seconds
    task: str = ""  # that is under way
    suspended: bool = False  # it waits for its host, and needs no worker
    stopped: bool = False  # it is to end after this task


class _Line:
    """The visits of one host: some may be under way, the others wait for them."""

    __slots__ = ("most", "parked", "present")

    def __init__(self, most: int) -> None:
        self.most = most
        self.present = 0  # in the rotation: waiting for its turn, or under way
        self.parked: deque[Wanted] = deque()


class Planned:
    """Holds what is due and has a plan, and lets it begin as there are workers."""

    def __init__(
        self,
        workers: int,
        batch: int,
        wall: Callable[[], float],
        at_once: Callable[[str], int] = lambda _url: 1 << 30,
    ) -> None:
        """Hold nothing yet.

        Args:
            workers: visits that run at once.
            batch: visits that a round may begin when it is its turn.
            wall: epoch seconds.
            at_once: visits of a URL's host that may be under way: more would only wait
                for it, and keep others from their turns.
        """
        self._rotation: Rotation[Wanted] = Rotation(workers, batch)
        self.workers = workers
        self._wall = wall
        self._at_once = at_once
        self._loop = asyncio.get_running_loop()
        self._under_way: dict[str, Running] = {}  # by URL
        self._waiting: dict[str, Due] = {}
        self._lines: dict[str, _Line] = {}  # by host
        self._beginning = False
        self._later: asyncio.Handle | None = None
        self.begin: Callable[[Due, Service], None] = _nobody
        self.dropped: Callable[[str], None] = _unheard  # told what never begins
        self.hungry: Callable[[], None] = _nobody_waits  # told when there is room again
        self.stopped = False

    # -- in --------------------------------------------------------------------------

    def offer(self, found: Iterable[Wanted]) -> None:
        """Let visits wait for the turn of their rounds."""
        rounds: dict[int, list[Wanted]] = {}
        for due, service in found:
            self._waiting[due.url] = due
            host = urls.host_key(due.url)
            line = self._lines.get(host)
            if line is None:
                line = self._lines[host] = _Line(self._at_once(due.url))
            if line.present >= line.most:
                line.parked.append((due, service))
            else:
                line.present += 1
                number = due.round or SCHEDULE
                rounds.setdefault(number, []).append((due, service))
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
                running = Running(due, service, number, self._wall())
                self._under_way[due.url] = running
                self._begin_one(due, service)
        finally:
            self._beginning = False
        self._tell_room(was_full)
        if self._rotation.is_free and self._later is None:
            self._later = self._loop.call_soon(self._go_on)

    def _begin_one(self, due: Due, service: Service) -> None:
        try:
            self.begin(due, service)
        except Exception:  # the others have been taken from the rotation, and go on
            log.exception("visit could not begin url=%s", urls.shown(due.url))
            self.left(due.url)
            self.dropped(due.url)

    def _go_on(self) -> None:
        self._later = None
        self._begin()

    # -- on the way ------------------------------------------------------------------

    def waits(self, url: str, task: str) -> None:
        """A visit has come to a task, and waits for its host."""
        found = self._under_way.get(url)
        if found is None:
            return
        self._under_way[url] = replace(found, task=task, suspended=True)
        if not found.suspended:
            self._rotation.suspend(found.round)
            self._begin()

    def asks(self, url: str) -> None:
        """A visit has its turn at its host."""
        found = self._under_way.get(url)
        if found is not None and found.suspended:
            self._under_way[url] = replace(found, suspended=False)
            self._rotation.resume(found.round)

    def is_stopped(self, url: str) -> bool:
        """Whether a visit is to end before its next task."""
        found = self._under_way.get(url)
        return found is not None and found.stopped

    # -- out -------------------------------------------------------------------------

    def left(self, url: str) -> None:
        """A visit has ended, or goes on elsewhere."""
        found = self._under_way.pop(url, None)
        if found is None:  # it was begun elsewhere, and not by its turn
            return
        if found.suspended:
            self._rotation.resume(found.round)
        self._rotation.ended(found.round)
        self._next_of(url)
        self._begin()

    def _next_of(self, url: str) -> None:
        """Let the next visit of a host wait for its turn in the place of another."""
        host = urls.host_key(url)
        line = self._lines[host]
        if line.parked:
            due, service = line.parked.popleft()
            self._rotation.add(due.round or SCHEDULE, [(due, service)])
            return
        line.present -= 1
        if not line.present:
            del self._lines[host]

    def keep(self, live: Collection[int]) -> None:
        """Forget what waits for rounds that were stopped, and let what runs end."""
        was_full = self.is_full
        for url, found in self._under_way.items():
            if found.round != SCHEDULE and found.round not in live:
                self._under_way[url] = replace(found, stopped=True)
        for host in list(self._lines):
            self._forget_parked(self._lines[host], live)
        for number in [one.round for one in self._rotation]:
            if number != SCHEDULE and number not in live:
                for due, _ in self._rotation.drop(number):
                    self._drop(due.url)
                    self._next_of(due.url)
        self._tell_room(was_full)
        self._begin()

    def _forget_parked(self, line: _Line, live: Collection[int]) -> None:
        kept: deque[Wanted] = deque()
        for due, service in line.parked:
            if due.round is None or due.round in live:
                kept.append((due, service))
            else:
                self._drop(due.url)
        line.parked = kept

    def _drop(self, url: str) -> None:
        del self._waiting[url]
        self.dropped(url)

    def _tell_room(self, was_full: bool) -> None:
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
    def busy(self) -> int:
        """How many visits have a worker."""
        return self._rotation.running

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
