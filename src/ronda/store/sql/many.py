"""Many values in one statement, and numbers for many new rows, on either engine."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    FromClause,
    Table,
    any_,
    bindparam,
    cast,
    func,
    literal,
    select,
)
from sqlalchemy.dialects.postgresql import ARRAY

from ronda.store.sql.schema import target
from ronda.store.sql.texts import Text

CHUNK = 10_000  # rows that are written in one transaction

T = TypeVar("T")


def chunks(values: Iterable[T], size: int = CHUNK) -> Iterator[list[T]]:
    """So many values at a time."""
    rest = iter(values)
    while some := list(islice(rest, size)):
        yield some


def among(
    connection: Connection, column: Column[Any], values: Iterable[Any]
) -> ColumnElement[bool]:
    """Whether a column has one of many values: one parameter, and by its index."""
    listed = list(values)
    if connection.dialect.name == "postgresql":
        if isinstance(column.type, Text):
            return column == any_(literal(listed, ARRAY(Text())))
        return column == any_(_numbers(listed))
    found: ColumnElement[bool] = column.in_(select(_json(listed).c.value))
    return found


def ids(connection: Connection, values: Sequence[int]) -> FromClause:
    """Ids as if they were a table, with a column `id`."""
    if connection.dialect.name == "postgresql":
        listed = func.unnest(_numbers(values), type_=BigInteger())
        return listed.table_valued("id", name="listed").render_derived()
    listed_here = _json(values)
    return select(listed_here.c.value.label("id")).subquery("listed")


def in_places(connection: Connection, values: Sequence[int]) -> FromClause:
    """Ids as if they were a table, with the place of each in the list beside it."""
    if connection.dialect.name == "postgresql":
        listed = func.unnest(_numbers(values), type_=BigInteger())
        table = listed.table_valued("id", with_ordinality="place", name="placed")
        return table.render_derived()
    here = _json(values, "key")
    found = select(here.c.value.label("id"), here.c.key.label("place"))
    return found.subquery("placed")


def _numbers(values: Iterable[int]) -> ColumnElement[Any]:
    """An array, given as its words: psycopg takes ten times as long to make them."""
    return cast(literal(f"{{{','.join(map(str, values))}}}", Text), ARRAY(BigInteger()))


def _json(values: Iterable[Any], *more: str) -> Any:
    text = bindparam(None, json.dumps(list(values)), Text, unique=True)
    return func.json_each(text).table_valued("value", *more, name="each")


def new_ids(connection: Connection, table: Table, count: int) -> Sequence[int]:
    """Numbers for new rows; for targets they were never used before.

    Whoever wants to add targets is alone (see `locking`).
    """
    if connection.dialect.name == "postgresql":
        # Looked up once, not for each number: that takes ten times as long.
        of = f"(SELECT pg_get_serial_sequence('{table.name}', 'id')::regclass)"
        if table is target:
            sql = f"SELECT setval({of}, nextval({of}) + {count - 1})"
            last: int = connection.exec_driver_sql(sql).scalar_one()
            return range(last - count + 1, last + 1)
        sql = f"SELECT nextval({of}) FROM generate_series(1, {count})"  # noqa: S608
        return connection.exec_driver_sql(sql).scalars().all()
    last = connection.scalar(select(func.max(table.c.id))) or 0
    if table is target:
        sql = "SELECT seq FROM sqlite_sequence WHERE name = 'target'"
        last = max(last, connection.exec_driver_sql(sql).scalar() or 0)
    return range(last + 1, last + 1 + count)
