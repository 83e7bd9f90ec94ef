"""What many results of one target say together: uptime, latency, changes.

Nobody looks all the time. What a check found is taken to hold until the next one, but
no longer than twice as long as was planned until then: what comes after is unobserved,
and counts neither for nor against. So is what follows a fault of our own.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

from msgspec import Struct

from ronda.model import State

DAY = 86_400.0  # seconds: the pause that is assumed where none was noted
PATIENCE = 2  # pauses after which nobody knows

UP = frozenset({State.OK, State.WARNING})
DOWN = frozenset({State.TEMPORARY, State.BROKEN})
UNJUDGED = frozenset({State.BLOCKED, State.UNSUPPORTED})  # not ours to say


class Seen(Struct, frozen=True, gc=False):
    """What one check found."""

    id: int
    at: float
    state: State
    standing: State  # of the target, after it
    reason: str = ""
    message: str = ""
    status: int = 0
    seconds: float = 0.0  # that the answer took; 0: there was none
    pause: float | None = None  # seconds to the next one, as planned


class Change(Struct, frozen=True):
    """When a state became another."""

    at: float
    was: State
    state: State
    reason: str


class Uptime(Struct, frozen=True):
    """How a window of time was spent, in seconds."""

    percent: float | None  # of what was up or down; None: nothing was
    up: float
    down: float
    unjudged: float  # blocked, or unsupported
    unobserved: float

    @property
    def observed(self) -> float:
        """How much of it somebody knows of."""
        return self.up + self.down + self.unjudged


class Latency(Struct, frozen=True):
    """How long answers took, in seconds: so many of a hundred no longer than this."""

    count: int
    p50: float
    p90: float
    p95: float
    p99: float


def uptime(results: Sequence[Seen], since: float, until: float) -> Uptime:
    """How the time from a moment to another was spent.

    Args:
        results: oldest first; the last before the window counts too.
        since: epoch seconds.
        until: epoch seconds.
    """
    up = down = unjudged = 0.0
    for seen, seconds in _held(results, since, until):
        if seen.standing in UP:
            up += seconds
        elif seen.standing in DOWN:
            down += seconds
        elif seen.standing in UNJUDGED:
            unjudged += seconds
    judged = up + down
    percent = 100 * up / judged if judged else None
    window = max(0.0, until - since)
    rest = max(0.0, window - judged - unjudged)
    return Uptime(percent, up, down, unjudged, rest)


def latency(results: Sequence[Seen]) -> Latency | None:
    """How long answers took; None: there were none."""
    times = sorted(seen.seconds for seen in results if seen.seconds > 0)
    if not times:
        return None
    shares = (50, 90, 95, 99)
    # The least that so many of a hundred do not exceed.
    found = [times[math.ceil(share * len(times) / 100) - 1] for share in shares]
    return Latency(len(times), *found)


def changes(results: Sequence[Seen]) -> list[Change]:
    """When the state became another; results are given oldest first."""
    return [
        Change(seen.at, before.standing, seen.standing, seen.reason)
        for before, seen in pairwise(results)
        if seen.standing is not before.standing
    ]


def _held(
    results: Sequence[Seen], since: float, until: float
) -> Iterator[tuple[Seen, float]]:
    """For how much of a window each result holds."""
    ends = chain((seen.at for seen in results[1:]), (until,))
    for seen, end in zip(results, ends, strict=False):
        if seen.state is State.UNKNOWN:
            continue
        pause = DAY if seen.pause is None else seen.pause
        held_until = min(end, until, seen.at + PATIENCE * pause)
        yield seen, max(0.0, held_until - max(seen.at, since))
