"""What the control socket needs of the daemon, and the values that it tells.

The words of the protocol are those of the services monitor whose clients speak it: a
gid is the id of a target, an eid that of an owner, an entity is an owner.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from msgspec import Struct

from ronda.model import State, TaskResult


class Who(Struct, frozen=True):
    """Somebody who gives commands."""

    name: str  # of the user on a Unix socket, of the owner over TCP
    administrator: bool = False  # may stop the rounds of others, and the daemon


# -- rounds and visits ---------------------------------------------------------------


class Started(Struct, frozen=True):
    """A round that a command has begun."""

    round: int
    description: str
    total: int  # visits


class Stopped(Struct, frozen=True):
    """A round that a command has stopped."""

    round: int
    description: str


class RoundLine(Struct, frozen=True):
    """How far a round is."""

    id: int
    description: str
    active: int  # visits under way
    completed: int
    total: int
    starter: str = ""  # who began it; "": the timetable


class Rounds(Struct, frozen=True):
    """The rounds under way, and the workers that they share."""

    running: int  # workers that are at work
    idle: int
    limit: int
    queued: tuple[RoundLine, ...] = ()  # those with visits to begin
    pending: tuple[RoundLine, ...] = ()  # those that only wait for visits to end


class VisitLine(Struct, frozen=True):
    """A visit under way."""

    gid: int
    description: str
    type: str  # WMS, WFS, …
    version: str
    task: str  # that is under way
    begun_at: float  # when the visit was begun; epoch seconds


# -- what is known -------------------------------------------------------------------


class TaskLine(Struct, frozen=True):
    """A task that can stand in a plan."""

    task: str
    procedure: str  # what runs it: run_bash, run_python, built-in, …
    description: str
    script: str  # the name of its file
    language: str
    function: str = ""  # of a built-in one or a plug-in: its name in the code
    fault: str = ""  # why it cannot be used


class Entity(Struct, frozen=True):
    """An owner, and how many targets are his."""

    eid: int
    description: str
    records: int


class Record(Struct, frozen=True):
    """A target of an owner."""

    gid: int
    description: str
    host: str
    type: str
    version: str


class TaskState(Struct, frozen=True):
    """What a task found when it last ran."""

    task: str
    state: State
    reason: str
    message: str
    at: float  # epoch seconds
    seconds: float = 0.0  # that it took


class ServiceLine(Struct, frozen=True):
    """A target with all that is known of it."""

    gid: int
    description: str
    entity: str  # the name of its first owner
    uri: str
    uri_type: str
    version: str
    uuid: str
    tasks: tuple[TaskState, ...] = ()


class Event(Struct, frozen=True):
    """A result, told to whoever has subscribed to them."""

    gid: int
    url: str
    state: State
    reason: str
    message: str
    at: float  # epoch seconds
    tasks: tuple[TaskResult, ...] = ()


class Monitor(Protocol):
    """The daemon, as the control socket sees it.

    What cannot be carried out is raised as an error of `ronda.errors`; its text is told
    to who asks. NotFoundError says that an id is unknown, DeniedError that he may not.
    """

    async def check(
        self,
        gids: Sequence[int],
        owners: Sequence[int],
        patterns: Sequence[str],
        starter: Who,
    ) -> list[Started]:
        """Begin rounds: one of all gids, and one for each owner, by id or LIKE pattern.

        Returns:
            Those that were begun; none when there is nothing to visit.

        Raises:
            NotFoundError: none of the gids is known, or an owner's id is not.
        """

    async def stop(self, number: int | None, who: Who) -> list[Stopped]:
        """Stop one round, or without a number all that he may stop.

        Raises:
            NotFoundError: there is no such round under way.
            DeniedError: it is somebody else's.
        """

    async def rounds(self) -> Rounds:
        """The rounds under way."""

    def visits(self) -> list[VisitLine]:
        """The visits under way."""

    def tasks(self) -> list[TaskLine]:
        """The tasks that are known, in their order."""

    async def entities(self, pattern: str, alphabetic: bool) -> list[Entity]:
        """The owners like a pattern ("": all), those with the most targets first."""

    async def records(self, eid: int, offset: int, limit: int) -> list[Record]:
        """Some targets of an owner."""

    async def services(
        self, gids: Sequence[int], patterns: Sequence[str]
    ) -> list[ServiceLine]:
        """Targets by their ids, and those whose URL or description is like a pattern.

        How many there are at most is for the daemon to say.
        """

    async def task_results(self, gid: int) -> list[TaskState]:
        """What the tasks of a target found last.

        Raises:
            NotFoundError: there is no such target.
        """

    def why(self, text: str) -> list[str]:
        """What a URL or a host waits for, a line each; "": the whole daemon."""

    async def stats(self) -> dict[str, Any]:
        """Figures by their names: numbers, texts, or tables of them."""

    def subscribe(self, tell: Callable[[Event], None]) -> Callable[[], None]:
        """Have each result told; what is returned ends that."""

    def shutdown(self) -> None:
        """End in stages, as a signal does."""

    async def who(self, name: str, token: str) -> Who | None:
        """The owner of a token; None: it is not his. `operator` is the administrator.

        Tokens are to be compared in constant time.
        """
