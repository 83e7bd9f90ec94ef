"""The frontier: per-host queues, leases, and the earliest moment for each of them.

Synchronous, and `now` is always an argument. Where a host with work stands:

- *unresolved*: its address is not known, so its server cannot be charged yet;
- *ready*: it may be asked now, and hosts take turns;
- *timetable*: a heap of moments at which a host, a server or a delayed visit is due;
- *parked* at its server, which is busy or was asked too lately;
- nowhere, while it has as many requests under way as it may.
"""

from collections import deque
from collections.abc import Callable, Iterator
from heapq import heappop, heappush, nlargest

from ronda.frontier.host import Host, Item, Server
from ronda.frontier.politeness import Limits, literal_address
from ronda.model import Visit

QUEUE_COUNT = 100_000  # host queues held at once
QUEUE_LENGTH = 100  # visits in one of them; the rest spills over
LEASE_SECONDS = 300.0  # silence after which a lease is taken back


class Lease:
    """An item handed out until a moment."""

    __slots__ = ("host", "item", "last", "server", "until")

    def __init__(self, host: Host, item: Item, until: float, last: bool) -> None:
        self.host = host
        self.server = host.server  # as it was: the host may move meanwhile
        self.item = item
        self.until = until
        self.last = last  # nothing else is queued for this host


