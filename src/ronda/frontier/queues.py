"""The frontier: per-host queues, leases, and the earliest moment for each of them.

Synchronous, and `now` is always an argument. Where a host with work stands:

- *unresolved*: its address is not known, so its server cannot be charged yet;
- *ready*: it may be asked now, and hosts take turns;
- *timetable*: a heap of moments at which a host, a server or a delayed visit is due;
- *parked* at its server, which is busy or was asked too lately;
- *outside*, or in its server's *crowd*: no queue is free for it;
- nowhere, while it has as many requests under way as it may.

What waits for a host that rests is handed out at once, to be told so.
"""

from collections import deque
from collections.abc import Callable, Iterator
from heapq import nlargest
from math import inf
from random import Random

from msgspec.structs import replace

from ronda import config
from ronda.frontier import leases
from ronda.frontier.homes import Homes
from ronda.frontier.host import NEVER, Host, Item, Lease, Server, is_of
from ronda.frontier.leases import Leases
from ronda.frontier.pace import adapted, answered
from ronda.frontier.politeness import Limits
from ronda.frontier.trouble import Troubles
from ronda.frontier.turns import Turns
from ronda.frontier.wait import Wait, standing

DEFAULTS = config.Frontier()


class Frontier:
    """What waits to be asked, and whom we may ask now."""

    def __init__(
        self,
        limits: Callable[[str, str], Limits],
        settings: config.Frontier = DEFAULTS,
        *,
        longest: float = 0.0,
        random: Random | None = None,
        lease_seconds: float = leases.SECONDS,
        asks_leave: bool = False,
    ) -> None:
        self._settings = settings
        self._turns = Turns()
        self._homes = Homes(
            limits,
            settings,
            self._turns,
            longest,
            self._enqueue,
            self._rest,
            asks_leave=asks_leave,
        )
        self._hosts = self._homes.hosts
        self._resting: deque[tuple[Item, str]] = deque()  # with why nobody is asked
        self._troubles = Troubles(random or Random())  # noqa: S311  # jitter
        self._leases = Leases(lease_seconds)
        self.queued = 0

    # -- in ----------------------------------------------------------------

    def put(self, item: Item, now: float, delay: float = 0.0) -> None:
        """Queue an item at its host, to be asked no sooner than after a delay.

        A visit under way goes before those not begun, so what is half done stays small.
        """
        self.queued += 1
        if delay > 0:
            self._turns.at(now + delay, item)
        else:
            self._enqueue(item, now)

    def _enqueue(self, item: Item, now: float) -> None:
        if self._troubles:
            trouble = self._troubles.resting(item.host, now)
            if trouble is not None:
                self._resting.append((item, trouble.words))
                return
        host = self._hosts.get(item.host)
        if host is None:
            self._homes.open(item, now)
        else:
            host.add(item, self._settings.queue_length)
            if host.limits is not None:
                self._turns.line_up(host, now)
            elif self._homes.dismissed:
                self._homes.call_back(host)

    # -- addresses -----------------------------------------------------------

    @property
    def nameless(self) -> int:
        """How many hosts `unresolved` has still to tell of."""
        return len(self._homes.strangers)

    def unresolved(self) -> Iterator[str]:
        """The hosts whose address must be found before they can be asked; each once.

        Any `put`, `take` or `done` may open a queue and so add to them.
        """
        return self._homes.unresolved()

    def resolved(self, name: str, address: str, now: float, until: float = inf) -> None:
        """Tell a host's address, which holds until a moment; "" when it has none."""
        self._homes.resolved(name, address, now, until)

    def moved(self, name: str, address: str, now: float) -> None:
        """Ask a host at another of its addresses from now on."""
        self._homes.moved(name, address, now)

    def limit(self, name: str, now: float) -> None:
        """Take new limits for a host: what it asks of robots has become known."""
        self._homes.limit(name, now)

    def expire(self, name: str, now: float) -> None:
        """Have the address of a host looked for again before it is asked."""
        host = self._hosts.get(name)
        if host is not None:
            host.valid_until = min(host.valid_until, now)

    def dismiss(self, name: str, now: float) -> list[Item]:
        """Take back all that is queued for a host that another process must ask."""
        items = self._homes.dismiss(name, now)
        self.queued -= len(items)
        return items

    def let_go(self, name: str) -> None:
        """Forget what was told of a host that may be another process's from now on."""
        self._homes.let_go(name)

    def lives(self, address: str) -> bool:
        """Whether anything is queued, under way or remembered of a server."""
        return address in self._homes.servers

    def asked(self, name: str, asked_at: float, next_at: float, gap: float) -> None:
        """Tell of a host that another process asked.

        Args:
            name: the host.
            asked_at: the moment, at latest, from which its gaps count.
            next_at: the moment before which it is not to be asked.
            gap: seconds to which its gap had grown.
        """
        self._homes.asked(name, asked_at, next_at, gap)

    def rests_until(self, name: str, now: float) -> float:
        """The moment to which a host rests; 0 when it does not."""
        trouble = self._troubles.resting(name, now) if self._troubles else None
        return trouble.until if trouble is not None else 0.0

    def leave_alone(self, name: str, until: float) -> None:
        """Tell of a host that rests since an earlier process asked it."""
        self._troubles.left_alone(name, until)

    def asked_at(
        self, address: str, moment: float, next_at: float = 0.0, now: float = 0.0
    ) -> None:
        """Tell of a server that another process asked, and when it may be next."""
        server = self._homes.server(address)
        server.started_at = max(server.started_at, moment)
        server.next_at = max(server.next_at, next_at)
        self._homes.forget_later(server, now or moment)

    # -- out -----------------------------------------------------------------

    def take(self, now: float) -> tuple[int, Lease] | None:
        """The next lease and its TRANS id, or None when nobody may be asked now."""
        timetable = self._turns.timetable
        if timetable and timetable[0][0] <= now:
            self._wake(now)
        if now >= self._leases.silent_at:
            self._take_back(now)
        if self._resting:
            return self._tell(now)
        ready = self._turns.ready
        while ready:
            host = ready.popleft()
            if host.queue and host.next_at <= now < host.valid_until:
                if host.server is None or self._free(host.server, host, now):
                    return self._lease(host, now)
            else:
                self._step_back(host, now)
        return None

    def _step_back(self, host: Host, now: float) -> None:
        """Three cases since a host was listed: it rests, is held, or lost its address.

        Its turn at the server goes to a neighbour.
        """
        self._turns.pass_on(host.server, now)
        if not host.queue:
            host.listed = False
            self._homes.close(host, now)
        elif host.next_at > now:
            self._turns.at(host.next_at, host)
        else:
            self._homes.lose(host, now)

    def _free(self, server: Server, host: Host, now: float) -> bool:
        """Whether a server may be asked; if not, the host is parked there."""
        assert host.limits is not None  # noqa: S101  # only resolved hosts are listed
        busy = server.active >= host.limits.per_server
        if busy or server.next_at > now:
            self._turns.park(host, server, busy)
            return False
        # The neighbour who was last may have had less of a gap to keep.
        due = server.started_at + host.limits.server_interval
        if due > now:
            self._turns.at(due, host)
            self._turns.pass_on(server, now)
            return False
        return True

    def _lease(self, host: Host, now: float) -> tuple[int, Lease]:
        limits, server = host.limits, host.server
        assert limits is not None  # noqa: S101  # only resolved hosts are listed
        given = self._leases.give(host, host.pop(self._settings.queue_length), now)
        lease = given[1]
        lease.last = not host.queue
        if host.next_at > host.started_at > NEVER:
            lease.gap, lease.rule = host.next_at - host.started_at, host.rule
        host.active += 1
        host.started_at = now
        if limits.paced:
            host.next_at = now + max(limits.interval, host.gap)
            host.rule = "adaptive" if host.gap > limits.interval else limits.rule
        if server is not None:
            server.active += 1
            server.started_at = now
            if limits.paced:
                server.next_at = now + limits.server_interval
            if server.parked:
                self._turns.pass_on(server, now)
        host.listed = False
        self._turns.line_up(host, now)
        self.queued -= 1
        return given

    def _tell(self, now: float) -> tuple[int, Lease]:
        """A lease on which nobody is asked: its host rests."""
        item, words = self._resting.popleft()
        given = self._leases.give(Host(item.host), item, now)
        given[1].rests = words
        self.queued -= 1
        return given

    # -- back ------------------------------------------------------------------

    def working(self, trans: int, now: float) -> bool:
        """Keep a lease alive; False when it was taken back already."""
        return self._leases.working(trans, now)

    def holds(self, trans: int) -> bool:
        """Whether a lease was not taken back."""
        return self._leases.of(trans) is not None

    def done(self, trans: int, now: float, sent_at: float = 0.0) -> bool:
        """End a lease; False when it was taken back, so its answer comes too late.

        Args:
            trans: the lease.
            now: the moment at which its answer came.
            sent_at: the moment at which its request left; 0 when it is not known.
        """
        lease = self._leases.end(trans)
        if lease is None:
            return False
        if lease.rests:
            return True
        host, server, limits = lease.host, lease.server, lease.limits
        host.active -= 1
        if limits is not None and limits.paced:
            _keep_pace(lease, limits, max(lease.started_at, sent_at), now)
        if server is not None:
            server.active -= 1
            if server.parked:
                self._turns.pass_on(server, now)
            if not server.hosts:
                self._homes.forget(server, now)
        if not host.queue:
            self._homes.close(host, now)
        elif host.limits is not None:
            self._turns.line_up(host, now)
        return True

    def throttled(self, trans: int, asked: float, now: float) -> bool:
        """A host asked us to slow down (429, 503); True when it rests from now on.

        Args:
            trans: the lease whose answer said so, not done yet.
            asked: the seconds it named; 0 when it named none.
            now: the moment.
        """
        lease = self._leases.of(trans)
        if lease is None or lease.limits is None:
            return False
        host = lease.host
        wait = self._troubles.throttled(host.name, asked, lease.limits, now)
        if self._rest(host.name, now):
            return True
        if now + wait > host.next_at:
            host.next_at = now + wait
            host.rule = "retry-after" if asked else "backoff"
        return False

    def failed(self, trans: int, words: str, now: float) -> bool:
        """A connection failed; True when its host rests from now on."""
        lease = self._leases.of(trans)
        if lease is None or lease.limits is None:
            return False
        name = lease.host.name
        if self._troubles.failed(name, lease.limits, now, words):
            self._rest(name, now)
            return True
        return False

    @property
    def troubled(self) -> bool:
        """Whether any host throttles us, or could not be reached."""
        return bool(self._troubles)

    def reached(self, name: str, now: float, *, throttled: bool = False) -> None:
        """A host answered: what held it up is forgotten."""
        if self._troubles:
            self._troubles.recovered(name, now, throttled=throttled)

    def _rest(self, name: str, now: float) -> bool:
        """Hand out all that waits for a host that rests, to be told so."""
        trouble = self._troubles.resting(name, now) if self._troubles else None
        if trouble is None:
            return False
        host = self._hosts.get(name)
        waiting = [*(host.drain() if host else ()), *self._homes.outside.pop(name, ())]
        self._resting.extend((item, trouble.words) for item in waiting)
        return True

    def _take_back(self, now: float) -> None:
        for trans, lease in self._leases.silent(now):
            self._return(trans, lease, now)

    def give_back(self, trans: int, now: float) -> bool:
        """Queue again what was handed out; False when it was taken back already."""
        lease = self._leases.of(trans)
        if lease is not None:
            self._return(trans, lease, now)
        return lease is not None

    def _return(self, trans: int, lease: Lease, now: float) -> None:
        self.queued += 1
        if lease.rests:
            self._resting.append((lease.item, lease.rests))
        else:
            lease.host.queue.insert(0, lease.item)
            self._rest(lease.host.name, now)
        self.done(trans, now)

    def _wake(self, now: float) -> None:
        for what in self._turns.due(now):
            if isinstance(what, Server):
                what.waking = False
                self._turns.pass_on(what, now)
                self._homes.forget(what, now)
            elif not isinstance(what, Host):
                self._enqueue(what, now)
            elif what.queue:
                self._turns.ready.append(what)
            else:
                what.listed = False
                self._homes.close(what, now)

    # -- questions ---------------------------------------------------------------

    @property
    def leased(self) -> int:
        """How many leases are under way."""
        return len(self._leases)

    @property
    def silent_at(self) -> float:
        """The moment before which no lease is overdue."""
        return self._leases.silent_at

    @property
    def room(self) -> int:
        """How many items may still be queued before memory is full."""
        return self._settings.capacity - self.queued

    @property
    def idle(self) -> bool:
        """Nothing is queued and nothing is leased."""
        return not self.queued and not self._leases

    @property
    def ready(self) -> bool:
        """A `take` may well have something now."""
        return bool(self._turns.ready or self._resting)

    def next_at(self) -> float | None:
        """The moment at which `take` may have something new without any other call."""
        moments = (self._turns.next_at(), self._leases.next_at())
        return min((moment for moment in moments if moment is not None), default=None)

    def waiting(self, count: int) -> list[tuple[str, int]]:
        """The hosts with the longest queues, and how long these are."""
        sizes = ((host.size, name) for name, host in self._hosts.items())
        return [(name, size) for size, name in nlargest(count, sizes) if size]

    def recall(self, name: str) -> list[Item]:
        """Take back all that is queued for a host."""
        host = self._hosts.get(name)
        items = host.drain() if host is not None else []
        self.queued -= len(items)
        return items

    def whereabouts(self, url: str, now: float) -> Wait | None:
        """What the visit of a URL waits for, wherever its hops have led it.

        It looks everywhere: made for people who ask now and then.
        """
        for lease in self._leases:
            if is_of(lease.item, url):
                return Wait(lease.host.name, "asked")
        for moment, _, what in self._turns.timetable:
            if not isinstance(what, Host | Server) and is_of(what, url):
                return Wait(what.host, "retry", seconds=max(0.0, moment - now))
        for host in self._hosts.values():
            place = host.position(url)
            if place is not None:
                return replace(standing(host, now), detail=f"{place:,} before it")
        return self._homes.whereabouts(url)

    def why(self, name: str, now: float) -> Wait | None:
        """What a host waits for; None when nothing is queued or under way for it."""
        trouble = self._troubles.resting(name, now)
        if trouble is not None:
            left = trouble.until - now
            return Wait(name, trouble.rule, seconds=left, detail=trouble.words)
        host = self._hosts.get(name)
        if host is not None and (host.queue or host.active):
            return standing(host, now)
        without_queue = self._homes.left_out(name)
        if without_queue is not None:
            return without_queue
        delayed = self._turns.delayed(name)
        if not delayed:
            return None
        return Wait(name, "retry", seconds=min(delayed) - now, queued=len(delayed))


def _keep_pace(lease: Lease, limits: Limits, sent_at: float, now: float) -> None:
    """Learn from how long an answer took when the next may be asked for."""
    host = lease.host
    if limits.interval > 0:
        answered(host, sent_at, now, limits.interval)
    if limits.factor > 0:
        took = now - lease.started_at
        host.gap = adapted(took, limits.interval, limits.factor, limits.ceiling)
        if host.started_at + host.gap > host.next_at:
            host.next_at = host.started_at + host.gap
            host.rule = "adaptive"
    if lease.server is not None and limits.server_interval > 0:
        answered(lease.server, sent_at, now, limits.server_interval)
