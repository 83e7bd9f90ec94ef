"""One task, tried by hand on one target: what was asked, answered and found."""

from tempfile import TemporaryDirectory

from msgspec import Struct
from msgspec.structs import replace

from ronda.app.visiting import rows_of
from ronda.clock import SystemClock
from ronda.config import Settings
from ronda.errors import NotFoundError
from ronda.fetch import Asker, Guard, Names
from ronda.fetch.programs import Programs
from ronda.frontier import Policy
from ronda.model import (
    Answer,
    Ask,
    Request,
    Service,
    Target,
    TaskResult,
)
from ronda.probes import Handlers
from ronda.probes.plans import Plans, conclude
from ronda.probes.task import Row
from ronda.workers.alone import Alone


class Tried(Struct, frozen=True):
    """What a task did and found."""

    row: Row
    asked: tuple[tuple[Request, Answer], ...]
    result: TaskResult | None  # None: it has nothing to say of such a target


async def tasks(settings: Settings) -> list[Row]:
    """All tasks there are, those that cannot be used too."""
    guard, clock = Guard(settings.guard), SystemClock()
    async with (
        Names(settings.fetch.name_servers, guard, clock) as names,
        Programs(settings.tasks, names, guard) as programs,
    ):
        return await rows_of(settings, Handlers(settings), programs)


async def try_task(settings: Settings, name: str, url: str, service: Service) -> Tried:
    """Carry out one task on a target, whether or not its plan has it.

    Raises:
        NotFoundError: there is no such task, or it cannot be used.
    """
    # What a program keeps for its target is not to be mixed with what is tried.
    with TemporaryDirectory(prefix="ronda-task-") as data:
        tasks = replace(settings.tasks, data=data)
        return await _try_task(replace(settings, tasks=tasks), name, url, service)


async def _try_task(settings: Settings, name: str, url: str, service: Service) -> Tried:
    handlers, guard, clock = Handlers(settings), Guard(settings.guard), SystemClock()
    async with (
        Names(settings.fetch.name_servers, guard, clock) as names,
        Programs(settings.tasks, names, guard) as programs,
        Asker(
            settings.fetch, names, handlers.called, guard, programs=programs
        ) as asker,
    ):
        rows = await rows_of(settings, handlers, programs)
        row = _usable(rows, name)
        plans = Plans(rows, {})
        target = Target(url, handlers.of(url).classify(url))
        step = plans.run(target, service, (row.name,), clock.epoch())
        asked: list[tuple[Request, Answer]] = []
        if isinstance(step, Ask):
            policy = Policy(settings.politeness)
            alone = Alone(asker, names, policy, guard.is_public, clock)
            visit, answer, found = await alone.carry_out(
                step.visit, plans, lambda *one: asked.append(one)
            )
            results = conclude(visit, found, answer).results
        else:  # it can be said without asking anybody
            progress = step.visit.progress if step.visit is not None else None
            results = progress.results if progress is not None else ()
        return Tried(row, tuple(asked), results[0] if results else None)


def _usable(rows: list[Row], name: str) -> Row:
    for row in rows:
        if name in {row.name, row.script}:
            if row.task is None:
                raise NotFoundError(f"task {name} cannot be used: {row.fault}")
            return row
    raise NotFoundError(f"there is no task {name}: `ronda task list` shows all")
