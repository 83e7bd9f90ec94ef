"""Stretches of an order, gone along in steps: the next candidates after a place.

An order has one stretch or several, one after the other. What is asked of candidates is
for others to see.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, Protocol

from msgspec import Struct
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    FromClause,
    and_,
    literal_column,
    not_,
    select,
)

from ronda.store.sql.many import ids
from ronda.store.sql.paging import Place
from ronda.store.sql.schema import history, schedule
from ronda.store.sql.searching import Search
from ronda.store.sql.sides import UNKNOWN, Side
from ronda.store.sql.stale import Stale

Conditions = Sequence[Any]  # of SQL
# What those are sorted by that have nothing but their ids.
NOTHING: ColumnElement[Any] = literal_column("0")


class Step(Struct, frozen=True):
    """Some candidates."""

    table: FromClause  # with their ids
    last: Callable[[], Place | None]  # of them; None: there are no more after these
    conditions: Conditions = ()  # that belong to how they were found
    # What they are sorted by before their ids, where the table has it: it comes in this
    # order, and is read until the page is full. None: it is to be sorted.
    value: ColumnElement[Any] | None = None


class Zone(Protocol):
    """A stretch of an order, in one direction."""

    low: float  # the least value that is sorted by here
    high: float  # the greatest
    scattered: bool  # candidates lie anywhere

    def step(self, after: Place | None, size: int) -> Step:
        """The next candidates, at most so many."""


class Indexed:
    """Candidates along an index."""

    def __init__(
        self,
        connection: Connection,
        side: Side,
        conditions: Conditions = (),
        *,
        descending: bool,
    ) -> None:
        self._connection = connection
        self._side = side
        self._conditions = conditions
        self._descending = descending
        self.low = self.high = 0.0
        self.scattered = side is UNKNOWN  # new ones are added anywhere

    def step(self, after: Place | None, size: int) -> Step:
        """The next by their ids."""
        column = self._side.column
        some = self._side.ids.order_by(column.desc() if self._descending else column)
        if after is not None:
            later = column < after.id if self._descending else column > after.id
            some = some.where(later)
        table = some.limit(size).subquery("some")

        def last() -> Place | None:
            order = table.c.id.desc() if self._descending else table.c.id
            end = select(table.c.id).order_by(order).offset(size - 1)
            found = self._connection.scalar(end)
            return None if found is None else Place(0, found)

        return Step(table, last, self._conditions, NOTHING)


class Span(Struct, frozen=True):
    """From a value to below another."""

    low: float = 0.0
    high: float = float("inf")


class Valued:
    """Candidates along an index of something else than their ids."""

    scattered = True

    def __init__(
        self,
        connection: Connection,
        columns: tuple[Column[Any], Column[Any]],
        conditions: Conditions,
        span: Span,
        *,
        descending: bool,
    ) -> None:
        self._connection = connection
        self._value, self._id = columns
        self._conditions = conditions
        self._descending = descending
        self.low, self.high = span.low, span.high

    def step(self, after: Place | None, size: int) -> Step:
        """The next by what they are sorted by, then by their ids."""
        some = select(self._id.label("id"), self._value.label("value"))
        some = some.where(*self._conditions, *self._later(after))
        some = some.order_by(*self._order(self._value, self._id))
        table = some.limit(size).subquery("some")

        def last() -> Place | None:
            end = select(table.c.value, table.c.id).offset(size - 1)
            end = end.order_by(*self._order(table.c.value, table.c.id))
            row = self._connection.execute(end).first()
            return None if row is None else Place(*row)

        return Step(table, last, value=table.c.value)

    def _later(self, after: Place | None) -> Iterator[Any]:
        """One bound on each side: of two, SQLite may go by the worse."""
        # PostgreSQL finds a whole number by its index only if it is told a whole one.
        kind = self._value.type.python_type
        low, high = self.low, self.high
        if after is not None and not self._descending:
            low = max(low, after.value)
        if low > 0:
            yield self._value >= kind(low)
        if after is not None and self._descending:
            yield self._value <= kind(after.value)
        elif high < float("inf"):
            yield self._value < kind(high)
        if after is not None:
            seen = self._id >= after.id if self._descending else self._id <= after.id
            yield not_(and_(self._value == kind(after.value), seen))

    def _order(self, *columns: ColumnElement[Any]) -> list[ColumnElement[Any]]:
        return [column.desc() if self._descending else column for column in columns]


class Results(Valued):
    """Candidates along the history, from its newest results or to them."""

    def __init__(self, connection: Connection, span: Span, *, descending: bool) -> None:
        columns = (history.c.id, history.c.target_id)
        super().__init__(connection, columns, (), span, descending=descending)

    def step(self, after: Place | None, size: int) -> Step:
        """The next, of which only the newest of a target count."""
        found = super().step(after, size)
        newest = schedule.c.last_result == found.table.c.value
        return Step(found.table, found.last, (newest,), found.value)


class Found:
    """Candidates that a text was looked for in, by their ids."""

    scattered = True

    def __init__(
        self, connection: Connection, search: Search, *, descending: bool
    ) -> None:
        self._connection = connection
        self._search = search
        self._descending = descending
        self._rest: Iterator[int] | None = None
        self.low = self.high = 0.0

    def step(self, after: Place | None, size: int) -> Step:
        """The next; each step goes on where the one before it ended."""
        if self._rest is None:
            last = None if after is None else after.id
            found = self._search.after(last, descending=self._descending)
            self._rest = chain.from_iterable(found)
        some = list(islice(self._rest, size))
        end = Place(0, some[-1]) if len(some) == size else None
        return Step(ids(self._connection, some), lambda: end, value=NOTHING)


class Listed:
    """Candidates of a list of those that were not checked for long."""

    scattered = True

    def __init__(
        self,
        connection: Connection,
        stale: Stale,
        places: Sequence[int],
        *,
        descending: bool,
    ) -> None:
        self._connection = connection
        self._stale = stale
        self._places = places[::-1] if descending else places
        self._descending = descending
        self.low, self.high = 1.0, stale.first - 1.0

    def step(self, after: Place | None, size: int) -> Step:
        """The next by their newest results."""
        results, targets = self._stale.results, self._stale.targets
        begin = 0
        if after is not None and self._descending:
            begin = bisect_right(
                self._places, -after.value, key=lambda at: -results[at]
            )
        elif after is not None:
            begin = bisect_right(self._places, after.value, key=results.__getitem__)
        some = self._places[begin : begin + size]
        end = None
        if len(some) == size:
            end = Place(results[some[-1]], targets[some[-1]])
        # Who was checked since then has left.
        still = schedule.c.last_result < self._stale.first
        table = ids(self._connection, [targets[at] for at in some])
        return Step(table, lambda: end, (still,))
