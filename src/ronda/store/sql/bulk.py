"""Many rows written at once: new ones, or each by its key to values of its own."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from operator import itemgetter
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Table,
    Update,
    bindparam,
    func,
    true,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import ARRAY

from ronda.store.sql.lists import is_postgres

Row = tuple[object, ...]
PROCESS: Any = bindparam("process", type_=BigInteger)
POSTGRES: Any = postgresql.dialect()  # type: ignore[no-untyped-call]


class Each:
    """A statement that SQLite carries out for each of many rows."""

    def __init__(self, statement: Update, names: Sequence[str]) -> None:
        """Compile it.

        Args:
            statement: with a parameter for each value.
            names: of the parameters, in the order of values in a row.
        """
        compiled = statement.compile(dialect=sqlite.dialect(paramstyle="qmark"))
        self._sql = str(compiled)
        marks = compiled.positiontup or []
        fixed = [name for name in marks if name not in names]  # such as a limit
        self._fixed = tuple(compiled.params[name] for name in fixed)
        every = [*names, *fixed]
        self._in_order: Callable[[Row], Any] = itemgetter(*map(every.index, marks))

    def run(self, connection: Connection, rows: Sequence[Row]) -> int:
        """Carry it out; how many rows of the table it found."""
        values = [self._in_order((*row, *self._fixed)) for row in rows]
        return connection.exec_driver_sql(self._sql, values).rowcount


class Change:
    """A change of rows of a table."""

    def __init__(
        self,
        *columns: Column[Any],
        where: ColumnElement[bool] | None = None,
        also: Callable[[Mapping[str, Any]], dict[str, Any]] = lambda _new: {},
    ) -> None:
        """Say what is changed.

        Args:
            columns: the key, then what is set.
            where: which rows may be changed by `PROCESS`; None: all, by anybody.
            also: what else is set, in terms of the new values by their names.
        """
        self._columns = columns
        self._where = where
        self._also = also
        self._names = [f"new_{column.name}" for column in columns]

    def run(
        self, connection: Connection, rows: Sequence[Row], process: int = 0
    ) -> None:
        """Carry it out, with the values of the columns."""
        if not rows:
            return
        if is_postgres(connection):
            lists = map(list, zip(*rows, strict=True))
            values: dict[str, Any] = dict(zip(self._names, lists, strict=True))
            who = {} if self._where is None else {PROCESS.key: process}
            connection.execute(self._at_once, values | who)
        else:
            self._each.run(connection, [(*row, process) for row in rows])

    @cached_property
    def _at_once(self) -> Update:
        """All rows in one statement: one parameter a column."""
        arrays = [
            bindparam(name, type_=ARRAY(column.type))
            for name, column in zip(self._names, self._columns, strict=True)
        ]
        names = [column.name for column in self._columns]
        given = func.unnest(*arrays).table_valued(*names, name="given").render_derived()
        return self._update({name: given.c[name] for name in names})

    @cached_property
    def _each(self) -> Each:
        new = {
            column.name: bindparam(name, type_=column.type)
            for name, column in zip(self._names, self._columns, strict=True)
        }
        return Each(self._update(new), [*self._names, PROCESS.key])

    def _update(self, new: Mapping[str, Any]) -> Update:
        key, *columns = self._columns
        allowed = true() if self._where is None else self._where
        values = {column.name: new[column.name] for column in columns}
        sql = update(key.table).where(key == new[key.name], allowed)
        return sql.values(values | self._also(new))


def append(connection: Connection, table: Table, rows: Sequence[Row]) -> None:
    """Insert rows with all of their columns."""
    if not is_postgres(connection):
        marks = ", ".join("?" * len(table.columns))
        sql = f"INSERT INTO {table.name} VALUES ({marks})"  # noqa: S608  # our own
        connection.exec_driver_sql(sql, list(rows))
        return
    driver: Any = connection.connection.driver_connection
    into = f"COPY {table.name} FROM STDIN (FORMAT BINARY)"
    with driver.cursor() as cursor, cursor.copy(into) as copy:
        copy.set_types(_types(table))
        for row in rows:
            copy.write_row(row)


@cache
def _types(table: Table) -> list[str]:
    return [column.type.compile(POSTGRES).lower() for column in table.columns]
