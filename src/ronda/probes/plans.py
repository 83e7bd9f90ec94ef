"""Plans: the tasks of a visit, one after the other, until one finds a fault."""

import logging
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from ronda import urls
from ronda.model import (
    RESTING,
    Answer,
    Ask,
    Done,
    NotApplicable,
    Progress,
    Request,
    Service,
    State,
    Target,
    TaskResult,
    Verdict,
    Via,
    Visit,
)
from ronda.probes.faults import fault
from ronda.probes.reasons import verdict
from ronda.probes.said import evidence, said
from ronda.probes.task import Row, Task

log = logging.getLogger(__name__)

STOPPED = "round_stopped"  # a reason: nothing more is said of the target

# From best to worst. What a fault of ours kept from being judged is not good, but says
# less than any verdict.
SEVERITY = (
    State.OK,
    State.UNKNOWN,
    State.WARNING,
    State.UNSUPPORTED,
    State.BLOCKED,
    State.TEMPORARY,
    State.BROKEN,
)
# After these, the later tasks of a plan have nothing to stand on.
ENDING = frozenset({State.BROKEN, State.TEMPORARY, State.BLOCKED, State.UNSUPPORTED})


class Plans:
    """Carries visits from task to task; every decision is pure."""

    def __init__(
        self, rows: Iterable[Row], plans: Mapping[str, tuple[str, ...]]
    ) -> None:
        """Know all tasks.

        Args:
            rows: in their order.
            plans: by kind of target, the names of its tasks; other kinds have all
                tasks that are for them.
        """
        self.rows = tuple(rows)
        self._tasks: dict[str, Task] = {
            row.name: row.task for row in self.rows if row.task is not None
        }
        self._plans = dict(plans)

    @property
    def longest(self) -> float:
        """Seconds that one request of a task may take."""
        return max((row.timeout for row in self.rows), default=0.0)

    def of(self, kind: str) -> tuple[str, ...]:
        """The names of the tasks for a kind of target."""
        found = self._plans.get(kind)
        if found is None:
            found = tuple(row.name for row in self.rows if row.is_for(kind))
            self._plans[kind] = found
        return found

    def start(self, target: Target, service: Service, now: float) -> Ask | Done:
        """Begin a visit: what is first to be asked, or its verdict."""
        return self.run(target, service, self.of(service.kind), now)

    def run(
        self, target: Target, service: Service, plan: tuple[str, ...], now: float
    ) -> Ask | Done:
        """The same with a plan of its own."""
        progress = Progress(service, plan, begun_at=now)
        request = Request(target.url, public=target.public)
        visit = Visit(target, request, target.host, progress=progress)
        return self._go_on(visit, progress)

    def advance(self, visit: Visit, answer: Answer, now: float) -> Ask | Done:
        """What an answer means for the task under way, and what comes after it."""
        assert visit.progress is not None  # noqa: S101  # else it has no plan
        progress = replace(visit.progress, asked=True)
        visit = replace(visit, progress=progress)
        task = self._tasks.get(progress.task)
        if task is None:  # of a visit that another process began, which knows it
            return self._go_on(visit, _next(progress))
        if visit.request.via is Via.PROGRAM and answer.ran is None:
            step: Ask | Done | NotApplicable = Done(fault(answer))  # it was not begun
        else:
            step = task.judge(visit, answer, now)
        if isinstance(step, Ask):
            return step
        if isinstance(step, NotApplicable):
            return self._go_on(visit, _next(progress))
        last = step.visit or visit
        found = self._noted(last, _next(_with(progress, step.verdict, answer)))
        return replace(found, hold=step.hold)

    def restored(self, visit: Visit) -> Visit:
        """A visit that another process began, as this one would ask it.

        What is run is decided here: programs lie elsewhere on another machine, and
        whoever can write to the store must not choose them.
        """
        progress = visit.progress
        if progress is None or visit.request.via is not Via.PROGRAM:
            return visit
        step = self._go_on(visit, progress)
        return step.visit if isinstance(step, Ask) else visit

    def _noted(self, visit: Visit, progress: Progress) -> Ask | Done:
        """Go on after a verdict, unless it was one that ends the visit."""
        if progress.results[-1].state in ENDING:
            return _over(visit, progress)
        return self._go_on(visit, progress)

    def _go_on(self, visit: Visit, progress: Progress) -> Ask | Done:
        """The first request of the next task that has one, or the end of the plan."""
        while progress.task:
            task = self._tasks.get(progress.task)
            begun = _begun(task, visit, progress) if task else NotApplicable()
            if isinstance(begun, Request):
                return Ask(_asking(visit, progress, begun))
            if isinstance(begun, Verdict):
                progress = _with(progress, begun, Answer())
                if begun.state in ENDING:
                    break
            progress = _next(progress)
        return _over(visit, progress)


def summed_up(results: Sequence[TaskResult]) -> tuple[Verdict, str]:
    """The verdict on a target, the worst of its tasks; and which task that was.

    Where all is well it is of no single one.
    """
    found = max(results, key=lambda one: SEVERITY.index(one.state), default=None)
    if found is None:
        return verdict("no_task"), ""
    if found.state is State.OK:
        number = len(results)
        words = f"{number} task{'s' if number > 1 else ''}"
        return verdict("tasks_ok", words), ""
    return Verdict(found.state, found.reason, found.message), found.task


def cut_short(visit: Visit) -> Done:
    """The end of a visit whose round was stopped, between two tasks."""
    assert visit.progress is not None  # noqa: S101  # else it has no plan
    last = replace(visit, progress=replace(visit.progress, over=True))
    return Done(verdict(STOPPED), visit=last)


def conclude(visit: Visit, found: Verdict, answer: Answer) -> Progress:
    """How far a visit came that has ended, whatever ended it.

    A verdict that no task gave (robots.txt, a host that rests, a fault of ours) is that
    of the task which was under way.
    """
    progress = visit.progress
    assert progress is not None  # noqa: S101  # else it has no plan
    if progress.over:
        return progress
    return replace(_with(progress, found, answer), over=True)


def _begun(
    task: Task, visit: Visit, progress: Progress
) -> Request | Verdict | NotApplicable:
    try:
        return task.begin(visit, progress.service)
    except Exception as error:  # a third party's code may do anything
        log.exception("task failed task=%s", progress.task)
        return verdict("task_error", f"{type(error).__name__}: {error}")


def _asking(visit: Visit, progress: Progress, request: Request) -> Visit:
    """A visit at the beginning of a task: what earlier ones met is theirs."""
    if visit.request.public:
        request = replace(request, public=True)
    return Visit(visit.target, request, visit.target.host, progress=progress)


def _next(progress: Progress) -> Progress:
    return replace(progress, place=progress.place + 1)


def _with(progress: Progress, found: Verdict, answer: Answer) -> Progress:
    """With what the task under way found."""
    ran = answer.ran
    # Nobody was asked of a host that rests: that says nothing about the target.
    state = State.UNKNOWN if answer.error == RESTING else found.state
    result = TaskResult(
        task=progress.task,
        state=state,
        reason=found.reason,
        message=urls.shown(found.message, 2000),
        seconds=ran.seconds if ran is not None else answer.timings.total,
        data=said(ran).data if ran is not None else _status(answer),
        output=evidence(ran) if ran is not None else "",
    )
    return replace(progress, results=(*progress.results, result))


def _status(answer: Answer) -> str:
    return str(answer.status) if answer.status else ""


def _over(visit: Visit, progress: Progress) -> Done:
    last = replace(visit, progress=replace(progress, over=True))
    return Done(summed_up(progress.results)[0], visit=last)
