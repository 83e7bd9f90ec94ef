"""Many rows into a table, by the fastest way that each engine has."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Table, insert, text


def append(
    connection: Connection,
    table: Table,
    rows: Iterable[tuple[Any, ...]],
    columns: Sequence[str] = (),
) -> None:
    """Insert rows.

    Args:
        connection: a transaction.
        table: where to.
        rows: with values of the columns.
        columns: which ones, in the order of the table; empty: all of them.
    """
    columns = columns or table.columns.keys()
    if connection.dialect.name == "postgresql":
        _copy(connection, table, rows, columns)
    elif listed := list(rows):
        new = insert(table).compile(dialect=connection.dialect, column_keys=columns)
        connection.exec_driver_sql(str(new), listed)


def _copy(
    connection: Connection,
    table: Table,
    rows: Iterable[tuple[Any, ...]],
    names: Sequence[str],
) -> None:
    quoted = connection.dialect.identifier_preparer
    columns = ", ".join(quoted.format_column(table.c[name]) for name in names)
    driver: Any = connection.connection.driver_connection
    into = f"COPY {quoted.format_table(table)} ({columns}) FROM STDIN"
    with driver.cursor() as cursor, cursor.copy(into) as copy:
        for row in rows:
            copy.write_row(row)


def go_on(connection: Connection, tables: Iterable[Table]) -> None:
    """Number new rows after those that came with their numbers, and know them all."""
    if connection.dialect.name != "postgresql":
        return  # SQLite looks for the last one, and counts on nothing
    quoted = connection.dialect.identifier_preparer
    for table in tables:
        name = quoted.format_table(table)
        if table.autoincrement_column is not None:
            of = "pg_get_serial_sequence(:name, 'id')"
            last = f"SELECT setval({of}, max(id)) FROM {name}"  # noqa: S608
            connection.execute(text(last), {"name": name})
        connection.exec_driver_sql(f"ANALYZE {name}")
