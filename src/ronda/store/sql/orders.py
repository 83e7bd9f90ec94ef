"""The ways to an answer: a small set that has it all, or the stretches of an order."""

from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import Connection, FromClause, func, select, text

from ronda.model import State
from ronda.store.sql import schema
from ronda.store.sql.asking import Asking
from ronda.store.sql.effort import Effort
from ronda.store.sql.many import ids
from ronda.store.sql.schema import EVERYBODY, history, hour, schedule, target
from ronda.store.sql.searching import Search
from ronda.store.sql.sides import ALL, ORDINARY, UNKNOWN, Counts, Side, sides
from ronda.store.sql.stale import HOUR, Stale
from ronda.store.sql.zones import Found, Indexed, Listed, Results, Span, Valued, Zone

INFINITE = float("inf")
TINY = 1e-9  # seconds: after the moment that stands for never


class Orders:
    """The ways to the answer of one query."""

    def __init__(
        self,
        connection: Connection,
        asking: Asking,
        counts: Counts,
        stale: Callable[[], Stale],
        effort: Effort,
    ) -> None:
        self._connection = connection
        self._counts = counts
        self._effort = effort
        self._query = asking.query
        self._owner_id = asking.owner_id
        self._stale = stale
        self._descending = asking.query.descending
        self._sides = list(sides(counts, asking.query, asking.owner_id, asking.host_id))
        self._search: Search | None = None
        if asking.query.text:
            search = Search(connection, asking.query.text)
            self._search = search if search.is_indexed else None

    def few(self) -> FromClause | None:
        """A set that has all that is wanted, and is small; None: there is none."""
        for side in (*self._sides, *self._changed()):
            if side.is_few(self._connection, self._effort.few):
                return side.ids.subquery("some")
        found = self._checked()
        if found is None and self._search is not None:
            found = self._search.few(self._effort.few)
        return None if found is None else ids(self._connection, found)

    def stretches(self, *, by_text: bool) -> list[Zone]:
        """The order that is asked for, in its direction.

        Args:
            by_text: by what the text index finds, if there is one and it knows the
                order.
        """
        if self._query.sort == "added":
            return self._by_id(by_text=by_text)
        changed = self._query.sort == "changed"
        found = self._by_change() if changed else self._by_check()
        return found[::-1] if self._descending else found

    def _by_id(self, *, by_text: bool) -> list[Zone]:
        if by_text and self._search is not None:
            return [Found(self._connection, self._search, descending=self._descending)]
        side = min(self._sides, key=_size, default=ALL)
        return [Indexed(self._connection, side, descending=self._descending)]

    def _by_change(self) -> list[Zone]:
        """Those that never changed, which are unknown; then the others."""
        query = self._query
        wanted: list[Any] = [text(schema.CHANGED)]
        if query.state not in {None, State.OK}:
            wanted = [target.c.state == query.state, text(schema.CHANGED_STATE)]
        elif query.reason not in {None, *ORDINARY["reason"]}:
            wanted = [target.c.reason == query.reason, text(schema.ODD_REASON)]
        low, high = query.changed_after, query.changed_before
        span = Span(max(low or 0, TINY), INFINITE if high is None else high)
        columns = (target.c.last_change_at, target.c.id)
        others = Valued(
            self._connection, columns, wanted, span, descending=self._descending
        )
        return [*self._unknown(query.changed_after), others]

    def _by_check(self) -> list[Zone]:
        """Those that were never checked; those not for long; then by the history."""
        query, stale = self._query, self._stale()
        never = self._unknown(query.checked_after, schedule.c.last_result.is_(None))
        places = stale.within(query)
        old = Listed(self._connection, stale, places, descending=self._descending)
        newer = Results(
            self._connection, self._span(stale), descending=self._descending
        )
        return [*never, old, newer]

    def _unknown(self, since: float | None, *also: Any) -> list[Zone]:
        """Those of which nothing happened yet, unless something is asked for."""
        if self._query.state not in {None, State.UNKNOWN} or (since or 0) > 0:
            return []
        owner_id = EVERYBODY if self._owner_id is None else self._owner_id
        if not self._counts.of(owner_id).get(State.UNKNOWN):
            return []
        zone = Indexed(self._connection, UNKNOWN, also, descending=self._descending)
        return [zone]

    def _changed(self) -> Iterator[Side]:
        """Those whose change was in a span of time."""
        query, changed = self._query, target.c.last_change_at
        if (query.changed_after or 0) > 0:
            wanted: list[Any] = [text(schema.CHANGED), changed >= query.changed_after]
            if query.changed_before is not None:
                wanted.append(changed < query.changed_before)
            yield Side(target.c.id, tuple(wanted))

    def _checked(self) -> list[int] | None:
        """Those whose last check was in a span of time, if they are few."""
        query = self._query
        if query.checked_after is None and query.checked_before is None:
            return None
        stale = self._stale()
        if (found := self._results(stale)) is None:
            return None
        found += [stale.targets[at] for at in stale.within(query)]
        if (query.checked_after or 0) <= 0:
            if not UNKNOWN.is_few(self._connection, self._effort.few):
                return None
            found.extend(self._connection.scalars(UNKNOWN.ids))
        once = sorted(set(found))
        return once if len(once) <= self._effort.few else None

    def _results(self, stale: Stale) -> list[int] | None:
        """Targets that were checked in a span of time, by the history."""
        span = self._span(stale)
        newest = self._connection.scalar(select(func.max(history.c.id))) or 0
        high = min(span.high, newest + 1)
        if high - span.low > self._effort.span:
            return None
        found = select(history.c.target_id).where(
            history.c.id >= span.low, history.c.id < high
        )
        if self._query.checked_after is not None:
            found = found.where(history.c.at >= self._query.checked_after)
        if self._query.checked_before is not None:
            found = found.where(history.c.at < self._query.checked_before)
        return list(self._connection.scalars(found.limit(self._effort.few + 1)))

    def _span(self, stale: Stale) -> Span:
        """Between which numbers the results of a span of time are."""
        after, before = self._query.checked_after, self._query.checked_before
        low, high = stale.first, INFINITE
        if after is not None:
            first = select(func.min(hour.c.first_id)).where(
                hour.c.hour >= after // HOUR
            )
            low = max(low, self._connection.scalar(first) or 0)
        if before is not None:
            last = select(func.max(hour.c.last_id)).where(hour.c.hour <= before // HOUR)
            high = (self._connection.scalar(last) or 0) + 1
        return Span(max(low, 1), high)


def _size(side: Side) -> float:
    # Those that nobody has counted are usually smaller than a state, or an owner's.
    return -1 if side.number is None else side.number
