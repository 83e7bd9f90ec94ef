"""What a crawl remembers: written once for each turn of the event loop."""

import asyncio
from collections.abc import Callable, Sequence

from ronda.clock import Clock
from ronda.frontier import Frontier, Lease
from ronda.model import Answer, Found, Place, Result, Target
from ronda.store.crawls import CrawlStore, Known
from ronda.workers.book import Book


class Memory:
    """Tells the store, and commits what belongs together."""

    def __init__(self, store: CrawlStore, clock: Clock) -> None:
        self._store = store
        self._loop = asyncio.get_running_loop()
        self._clock = clock
        # Moments are monotonic here, and epoch seconds there.
        self._epoch = clock.epoch() - clock.now()
        self._pending = False
        self.known = store.known
        self.links = store.links

    def added(self, target: Target) -> None:
        """A target is to be visited."""
        self._store.added(target)
        self._soon()

    def ended(self, result: Result) -> None:
        """A target has its verdict."""
        self._store.ended(result)
        self._soon()

    def page(
        self, url: str, answer: Answer, digest: str, links: Sequence[Found]
    ) -> None:
        """A page was read."""
        kind = answer.header("content-type").partition(";")[0].strip().lower()
        etag, since = answer.header("etag"), answer.header("last-modified")
        self._store.page(url, Known(etag, since, digest, kind, answer.size), links)
        self._soon()

    def unchanged(self, url: str) -> None:
        """A page was read that is as it was."""
        self._store.unchanged(url)
        self._soon()

    def asked(self, lease: Lease, _now: float) -> None:
        """A host was asked; when next is only remembered of those who care."""
        host, limits = lease.host, lease.limits
        if limits is not None and limits.paced:
            self._store.host(host.name, self._epoch + host.next_at, host.gap)
            self._soon()

    def _soon(self) -> None:
        """Commit once this turn of the event loop is over."""
        if not self._pending:
            self._pending = True
            self._loop.call_soon(self.commit)

    def commit(self) -> None:
        """Write all that was told."""
        self._pending = False
        self._store.commit()

    def restore(
        self, book: Book, frontier: Frontier, put: Callable[[Target], None]
    ) -> int:
        """Go on where an earlier process was; how many targets have their verdict.

        Args:
            book: learns what was found where, and what was recorded.
            frontier: learns whom that process asked, maybe until this moment.
            put: told every target that has no verdict yet.
        """
        now = self._clock.now()
        for name, (next_at, gap) in self._store.hosts().items():
            frontier.asked(name, now, next_at - self._epoch, gap)
        for _, links in self._store.pages_of_round():
            for found in links:
                page, _, fragment = found.url.partition("#")
                book.note(page, fragment, found.place)
        for target, done in self._store.visits():
            if target.url not in book:
                book.note(target.url, "", Place(""))
            if not done:
                put(target)
        count = 0
        for result in self._store.results():
            book.restore(result)
            count += 1
        return count
