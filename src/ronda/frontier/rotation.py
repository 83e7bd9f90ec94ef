"""Rounds take turns: which visits of which round may begin, so that none starves.

The rules are those of the services monitor that rounds descend from:

- a round may begin `batch` visits when it is its turn, then it is the next one's;
- the quota is all workers for one round, and 1 + workers // rounds for several; it is
  worked out anew whenever a round joins or leaves;
- a round of which max(batch, 9/10 of the quota) visits are running is passed over;
- one that has nothing left to begin is pending until its running visits have ended.

A visit that only waits for its host needs no worker meanwhile: it is suspended, and
does not count as running. Else a few slow hosts would keep all others from their turns.

Nothing waits for a tick: whoever adds, ends or drops something then asks what begins.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

from msgspec import Struct

T = TypeVar("T")

SHARE = 0.9  # of the quota, which a round may have running
BEGUN = 20  # visits that may be under way for each worker, those suspended too


class Standing(Struct, frozen=True):
    """How a round stands here."""

    round: int
    waiting: int  # visits that have not begun
    running: int  # under way, those suspended too
    ended: int

    @property
    def is_pending(self) -> bool:
        """Whether it only waits for visits to end."""
        return not self.waiting


class _Round(Generic[T]):
    """A round that has something to begin, or something running."""

    __slots__ = ("ended", "number", "running", "suspended", "waiting")

    def __init__(self, number: int) -> None:
        self.number = number
        self.waiting: deque[T] = deque()
        self.running = self.suspended = self.ended = 0


class Rotation(Generic[T]):
    """Deals out the workers of a process to the rounds that have visits for them."""

    def __init__(self, workers: int, batch: int) -> None:
        self._workers = workers
        self._batch = batch
        self._rounds: dict[int, _Round[T]] = {}
        self._line: list[_Round[T]] = []  # those that have something to begin
        self._turn = 0  # whose it is: a place in the line
        self.running = 0  # visits that have a worker
        self.suspended = 0  # visits under way that need none for now

    @property
    def quota(self) -> int:
        """How many workers a round may count on."""
        rounds = len(self._line)
        return self._workers if rounds <= 1 else 1 + self._workers // rounds

    @property
    def most(self) -> int:
        """How many visits of a round may be running; with so many it is passed over."""
        return max(self._batch, int(SHARE * self.quota))

    def add(self, number: int, items: Iterable[T]) -> None:
        """Let visits of a round wait for their turn; a new round joins at the end."""
        found = self._rounds.get(number)
        if found is None:
            found = _Round(number)
        before = bool(found.waiting)
        found.waiting.extend(items)
        if found.waiting:
            self._rounds[number] = found
            if not before:
                self._line.append(found)

    def begin(self, limit: int) -> list[tuple[int, T]]:
        """The visits that begin now, each with its round; no more than a limit."""
        begun: list[tuple[int, T]] = []
        passed = 0  # rounds in a row that could begin nothing
        while self._line and passed < len(self._line) and len(begun) < limit:
            if self._is_busy:
                break
            self._turn %= len(self._line)
            some = list(self._take_turn(limit - len(begun)))
            begun += some
            passed = 0 if some else passed + 1
        return begun

    def _take_turn(self, limit: int) -> Iterator[tuple[int, T]]:
        """What the round begins whose turn it is; then it is the next one's."""
        found, most = self._line[self._turn], self.most
        for _ in range(min(self._batch, limit)):
            if self._is_busy or found.running >= most:
                break
            found.running += 1
            self.running += 1
            yield found.number, found.waiting.popleft()
            if not found.waiting:
                del self._line[self._turn]  # the next one stands at this place now
                return
        self._turn += 1

    @property
    def _is_busy(self) -> bool:
        """Whether there is no worker, or so much is under way that none may begin."""
        begun = self.running + self.suspended
        return self.running >= self._workers or begun >= BEGUN * self._workers

    @property
    def is_free(self) -> bool:
        """Whether another visit could begin now."""
        if self._is_busy:
            return False
        most = self.most
        return any(found.running < most for found in self._line)

    def suspend(self, number: int) -> None:
        """A visit of a round waits for its host, and needs no worker."""
        found = self._rounds[number]
        found.running -= 1
        found.suspended += 1
        self.running -= 1
        self.suspended += 1

    def resume(self, number: int) -> None:
        """It needs one again, and has it, even if that is one more than there are."""
        found = self._rounds[number]
        found.running += 1
        found.suspended -= 1
        self.running += 1
        self.suspended -= 1

    def ended(self, number: int) -> None:
        """A visit of a round has ended; the round too, if it was the last."""
        found = self._rounds[number]
        found.running -= 1
        found.ended += 1
        self.running -= 1
        self._forget(found)

    def drop(self, number: int) -> list[T]:
        """What a round has not begun, which it now never will; the rest goes on."""
        found = self._rounds.get(number)
        if found is None:
            return []
        dropped = list(found.waiting)
        found.waiting.clear()
        if found in self._line:
            place = self._line.index(found)
            del self._line[place]
            self._turn -= place < self._turn
        self._forget(found)
        return dropped

    def _forget(self, found: _Round[T]) -> None:
        if not found.waiting and not found.running and not found.suspended:
            del self._rounds[found.number]

    def __iter__(self) -> Iterator[Standing]:
        """How each round stands, in the order in which they joined."""
        for found in self._rounds.values():
            waiting, running = len(found.waiting), found.running + found.suspended
            yield Standing(found.number, waiting, running, found.ended)

    def __contains__(self, number: int) -> bool:
        return number in self._rounds
