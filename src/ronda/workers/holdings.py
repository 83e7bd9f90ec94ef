"""What a process holds of the store: servers, and the targets of them under way."""

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from ronda import urls
from ronda.model import Place, Result
from ronda.store.sql.values import Claimed, Due, Pace, Queued


class Holding:
    """A server that is held."""

    __slots__ = (
        "address",
        "hosts",
        "id",
        "inherited",
        "more",
        "pace",
        "under_way",
        "unmet",
        "unwritten",
    )

    def __init__(self, number: int, address: str) -> None:
        self.id = number
        self.address = address
        self.under_way: dict[int, str] = {}  # targets, and their URLs
        # Targets that have ended, and their URLs: in the store they are due still.
        self.unwritten: dict[int, str] = {}
        self.hosts: set[str] = set()  # that live there
        # What others know of it and of its hosts, until each is met here.
        self.pace: Pace | None = None
        self.unmet: dict[str, Pace] = {}
        self.inherited = False  # from a process that died
        self.more = False  # the store may have more of it that is due


class Holdings:
    """Each target under way once, by its URL; each server that is held once.

    To the book of the run it stands for the spool: it keeps nothing of what has ended.
    """

    def __init__(self, length: int) -> None:
        self._length = length  # targets of one server under way
        self._due: dict[str, tuple[Due, int]] = {}  # with the queued visit's number
        self.servers: dict[int, Holding] = {}
        self._at: dict[str, Holding] = {}
        self._home: dict[str, Holding] = {}  # by host
        self._ended: dict[int, Holding] = {}  # targets whose results are unwritten
        # Queued visits that were written since the store was last asked for some.
        self._carried: set[int] = set()
        self.ended = 0

    # -- in --------------------------------------------------------------------

    def take(self, claimed: Claimed) -> list[Due]:
        """Hold a server; the targets of it that are not under way already."""
        holding = self.servers.get(claimed.id)
        if holding is None:
            holding = Holding(claimed.id, claimed.address)
            self.servers[claimed.id] = self._at[claimed.address] = holding
        elif holding.address != claimed.address:  # it has one now
            del self._at[holding.address]
            holding.address = claimed.address
            self._at[claimed.address] = holding
        holding.pace = claimed.pace
        holding.unmet.update(claimed.hosts)
        holding.inherited = holding.inherited or claimed.inherited
        for host in claimed.hosts:
            self._settle(host, holding)
        holding.more = holding.more or bool(claimed.due)
        return self.add(claimed.id, claimed.due)

    def _settle(self, host: str, holding: Holding) -> None:
        """Take over what is under way of a host that was thought to live elsewhere."""
        before, self._home[host] = self._home.get(host), holding
        holding.hosts.add(host)
        if before is None or before is holding:
            return
        before.hosts.discard(host)
        moving = [
            url for url in before.under_way.values() if urls.host_key(url) == host
        ]
        for url in moving:
            due, request = self._due[url]
            self._due[url] = replace(due, server=holding.id), request
            del before.under_way[due.id]
            holding.under_way[due.id] = url
        for number, url in list(before.unwritten.items()):
            if urls.host_key(url) == host:
                holding.unwritten[number] = before.unwritten.pop(number)
                self._ended[number] = holding

    def add(self, server: int, found: Iterable[Due]) -> list[Due]:
        """Let targets of a server that is held be under way; those that are new."""
        holding = self.servers.get(server)
        if holding is None:  # let go since it was asked for
            return []
        return [due for due in found if self._begin(holding, due, 0)]

    def carry_on(self, queued: Queued) -> bool:
        """Let a visit be under way that was handed over; False: it is already."""
        holding = self.servers.get(queued.due.server)
        return holding is not None and self._begin(holding, queued.due, queued.id)

    def _begin(self, holding: Holding, due: Due, request: int) -> bool:
        if due.url in self._due or due.id in self._ended or request in self._carried:
            return False
        self._due[due.url] = due, request
        holding.under_way[due.id] = due.url
        return True

    # -- out -------------------------------------------------------------------

    def end(self, url: str, *, unwritten: bool = True) -> tuple[Due, int] | None:
        """A target is no longer under way; until that is written, it is still held."""
        found = self._due.pop(url, None)
        if found is not None:
            self.ended += 1
            holding = self.servers[found[0].server]
            del holding.under_way[found[0].id]
            if unwritten:
                holding.unwritten[found[0].id] = url
                self._ended[found[0].id] = holding
        return found

    def written(self, targets: Iterable[tuple[Due, int]]) -> None:
        """What has ended is in the store, or will be before that is asked again.

        Args:
            targets: each with the queued visit that ends with it; 0: none.
        """
        for due, request in targets:
            holding = self._ended.pop(due.id, None)
            if holding is not None:
                del holding.unwritten[due.id]
            if request:
                self._carried.add(request)

    def looks(self) -> None:
        """The store is asked which visits were handed over, as of now."""
        self._carried.clear()

    def let_go(self, lives: Callable[[str], bool]) -> list[Holding]:
        """The servers of which nothing is left to do, held no longer.

        Args:
            lives: whether anything is queued or remembered for an address.
        """
        idle = self.idle(lives)
        for holding in idle:
            del self.servers[holding.id]
            del self._at[holding.address]
            for host in holding.hosts:
                del self._home[host]
        return idle

    # -- questions -------------------------------------------------------------

    def idle(self, lives: Callable[[str], bool]) -> list[Holding]:
        """The servers of which nothing is left to do."""
        return [
            holding
            for holding in self.servers.values()
            if not holding.under_way
            and not holding.unwritten
            and not holding.more
            and not lives(holding.address)
        ]

    @property
    def all_busy(self) -> bool:
        """Whether each server that is held has a target under way."""
        return all(holding.under_way for holding in self.servers.values())

    @property
    def under_way(self) -> int:
        """How many targets are under way."""
        return len(self._due)

    def holds(self, address: str) -> int | None:
        """The number of the server at an address, if it is held."""
        holding = self._at.get(address)
        return holding.id if holding is not None else None

    def is_home(self, host: str, address: str) -> bool:
        """Whether a host is known to live at a server that is held."""
        holding = self._home.get(host)
        return holding is not None and holding.address == address

    def hungry(self) -> list[tuple[int, int, list[int]]]:
        """Servers that may have more, how many of it, and what is under way there."""
        least = max(1, self._length // 2)
        return [
            (
                holding.id,
                self._length - len(holding.under_way),
                [*holding.under_way, *holding.unwritten],
            )
            for holding in self.servers.values()
            if holding.more and len(holding.under_way) <= self._length - least
        ]

    def may_have_more(self, server: int, *, more: bool) -> None:
        """Whether the store may have something of a server that is due."""
        holding = self.servers.get(server)
        if holding is not None:
            holding.more = more

    def look_again(self) -> None:
        """Any server may have more: somebody has changed what is due."""
        for holding in self.servers.values():
            holding.more = True

    # -- as a spool --------------------------------------------------------------

    def __len__(self) -> int:
        """How many were ever under way."""
        return self.ended + len(self._due)

    def __contains__(self, url: str) -> bool:
        return url in self._due

    def know(self, url: str) -> bool:
        """Whether a URL is new: each is, whenever it is due."""
        return url in self._due

    def note(self, url: str, _place: Place) -> bool:
        """Whether a URL is to be visited."""
        return url in self._due

    def places(self, _url: str) -> tuple[Place, ...]:
        """Where a URL stands: nobody knows."""
        return ()

    def record(self, result: Result) -> None:
        """Results go to the ledger."""
