"""What a query says that an index knows: sets of targets, each in the order of ids."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from sqlalchemy import Column, ColumnElement, Connection, Select, func, select, text

from ronda.store.sql import schema
from ronda.store.sql.query import Query
from ronda.store.sql.schema import EVERYBODY, label, schedule, tally, target, watch

ORDINARY = {"state": ("ok",), "reason": ("", "http_200"), "scheme": ("http", "https")}


class Side(Struct, frozen=True):
    """All targets of which one thing is true."""

    column: Column[Any]  # of their ids
    conditions: tuple[ColumnElement[bool] | Any, ...] = ()
    number: int | None = None  # how many there are; None: nobody has counted

    @property
    def ids(self) -> Select[tuple[int]]:
        """Their ids, in no order."""
        return select(self.column.label("id")).where(*self.conditions)

    def is_few(self, connection: Connection, most: int) -> bool:
        """Whether there are no more than so many."""
        if self.number is not None:
            return self.number <= most
        some = self.ids.limit(most + 1).subquery()
        found = connection.scalar(select(func.count()).select_from(some))
        return found is not None and found <= most


ALL = Side(target.c.id)
UNKNOWN = Side(target.c.id, (target.c.state == "unknown", text(schema.ODD_STATE)))


def sides(
    counts: "Counts", query: Query, owner_id: int | None, host_id: int | None
) -> Iterator[Side]:
    """What the query says, usually the smallest sets first."""
    if query.acknowledged and owner_id is not None:
        mine = watch.c.owner_id == owner_id
        yield Side(watch.c.target_id, (mine, text(schema.ACKNOWLEDGED)))
    if query.enabled is False:
        yield Side(target.c.id, (text(schema.DISABLED),))
    if query.flapping:
        yield Side(schedule.c.target_id, (text(schema.FLAPPING),))
    if host_id is not None:
        yield Side(target.c.id, (target.c.host_id == host_id,))
    if query.label is not None:
        yield Side(label.c.target_id, (label.c.name == query.label,))
    for name, odd in (("reason", schema.ODD_REASON), ("scheme", schema.ODD_SCHEME)):
        value = getattr(query, name)
        if value is not None and value not in ORDINARY[name]:
            yield Side(target.c.id, (target.c[name] == value, text(odd)))
    yield from _counted(counts, query, owner_id)


def _counted(counts: "Counts", query: Query, owner_id: int | None) -> Iterator[Side]:
    """Those whose numbers are kept."""
    if query.state is not None and query.state not in ORDINARY["state"]:
        number = counts.of(EVERYBODY).get(query.state, 0)
        yield Side(
            target.c.id,
            (target.c.state == query.state, text(schema.ODD_STATE)),
            number,
        )
    if owner_id is not None:
        number = sum(counts.of(owner_id).values())
        yield Side(watch.c.target_id, (watch.c.owner_id == owner_id,), number)


class Counts:
    """How many targets are in which state: of one owner and of everybody, read once."""

    def __init__(self, connection: Connection, owner_id: int | None) -> None:
        self._connection = connection
        self._owners = {EVERYBODY, EVERYBODY if owner_id is None else owner_id}
        self._found: dict[int, dict[str, int]] = {}

    def of(self, owner_id: int) -> dict[str, int]:
        """The numbers by the states."""
        if not self._found:
            self._found = {one: {} for one in self._owners}
            theirs = select(tally).where(tally.c.owner_id.in_(sorted(self._owners)))
            for row in self._connection.execute(theirs):
                self._found[row.owner_id][row.state] = row.number
        return self._found[owner_id]


def counts(connection: Connection, owner_id: int) -> dict[str, int]:
    """How many targets of an owner are in which state."""
    return Counts(connection, owner_id).of(owner_id)
