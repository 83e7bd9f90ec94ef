"""What visits found beside their verdicts: results of tasks, and those of rounds."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import Connection, Delete, Table, bindparam, delete, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import ARRAY

from ronda.store.sql.bulk import Row, append
from ronda.store.sql.lists import is_listed, is_postgres, listed
from ronda.store.sql.schema import round_result, task_result
from ronda.store.sql.sheets import Sheet


def write(connection: Connection, sheet: Sheet) -> None:
    """Write what a sheet has of them; most have nothing."""
    if sheet.cleared or sheet.tasks:
        _write_tasks(connection, sheet)
    if sheet.found:
        _put(connection, round_result, sheet.found)


def _write_tasks(connection: Connection, sheet: Sheet) -> None:
    """All results of a visit in the place of all of the one before.

    Of one that broke off for a fault of ours, in the place of the same tasks' only.
    """
    new = set(sheet.cleared)
    if new:
        gone = _cleared(postgres=is_postgres(connection))
        connection.execute(gone, listed(connection, new))
    if fresh := [row for row in sheet.tasks if row[0] in new]:
        append(connection, task_result, fresh)
    if partly := [row for row in sheet.tasks if row[0] not in new]:
        _put(connection, task_result, partly)


@cache
def _cleared(*, postgres: bool) -> Delete:
    these = is_listed(task_result.c.target_id, postgres=postgres)
    return delete(task_result).where(these)


def _put(connection: Connection, table: Table, rows: Sequence[Row]) -> None:
    """Insert rows with all of their columns, or change those that are there."""
    if is_postgres(connection):
        lists = map(list, zip(*rows, strict=True))
        names = table.columns.keys()
        connection.execute(_at_once(table), dict(zip(names, lists, strict=True)))
    else:
        connection.exec_driver_sql(_each(table), list(rows))


@cache
def _at_once(table: Table) -> Any:
    """All rows in one statement: one parameter a column."""
    names = table.columns.keys()
    arrays = [bindparam(name, type_=ARRAY(table.c[name].type)) for name in names]
    given = func.unnest(*arrays).table_valued(*names, name="given").render_derived()
    rows = select(*(given.c[name] for name in names))
    return _or_change(postgresql.insert(table).from_select(names, rows), table)


@cache
def _each(table: Table) -> str:
    dialect: Any = sqlite.dialect
    new = sqlite.insert(table)
    return str(_or_change(new, table).compile(dialect=dialect(paramstyle="qmark")))


def _or_change(new: Any, table: Table) -> Any:
    others = [column.name for column in table.columns if not column.primary_key]
    changed = {name: new.excluded[name] for name in others}
    return new.on_conflict_do_update(index_elements=table.primary_key, set_=changed)
