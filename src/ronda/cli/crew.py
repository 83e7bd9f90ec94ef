"""The crew for people to look at: who does what, since when, on what."""

import asyncio
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

from ronda.workers.account import Account
from ronda.workers.crew import Glimpse
from ronda.workers.states import WorkerState

BUSY = 10  # workers that a live display shows one by one
_RESTING = {WorkerState.IDLE, WorkerState.WAITING, WorkerState.SLEEPING}


def counted(glimpses: tuple[Glimpse, ...]) -> str:
    """How many of each role do what: `fetchers: 96 downloading, 4 waiting`."""
    roles: dict[str, Counter[str]] = {}
    for seen in glimpses:
        roles.setdefault(seen.role, Counter())[seen.state] += 1
    return "; ".join(
        f"{role}s: " + ", ".join(f"{n} {state}" for state, n in states.most_common())
        for role, states in roles.items()
    )


def busiest(glimpses: tuple[Glimpse, ...]) -> list[Glimpse]:
    """Those who have been at one thing for longest."""
    busy = [seen for seen in glimpses if seen.state not in _RESTING]
    return sorted(busy, key=lambda seen: -seen.seconds)[:BUSY]


def line(seen: Glimpse) -> str:
    """One worker on one line."""
    return f"{seen.name:<13}{seen.state:<13}{seen.seconds:8.1f} s  {seen.on}".rstrip()


def view(run: Account) -> Iterator[str]:
    """Everything: each worker, and what the end of the run waits for."""
    glimpses = run.glimpses()
    yield f"{run.done:,} of {run.total:,} checked; {counted(glimpses)}"
    # Who is busy comes last, where it does not scroll away.
    for seen in sorted(glimpses, key=lambda seen: seen.state not in _RESTING):
        yield f"  {line(seen)}"
    for words, number in run.open():
        yield f"  not over: {words}{f': {number:,}' if number else ''}"


@asynccontextmanager
async def told_by_signal(run: Account) -> AsyncIterator[None]:
    """Print the whole crew on standard error at every SIGUSR1."""
    loop = asyncio.get_running_loop()

    def show() -> None:
        sys.stderr.write("\n".join(view(run)) + "\n")
        sys.stderr.flush()

    loop.add_signal_handler(signal.SIGUSR1, show)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGUSR1)
