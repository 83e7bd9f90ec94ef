"""The way itself: take a lease, ask, judge, settle. Everything else is in its room."""

import logging
import time
import traceback

from ronda import urls
from ronda.model import Answer, Ask, Done, Visit
from ronda.probes import verdict
from ronda.workers.run import Run

log = logging.getLogger(__name__)


async def work(run: Run) -> None:
    """One worker: from the first lease to the end of the run."""
    while (taken := await run.take()) is not None:
        trans, lease = taken
        visit = run.begin(lease.item)
        answer = await run.ask(visit.request, lease)
        step = judge(run, visit, answer)
        if run.settle(trans, visit, answer, step):
            await run.read(visit, answer)


def judge(run: Run, visit: Visit, answer: Answer) -> Ask | Done:
    """What an answer means; a handler that raises is our fault, not the target's."""
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
