"""Targets as people see them: what is read of each, for one who asks."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import (
    Connection,
    FromClause,
    Row,
    and_,
    literal,
    select,
)

from ronda.store.sql.inorder import Then
from ronda.store.sql.many import among, chunks
from ronda.store.sql.query import Query
from ronda.store.sql.schema import label, schedule, target, watch
from ronda.store.sql.states import STATES
from ronda.store.sql.values import Known

# In the order of the fields of Known, as far as they are columns.
_COLUMNS = (
    target.c.id,
    target.c.url,
    target.c.state,
    target.c.reason,
    target.c.message,
    target.c.added_at,
    schedule.c.last_check_at,
    target.c.last_change_at,
    schedule.c.next_due,
    schedule.c.failures,
    target.c.enabled,
    target.c.why_disabled,
    schedule.c.flapping,
)
mine = watch.alias("mine")


def columns(owner_id: int | None) -> tuple[Any, ...]:
    """What is read, of the tables that `joined` gives."""
    if owner_id is None:
        return (*_COLUMNS, literal("").label("spelling"), _by_anybody())
    return (*_COLUMNS, mine.c.spelling, mine.c.acknowledged.label("marked"))


def _by_anybody() -> Any:
    """The state of a target, if somebody has acknowledged it."""
    same = watch.c.target_id == target.c.id, watch.c.acknowledged == target.c.state
    found = select(watch.c.acknowledged).where(*same).limit(1)
    return found.correlate(target).scalar_subquery().label("marked")


def joined(listed: FromClause, owner_id: int | None) -> FromClause:
    """Targets with what belongs to them, as one who watches them sees.

    Args:
        listed: all targets, or something else with their ids.
        owner_id: who asks; what he does not watch is left out. None: nobody does.
    """
    found = listed
    if listed is not target:
        found = Then(found, target, target.c.id == listed.c.id)
    found = Then(found, schedule, schedule.c.target_id == target.c.id)
    if owner_id is None:
        return found
    watched = and_(mine.c.owner_id == owner_id, mine.c.target_id == target.c.id)
    return Then(found, mine, watched)


def sifted(
    listed: FromClause, query: Query, owner_id: int | None, *, mostly: bool = False
) -> FromClause:
    """Candidates with all that a query asks of them, of which only some are wanted.

    What leaves few of them goes first, for each table takes as long as all before it.

    Args:
        listed: something with their ids.
        query: what is asked.
        owner_id: what he does not watch is left out; None: nobody asks.
        mostly: he watches most of what there is.
    """
    number = listed.c.id
    tables: list[tuple[FromClause, Any]] = [(target, target.c.id == number)]
    if query.is_of_checks:
        at = 1 if query.is_of_targets else 0
        tables.insert(at, (schedule, schedule.c.target_id == number))
    if query.label is not None:
        has = and_(label.c.name == query.label, label.c.target_id == number)
        tables.insert(0, (label, has))
    if owner_id is not None:
        watched = and_(mine.c.owner_id == owner_id, mine.c.target_id == number)
        tables.insert(len(tables) if mostly else 0, (mine, watched))
    found = listed
    for table, on in tables:
        found = Then(found, table, on)
    return found


def known(row: Row[Any]) -> Known:
    """A row with these columns first."""
    state, marked = row.state, row.marked
    values: Any = (*row[:2], STATES[state], *row[3 : len(_COLUMNS)])
    seen: Any = (row.spelling or "", marked == state)
    return Known(*values, *seen)


def by_key(
    connection: Connection, keys: Iterable[int], owner_id: int | None
) -> dict[str, Known]:
    """Targets by their URLs."""
    found = {}
    tables = joined(target, owner_id)
    for some in chunks(keys):
        these = select(*columns(owner_id)).select_from(tables)
        these = these.where(among(connection, target.c.key, some))
        for row in connection.execute(these):
            found[row.url] = known(row)
    return found
