"""Who has a queue, and where they live: hosts and servers that come and go."""

from collections import deque
from collections.abc import Callable, Iterator
from itertools import chain
from math import inf

from ronda import config, networks
from ronda.frontier.host import NEVER, Host, Item, Server, is_of
from ronda.frontier.politeness import Limits
from ronda.frontier.turns import Turns
from ronda.frontier.wait import Wait

CROWD_SECONDS = 300.0  # that the address of a host from a crowd is taken for known


class Homes:
    """Binds hosts to queues and to the servers they live on, and lets go of both."""

    def __init__(
        self,
        limits: Callable[[str, str], Limits],
        settings: config.Frontier,
        turns: Turns,
        longest: float,
        enqueue: Callable[[Item, float], None],
        rest: Callable[[str, float], bool],
        *,
        asks_leave: bool,
    ) -> None:
        self._limits = limits
        self._settings = settings
        self._turns = turns
        self._longest = longest  # gap that anybody may have to keep at a server
        self._enqueue = enqueue
        self._rest = rest
        self._asks_leave = asks_leave  # even an address is asked for first
        self.hosts: dict[str, Host] = {}
        self.servers: dict[str, Server] = {}
        self.outside: dict[str, deque[Item]] = {}  # hosts that found no queue free
        self.strangers: deque[Host] = deque()  # whose address is not looked for yet
        self.dismissed: set[str] = set()  # hosts of others, with requests under way
        # Hosts that another process asked: when, when next, with which gap.
        self.earlier: dict[str, tuple[float, float, float]] = {}

    def open(self, item: Item, now: float) -> None:
        """Bind a queue to a host, or leave the item outside when all are taken."""
        name = item.host
        if len(self.hosts) >= self._settings.queue_count:
            self.outside.setdefault(name, deque()).append(item)
            return
        host = self.hosts[name] = Host(name)
        host.queue.append(item)
        address = networks.literal(name)
        literal = bool(address) and not self._asks_leave
        if literal or ":" in name or not name:  # a class such as "mx:…" has no server
            host.valid_until = inf
            self._settle(host, address)
            self._turns.line_up(host, now)
        else:
            self.strangers.append(host)

    def unresolved(self) -> Iterator[str]:
        """The hosts whose address must be found before they can be asked; each once.

        Any `put`, `take` or `done` may open a queue and so add to them.
        """
        while self.strangers:
            yield self.strangers.popleft().name

    def resolved(self, name: str, address: str, now: float, until: float = inf) -> None:
        """Tell a host's address; "" when it has none, so that its visits can end.

        Args:
            name: the host.
            address: where its connections go from now on.
            now: the moment.
            until: the moment to which that holds.
        """
        host = self.hosts.get(name)
        if host is None or host.limits is not None:
            return
        server = self.servers.get(networks.short(address))
        most = self._settings.hosts_per_server
        idle = not host.active and host.next_at <= now  # nothing to remember of it
        if server is not None and server.hosts >= most and idle:
            self._crowd(host, server, now)
            return
        host.pin = "" if networks.literal(name) else address
        host.valid_until = max(until, now + 1)
        self._settle(host, address)
        self._turns.line_up(host, now)
        self.close(host, now)

    def moved(self, name: str, address: str, now: float) -> None:
        """Ask a host at another of its addresses from now on."""
        host = self.hosts.get(name)
        if host is None:
            return
        left = host.server
        if left is not None:
            self._leave(left, now)
        # While it has work: the name servers would name the one that failed again.
        host.pin, host.valid_until = address, inf
        self._settle(host, address)
        self._turns.pass_on(left, now)

    def asked(self, name: str, asked_at: float, next_at: float, gap: float) -> None:
        """Tell of a host that another process asked."""
        host = self.hosts.get(name)
        if host is None or host.limits is None:
            self.earlier[name] = asked_at, next_at, gap
        elif host.limits.paced:
            due = asked_at + max(host.limits.interval, gap)
            host.started_at = max(host.started_at, asked_at)
            host.next_at = max(host.next_at, next_at, due)

    def dismiss(self, name: str, now: float) -> list[Item]:
        """Close the queue of a host that is not ours to ask; what it held."""
        self.let_go(name)
        items = list(self.outside.pop(name, ()))
        host = self.hosts.get(name)
        if host is not None:
            items += host.drain()
            if host.listed or host.active:
                self.dismissed.add(name)
            else:
                del self.hosts[name]
                self._admit(now)
        return items

    def let_go(self, name: str) -> None:
        """Forget what was told of a host: whoever gets it back is told anew."""
        self.earlier.pop(name, None)

    def call_back(self, host: Host) -> None:
        """Look again for the address of a host that was dismissed, for it has work."""
        if host.name in self.dismissed:
            self.dismissed.discard(host.name)
            self.strangers.append(host)

    def limit(self, name: str, now: float) -> None:
        """Take new limits for a host: what it asks of robots has become known."""
        host = self.hosts.get(name)
        if host is None or host.limits is None:
            return
        address = host.server.address if host.server is not None else ""
        host.limits = self._limits(name, address)
        if host.started_at > NEVER and now + host.limits.interval > host.next_at:
            host.next_at = now + host.limits.interval
            host.rule = host.limits.rule

    def _settle(self, host: Host, address: str) -> None:
        host.limits = limits = self._limits(host.name, address)
        earlier = self.earlier.pop(host.name, None) if self.earlier else None
        if earlier is not None and limits.paced:
            asked_at, due, gap = earlier
            host.started_at = max(host.started_at, asked_at)
            host.gap = max(host.gap, gap)
            host.next_at = max(host.next_at, due, host.started_at + host.gap)
        # A Crawl-delay may have become known while its address was looked for.
        if host.started_at + limits.interval > host.next_at:
            host.next_at = host.started_at + limits.interval
            host.rule = limits.rule
        if address:
            server = self.server(networks.short(address))
            server.hosts += 1
            host.server = server

    def server(self, address: str) -> Server:
        """The server at an address, from now on known."""
        found = self.servers.get(address)
        if found is None:
            found = self.servers[address] = Server(address)
        return found

    def lose(self, host: Host, now: float) -> None:
        """Ask the name servers again: what they said no longer holds."""
        host.listed = False
        host.limits = None
        if host.server is not None:
            self._turns.pass_on(host.server, now)
            self._leave(host.server, now)
            self.forget(host.server, now)
            host.server = None
        self.strangers.append(host)

    def _crowd(self, host: Host, server: Server, now: float) -> None:
        """Let a host wait without a queue: too many on its server have one."""
        del self.hosts[host.name]
        if server.crowd is None:
            server.crowd = {}
        server.crowd.setdefault(host.name, []).extend(host.drain())
        self._admit(now)

    def _leave(self, server: Server, now: float) -> None:
        """A host has no queue on a server any more: the next of its crowd gets one."""
        server.hosts -= 1
        while server.crowd and server.hosts < self._settings.hosts_per_server:
            name = next(iter(server.crowd))
            host = self.hosts[name] = self.hosts.get(name) or Host(name)
            for item in server.crowd.pop(name):
                host.add(item, self._settings.queue_length)
            if host.limits is None:
                # At the address that is known: found elsewhere at once, it would leave
                # nobody here to call the others of the crowd.
                host.pin, host.valid_until = server.address, now + CROWD_SECONDS
                self._settle(host, server.address)
            self._rest(name, now)
            self._turns.line_up(host, now)
            self.close(host, now)

    def close(self, host: Host, now: float) -> None:
        """Free the queue of an idle host, once there is nothing to remember of it."""
        if host.active or host.listed or host.queue:
            return
        if host.next_at > now:
            host.listed = True
            self._turns.at(host.next_at, host)
        elif self.hosts.get(host.name) is host:
            del self.hosts[host.name]
            self.dismissed.discard(host.name)
            if host.server is not None:
                self._leave(host.server, now)
                self.forget(host.server, now)
            self._admit(now)

    def forget(self, server: Server, now: float) -> None:
        """Drop a server that nobody lives on, once its gap is over."""
        # Not while it stands in the timetable: that would drop its successor later.
        if server.hosts or server.active or server.waking:
            return
        due = max(server.next_at, server.started_at + self._longest)
        if due <= now:
            self.servers.pop(server.address, None)
        else:
            server.waking = True
            self._turns.at(due, server)

    def forget_later(self, server: Server, now: float) -> None:
        """Drop a server in time, should nobody ever live there."""
        if max(server.next_at, server.started_at + self._longest) > now:
            self.forget(server, now)

    def _admit(self, now: float) -> None:
        """Give a free queue to the host that has waited longest outside."""
        if self.outside:
            name = next(iter(self.outside))
            for item in self.outside.pop(name):
                self._enqueue(item, now)

    def left_out(self, name: str) -> Wait | None:
        """What a host without a queue waits for, if it has work."""
        if name in self.outside:
            return Wait(name, "queue", queued=len(self.outside[name]))
        for server in self.servers.values():
            if server.crowd and name in server.crowd:
                count = len(server.crowd[name])
                return Wait(name, "crowd", queued=count, address=server.address)
        return None

    def whereabouts(self, url: str) -> Wait | None:
        """What a URL of a host without a queue waits for."""
        crowds = (server.crowd for server in self.servers.values() if server.crowd)
        everybody = chain(self.outside.items(), *(crowd.items() for crowd in crowds))
        for name, items in everybody:
            if any(is_of(item, url) for item in items):
                return self.left_out(name)
        return None
