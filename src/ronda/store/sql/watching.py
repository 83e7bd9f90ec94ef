"""Who watches what: registered, unregistered, in step with a list, acknowledged."""

from collections.abc import Iterable, Iterator

from msgspec import Struct
from sqlalchemy import Connection, select, update

from ronda.model import State
from ronda.store.sql import removing, steering
from ronda.store.sql.adding import Adding
from ronda.store.sql.engines import Database
from ronda.store.sql.entering import Given, key_of
from ronda.store.sql.known import by_key
from ronda.store.sql.locking import held_states, insist
from ronda.store.sql.many import CHUNK, among, chunks
from ronda.store.sql.schema import target, watch
from ronda.store.sql.steering import Asked
from ronda.store.sql.values import Known


class Synced(Struct, frozen=True):
    """What a full list has changed."""

    new: int  # that the owner did not watch before
    dropped: int  # that he watches no longer
    states: list[Known]  # of all in the list, in its order


class Watches:
    """The registry of owners and targets."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._adding = Adding(database)

    def register(
        self, owner_id: int, given: Iterable[Given], now: float
    ) -> list[Known]:
        """Let an owner watch URLs; what is known of each, in the order given.

        What others watch already has its state at once; what is new is unknown.
        """
        wanted = list(given)
        self._adding.add(owner_id, wanted, now)
        return self._states(owner_id, wanted)

    def unregister(self, owner_id: int, keys: Iterable[int]) -> int:
        """Let an owner watch targets no longer; how many he did.

        What nobody watches any more is removed; its history goes when it is old.
        """
        return sum(
            insist(self._database, removing.unwatch, owner_id, some)
            for some in chunks(keys)
        )

    def sync(self, owner_id: int, given: Iterable[Given], now: float) -> Synced:
        """Let an owner watch exactly these URLs."""
        wanted = list(given)
        added = self._adding.add(owner_id, wanted, now)
        keys = {key_of(one.url) for one in wanted}
        dropped = 0
        for some in self._watched(owner_id):
            dropped += self.unregister(
                owner_id, [key for key in some if key not in keys]
            )
        return Synced(added.watched, dropped, self._states(owner_id, wanted))

    def acknowledge(self, owner_id: int, keys: Iterable[int]) -> int:
        """Known: tell the owner nothing until it changes; how many he watches."""
        return sum(
            insist(self._database, _mark, owner_id, some) for some in chunks(keys)
        )

    def numbers(self, keys: Iterable[int]) -> list[int]:
        """The ids of targets, in the order of their keys; of those that there are."""
        wanted = list(keys)
        found: dict[int, int] = {}
        with self._database.reading() as connection:
            for some in chunks(wanted):
                sql = select(target.c.key, target.c.id)
                sql = sql.where(among(connection, target.c.key, some))
                found |= {row.key: row.id for row in connection.execute(sql)}
        return [found[key] for key in wanted if key in found]

    def enable(self, keys: Iterable[int], now: float) -> int:
        """Check targets again, from now on; how many of them there are."""
        return steering.enable(self._database, keys, now)

    def disable(self, keys: Iterable[int], why: str = "") -> int:
        """Check targets no longer, until somebody enables them; how many there are.

        Without a reason, that of those which are disabled already stays.
        """
        return steering.disable(self._database, keys, why)

    def disabled(self, keys: Iterable[int]) -> int:
        """How many of some targets are not checked."""
        return steering.disabled(self._database, keys)

    def every(self, targets: Iterable[int]) -> dict[int, float]:
        """How many seconds are between checks, by the numbers of targets.

        Those of which nobody has said it are left out: they go by the rules.
        """
        said = select(target.c.id, target.c.every).where(target.c.every.is_not(None))
        with self._database.reading() as connection:
            return {
                row.id: row.every
                for some in chunks(targets)
                for row in connection.execute(
                    said.where(among(connection, target.c.id, some))
                )
            }

    def check_now(
        self,
        keys: Iterable[int],
        now: float,
        *,
        forced: bool = False,
        guard: float = steering.GUARD,
        round_id: int | None = None,
    ) -> Asked:
        """Let targets be due now.

        Args:
            keys: which ones.
            now: epoch seconds.
            forced: also those that were checked less than `guard` ago, or are disabled.
            guard: seconds.
            round_id: the round that they are checked for.
        """
        return steering.check_now(
            self._database, keys, now, forced=forced, guard=guard, round_id=round_id
        )

    def _states(self, owner_id: int, given: list[Given]) -> list[Known]:
        with self._database.reading() as connection:
            found = by_key(connection, (key_of(one.url) for one in given), owner_id)
        # Somebody may have removed it meanwhile.
        return [found.get(one.url) or Known(0, one.url, State.UNKNOWN) for one in given]

    def _watched(self, owner_id: int) -> Iterator[list[int]]:
        """The keys of what an owner watches."""
        last = 0
        while True:
            sql = (
                select(watch.c.target_id, target.c.key)
                .join(target, target.c.id == watch.c.target_id)
                .where(watch.c.owner_id == owner_id, watch.c.target_id > last)
                .order_by(watch.c.target_id)
                .limit(CHUNK)
            )
            with self._database.reading() as connection:
                rows = connection.execute(sql).all()
            if not rows:
                return
            yield [row.key for row in rows]
            last = rows[-1].target_id


def _mark(connection: Connection, owner_id: int, keys: list[int]) -> int:
    these = (
        select(target.c.id)
        .join(watch, watch.c.target_id == target.c.id)
        .where(watch.c.owner_id == owner_id, among(connection, target.c.key, keys))
    )
    states = held_states(connection, connection.scalars(these).all())
    for state in set(states.values()):
        targets = [number for number, is_in in states.items() if is_in == state]
        mine = watch.c.owner_id == owner_id
        change = update(watch).where(
            mine, among(connection, watch.c.target_id, targets)
        )
        connection.execute(change.values(acknowledged=state))
    return len(states)
