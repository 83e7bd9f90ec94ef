"""The pace of one politeness key, a host or a server: when it may be asked next."""

from typing import Protocol

# Answers after which the quickest of them says how long the way there and back is,
# and the seconds it may have been held up all the same.
SURE, SLACK = 3, 0.010


class Key(Protocol):
    """What a pace needs of a host or a server."""

    next_at: float
    quickest: float  # seconds of the quickest answer
    answers: int


def answered(key: Key, sent_at: float, now: float, gap: float) -> None:
    """An answer came: the gap counts from when its request can at latest have arrived.

    A request that is held up on its way arrives late, and one that leaves a gap after
    it *left* would arrive too soon after it. What an answer took beyond the quickest
    of its key may have been such a delay; until some answers are known, all of it.
    """
    took = now - sent_at
    if key.answers == 0 or took < key.quickest:
        key.quickest = took
    key.answers += 1
    due = now + gap
    if key.answers > SURE and key.quickest > SLACK:
        due -= key.quickest - SLACK
    key.next_at = max(key.next_at, due)


def adapted(took: float, interval: float, factor: float, ceiling: float) -> float:
    """The gap that a host which took some seconds to answer should have."""
    return max(interval, min(ceiling, factor * took))
