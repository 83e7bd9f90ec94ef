"""What is due at a server, read as values."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from msgspec.structs import replace
from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Select,
    bindparam,
    exists,
    literal_column,
    select,
    true,
)
from sqlalchemy.dialects import postgresql

from ronda.model import Standing
from ronda.store.sql.lists import as_table, is_postgres, listed
from ronda.store.sql.many import among
from ronda.store.sql.schema import label, owner, request, schedule, target, watch
from ronda.store.sql.states import STATES
from ronda.store.sql.values import URL_KIND, Due

# What `due_of` makes a value of, in its order.
COLUMNS = (
    schedule.c.target_id,
    target.c.url,
    schedule.c.server_id,
    target.c.state,
    target.c.reason,
    target.c.message,
    schedule.c.last_check_at,
    target.c.last_change_at,
    schedule.c.failures,
    schedule.c.repeats,
    schedule.c.flap,
    schedule.c.flapping,
    target.c.enabled,
    target.c.why_disabled,
    schedule.c.last_result,
    target.c.every,
    schedule.c.round_id,
    target.c.kind,
)


def due_of(row: Sequence[Any]) -> Due:
    """A target that is due, from its columns."""
    number, url, server = row[:3]
    standing = Standing(STATES[row[3]], *row[4:14])
    return Due(number, url, server, standing, *row[14:])


def is_handed_over() -> ColumnElement[bool]:
    """Whether the visit of a target is carried on elsewhere: then it is not due."""
    return exists().where(request.c.target_id == schedule.c.target_id)


def at(
    connection: Connection,
    servers: Sequence[int],
    now: float,
    length: int,
    *,
    plain: bool = False,
) -> list[Due]:
    """The targets of servers that are due longest, at most so many of each.

    Args:
        connection: a transaction.
        servers: where they live.
        now: epoch seconds.
        length: of each server.
        plain: only those that have no plan.
    """
    values = listed(connection, servers) | {"now": now, "length": length}
    if not is_postgres(connection):
        found = connection.execute(_among(plain=plain), values)
        return list(map(due_of, found.all()))
    # As bytes: to write numbers as text and read them again takes half of the time.
    driver: Any = connection.connection.driver_connection
    with driver.cursor(binary=True) as cursor:
        sql = _lateral(plain=plain)
        return list(map(due_of, cursor.execute(sql, values).fetchall()))


def is_plain(target_id: ColumnElement[int]) -> ColumnElement[bool]:
    """Whether a target has no plan."""
    kind: ColumnElement[str] = literal_column(f"'{URL_KIND}'")
    return exists().where(target.c.id == target_id, target.c.kind == kind)


def _first(servers: FromClause, columns: Iterable[str], *, plain: bool) -> Select[Any]:
    """The first targets of a server in a list."""
    inner = schedule.alias("first_of")
    handed = exists().where(request.c.target_id == inner.c.target_id)
    due = inner.c.next_due <= bindparam("now")
    found = (
        select(*(inner.c[name] for name in columns))
        .where(inner.c.server_id == servers.c.id, due, ~handed)
        .order_by(inner.c.next_due)
        .limit(bindparam("length"))
    )
    return found.where(is_plain(inner.c.target_id)) if plain else found


@cache
def _lateral(*, plain: bool) -> str:
    servers = as_table(postgres=True)
    first = _first(servers, schedule.columns.keys(), plain=plain).lateral("first")
    columns = [
        first.c[column.name] if column.table is schedule else column
        for column in COLUMNS
    ]
    found = (
        select(*columns)
        .select_from(servers)
        .join(first, true())
        .join(target, target.c.id == first.c.target_id)
        .order_by(first.c.next_due)
    )
    dialect: Any = postgresql.psycopg.dialect
    return str(found.compile(dialect=dialect()))


@cache
def _among(*, plain: bool) -> Select[Any]:
    """The same for SQLite, which has nothing lateral, but looks this up row by row.

    PostgreSQL would read all of the table for each server.
    """
    servers = as_table(postgres=False)
    first = _first(servers, ["target_id"], plain=plain).correlate(servers)
    return (
        select(*COLUMNS)
        .select_from(servers)
        .join(schedule, schedule.c.target_id.in_(first))
        .join(target, target.c.id == schedule.c.target_id)
        .order_by(schedule.c.next_due)
    )


def with_details(connection: Connection, due: Sequence[Due]) -> list[Due]:
    """The same with their owners and labels."""
    numbers = [one.id for one in due]
    watches = (
        select(watch.c.target_id, owner.c.name)
        .join(owner, owner.c.id == watch.c.owner_id)
        .where(among(connection, watch.c.target_id, numbers))
    )
    labels = select(label.c.target_id, label.c.name).where(
        among(connection, label.c.target_id, numbers)
    )
    owners_of, labels_of = _grouped(connection, watches), _grouped(connection, labels)
    return [
        replace(one, owners=owners_of[one.id], labels=labels_of[one.id]) for one in due
    ]


def _grouped(connection: Connection, sql: Select[Any]) -> dict[int, tuple[str, ...]]:
    found: dict[int, list[str]] = defaultdict(list)
    for number, name in connection.execute(sql):
        found[number].append(name)
    words = {number: tuple(sorted(names)) for number, names in found.items()}
    return defaultdict(tuple, words)
