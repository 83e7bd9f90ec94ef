"""One question to the catalogue, answered by a page."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from sqlalchemy import (
    Connection,
    Double,
    Row,
    func,
    literal,
    select,
    tuple_,
)

from ronda.store.sql.asking import Asking
from ronda.store.sql.effort import Effort
from ronda.store.sql.known import columns, joined, known, sifted
from ronda.store.sql.orders import Orders
from ronda.store.sql.paging import Page, Place, key, place
from ronda.store.sql.query import Sort
from ronda.store.sql.schema import EVERYBODY, schedule, target
from ronda.store.sql.sides import Counts
from ronda.store.sql.stale import Stale
from ronda.store.sql.zones import NOTHING, Step, Zone

# What targets are sorted by before their ids.
_VALUES: dict[Sort, Any] = {
    "changed": target.c.last_change_at,
    "checked": func.coalesce(schedule.c.last_result, 0),
}


class _Seen(NamedTuple):
    """What was found along an order until now."""

    rows: list[Row[Any]]
    last: Place | None  # up to which candidate was looked; None: there are no more


class Finding:
    """Looks for the targets of one page."""

    def __init__(
        self,
        connection: Connection,
        asking: Asking,
        stale: Callable[[], Stale],
        effort: Effort,
    ) -> None:
        self._connection = connection
        self._effort = effort
        self._asking = asking
        self._query = asking.query
        self._after = place(asking.query)
        self._counts = Counts(connection, asking.owner_id)
        self._orders = Orders(connection, asking, self._counts, stale, effort)
        value = _VALUES.get(asking.query.sort)
        self._order = [target.c.id] if value is None else [value, target.c.id]

    def page(self) -> Page:
        """The next ones, at most as many as were asked for."""
        query = self._query
        if self._has_none():
            return Page([])
        seen = _Seen([], self._after)
        if query.text:
            # What nearly all have, is found along any order at once.
            plain = self._orders.stretches(by_text=False)
            seen = self._walk(plain, seen, glance=True)
            if len(seen.rows) > query.limit or not seen.last:
                return self._page(seen)
        if (few := self._orders.few()) is not None:
            step = Step(few, lambda: None, self._beyond())
            return self._page(_Seen(self._read(step), None))
        return self._page(self._walk(self._orders.stretches(by_text=True), seen))

    def _has_none(self) -> bool:
        """Whether the tally says that the owner has none in that state."""
        state, owner_id = self._query.state, self._asking.owner_id
        if state is None or owner_id is None:
            return False
        return not self._counts.of(owner_id).get(state)

    def _watches_most(self) -> bool:
        """Whether the owner watches more than half of all there is."""
        if self._asking.owner_id is None:
            return False
        his, all_ = map(self._counts.of, (self._asking.owner_id, EVERYBODY))
        return 2 * sum(his.values()) > sum(all_.values())

    def _walk(
        self, zones: list[Zone], seen: "_Seen", *, glance: bool = False
    ) -> "_Seen":
        """Go on along an order, until the page is full or enough was looked at."""
        effort = self._effort
        rows = seen.rows
        spent, size = 0.0, effort.first
        for zone in zones:
            if self._is_past(zone, seen.last):
                continue
            budget = effort.random if zone.scattered else effort.sequential
            if glance:
                budget = effort.first
            at = seen.last if _is_in(zone, seen.last) else None
            while True:
                step = zone.step(at, size)
                rows += self._read(step, len(rows))
                if len(rows) > self._query.limit:
                    return _Seen(rows, None)
                spent += size / budget
                at = step.last()
                if at is None:
                    break
                if spent >= 1:
                    return _Seen(rows, at)
                size = min(size * effort.growth, math.ceil((1 - spent) * budget))
        return _Seen(rows, None)

    def _is_past(self, zone: Zone, at: Place | None) -> bool:
        if at is None:
            return False
        return at.value < zone.low if self._query.descending else at.value > zone.high

    def _read(self, step: Step, there: int = 0) -> list[Row[Any]]:
        """The candidates that are wanted, in order, with their places."""
        owner_id, query = self._asking.owner_id, self._query
        value = step.value
        if value is None:
            value = self._order[0] if self._order[1:] else NOTHING
        # By the id of the target, not of the candidate: SQLite would look for small
        # sets along all ids, to have them in order.
        order = [target.c.id] if value is NOTHING else [value, target.c.id]
        tables = sifted(step.table, query, owner_id, mostly=self._watches_most())
        page = (
            select(target.c.id, value.label("value"))
            .select_from(tables)
            .where(*self._asking.conditions, *step.conditions)
            .order_by(*self._directed(*order))
            .limit(query.limit + 1 - there)
            .subquery("page")
        )
        # All that is shown is read of those only that are on the page.
        rows = (
            select(*columns(owner_id), page.c.value)
            .select_from(joined(page, owner_id))
            .order_by(*self._directed(page.c.value, page.c.id))
        )
        return list(self._connection.execute(rows))

    def _directed(self, *columns: Any) -> list[Any]:
        return [one.desc() if self._query.descending else one for one in columns]

    def _beyond(self) -> list[Any]:
        """What comes after the page before."""
        at = self._after
        if at is None:
            return []
        here: Any = target.c.id
        there: Any = literal(at.id)
        if self._order[1:]:
            here = tuple_(*self._order)
            there = tuple_(literal(at.value, Double), there)
        return [here < there if self._query.descending else here > there]

    def _page(self, seen: "_Seen") -> Page:
        """A page of what was found, and where to go on."""
        rows, at = seen
        if len(rows) > self._query.limit:
            rows = rows[: self._query.limit]
            at = Place(rows[-1].value, rows[-1].id)
        return Page([known(row) for row in rows], key(self._query, at) if at else "")


def _is_in(zone: Zone, at: Place | None) -> bool:
    return at is not None and zone.low <= at.value <= zone.high
