"""The rows of a sheet written into their tables."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Double,
    Integer,
    MetaData,
    Table,
    Update,
    bindparam,
    case,
    func,
    null,
    or_,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateTable

from ronda.store.sql import visiting
from ronda.store.sql.bulk import POSTGRES, Change, Each, Row, append
from ronda.store.sql.lists import is_postgres
from ronda.store.sql.schema import history, hour, round_, schedule, target
from ronda.store.sql.sheets import Sheet

# Where PostgreSQL reads the new rows of `schedule` from; its own to each connection.
given = Table(
    "turn_row",
    MetaData(),
    Column("target_id", BigInteger),
    Column("server_id", BigInteger),
    Column("was", BigInteger),
    Column("round_id", BigInteger),
    Column("next_due", Double),
    Column("last_check_at", Double),
    Column("failures", Integer),
    Column("repeats", Integer),
    Column("flap", Double),
    Column("flapping", Boolean),
    Column("last_result", BigInteger),
    prefixes=["TEMPORARY"],
    postgresql_on_commit="DELETE ROWS",
)
# Rows are looked up one by one: to read all of a table for a thousand of them may look
# cheaper than it is.
_PREPARE = (
    "SET LOCAL jit = off; SET LOCAL enable_hashjoin = off;"
    " SET LOCAL enable_mergejoin = off;"
    f" {CreateTable(given, if_not_exists=True).compile(dialect=POSTGRES)}"
)


class StaleError(Exception):
    """Something has happened to a target since it was claimed."""


def prepare(connection: Connection) -> None:
    """Begin a transaction that writes results."""
    if is_postgres(connection):
        connection.exec_driver_sql(_PREPARE)


def write(connection: Connection, sheet: Sheet) -> None:
    """Write what is of single targets.

    Raises:
        StaleError: not all rows of `schedule` were as they should be.
    """
    if sheet.schedule:
        _write_schedule(connection, sheet.schedule)
        append(connection, history, sheet.history)
        _write_targets(connection, sheet.targets)
        visiting.write(connection, sheet)


def count(connection: Connection, sheets: Sequence[Sheet], now: float) -> None:
    """Write how far the history and the rounds are."""
    rounds: Counter[int] = Counter()
    wider = widen(postgres=is_postgres(connection))
    for sheet in sheets:
        for number, (low, high) in sorted(sheet.hours.items()):
            values = {"hour": number, "first_id": low, "last_id": high}
            connection.execute(wider, values)
        rounds.update(sheet.rounds)
    for number, done in sorted(rounds.items()):
        total = round_.c.done + done
        ended = case((total >= round_.c.total, now), else_=None)
        row = update(round_).where(round_.c.id == number)
        ended_at = func.coalesce(round_.c.ended_at, ended)
        connection.execute(row.values(done=total, ended_at=ended_at))


@cache
def widen(*, postgres: bool) -> Any:
    """Let an hour have more of the history."""
    new: Any = (postgresql if postgres else sqlite).insert(hour)
    low, high = new.excluded.first_id, new.excluded.last_id
    first = case((hour.c.first_id < low, hour.c.first_id), else_=low)
    last = case((hour.c.last_id > high, hour.c.last_id), else_=high)
    return new.on_conflict_do_update(
        index_elements=["hour"], set_={"first_id": first, "last_id": last}
    )


def _moved(new: Mapping[str, Any]) -> Update:
    """What moves with a result; only of rows that are as they were known to be."""
    columns = schedule.c
    as_known: list[ColumnElement[bool]] = [
        columns.target_id == new["target_id"],
        columns.server_id == new["server_id"],
        columns.last_result.is_not_distinct_from(new["was"]),
        columns.round_id.is_not_distinct_from(new["round_id"]),
        # Somebody may have switched it off.
        or_(columns.next_due.is_not(None), new["next_due"].is_(None)),
    ]
    names = ("next_due", "last_check_at", "failures", "repeats", "flap", "flapping")
    values = {name: new[name] for name in (*names, "last_result")}
    no_round = {"round_id": null(), "was_due": null()}
    return update(schedule).where(*as_known).values(values | no_round)


_AT_ONCE = _moved(dict(given.c.items()))
_EACH = Each(
    _moved({c.name: bindparam(f"new_{c.name}", type_=c.type) for c in given.columns}),
    [f"new_{column.name}" for column in given.columns],
)


def _write_schedule(connection: Connection, rows: Sequence[Row]) -> None:
    if is_postgres(connection):
        # Those of a turn's earlier rows that are still there match nothing any more.
        append(connection, given, rows)
        written = connection.execute(_AT_ONCE).rowcount
    else:
        written = _EACH.run(connection, rows)
    if written != len(rows):
        raise StaleError


_TOLD = (
    target.c.state,
    target.c.reason,
    target.c.message,
    target.c.enabled,
    target.c.why_disabled,
)
_CHANGED = Change(target.c.id, target.c.last_change_at, *_TOLD)
_UNCHANGED = Change(target.c.id, *_TOLD)


def _write_targets(connection: Connection, rows: Sequence[Row]) -> None:
    """Set what is told of targets; a change of the state has its moment."""
    _CHANGED.run(connection, [row for row in rows if row[1] is not None])
    same = [(row[0], *row[2:]) for row in rows if row[1] is None]
    _UNCHANGED.run(connection, same)
