"""What is handed out, and until when: silence gives it back."""

from collections.abc import Iterator

from ronda.frontier.host import Host, Item, Lease

SECONDS = 300.0  # silence after which a lease is taken back


class Leases:
    """Every lease under way by its TRANS id, the oldest deadline first."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._given: dict[int, Lease] = {}
        self._serial = 0
        self.silent_at = 0.0  # none is overdue before this

    def __len__(self) -> int:
        return len(self._given)

    def __iter__(self) -> Iterator[Lease]:
        return iter(self._given.values())

    def give(self, host: Host, item: Item, now: float) -> tuple[int, Lease]:
        """Hand out an item."""
        self._serial += 1
        lease = Lease(host, item, now, now + self._seconds)
        self._given[self._serial] = lease
        return self._serial, lease

    def of(self, trans: int) -> Lease | None:
        """A lease that is still held."""
        return self._given.get(trans)

    def end(self, trans: int) -> Lease | None:
        """Take a lease out; None when it is no longer held."""
        return self._given.pop(trans, None)

    def working(self, trans: int, now: float) -> bool:
        """Keep a lease alive; False when it is no longer held."""
        lease = self._given.pop(trans, None)
        if lease is None:
            return False
        lease.until = now + self._seconds
        self._given[trans] = lease  # at the end: deadlines stay in order
        return True

    def silent(self, now: float) -> Iterator[tuple[int, Lease]]:
        """The leases that nothing was heard of for too long."""
        while self._given:
            trans, lease = next(iter(self._given.items()))
            if lease.until > now:
                self.silent_at = lease.until
                return
            yield trans, lease
        self.silent_at = now + self._seconds  # of any lease yet to be given

    def next_at(self) -> float | None:
        """When the first of them is overdue."""
        return next(iter(self._given.values())).until if self._given else None
