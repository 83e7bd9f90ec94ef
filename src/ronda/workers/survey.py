"""What a crawl finds out about a site as a whole: its slow, double and lost pages."""

from collections.abc import Callable, Iterable, Mapping
from heapq import heappush, heappushpop

from ronda.model import Answer, Place, Result, Site, Slow, Visit

SLOWEST = 10  # pages that are told
MOST = 200_000  # pages and entries of sitemaps that are compared
GROUPS, GROUP = 100, 20  # groups of equal pages, and pages of one, that are told


class Survey:
    """Told every page that was read."""

    def __init__(self) -> None:
        self._slowest: list[tuple[float, str]] = []
        self._first: dict[bytes, str] = {}  # digest → the first page that has it
        self._equal: dict[str, list[str]] = {}  # that page → all that are equal
        self._named: dict[str, None] = {}  # by sitemaps
        self.pages = 0
        self.unchanged = 0
        self.bytes = 0

    def read(self, visit: Visit, answer: Answer, digest: str) -> None:
        """A page was read."""
        self.unchanged += answer.status == 304
        self._count(visit.request.url, answer.timings.total, digest)

    def restore(self, result: Result) -> None:
        """A page was read before the crawl was interrupted."""
        self.bytes += result.bytes
        if result.digest and "html" in result.media_type:
            self.unchanged += result.status == 304
            url = result.hops[-1].to if result.hops else result.url
            self._count(url, result.timings.total, result.digest)

    def _count(self, url: str, seconds: float, digest: str) -> None:
        self.pages += 1
        slow = seconds, url
        if len(self._slowest) < SLOWEST:
            heappush(self._slowest, slow)
        else:
            heappushpop(self._slowest, slow)
        if digest:
            self._compare(url, bytes.fromhex(digest[:32]))

    def _compare(self, url: str, digest: bytes) -> None:
        if digest not in self._first:
            if len(self._first) < MOST:
                self._first[digest] = url
            return
        first = self._first[digest]
        # Two ways to one page are no two pages.
        if first != url and (first in self._equal or len(self._equal) < GROUPS):
            group = self._equal.setdefault(first, [first])
            if len(group) < GROUP and url not in group:
                group.append(url)

    def named(self, urls: Iterable[str]) -> None:
        """A sitemap names some pages."""
        for url in urls:
            if len(self._named) < MOST:
                self._named[url] = None

    def site(
        self,
        places: Callable[[str], tuple[Place, ...]],
        beyond: Mapping[str, int],
    ) -> Site:
        """The whole, once the run is over.

        Args:
            places: where a URL stands.
            beyond: links that were not followed, by rule.
        """
        orphans = (url for url in self._named if not _is_linked(places(url)))
        slowest = sorted(self._slowest, reverse=True)
        return Site(
            pages=self.pages,
            unchanged=self.unchanged,
            bytes=self.bytes,
            slowest=tuple(Slow(url, seconds) for seconds, url in slowest if seconds),
            duplicates=tuple(tuple(group) for group in self._equal.values()),
            orphans=tuple(orphans),
            beyond=dict(beyond),
        )


def _is_linked(places: tuple[Place, ...]) -> bool:
    """Whether any page has the link: what a sitemap names stands in no element."""
    return any(place.tag or not place.document for place in places)
