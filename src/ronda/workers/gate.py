"""The gate of robots.txt: a host is asked for its rules before its first page."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from heapq import heappop, heappush
from math import inf
from typing import Protocol

from msgspec import Struct

from ronda import urls
from ronda.errors import UrlError
from ronda.frontier import Item
from ronda.frontier.robots import (
    SIZE_LIMIT,
    Access,
    Robots,
    access,
    product_token,
)
from ronda.model import (
    GUARDED,
    RESTING,
    Answer,
    Found,
    Place,
    Request,
    Target,
    Verdict,
    Visit,
)
from ronda.probes import verdict
from ronda.workers.delays import Delays, Heed, unheeded
from ronda.workers.rulebook import Attic, Rulebook
from ronda.workers.visits import target_of

WEB = ("http:", "https:")  # the schemes that have a robots.txt
FILE = "/robots.txt"  # which may always be asked for
DAY = 86_400.0  # seconds that rules are held (RFC 9309, 2.4)
MONTH = 30 * DAY  # seconds that a stored file stands in for one that cannot be had
SITEMAPS = 100  # of one robots.txt that are followed
SOON = 300.0  # seconds after which a robots.txt that could not be had is asked again

# Errors that any page of the host would meet too: names, connections, TLS, our own.
_HOST_FAULTS = frozenset(
    {5, 6, 7, 28, 35, 52, 55, 56, 60, 83, 90, 91, 97, GUARDED, RESTING}
)

# True: go on. False: wait. A verdict: it ends here. An answer: the host's own fault,
# which its pages share.
Passed = bool | Verdict | Answer


class Shelf(Protocol):
    """Where files outlive a run."""

    def get(self, authority: str) -> tuple[bytes, float] | None:
        """The file of an authority, and how many seconds ago it was put there."""

    def put(self, authority: str, body: bytes) -> None:
        """Keep a file."""


class Known(Struct, frozen=True, gc=False):
    """What is known of an authority, and until when."""

    until: float
    instead: Verdict | Answer | None = None  # of rules, which are in the rulebook
    public: bool = False  # asked for a stranger's sake


class Gate:
    """Lets items through, turns them away, or keeps them until the rules are known."""

    def __init__(
        self,
        agent: str,
        shelf: Shelf | None = None,
        heed: Heed = unheeded,
        attic: Attic | None = None,
        named: Callable[[Found], None] | None = None,
    ) -> None:
        self._agent = product_token(agent)
        self._shelf = shelf
        self._named = named  # told the sitemaps that a file names
        self._rulebook = Rulebook({} if attic is None else attic)
        self._delays = Delays(heed)
        # Files are in the rulebook for as long as they are known here.
        self._known: dict[str, Known] = {}
        self._ends: list[tuple[float, str]] = []  # a heap: until when, and whose
        self._waiting: dict[str, list[Item]] = {}
        self.waiting = 0  # items of all authorities

    def check(self, item: Item, now: float) -> Passed | Visit:
        """Whether an item may be asked; a visit is to be asked first."""
        url = asked_url(item)
        authority = urls.authority(url)
        waiting = self._waiting.get(authority)
        if waiting is not None:
            waiting.append(item)
            self.waiting += 1
            return False
        known = self._known.get(authority)
        if known is None or now >= known.until:
            known = self._from_shelf(authority, now)
        if known is None or self._was_for_strangers(known, item):
            self._waiting[authority] = [item]
            self.waiting += 1
            return _question(authority, item)
        return self._judge(authority, known, url)

    def _was_for_strangers(self, known: Known, item: Item) -> bool:
        """What a stranger's link may not ask, the operator's own may."""
        if not known.public or public(item):
            return False
        return isinstance(known.instead, Answer) and known.instead.error == GUARDED

    def _judge(self, authority: str, known: Known, url: str) -> Passed:
        if known.instead is not None:
            return known.instead
        rule = self._rulebook[authority].decide(self._agent, url)
        if rule is None or rule.allow or url == f"{authority}{FILE}":
            return True
        return verdict("robots_disallow", f"Disallow: {urls.shown(rule.text)}")

    def learn(
        self,
        visit: Visit,
        answer: Answer,
        now: float,
        *,
        keep: bool = False,
        public: bool = False,
    ) -> Iterator[tuple[Item, Passed]]:
        """Take in what came back for robots.txt; yields those who waited for it.

        Args:
            visit: the visit that asked for it, after all its redirects.
            answer: the last answer.
            now: the moment.
            keep: put the file on the shelf, for runs to come.
            public: it came from a public address, and may lead to no other.
        """
        authority = visit.target.url.removesuffix(FILE)
        found = _read(answer, redirected=bool(visit.hops))
        if isinstance(found, bytes):
            public = public or visit.request.public
            known = self._adopt(authority, found, now + DAY, public=public)
            if keep and self._shelf is not None and answer.status == 200:
                self._shelf.put(authority, found)
        else:
            known = self._from_shelf(authority, now, stale=True) or self._do_without(
                authority, Known(now + SOON, found, visit.request.public)
            )
        waiting = self._waiting.pop(authority, [])
        self.waiting -= len(waiting)
        for item in waiting:
            again = self._was_for_strangers(known, item)
            yield item, not again and self._judge(authority, known, asked_url(item))

    def _from_shelf(
        self, authority: str, now: float, *, stale: bool = False
    ) -> Known | None:
        """The rules of an earlier run; old ones only where new ones cannot be had."""
        found = self._shelf.get(authority) if self._shelf is not None else None
        if found is None:
            return None
        body, age = found
        if age >= (MONTH if stale else DAY):
            return None
        until = now + (SOON if stale else DAY - age)
        # Nobody knows any more where it came from.
        return self._adopt(authority, body, until, public=True)

    def _adopt(
        self, authority: str, body: bytes, until: float, *, public: bool
    ) -> Known:
        rules = self._rulebook.put(authority, body)
        # Kept while they are asked for anew.
        delay = rules.crawl_delay(self._agent) or 0.0
        self._delays.learn(authority, delay, until + DAY)
        known = self._known[authority] = Known(until)
        heappush(self._ends, (until, authority))
        if self._named is not None:
            for found in _sitemaps(f"{authority}{FILE}", rules, public):
                self._named(found)
        return known

    def _do_without(self, authority: str, known: Known) -> Known:
        self._forget(authority)
        self._known[authority] = known
        heappush(self._ends, (known.until, authority))
        return known

    def _forget(self, authority: str) -> None:
        known = self._known.pop(authority, None)
        if known is not None and known.instead is None:
            del self._rulebook[authority]

    @property
    def ends_at(self) -> float:
        """When the first of what is known was held long enough."""
        return self._ends[0][0] if self._ends else inf

    def ended(self, now: float) -> set[str]:
        """The hosts whose rules have ended: what is queued for them is to come back."""
        self._delays.end(now)
        hosts = set()
        while self._ends and self._ends[0][0] <= now:
            authority = heappop(self._ends)[1]
            hosts.add(urls.host_key(f"{authority}/"))
            known = self._known.get(authority)
            if known is not None and known.until <= now:
                self._forget(authority)
        return hosts

    def dismiss(self, host: str) -> list[Item]:
        """Take back all that waits for a robots.txt of a host."""
        items = []
        for authority in list(self._waiting):
            if urls.host_key(f"{authority}/") == host:
                items += self._waiting.pop(authority)
        self.waiting -= len(items)
        return items

    def keeper(self, url: str) -> str:
        """The host for whose robots.txt a URL waits, maybe after hops; "" if none."""
        for authority, items in self._waiting.items():
            if any(url == target_of(item).url for item in items):
                return urls.host_key(f"{authority}/")
        return ""

    def pending(self, host: str) -> int:
        """How many items wait for a robots.txt of a host."""
        return sum(
            len(items)
            for authority, items in self._waiting.items()
            if urls.host_key(f"{authority}/") == host
        )


def asked_url(item: Item) -> str:
    """The URL that an item will ask for next."""
    return item.url if isinstance(item, Target) else item.request.url


def public(item: Item) -> bool:
    """Whether an item may lead to public addresses only."""
    return item.public if isinstance(item, Target) else item.request.public


def has_robots(item: Item) -> bool:
    """Whether an item is of the web, and not robots.txt itself."""
    return not target_of(item).robots and asked_url(item).startswith(WEB)


def _question(authority: str, item: Item) -> Visit:
    target = Target(f"{authority}{FILE}", urls.host_key(authority + "/"), robots=True)
    # One more than is read of it, so that a last line which was cut is known to be.
    request = Request(
        target.url, "GET", body=SIZE_LIMIT + 1, raw=True, public=public(item)
    )
    return Visit(target, request, target.host)


def _sitemaps(file: str, rules: Robots, public: bool) -> Iterator[Found]:
    for text in rules.sitemaps[:SITEMAPS]:
        with suppress(UrlError):
            url = urls.join(file, text)
            if url.startswith(WEB):
                yield Found(url, Place(file), reads=True, public=public)


def _read(answer: Answer, *, redirected: bool) -> bytes | Verdict | Answer:
    """RFC 9309, 2.3.1: found, not there (as if it were empty), or not to be had."""
    if answer.error in _HOST_FAULTS and not redirected:
        return answer
    match access(answer):
        case Access.FOUND:
            return answer.body
        case Access.UNAVAILABLE:
            return b""
        case Access.UNREACHABLE:
            words = answer.error_text or f"status {answer.status}"
            return verdict("robots_unreachable", words)
