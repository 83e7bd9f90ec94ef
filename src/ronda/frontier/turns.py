"""Who is next: hosts that may be asked, and the timetable of those that may not yet."""

from collections import deque
from collections.abc import Iterator
from heapq import heappop, heappush

from ronda.frontier.host import Host, Item, Server


class Turns:
    """Hosts take turns; each that has work stands here once, or at its server."""

    def __init__(self) -> None:
        self.ready: deque[Host] = deque()
        self.timetable: list[tuple[float, int, Host | Server | Item]] = []
        self._serial = 0

    def line_up(self, host: Host, now: float) -> None:
        """Let a host stand where it belongs, if it has work and may have more of it."""
        assert host.limits is not None  # noqa: S101  # only resolved hosts get here
        if host.listed or not host.queue or host.active >= host.limits.per_host:
            return
        host.listed = True
        if host.next_at <= now:
            self.ready.append(host)
        else:
            self.at(host.next_at, host)

    def at(self, moment: float, what: Host | Server | Item) -> None:
        """Look at something again at a moment."""
        self._serial += 1
        heappush(self.timetable, (moment, self._serial, what))

    def due(self, now: float) -> Iterator[Host | Server | Item]:
        """What is to be looked at by now, which leaves the timetable."""
        timetable = self.timetable
        while timetable and timetable[0][0] <= now:
            yield heappop(timetable)[2]

    def next_at(self) -> float | None:
        """When something is due next."""
        return self.timetable[0][0] if self.timetable else None

    def park(self, host: Host, server: Server, busy: bool) -> None:
        """Let a host wait at its server until that may be asked."""
        if server.parked is None:
            server.parked = deque()
        server.parked.append(host)
        if not busy and not server.waking:  # else the next end lets it go on
            server.waking = True
            self.at(server.next_at, server)

    def pass_on(self, server: Server | None, now: float) -> None:
        """Let one host that is parked at a server try again, as soon as it may."""
        if server is None or not server.parked or server.waking:
            return
        if server.next_at > now:
            server.waking = True
            self.at(server.next_at, server)
        else:
            self._let_try(server.parked, server)

    def _let_try(self, parked: deque[Host], server: Server) -> None:
        """The first that is parked, and any before it that have moved away."""
        while parked:
            host = parked.popleft()
            self.ready.append(host)
            if host.server is server:
                return

    def delayed(self, name: str) -> list[float]:
        """The moments at which visits of a host are due that wait for a delay."""
        return [
            moment
            for moment, _, what in self.timetable
            if not isinstance(what, Host | Server) and what.host == name
        ]
