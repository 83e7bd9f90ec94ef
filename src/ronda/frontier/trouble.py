"""Hosts that turn us away or cannot be reached: who is left alone, for how long."""

from random import Random

from ronda.frontier.politeness import Limits

FIRST_WAIT = 1.0  # seconds after the first 429 or 503 that names no time
JITTER = 0.25  # of a wait, at most, is added to it
LONGEST_REST = 3600.0  # seconds
DAY = 86_400.0  # nobody is remembered for longer
MOST = 100_000  # hosts that are remembered


class Trouble:
    """What one host did to us."""

    __slots__ = ("failures", "rests", "rule", "strikes", "until", "words")

    def __init__(self) -> None:
        self.strikes = 0  # answers in a row that asked us to slow down
        self.failures = 0  # connections in a row that failed
        self.rests = 0  # times in a row it was left alone
        self.until = 0.0  # it rests to this moment
        self.rule = ""
        self.words = ""


class Troubles:
    """All hosts that misbehave; one that behaves again is forgotten."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._of: dict[str, Trouble] = {}

    def __bool__(self) -> bool:
        return bool(self._of)

    def throttled(self, name: str, asked: float, limits: Limits, now: float) -> float:
        """The seconds a host is held after it asked us to slow down.

        The wait doubles with each such answer in a row. A host that asks for more than
        we wait rests instead, and 0 is returned.
        """
        trouble = self._trouble(name)
        trouble.strikes += 1
        if asked > limits.max_wait:
            trouble.until = max(trouble.until, now + min(asked, DAY))
            trouble.rule = "retry-after"
            trouble.words = f"it asks us to wait {asked:,.0f} s"
            return 0.0
        least = FIRST_WAIT * 2 ** min(trouble.strikes - 1, 20) if limits.patient else 0
        wait = max(asked, min(least, limits.max_wait))
        return wait * (1 + JITTER * self._random.random())

    def failed(self, name: str, limits: Limits, now: float, words: str) -> bool:
        """Count a connection that failed; True when the host rests from now on."""
        trouble = self._trouble(name)
        if trouble.until > now:  # asked before its rest: that says nothing new
            return True
        trouble.failures += 1
        if trouble.failures < limits.failures_to_rest:
            return False
        rest = min(limits.rest * 2 ** min(trouble.rests, 20), LONGEST_REST)
        trouble.rests += 1
        trouble.until = now + rest
        trouble.rule = "circuit"
        count = trouble.failures
        failed = (
            f"{count} connections failed in a row" if count > 1 else "no connection"
        )
        trouble.words = f"{failed}, {words}; left alone for {rest:,.0f} s"
        return True

    def left_alone(self, name: str, until: float) -> None:
        """A host asked an earlier process to wait for longer than we do."""
        trouble = self._trouble(name)
        trouble.until = until
        trouble.rule = "retry-after"
        trouble.words = "it asked us to wait, at an earlier time"

    def _trouble(self, name: str) -> Trouble:
        """What is known of a host; of too many, the oldest is forgotten."""
        if name not in self._of and len(self._of) >= MOST:
            del self._of[next(iter(self._of))]
        return self._of.setdefault(name, Trouble())

    def resting(self, name: str, now: float) -> Trouble | None:
        """The trouble of a host that rests now. After its rest, one try decides."""
        trouble = self._of.get(name)
        return trouble if trouble is not None and trouble.until > now else None

    def recovered(self, name: str, now: float, *, throttled: bool) -> None:
        """A host was reached: its failures are forgotten, and then that it throttled.

        Not while it rests: what is answered then was asked before.
        """
        trouble = self._of.get(name)
        if trouble is None or trouble.until > now:
            return
        trouble.failures = trouble.rests = 0
        if not throttled:
            del self._of[name]
