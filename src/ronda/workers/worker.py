"""The way itself, by role: take, ask, judge, settle; read a page; do the slow rest."""

import logging

from msgspec.structs import replace

from ronda import urls
from ronda.model import ORPHANED, RESTING, VETOED, Answer, Ask, Done, Visit
from ronda.probes import fault, verdict
from ronda.probes.plans import cut_short
from ronda.workers.crew import Member
from ronda.workers.remarks import last_line
from ronda.workers.run import Run
from ronda.workers.states import Role, WorkerState
from ronda.workers.visits import advance

log = logging.getLogger(__name__)


async def fetch(run: Run, me: Member) -> None:
    """A fetcher: from the first lease to the end of the run."""
    while (held := await run.take(me)) is not None:
        answer = await run.ask(held, me)
        me.become(WorkerState.DOWNLOADED, run.now())
        step = judge(run, held.visit, answer)
        me.hands = page = run.settle(held, answer, step)
        if page is not None:
            me.become(WorkerState.PUSHING, held.lease.ended_at)
            await run.reading.hand_over(page)
            me.become(WorkerState.PUSHED, held.lease.ended_at)
        run.crew.finished(me, held.lease.ended_at)


async def crawl(run: Run, me: Member) -> None:
    """A crawler: reads pages, and lets links go on that were held back."""
    while (page := await run.reading.next_page(me)) is not None:
        await run.read(page, me)


async def work(run: Run, me: Member) -> None:
    """A worker: one slow thing after the other."""
    while (page := await run.reading.next_work(me)) is not None:
        await run.keep(page, me)


LOOPS = {Role.FETCHER: fetch, Role.CRAWLER: crawl, Role.WORKER: work}


def judge(run: Run, visit: Visit, answer: Answer) -> Ask | Done:
    """What an answer means; a handler that raises is our fault, not the target's."""
    if answer.error in {RESTING, VETOED}:
        return Done(fault(answer))  # nobody was asked, and nobody is asked again
    if answer.error == ORPHANED and not visit.request.fresh:
        return Ask(replace(visit, request=replace(visit.request, fresh=True)))
    try:
        step = advance(visit, answer, run.epoch(), run.handlers, run.plans)
        if not isinstance(step, Ask | Done):
            raise TypeError(f"it returned {step!r}, neither Ask nor Done")
    except Exception as error:
        log.exception("handler failed url=%s", urls.shown(visit.target.url))
        return Done(verdict("own_fault", last_line(error)))
    return step if visit.progress is None else _next_task(run, visit, step)


def _next_task(run: Run, visit: Visit, step: Ask | Done) -> Ask | Done:
    """A visit whose round was stopped ends between two tasks."""
    if isinstance(step, Done):
        return step
    before, after = visit.progress, step.visit.progress
    is_new = before is not None and after is not None and before.place != after.place
    if is_new and run.is_stopped(visit):
        return cut_short(step.visit)
    run.waits(step.visit)
    return step
