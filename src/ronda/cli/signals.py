"""Ctrl-C: the first stops taking and lets requests end, the second ends at once."""

import asyncio
import signal
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from ronda.workers.run import Run

GRACE = 5.0  # seconds that running requests have to end


async def ended_by_signal(
    run: Run, work: Coroutine[Any, Any, None], max_time: float | None
) -> bool:
    """Carry out some work; False when it was cut off by a second signal."""
    loop = asyncio.get_running_loop()
    task = loop.create_task(work, name="run")
    forced = asked = False

    def stop(why: str) -> None:
        run.stop(why)
        loop.call_later(GRACE, task.cancel)

    def interrupt() -> None:
        nonlocal forced, asked
        if asked:
            forced = True
            task.cancel()
        else:
            asked = True
            stop("interrupted")
            words = f"what is under way has {GRACE:.0f} s; once more ends it at once"
            sys.stderr.write(f"\nstopping: {words}\n")

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupt)
    if max_time is not None:
        loop.call_later(max_time, stop, "out of time")
    try:
        await task
    except asyncio.CancelledError:
        if not run.stopped:
            raise
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
    return not forced


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let what is being written be written; only the second Ctrl-C cuts it off."""

    def hear(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        words = "the report is being written; once more ends it at once"
        sys.stderr.write(f"\n{words}\n")

    before = signal.signal(signal.SIGINT, hear)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
