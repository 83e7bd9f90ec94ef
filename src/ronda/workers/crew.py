"""The crew: who is there, in which state, since when and on what; who died of what.

Pure: it is told what happens, with the moment, and says what must be done.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from enum import Enum

from msgspec import Struct

from ronda.errors import CrewError
from ronda.workers.states import LEGAL, Role, WorkerState

log = logging.getLogger(__name__)

LIVES = 3  # workers that one request may kill


class Fate(Enum):
    """What becomes of the work in the hands of a worker that died."""

    AGAIN = "again"  # it goes back, for another worker
    GIVEN_UP = "given up"  # it has killed too many
    LOST_CREW = "lost crew"  # there is no sense in another worker


class Glimpse(Struct, frozen=True):
    """One worker as it is seen from outside."""

    name: str
    role: Role
    state: WorkerState
    seconds: float  # in this state
    on: str = ""  # what it works on
    cycles: int = 0


class Member:
    """One worker: its state, and what it has in its hands."""

    __slots__ = ("_crew", "cycles", "hands", "name", "on", "role", "since", "state")

    def __init__(self, crew: "Crew", role: Role, name: str, now: float) -> None:
        self._crew = crew
        self.role = role
        self.name = name
        self.state = WorkerState.IDLE
        self.since = now
        self.on = ""
        self.cycles = 0
        self.hands: object = None  # what must not be lost if it dies

    def become(self, state: WorkerState, now: float, on: str | None = None) -> None:
        """Change the state; what is not in the table is a fault of ours."""
        if state not in LEGAL[self.state]:
            self._crew.complain(self, state)
        self.state = state
        self.since = now
        if on is not None:
            self.on = on


class Crew:
    """Keeps the roll, counts deaths, and decides what follows one."""

    def __init__(self, *, strict: bool = False) -> None:
        self._strict = strict  # an illegal change of state is raised, not counted
        self.members: list[Member] = []
        self._enlisted: Counter[Role] = Counter()
        self._killed: Counter[str] = Counter()  # by what was worked on, unfinished
        self._in_vain = 0  # deaths since somebody finished something
        self.deaths = 0
        self.illegal = 0

    def enlist(self, role: Role, now: float) -> Member:
        """Take on a worker."""
        self._enlisted[role] += 1
        member = Member(self, role, f"{role} {self._enlisted[role]}", now)
        self.members.append(member)
        return member

    def complain(self, member: Member, state: WorkerState) -> None:
        """A worker changed its state in a way that is not in the table."""
        words = f"{member.name} went from {member.state} to {state}"
        if self._strict:
            raise CrewError(words)
        self.illegal += 1
        log.warning("illegal change of state: %s", words)

    def finished(self, member: Member, now: float) -> None:
        """A worker has finished one cycle of its work."""
        if self._killed:
            self._killed.pop(member.on, None)
        member.become(WorkerState.SLEEPING, now, "")
        member.hands = None
        member.cycles += 1
        self._in_vain = 0

    def buried(self, member: Member, now: float) -> Fate:
        """A worker died: what becomes of what it had in its hands."""
        on = member.on
        member.become(WorkerState.DIED, now)
        self.members.remove(member)
        self.deaths += 1
        self._in_vain += 1
        if on:
            self._killed[on] += 1
            if self._killed[on] >= LIVES:
                del self._killed[on]
                self._in_vain = 0  # it has come to an end
                return Fate.GIVEN_UP
        # Nobody has finished anything while each of the crew died as often as one
        # request may kill: what they die of is not in their work.
        if self._in_vain > LIVES * (len(self.members) + 1):
            return Fate.LOST_CREW
        return Fate.AGAIN

    def of(self, role: Role) -> Iterator[Member]:
        """Those of one role."""
        return (member for member in self.members if member.role is role)

    def glimpses(
        self, now: float, shown: Callable[[str], str] = str
    ) -> tuple[Glimpse, ...]:
        """Everybody, for people to look at."""
        return tuple(
            Glimpse(m.name, m.role, m.state, now - m.since, shown(m.on), m.cycles)
            for m in self.members
        )