class Frontier:
    """What waits to be asked, and whom we may ask now."""

    def __init__(
        self,
        limits: Callable[[str, str], Limits],
        *,
        queue_count: int = QUEUE_COUNT,
        queue_length: int = QUEUE_LENGTH,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        self._limits = limits
        self._queue_count = queue_count
        self._queue_length = queue_length
        self._lease_seconds = lease_seconds
        self._hosts: dict[str, Host] = {}
        self._servers: dict[str, Server] = {}
        self._outside: dict[str, deque[Item]] = {}  # hosts that found no queue free
        self._unresolved: deque[Host] = deque()
        self.nameless = 0  # hosts that `unresolved` has still to tell of
        self._ready: deque[Host] = deque()
        self._timetable: list[tuple[float, int, Host | Server | Item]] = []
        self._leases: dict[int, Lease] = {}  # oldest deadline first
        self.silent_at = 0.0  # no lease is overdue before this
        self._serial = 0
        self.queued = 0
        self.leased = 0

    # -- in ----------------------------------------------------------------

    def put(self, item: Item, now: float, delay: float = 0.0) -> None:
        """Queue an item at its host, to be asked no sooner than after a delay.

        A visit under way goes before those not begun, so what is half done stays small.
        """
        self.queued += 1
        if delay > 0:
            self._at(now + delay, item)
        else:
            self._enqueue(item, now)

    def _enqueue(self, item: Item, now: float) -> None:
        name = item.host
        host = self._hosts.get(name)
        if host is None:
            host = self._open(name, item)
            if host is None:
                return
        elif isinstance(item, Visit):
            host.queue.insert(0, item)
        elif len(host.queue) < self._queue_length:
            host.queue.append(item)
        else:
            if host.spill is None:
                host.spill = deque()
            host.spill.append(item)
        if host.limits is not None:
            self._list(host, now)

    def _open(self, name: str, item: Item) -> Host | None:
        """Bind a queue to a host, or leave the item outside when all are taken."""
        if len(self._hosts) >= self._queue_count:
            self._outside.setdefault(name, deque()).append(item)
            return None
        host = self._hosts[name] = Host(name)
        host.queue.append(item)
        address = literal_address(name)
        if address or ":" in name or not name:  # a class such as "mx:…" has no server
            self._settle(host, address)
        else:
            self._unresolved.append(host)
            self.nameless += 1
        return host

    # -- addresses -----------------------------------------------------------

    def unresolved(self) -> Iterator[str]:
        """The hosts whose address must be found before they can be asked; each once.

        Any `put`, `take` or `done` may open a queue and so add to them.
        """
        while self._unresolved:
            self.nameless -= 1
            yield self._unresolved.popleft().name

    def resolved(self, name: str, address: str, now: float) -> None:
        """Tell a host's address; "" when it has none, so that its visits can end."""
        host = self._hosts.get(name)
        if host is not None and host.limits is None:
            host.pin = address
            self._settle(host, address)
            self._list(host, now)

    def moved(self, name: str, address: str) -> None:
        """Ask a host at another of its addresses from now on."""
        host = self._hosts.get(name)
        if host is None:
            return
        if host.server is not None:
            host.server.hosts -= 1
        host.pin = address
        self._settle(host, address)

    def _settle(self, host: Host, address: str) -> None:
        host.limits = self._limits(host.name, address)
        if address:
            host.server = self._servers.get(address)
            if host.server is None:
                host.server = self._servers[address] = Server(address)
            host.server.hosts += 1

    # -- out -----------------------------------------------------------------

    def take(self, now: float) -> tuple[int, Lease] | None:
        """The next lease and its TRANS id, or None when nobody may be asked now."""
        if self._timetable and self._timetable[0][0] <= now:
            self._wake(now)
        if now >= self.silent_at:
            self._take_back(now)
        ready = self._ready
        while ready:
            host = ready.popleft()
            if host.next_at > now:  # held since it was listed
                self._at(host.next_at, host)
                if host.server is not None and not host.server.waking:
                    self._unpark(host.server, now)  # its turn goes to a neighbour
            elif host.server is None or self._free(host.server, host, now):
                return self._lease(host, now)
        return None

    def _free(self, server: Server, host: Host, now: float) -> bool:
        """Whether a server may be asked; if not, the host is parked there."""
        assert host.limits is not None  # noqa: S101  # only resolved hosts are listed
        busy = server.active >= host.limits.per_server
        if not busy and server.next_at <= now:
            return True
        if server.parked is None:
            server.parked = deque()
        server.parked.append(host)
        if not busy and not server.waking:  # else the next `done` lets it go on
            server.waking = True
            self._at(server.next_at, server)
        return False

    def _lease(self, host: Host, now: float) -> tuple[int, Lease]:
        limits, server = host.limits, host.server
        assert limits is not None  # noqa: S101  # only resolved hosts are listed
        item = host.queue.pop(0)
        if host.spill:
            host.queue.append(host.spill.popleft())
        host.active += 1
        host.next_at = now + limits.interval
        if server is not None:
            server.active += 1
            server.next_at = now + limits.server_interval
            if server.parked and not server.waking:
                self._unpark(server, now)
        host.listed = False
        self._list(host, now)
        self.queued -= 1
        self.leased += 1
        self._serial += 1
        lease = Lease(host, item, now + self._lease_seconds, not host.queue)
        self._leases[self._serial] = lease
        return self._serial, lease

    # -- back ------------------------------------------------------------------

    def working(self, trans: int, now: float) -> bool:
        """Keep a lease alive; False when it was taken back already."""
        lease = self._leases.pop(trans, None)
        if lease is None:
            return False
        lease.until = now + self._lease_seconds
        self._leases[trans] = lease  # at the end: deadlines stay in order
        return True

    def done(self, trans: int, now: float) -> bool:
        """End a lease; False when it was taken back, so its answer comes too late."""
        lease = self._leases.pop(trans, None)
        if lease is None:
            return False
        self.leased -= 1
        host, server = lease.host, lease.server
        host.active -= 1
        if server is not None:
            server.active -= 1
            if server.parked and not server.waking:
                self._unpark(server, now)
        if host.queue:
            self._list(host, now)
        elif not host.active:
            self._close(host, now)
        return True

    def hold(self, name: str, until: float) -> None:
        """Let a host rest until a moment (Retry-After, 429)."""
        host = self._hosts.get(name)
        if host is not None and until > host.next_at:
            host.next_at = until

    def _take_back(self, now: float) -> None:
        while self._leases:
            trans = next(iter(self._leases))
            lease = self._leases[trans]
            if lease.until > now:
                self.silent_at = lease.until
                return
            lease.host.queue.insert(0, lease.item)
            self.queued += 1
            self.done(trans, now)
        self.silent_at = now + self._lease_seconds  # of any lease yet to be given

    # -- where a host stands ---------------------------------------------------

    def _list(self, host: Host, now: float) -> None:
        """Let a host stand where it belongs, if it has work and may have more of it."""
        assert host.limits is not None  # noqa: S101  # only resolved hosts get here
        if host.listed or not host.queue or host.active >= host.limits.per_host:
            return
        host.listed = True
        if host.next_at <= now:
            self._ready.append(host)
        else:
            self._at(host.next_at, host)

    def _at(self, moment: float, what: Host | Server | Item) -> None:
        self._serial += 1
        heappush(self._timetable, (moment, self._serial, what))

    def _wake(self, now: float) -> None:
        timetable = self._timetable
        while timetable and timetable[0][0] <= now:
            _, _, what = heappop(timetable)
            if isinstance(what, Server):
                what.waking = False
                self._unpark(what, now)
                self._forget(what, now)
            elif not isinstance(what, Host):
                self._enqueue(what, now)
            elif what.queue:
                self._ready.append(what)
            else:
                what.listed = False
                self._close(what, now)

    def _unpark(self, server: Server, now: float) -> None:
        """Let one parked host try again, when the server may next be asked."""
        if not server.parked:
            return
        if server.next_at > now:
            server.waking = True
            self._at(server.next_at, server)
        else:
            self._ready.append(server.parked.popleft())

    def _close(self, host: Host, now: float) -> None:
        """Free the queue of an idle host, once there is nothing to remember of it."""
        if host.active or host.listed:
            return
        if host.next_at > now:
            host.listed = True
            self._at(host.next_at, host)
            return
        del self._hosts[host.name]
        if host.server is not None:
            host.server.hosts -= 1
            self._forget(host.server, now)
        if self._outside:
            self._admit(now)

    def _forget(self, server: Server, now: float) -> None:
        """Drop a server that nobody lives on, once its gap is over."""
        if server.hosts:
            return
        if server.next_at <= now:
            self._servers.pop(server.address, None)
        elif not server.waking:
            server.waking = True
            self._at(server.next_at, server)

    def _admit(self, now: float) -> None:
        """Give a free queue to the host that has waited longest outside."""
        name = next(iter(self._outside))
        for item in self._outside.pop(name):
            self._enqueue(item, now)

    # -- questions ---------------------------------------------------------------

    @property
    def idle(self) -> bool:
        """Nothing is queued and nothing is leased."""
        return not self.queued and not self.leased

    @property
    def ready(self) -> bool:
        """A `take` may well have something now."""
        return bool(self._ready)

    def next_at(self) -> float | None:
        """The moment at which `take` may have something new without any other call."""
        moments = [self._timetable[0][0]] if self._timetable else []
        if self._leases:
            moments.append(next(iter(self._leases.values())).until)
        return min(moments, default=None)

    def waiting(self, count: int) -> list[tuple[str, int]]:
        """The hosts with the longest queues, and how long these are."""
        sizes = (
            (len(h.queue) + len(h.spill or ()), name) for name, h in self._hosts.items()
        )
        return [(name, size) for size, name in nlargest(count, sizes) if size]
