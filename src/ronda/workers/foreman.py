"""The foreman: starts the crew, replaces who dies, and sees that nothing is lost."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from ronda.errors import CrewError, UsageError
from ronda.workers.crew import Crew, Fate, Member
from ronda.workers.states import Role, WorkerState

log = logging.getLogger(__name__)

Loop = Callable[[Member], Coroutine[Any, Any, None]]
# Told what a worker that died had in its hands, what becomes of it, and the error.
Inherit = Callable[[Member, Fate, BaseException], None]


def is_grave(error: Exception) -> bool:
    """A full disk or a wrong setting: no other worker fares better."""
    return isinstance(error, UsageError | CrewError | OSError)


class Foreman:
    """Lets workers work until each of them comes back."""

    def __init__(
        self,
        crew: Crew,
        loops: Mapping[Role, Loop],
        inherit: Inherit,
        now: Callable[[], float],
    ) -> None:
        self._crew = crew
        self._loops = loops
        self._inherit = inherit
        self._now = now
        self._tasks: dict[Member, asyncio.Task[None]] = {}
        self._hung: set[Member] = set()

    def start(
        self,
        role: Role,
        count: int,
        spawn: Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]],
    ) -> list[asyncio.Task[None]]:
        """Start some workers of one role."""
        members = [self._crew.enlist(role, self._now()) for _ in range(count)]
        for member in members:
            self._tasks[member] = spawn(self._keep(member), member.name)
        return [self._tasks[member] for member in members]

    def cut_off(self, member: Member) -> None:
        """End a worker that hangs; another takes its place."""
        self._hung.add(member)
        self._tasks[member].cancel()

    async def _keep(self, member: Member) -> None:
        """One place in the crew, whoever fills it."""
        while True:
            member.become(WorkerState.WAITING, self._now())
            try:
                await self._loops[member.role](member)
            except asyncio.CancelledError as error:
                if not self._was_cut_off(member):
                    member.become(WorkerState.STOPPED, self._now())
                    raise
                died: BaseException = TimeoutError("it hung, and was cut off")
                died.__cause__ = error
            except Exception as error:
                # But whatever is raised while asking is the fault of what was asked.
                if is_grave(error) and member.state is not WorkerState.DOWNLOADING:
                    raise
                log.exception("a worker died: %s on=%s", member.name, member.on)
                died = error
            else:
                member.become(WorkerState.STOPPED, self._now())
                return
            successor = self._replaced(member, died)
            if successor is None:
                return
            member = successor
            await asyncio.sleep(0)  # one who always dies at once must not hold up all

    def _was_cut_off(self, member: Member) -> bool:
        """Whether it is only this worker that was to end, and not the whole run."""
        if member not in self._hung:
            return False
        self._hung.discard(member)
        return self._tasks[member].uncancel() == 0

    def _replaced(self, member: Member, error: BaseException) -> Member | None:
        """Who takes the place of one that died; nobody in a crew that is lost."""
        fate = self._crew.buried(member, self._now())
        task = self._tasks.pop(member)
        self._hung.discard(member)
        successor = None
        if fate is not Fate.LOST_CREW:
            # Enlisted first: what is inherited may wake the others.
            successor = self._crew.enlist(member.role, self._now())
            self._tasks[successor] = task
        self._inherit(member, fate, error)
        return successor
