"""What was found before: the results of a target, from its newest back."""

from typing import Any

from sqlalchemy import Row, Select, select

from ronda.store.sql import summary
from ronda.store.sql.engines import Database
from ronda.store.sql.schema import history, schedule
from ronda.store.sql.states import STATES
from ronda.store.sql.summary import Change, Latency, Seen, Uptime

LONGEST = 100_000  # results that are read for a summary, the newest

_COLUMNS = tuple(
    history.c[name] for name in (*Seen.__struct_fields__, "target_id", "previous")
)
FOREVER = float("inf")


class Past:
    """The history of targets."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def results(
        self,
        target_id: int,
        since: float = 0.0,
        until: float = FOREVER,
        limit: int = 100,
    ) -> list[Seen]:
        """What was found from a moment to before another, the newest first."""
        found = self._chain(target_id, since, until, limit)
        return [seen for seen in found if seen.at >= since]

    def changes(
        self, target_id: int, since: float = 0.0, until: float = FOREVER
    ) -> list[Change]:
        """When its state changed, the newest first."""
        found = self._chain(target_id, since, until, LONGEST)
        told = summary.changes(found[::-1])
        return [change for change in reversed(told) if change.at >= since]

    def uptime(self, target_id: int, since: float, until: float, now: float) -> Uptime:
        """How the time from a moment to another was spent, as far as it is past."""
        end = min(until, now)
        found = self._chain(target_id, since, end, LONGEST)
        return summary.uptime(found[::-1], since, end)

    def latency(
        self, target_id: int, since: float = 0.0, until: float = FOREVER
    ) -> Latency | None:
        """How long answers took; None: there were none."""
        return summary.latency(self.results(target_id, since, until, LONGEST))

    def _chain(
        self, target_id: int, since: float, until: float, limit: int
    ) -> list[Seen]:
        """The newest first, down to the last one before `since`."""
        sql = _chain(target_id, since, until).limit(limit)
        with self._database.reading() as connection:
            return [_seen(row) for row in connection.execute(sql)]


def _chain(target_id: int, since: float, until: float) -> Select[Any]:
    """Each result names the one before it."""
    newest = select(schedule.c.last_result).where(schedule.c.target_id == target_id)
    first = select(*_COLUMNS).where(history.c.id == newest.scalar_subquery())
    chain = first.cte("chain", recursive=True)
    # Whoever has been pruned ends it; numbers that are used again would not.
    before = (
        select(*_COLUMNS)
        .join(chain, history.c.id == chain.c.previous)
        .where(history.c.target_id == target_id, chain.c.at >= since)
    )
    chain = chain.union_all(before)
    columns = [chain.c[name] for name in Seen.__struct_fields__]
    return select(*columns).where(chain.c.at < until)


def _seen(row: Row[Any]) -> Seen:
    values: Any = (*row[:2], STATES[row.state], STATES[row.standing], *row[4:])
    return Seen(*values)
