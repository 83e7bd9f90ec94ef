"""What a crawl remembers: written once for each turn of the event loop."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence

from ronda.clock import Clock
from ronda.errors import RondaError
from ronda.frontier import Frontier, Lease
from ronda.model import Answer, Found, Problem, Result, Target
from ronda.store.crawls import CrawlStore, Known

BEYOND = "beyond"
LONGEST = 1024  # characters of a tag or date that are sent back
_RESTS = -1.0  # in the place of a gap: the host asked for a longer wait than we have
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
        return [unpacked(link) for link in self._store.links(url)]

    def page(
        self, url: str, answer: Answer, digest: str, links: Sequence[Found | Problem]
    ) -> None:
        """A page was read."""
        kind = answer.header("content-type").partition(";")[0].strip().lower()
        # Of a page that was cut, or whose tag no server would take back, the whole is
        # wanted again.
        etag, since = _fit(answer, "etag"), _fit(answer, "last-modified")
        known = Known(etag, since, digest, kind, answer.size)
        self._store.page(url, known, list(map(packed, links)))
        self._soon()

    def unchanged(self, url: str) -> None:
        """A page was read that is as it was."""
        self._store.unchanged(url)
        self._soon()

    def asking(self, lease: Lease) -> None:
        """A host is about to be asked: known of before, lest nobody ever knew."""
        if lease.host.name not in self._hosts and self._cares(lease):
            self.asked(lease, 0.0)
            self.commit()

    def asked(self, lease: Lease, rests: float) -> None:
        """A host was asked; when next is only remembered of those who care.

        Args:
            lease: what was asked.
            rests: the moment to which its host rests; 0 when it does not.
        """
        if not self._cares(lease):
            return
        host, server = lease.host, lease.server
        self._hosts.add(host.name)
        gap = _RESTS if rests else host.gap
        self._store.host(host.name, self._epoch + max(host.next_at, rests), gap)
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
            tell, self.failed = self.failed, _ignored  # once is enough
            tell(error)

    def recall_hosts(self, frontier: Frontier) -> None:
        """Tell the frontier whom an earlier process asked, maybe until this moment."""
        now = self._clock.now()
        for name, (next_at, gap) in self._store.hosts().items():
            if name.startswith(_AT):
                frontier.asked_at(name.removeprefix(_AT), now)
            elif gap != _RESTS:
                frontier.asked(name, now, next_at - self._epoch, gap)
            elif next_at - self._epoch > now:
                frontier.leave_alone(name, next_at - self._epoch)


def _fit(answer: Answer, name: str) -> str:
    value = "" if answer.cut else answer.header(name)
    fits = len(value) <= LONGEST and value.isascii() and value.isprintable()
    return value if fits else ""


def _ignored(_error: RondaError) -> None:
    """It was told already."""


def packed(link: Found | Problem) -> Found:
    """A problem stands among the links as one that leads nowhere."""
    if isinstance(link, Found):
        return link
    return Found("", link.place, reads=link.grave, rel=link.message)


def unpacked(link: Found) -> Found | Problem:
    """A link, or the problem that stands in its place."""
    return link if link.url else Problem(link.place, link.rel, link.reads)
