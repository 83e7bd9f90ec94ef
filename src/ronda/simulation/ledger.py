"""Knows of every URL whether there is a reason to ask for it, and who waits for it."""

from collections import Counter
from collections.abc import Callable, Iterable

from ronda.model import Answer, Request
from ronda.probes.http import REDIRECTS
from ronda.simulation.fates import ROBOTS

MOST = 20  # mistakes that are told
SOON = 300.0  # seconds after which a robots.txt may be asked for again
_LASTING = frozenset({401, 403, 404, 405, 410})  # a GET that says so is believed


class Ledger:
    """Every request needs a reason: a list, a link, a redirect, a fault before it."""

    def __init__(self, read: Callable[[str], bool] = lambda _: True) -> None:
        self._read = read  # whether the links of a page that goes out must be read
        self.wanted: set[str] = set()  # URLs that must have a verdict
        self.allowed: set[str] = set()  # and those that may
        self.asked: Counter[str] = Counter()
        self.broken: list[str] = []
        self._reasons: Counter[str] = Counter()
        self._robots: dict[str, float] = {}  # when each was asked for last

    def want(self, url: str) -> None:
        """A URL was named; once is enough."""
        if url not in self.wanted:
            self.wanted.add(url)
            self._reasons[url] += 1

    def read(self, page: str, links: Iterable[str]) -> None:
        """A page went out, with its links."""
        for link in links:
            if self._read(page):
                self.want(link)
            elif link not in self.allowed:
                self.allowed.add(link)
                self._reasons[link] += 1

    def ask(self, request: Request, now: float) -> None:
        """A request comes in."""
        url = request.url
        self.asked[url] += 1
        if url.endswith(ROBOTS):
            if now - self._robots.get(url, now - SOON) >= SOON:
                self._reasons[url] += 1
            self._robots[url] = now
        self._reasons[url] -= 1
        if self._reasons[url] < 0 and len(self.broken) < MOST:
            self.broken.append(
                f"at {now:.3f}: {request.method} {url} for the "
                f"{self.asked[url]}. time, without a reason"
            )

    def answered(self, request: Request, answer: Answer, there: str) -> None:
        """An answer went out, which may be a reason to ask again.

        Args:
            request: what was asked.
            answer: what is said.
            there: where it redirects to, if it does.
        """
        if answer.status in REDIRECTS:
            self._reasons[there] += 1
        elif answer.error or (answer.status >= 400 and not _believed(request, answer)):
            self._reasons[request.url] += 1

    def failed(self, url: str) -> None:
        """There was no answer: somebody will ask again."""
        self._reasons[url] += 1


def _believed(request: Request, answer: Answer) -> bool:
    return request.method == "GET" and answer.status in _LASTING
