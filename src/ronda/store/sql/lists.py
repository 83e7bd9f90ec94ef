"""Lists of values as one parameter of statements that are built only once.

To build a statement takes longer than to carry it out: what is written many times a
second is built once for each engine.
"""

import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    FromClause,
    any_,
    bindparam,
    func,
    select,
)
from sqlalchemy.dialects.postgresql import ARRAY

from ronda.store.sql.texts import Text

LISTED = "listed"  # the parameter


def is_postgres(connection: Connection) -> bool:
    """Of which engine a statement has to be."""
    return connection.dialect.name == "postgresql"


def is_listed(column: Column[Any], *, postgres: bool) -> ColumnElement[bool]:
    """Whether a column has one of the values: found by its index."""
    if postgres:
        kind = Text() if isinstance(column.type, Text) else BigInteger()
        return column == any_(bindparam(LISTED, type_=ARRAY(kind)))
    values = func.json_each(bindparam(LISTED, type_=Text)).table_valued("value")
    found: ColumnElement[bool] = column.in_(select(values.c.value))
    return found


def as_table(*, postgres: bool) -> FromClause:
    """The values as if they were a table, with a column `id`."""
    if postgres:
        array = bindparam(LISTED, type_=ARRAY(BigInteger()))
        return func.unnest(array).table_valued("id", name=LISTED).render_derived()
    values = func.json_each(bindparam(LISTED, type_=Text)).table_valued("value")
    return select(values.c.value.label("id")).subquery(LISTED)


def listed(connection: Connection, values: Iterable[int | str]) -> dict[str, Any]:
    """The parameter that has these values."""
    found = list(values)
    return {LISTED: found if is_postgres(connection) else json.dumps(found)}
