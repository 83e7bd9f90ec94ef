"""Tasks, plans and rounds, wired together."""

from collections.abc import Callable, Iterable

from msgspec import Struct

from ronda.config import Settings
from ronda.errors import SettingsError
from ronda.fetch.programs import Programs
from ronda.model import Service, Target, Visit
from ronda.probes import Handlers
from ronda.probes import tasks as table
from ronda.probes.plans import Plans
from ronda.probes.task import Row
from ronda.store.sql.values import Due
from ronda.workers import programs as folder
from ronda.workers.due import DueFeed
from ronda.workers.planned import Planned
from ronda.workers.run import Run
from ronda.workers.watch import Watch


class Visiting(Struct, frozen=True):
    """What carries out visits that have a plan."""

    planned: Planned
    plans: Plans
    programs: Programs

    @property
    def has_programs(self) -> bool:
        """Whether any task is a program."""
        return any(row.task is not None and row.timeout for row in self.plans.rows)


async def rows_of(
    settings: Settings, handlers: Handlers, programs: Programs
) -> list[Row]:
    """All tasks, those that cannot be used too.

    Raises:
        SettingsError: there is no such folder of programs.
    """
    tasks = settings.tasks
    some: list[Row] = []
    if tasks.folder:
        try:
            some = await folder.rows(tasks.folder, tasks.timeout, programs.identify)
        except OSError as error:
            words = f"{tasks.folder}: {error.strerror}"
            raise SettingsError(f"tasks.folder: {words}") from None
    return table.rows(handlers, some)


async def plans_of(
    settings: Settings,
    handlers: Handlers,
    programs: Programs,
    tell: Callable[[str], None],
    more: Iterable[Row] = (),
) -> Plans:
    """The plans of the settings; a task that cannot be used is told of.

    Raises:
        SettingsError: a plan names a task that there is not.
    """
    rows = [*await rows_of(settings, handlers, programs), *more]
    for row in rows:
        if row.fault:
            tell(f"task {row.script or row.name} cannot be used: {row.fault}")
    plans = {plan.kind: plan.tasks for plan in settings.plans}
    return Plans(rows, table.checked(plans, rows))


def join(
    visiting: Visiting, run: Run, feed: DueFeed, watch: Watch, handlers: Handlers
) -> None:
    """Let what has a plan begin in the run as it is its turn, and be counted out."""
    planned = visiting.planned

    def begin(due: Due, service: Service) -> None:
        host = handlers.of(due.url).classify(due.url)
        run.visit_plan(Target(due.url, host), service)

    def waits(visit: Visit) -> None:
        if visit.progress is not None:
            planned.waits(visit.target.url, visit.progress.task)

    planned.begin = begin
    planned.dropped = watch.drop
    run.waits = waits
    run.asks = lambda visit: planned.asks(visit.target.url)
    run.is_stopped = lambda visit: planned.is_stopped(visit.target.url)
    feed.planned = planned
    planned.hungry = feed.poke
    watch.left = planned.left
