"""Targets that were not checked for long, and which were checked in a span of time.

No index says when a target was checked last: it would be written at every check. But
results are numbered in the order in which they are written, and each target names its
newest: so going along the history gives targets in the order of their last checks, as
long as most results there are the newest of their targets. That is so for the last
day. For what is older, the few that are there are looked for once in all schedules,
and kept: who leaves that list by a check is noticed, and nobody can join it.
"""

from array import array
from collections.abc import Sequence

from msgspec import Struct
from sqlalchemy import Connection, func, select

from ronda.store.sql.effort import Effort
from ronda.store.sql.engines import Database
from ronda.store.sql.query import Query
from ronda.store.sql.schema import hour, schedule

HOUR = 3600.0  # seconds


class Stale(Struct, frozen=True):
    """Targets whose newest result is older than a certain one."""

    first: int  # results from this number on are not of theirs
    hour: int  # the newest there was when they were looked for
    results: "array[int]"  # their newest, in order
    moments: "array[float]"  # when it was
    targets: "array[int]"

    def within(self, query: Query) -> Sequence[int]:
        """The places of those whose last check is in the span of a query."""
        low, high = query.checked_after, query.checked_before
        if low is None and high is None:
            return range(len(self.moments))
        low = -1.0 if low is None else low
        high = float("inf") if high is None else high
        return [at for at, moment in enumerate(self.moments) if low <= moment < high]


def newest_hour(connection: Connection) -> int:
    """The last hour in which something was checked; 0: nothing was."""
    return connection.scalar(select(func.max(hour.c.hour))) or 0


def stale(database: Database, effort: Effort) -> Stale:
    """Look through all schedules."""
    with database.reading() as connection:
        newest = newest_hour(connection)
        since = newest - effort.recent
        recent = select(func.min(hour.c.first_id)).where(hour.c.hour >= since)
        first = connection.scalar(recent) or 0
        columns = (schedule.c.last_result, schedule.c.last_check_at)
        rows = list(
            connection.execute(
                select(*columns, schedule.c.target_id)
                .where(schedule.c.last_result < first)
                .order_by(schedule.c.last_result)
                .limit(effort.listed + 1)
            )
        )
    if len(rows) > effort.listed:
        first = rows.pop().last_result
    return Stale(
        first,
        newest,
        array("q", [row.last_result for row in rows]),
        array("d", [row.last_check_at for row in rows]),
        array("q", [row.target_id for row in rows]),
    )
