"""The two politeness keys: the name asked for, and the address that answers for it."""

from bisect import bisect_right
from collections import deque
from math import inf
from typing import Any

from ronda.frontier.politeness import Limits
from ronda.model import Target, Visit

NEVER = -inf  # the last start of who was not asked yet
FIRST = -(2**62)  # a rank before every other
NEW = 0  # the rank of what has none of its own

# What is queued: a target not begun, or a visit under way.
Item = Target | Visit
# All of a target but its URL and its host, its rank first.
Kind = tuple[int, tuple[object, ...]]


def is_of(item: Item, url: str) -> bool:
    """Whether an item is the visit of a URL, at whatever hop."""
    return url == (item.target if isinstance(item, Visit) else item).url


class Server:
    """One address: what all the hosts that live on it share."""

    __slots__ = (
        "active",
        "address",
        "answers",
        "crowd",
        "hosts",
        "next_at",
        "parked",
        "quickest",
        "started_at",
        "waking",
    )

    def __init__(self, address: str) -> None:
        self.address = address
        self.hosts = 0  # that live here and have a queue
        self.active = 0
        self.started_at = NEVER
        self.next_at = self.quickest = 0.0
        self.answers = 0
        # Hosts that could be asked but for this server, in the order they came.
        self.parked: deque[Host] | None = None  # an empty deque would cost 600 bytes
        # Hosts that live here too, but have no queue while so many others have.
        self.crowd: dict[str, list[Item]] | None = None
        self.waking = False  # the timetable will look at `parked` at `next_at`


class Host:
    """One queue: the visits that wait for a host, and when it may be asked again."""

    __slots__ = (
        "active",
        "answers",
        "gap",
        "limits",
        "listed",
        "name",
        "next_at",
        "pin",
        "queue",
        "quickest",
        "rule",
        "server",
        "spill",
        "started_at",
        "valid_until",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.pin = ""  # where its connections must go; "" when the name says it
        self.valid_until = 0.0  # of the pin: then the name servers are asked again
        # Visits under way, then targets by rank; short, so pop(0) is cheap.
        self.queue: list[Item] = []
        # What did not fit, none of a lower rank: URLs by what else their targets are,
        # so that one costs next to nothing.
        self.spill: dict[Kind, deque[str]] | None = None
        self.server: Server | None = None
        self.limits: Limits | None = None  # None: the address is not known yet
        self.active = 0
        self.started_at = NEVER
        self.next_at = self.quickest = self.gap = 0.0
        self.answers = 0
        self.rule = "interval"  # why it may not be asked before `next_at`
        # In exactly one of: ready, timetable, a server's `parked`. Guards against
        # standing in two of them, which would hand the host out twice as fast.
        self.listed = False

    def add(self, item: Item, length: int) -> None:
        """Queue an item: one under way before all others, a new one by its rank."""
        queue = self.queue
        if isinstance(item, Visit):
            place = 0
            if _rank(item) == NEW:
                place = bisect_right(queue, NEW, key=_rank)
            queue.insert(place, item)
        elif not queue or _rank(queue[-1]) <= item.rank:
            if len(queue) < length and not self.spill:
                queue.append(item)
            else:
                self._spilled(item).append(item.url)
        else:
            queue.insert(bisect_right(queue, item.rank, key=_rank), item)
            if len(queue) > length and isinstance(last := queue[-1], Target):
                del queue[-1]
                self._spilled(last).appendleft(last.url)

    def _spilled(self, target: Target) -> deque[str]:
        if self.spill is None:
            self.spill = {}
        return self.spill.setdefault(_kind(target), deque())

    def pop(self, length: int) -> Item:
        """The next item; the queue is filled up again from what did not fit."""
        item = self.queue.pop(0)
        if self.spill and len(self.queue) < length:
            self.queue.append(self._refill(self.spill))
        return item

    def _refill(self, spill: dict[Kind, deque[str]]) -> Target:
        kind = min(spill) if len(spill) > 1 else next(iter(spill))
        urls = spill[kind]
        target = self._unfolded(urls.popleft(), kind)
        if not urls:
            del spill[kind]
        return target

    def drain(self) -> list[Item]:
        """All items, which leave the queue."""
        spill = self.spill or {}
        items = list(self.queue)
        for kind in sorted(spill):
            items.extend(self._unfolded(url, kind) for url in spill[kind])
        self.queue, self.spill = [], None
        return items

    @property
    def size(self) -> int:
        """How many items wait."""
        return len(self.queue) + sum(map(len, (self.spill or {}).values()))

    def position(self, url: str) -> int | None:
        """How many items stand before the target of a URL; None when it is not here."""
        for place, item in enumerate(self.queue):
            if is_of(item, url):
                return place
        before = len(self.queue)
        for kind in sorted(self.spill or ()):
            urls = (self.spill or {})[kind]
            if url in urls:
                return before + urls.index(url)
            before += len(urls)
        return None

    @property
    def stays(self) -> bool:
        """Whether it is asked where it is now for as long as it has work."""
        return self.valid_until == inf

    def _unfolded(self, url: str, kind: Kind) -> Target:
        rank, rest = kind
        values: tuple[Any, ...] = (*rest, rank)
        return Target(url, self.name, *values)


def _rank(item: Item) -> int:
    """The order of a queue: whatever is under way comes first.

    A visit of a plan that has not asked for anything yet is as new as a target is.
    """
    if isinstance(item, Target):
        return item.rank
    return FIRST if item.progress is None or item.progress.asked else NEW


_KINDS: dict[Kind, Kind] = {}  # one of each, for there are few


def _kind(target: Target) -> Kind:
    kind = (
        target.rank,
        (
            target.reads,
            target.robots,
            target.public,
            target.depth,
            target.outside,
        ),
    )
    return _KINDS.setdefault(kind, kind)


class Lease:
    """An item handed out until a moment."""

    __slots__ = (
        "asked",
        "ended_at",
        "gap",
        "host",
        "item",
        "last",
        "limits",
        "rests",
        "rule",
        "server",
        "started_at",
        "until",
    )

    def __init__(self, host: Host, item: Item, now: float, until: float) -> None:
        self.host = host
        # As they were: the host may move meanwhile.
        self.server = host.server
        self.limits = host.limits
        self.item = item
        self.started_at = now
        self.until = until
        self.last = not host.queue  # nothing else is queued for this host
        self.gap = 0.0  # seconds that had to pass since the host's last start
        self.rule = ""  # by which
        self.rests = ""  # why nobody is to be asked for it
        self.asked = False  # a request was made
        self.ended_at = 0.0
