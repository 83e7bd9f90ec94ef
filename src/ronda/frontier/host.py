"""The two politeness keys: the name asked for, and the address that answers for it."""

from collections import deque

from ronda.frontier.politeness import Limits
from ronda.model import Target, Visit

# What is queued: a target not begun, or a visit under way.
Item = Target | Visit


class Server:
    """One address: what all the hosts that live on it share."""

    __slots__ = ("active", "address", "hosts", "next_at", "parked", "waking")

    def __init__(self, address: str) -> None:
        self.address = address
        self.hosts = 0  # that live here and have a queue
        self.active = 0
        self.next_at = 0.0
        # Hosts that could be asked but for this server, in the order they came.
        self.parked: deque[Host] | None = None  # an empty deque would cost 600 bytes
        self.waking = False  # the timetable will look at `parked` at `next_at`


class Host:
    """One queue: the visits that wait for a host, and when it may be asked again."""

    __slots__ = (
        "active",
        "limits",
        "listed",
        "name",
        "next_at",
        "pin",
        "queue",
        "server",
        "spill",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.pin = ""  # where its connections must go; "" when the name says it
        self.queue: list[Item] = []  # short (queue_length), so pop(0) is cheap
        self.spill: deque[Item] | None = None  # what did not fit
        self.server: Server | None = None
        self.limits: Limits | None = None  # None: the address is not known yet
        self.active = 0
        self.next_at = 0.0
        # In exactly one of: ready, timetable, a server's `parked`. Guards against
        # standing in two of them, which would hand the host out twice as fast.
        self.listed = False
