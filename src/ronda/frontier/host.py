"""The two politeness keys: the name asked for, and the address that answers for it."""

from collections import deque
from itertools import chain
from math import inf

from ronda.frontier.politeness import Limits
from ronda.model import Target, Visit

NEVER = -inf  # the last start of who was not asked yet

# What is queued: a target not begun, or a visit under way.
Item = Target | Visit


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
        self.queue: list[Item] = []  # short (queue_length), so pop(0) is cheap
        # What did not fit; of a plain target only its URL, to cost next to nothing.
        self.spill: deque[Item | str] | None = None
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
        """Queue an item: one under way before all others, a new one at the end."""
        if isinstance(item, Visit):
            self.queue.insert(0, item)
        elif len(self.queue) < length:
            self.queue.append(item)
        else:
            if self.spill is None:
                self.spill = deque()
            plain = item == Target(item.url, self.name)
            self.spill.append(item.url if plain else item)

    def pop(self) -> Item:
        """The next item; the queue is filled up again from what did not fit."""
        item = self.queue.pop(0)
        if self.spill:
            self.queue.append(self._unfolded(self.spill.popleft()))
        return item

    def drain(self) -> list[Item]:
        """All items, which leave the queue."""
        items = [*self.queue, *map(self._unfolded, self.spill or ())]
        self.queue, self.spill = [], None
        return items

    @property
    def size(self) -> int:
        """How many items wait."""
        return len(self.queue) + len(self.spill or ())

    def position(self, url: str) -> int | None:
        """How many items stand before the target of a URL; None when it is not here."""
        for place, item in enumerate(chain(self.queue, self.spill or ())):
            if item == url or (not isinstance(item, str) and is_of(item, url)):
                return place
        return None

    @property
    def stays(self) -> bool:
        """Whether it is asked where it is now for as long as it has work."""
        return self.valid_until == inf

    def _unfolded(self, item: Item | str) -> Item:
        return Target(item, self.name) if isinstance(item, str) else item


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
