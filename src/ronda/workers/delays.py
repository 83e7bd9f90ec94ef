"""The Crawl-delays that hosts ask for, each for as long as it is to be heeded."""

from collections.abc import Callable
from heapq import heappop, heappush

from ronda import urls

Heed = Callable[[str, float], None]  # told the Crawl-delay of a host; 0: none


def unheeded(_host: str, _delay: float) -> None:
    """Nobody wants to know."""


class Delays:
    """Of the authorities of one host (its ports), the longest delay holds."""

    def __init__(self, heed: Heed) -> None:
        self._heed = heed
        # Host → authority → seconds, and until when; only those that have a delay.
        self._of: dict[str, dict[str, tuple[float, float]]] = {}
        self._ends: list[tuple[float, str]] = []  # a heap: until when, and whose

    def __len__(self) -> int:
        """How many hosts have a delay."""
        return len(self._of)

    def learn(self, authority: str, seconds: float, until: float) -> None:
        """Heed what an authority asks for, to a moment; it may ask for nothing."""
        host = urls.host_key(f"{authority}/")
        if seconds:
            self._of.setdefault(host, {})[authority] = seconds, until
            heappush(self._ends, (until, authority))
            self._tell(host)
        elif authority in self._of.get(host, ()):
            del self._of[host][authority]
            self._tell(host)

    def end(self, now: float) -> None:
        """Forget what was not asked for again."""
        while self._ends and self._ends[0][0] <= now:
            authority = heappop(self._ends)[1]
            host = urls.host_key(f"{authority}/")
            _, until = self._of.get(host, {}).get(authority, (0.0, now + 1))
            if until <= now:
                del self._of[host][authority]
                self._tell(host)

    def _tell(self, host: str) -> None:
        longest = max((seconds for seconds, _ in self._of[host].values()), default=0.0)
        if not longest:
            del self._of[host]
        self._heed(host, longest)
