"""Requests that hang: given up softly, and if that does not help, with their worker."""

import asyncio
from collections.abc import Awaitable, Callable

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
        "soft",
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
        self.soft = False  # it was given up softly
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
        self.held: dict[int, Held] = {}  # by TRANS id, the oldest first
        self.count = 0

    def begin(self, held: Held) -> None:
        """A request is made."""
        self.held[held.trans] = held
        if self._timer is None:
            self._timer = self._loop.call_later(self.seconds, self._look)

    def progress(self, trans: int) -> None:
        """Something was heard of a request: it is alive."""
        held = self.held.pop(trans, None)
        if held is not None:
            held.until = self._now() + self.seconds
            self.held[trans] = held  # at the end: deadlines stay in order

    def _look(self) -> None:
        self._timer = None
        now = self._now()
        while self.held:
            trans, held = next(iter(self.held.items()))
            if held.until > now:
                self._timer = self._loop.call_later(held.until - now, self._look)
                return
            del self.held[trans]
            self.count += not held.soft
            if not held.soft and self._give_up(held):
                held.soft = True
                held.until = now + GRACE
                self.held[trans] = held
            else:
                self._cut_off(held)

    def close(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()
