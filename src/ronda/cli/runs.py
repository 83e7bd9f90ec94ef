"""What every command that starts a run does: show it, end it, report on it."""

import gc
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from pathlib import Path

from ronda import app
from ronda.cli.codes import BROKEN, INTERRUPTED, UNUSABLE
from ronda.cli.crew import told_by_signal
from ronda.cli.outputs import Outputs
from ronda.cli.progress import Progress
from ronda.cli.signals import ended_by_signal, undisturbed
from ronda.config import Settings
from ronda.model import State, Summary
from ronda.server import Control
from ronda.store import RequestLog, Spool
from ronda.workers.run import Run

# Opens a run, given its spool, its reports and its request log.
Open = Callable[[Spool, Outputs, RequestLog | None], AbstractAsyncContextManager[Run]]


async def report_on(
    settings: Settings, open_run: Open, end: Callable[[Summary], None] | None = None
) -> int:
    """Carry out a run and write its reports; returns the exit code.

    Args:
        settings: everything that can be set.
        open_run: opens it.
        end: told the summary when all is written.
    """
    # Next to nothing of a run is garbage in circles, and to look for it 70 times as
    # often, at all that was loaded too, takes 5 % of the time.
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    with (
        Spool() as spool,
        Outputs(settings.report) as outputs,
        _request_log(settings) as log,
    ):
        async with (
            open_run(spool, outputs, log) as run,
            Control(run.account),
            Progress(run.account, settings.report, watch=settings.crawl.watch),
            told_by_signal(run.account),
        ):
            work = app.carry_out(run, settings)
            finished = await ended_by_signal(run, work, settings.check.max_time)
        if not finished:
            return INTERRUPTED
        run.end(run.account.summary())
        summary = run.account.summary()
        with undisturbed():
            outputs.write(spool, summary)
    if end is not None:
        end(summary)
    return _exit_code(summary)


def _request_log(settings: Settings) -> AbstractContextManager[RequestLog | None]:
    name = settings.report.request_log
    return RequestLog(Path(name)) if name else nullcontext()


def _exit_code(summary: Summary) -> int:
    if summary.interrupted == "interrupted":
        return INTERRUPTED
    if summary.counts.get(State.BROKEN):
        return BROKEN
    lost = summary.interrupted.startswith("the crew") or summary.is_unread
    return UNUSABLE if lost or any(p.grave for p in summary.problems) else 0
