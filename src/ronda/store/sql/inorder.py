"""Tables joined one after the other, as they are written.

Both engines would choose an order of their own, by what they believe to know of the
numbers: to begin with an owner's million targets, where five hundred ids are given.
"""

from typing import Any

from sqlalchemy import ColumnElement, Connection, FromClause
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.selectable import Join


class Then(Join):
    """One table, then another."""

    inherit_cache = True

    def __init__(
        self, left: FromClause, right: FromClause, on: ColumnElement[bool]
    ) -> None:
        super().__init__(left, right, on)


@compiles(Then, "sqlite")
def _cross(element: Then, compiler: SQLCompiler, **options: Any) -> str:
    """SQLite keeps the order of what it is told to cross."""
    parts: Any = (element.left, element.right)
    left, right = (compiler.process(one, **options | {"asfrom": True}) for one in parts)
    onclause: Any = element.onclause
    on = compiler.process(onclause, **options | {"asfrom": False})
    return f"{left} CROSS JOIN {right} ON {on}"


def keep_order(connection: Connection) -> None:
    """PostgreSQL: do so until the transaction ends, and never read all of a table."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(
            "SELECT set_config('join_collapse_limit', '1', true),"
            " set_config('jit', 'off', true),"
            " set_config('enable_seqscan', 'off', true),"
            " set_config('enable_hashjoin', 'off', true),"
            " set_config('enable_mergejoin', 'off', true)"
        )
