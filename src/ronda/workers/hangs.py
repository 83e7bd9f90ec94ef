"""Requests that hang: given up softly, and if that does not help, with their worker."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from itertools import chain

from ronda.clock import Clock
from ronda.frontier import Lease
from ronda.model import Answer, Visit
from ronda.workers.crew import Member

GRACE = 10.0  # seconds beyond its own time-out, for the soft way and again for the hard


class Held:
    """A lease in the hands of a worker, and until when it may be there."""

    __slots__ = (
        "asking",
        "ended",
        "lease",
        "member",
        "trans",
        "until",
        "visit",
    )

    def __init__(self, trans: int, lease: Lease, member: Member, until: float) -> None:
        self.trans = trans
        self.lease = lease
        self.visit: Visit
        self.ended = False  # its lease
        self.member = member
        self.until = until
        self.asking: Awaitable[Answer] | None = None


class Hangs:
    """Looks at what is held at the moment at which the first of it is overdue."""

    def __init__(
        self,
        seconds: float,
        clock: Clock,
        give_up: Callable[[Held], bool],
        cut_off: Callable[[Held], None],
    ) -> None:
        self.seconds = seconds + GRACE  # that a request may be held
        self._now = clock.now
        self._give_up = give_up  # the soft way; False when there is none
        self._cut_off = cut_off  # the hard way
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        # By TRANS id, the first that is due first: those that are on time, and those
        # that were given up softly.
        self.held: dict[int, Held] = {}
        self._given_up: dict[int, Held] = {}
        self.count = 0

    def __iter__(self) -> Iterator[int]:
        return chain(self.held, self._given_up)

    def all(self) -> Iterator[Held]:
        """Everything that is held."""
        return chain(self.held.values(), self._given_up.values())

    def begin(self, held: Held) -> None:
        """A request is made."""
        self.held[held.trans] = held
        if self._timer is None:
            self._timer = self._loop.call_later(self.seconds, self._look)

    def end(self, trans: int) -> None:
        """A request is over."""
        if self.held.pop(trans, None) is None:
            self._given_up.pop(trans, None)

    def _look(self) -> None:
        now = self._now()
        for held in _overdue(self._given_up, now):
            self._cut_off(held)
        for held in _overdue(self.held, now):
            self.count += 1
            if self._give_up(held):
                held.until = now + GRACE
                self._given_up[held.trans] = held
            else:
                self._cut_off(held)
        firsts = (next(iter(d.values())) for d in (self.held, self._given_up) if d)
        next_at = min((held.until for held in firsts), default=None)
        self._timer = None
        if next_at is not None:
            self._timer = self._loop.call_later(next_at - now, self._look)

    def close(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()


def _overdue(held: dict[int, Held], now: float) -> list[Held]:
    """Those whose time is over, which are then no longer there."""
    found = []
    while held:
        trans, first = next(iter(held.items()))
        if first.until > now:
            break
        found.append(held.pop(trans))
    return found
