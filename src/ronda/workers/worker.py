"""The way itself: take a lease, ask, judge, settle. Everything else is in its room."""

import logging
import time
import traceback

from ronda import urls
from ronda.model import RESTING, Answer, Ask, Done, Visit
from ronda.probes import fault, verdict
from ronda.workers.run import Run

log = logging.getLogger(__name__)


async def work(run: Run) -> None:
    """One worker: from the first lease to the end of the run."""
    while (taken := await run.take()) is not None:
        trans, lease = taken
        visit = run.begin(lease.item)
        answer = await run.ask(trans, lease, visit)
        step = judge(run, visit, answer)
        if run.settle(trans, lease, visit, answer, step):
            await run.read(lease, visit, answer)


def judge(run: Run, visit: Visit, answer: Answer) -> Ask | Done:
    """What an answer means; a handler that raises is our fault, not the target's."""
    if answer.error == RESTING:
        return Done(fault(answer))  # nobody was asked, and nobody is asked again
    handler = run.handlers.of(visit.target.url)
    try:
        step = handler.advance(visit, answer, time.time())
        if not isinstance(step, Ask | Done):
            raise TypeError(f"it returned {step!r}, neither Ask nor Done")
    except Exception as error:
        log.exception("handler failed url=%s", urls.shown(visit.target.url))
        last = traceback.extract_tb(error.__traceback__)[-1]
        words = f"{type(error).__name__}: {error} ({last.name}, line {last.lineno})"
        return Done(verdict("own_fault", words))
    return step
