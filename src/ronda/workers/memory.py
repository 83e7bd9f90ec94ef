"""What a crawl remembers: written once for each turn of the event loop."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence

from ronda.clock import Clock
from ronda.errors import RondaError
from ronda.frontier import Frontier, Lease
from ronda.frontier.reach import Reach
from ronda.model import Answer, Found, Problem, Result, Target
from ronda.store.crawls import CrawlStore, Known
from ronda.workers.book import Book
from ronda.workers.survey import Survey

BEYOND = "beyond"
_AT = "@"  # before an address, to tell servers from hosts


class Memory:
    """Tells the store, and commits what belongs together."""

    def __init__(self, store: CrawlStore, clock: Clock) -> None:
        self._store = store
        self._loop = asyncio.get_running_loop()
        self._clock = clock
        # Moments are monotonic here, and epoch seconds there.
        self._epoch = clock.epoch() - clock.now()
        self._pending = False
        self.failed: Callable[[RondaError], None] | None = None  # told, not raised at
        self._hosts: set[str] = set()  # that are known to the store
        self.beyond: Counter[str] | None = None  # links not followed, by rule
        self._told = 0  # of them
        self.known = store.known

    def added(self, target: Target) -> None:
        """A target is to be visited."""
        self._store.added(target)
        self._soon()

    def ended(self, result: Result) -> None:
        """A target has its verdict."""
        self._store.ended(result)
        self._soon()

    def links(self, url: str) -> list[Found | Problem]:
        """The links that a page had when it was last read."""
        return [_unpacked(link) for link in self._store.links(url)]

    def page(
        self, url: str, answer: Answer, digest: str, links: Sequence[Found | Problem]
    ) -> None:
        """A page was read."""
        kind = answer.header("content-type").partition(";")[0].strip().lower()
        etag, since = answer.header("etag"), answer.header("last-modified")
        known = Known(etag, since, digest, kind, answer.size)
        self._store.page(url, known, list(map(_packed, links)))
        self._soon()

    def unchanged(self, url: str) -> None:
        """A page was read that is as it was."""
        self._store.unchanged(url)
        self._soon()

    def asking(self, lease: Lease) -> None:
        """A host is about to be asked: known of before, lest nobody ever knew."""
        if lease.host.name not in self._hosts and self._cares(lease):
            self.asked(lease)
            self.commit()

    def asked(self, lease: Lease) -> None:
        """A host was asked; when next is only remembered of those who care."""
        if not self._cares(lease):
            return
        host, server = lease.host, lease.server
        self._hosts.add(host.name)
        self._store.host(host.name, self._epoch + host.next_at, host.gap)
        if server is not None:
            self._store.host(_AT + server.address, self._epoch + server.next_at, 0.0)
        self._soon()

    @staticmethod
    def _cares(lease: Lease) -> bool:
        return lease.limits is not None and lease.limits.paced

    def _soon(self) -> None:
        """Commit once this turn of the event loop is over."""
        if not self._pending:
            self._pending = True
            self._loop.call_soon(self.commit)

    def commit(self) -> None:
        """Write all that was told."""
        self._pending = False
        if self.beyond is not None and self.beyond.total() != self._told:
            self._told = self.beyond.total()
            self._store.remember(BEYOND, dict(self.beyond))
        try:
            self._store.commit()
        except RondaError as error:  # a full disk
            if self.failed is None:
                raise
            self.failed(error)

    def recall_hosts(self, frontier: Frontier) -> None:
        """Tell the frontier whom an earlier process asked, maybe until this moment."""
        now = self._clock.now()
        for name, (next_at, gap) in self._store.hosts().items():
            if name.startswith(_AT):
                frontier.asked_at(name.removeprefix(_AT), now)
            else:
                frontier.asked(name, now, next_at - self._epoch, gap)

    def restore(
        self,
        book: Book,
        survey: Survey | None,
        note: Callable[[Found | Problem], None],
        put: Callable[[Target], None],
        reach: Reach | None,
    ) -> None:
        """Go on where an earlier process was.

        Args:
            book: learns what was recorded.
            survey: learns it too.
            note: told every link of every page that was read.
            put: told every target that has no verdict yet.
            reach: told every page that was let in.
        """
        for url, links in self._store.pages_of_round():
            for found in links:
                note(_unpacked(found))
            known = self._store.known(url)
            if survey is not None and known is not None and known.is_sitemap:
                survey.named(f.url for f in links if f.url and not f.reads)
        for target, _ in self._store.visits():
            if target.reads and reach is not None:
                reach.recall(target.url)
            book.know(target.url)
        # Only when all are known: one that is put may name others, as sitemaps are by
        # a robots.txt.
        for target in self._store.unfinished():
            put(target)
        if self.beyond is not None:
            self.beyond.update(self._store.recall(BEYOND))
        for result in self._store.results():
            book.restore(result)
            if survey is not None:
                survey.restore(result)


def _packed(link: Found | Problem) -> Found:
    """A problem stands among the links as one that leads nowhere."""
    if isinstance(link, Found):
        return link
    return Found("", link.place, reads=link.grave, rel=link.message)


def _unpacked(link: Found) -> Found | Problem:
    return link if link.url else Problem(link.place, link.rel, link.reads)
