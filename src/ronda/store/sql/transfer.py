"""All of a store as lines of JSON: out of one, and into another of either engine."""

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from typing import Any, Protocol

from msgspec import Struct
from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Table,
    case,
    delete,
    func,
    null,
    or_,
    select,
)

from ronda.errors import StoreError
from ronda.store.sql import checking, lines, loading, tallies, textindex
from ronda.store.sql.engines import Database
from ronda.store.sql.releasing import due_at
from ronda.store.sql.schema import batch, fact, owner, server, text_part
from ronda.store.sql.texts import Text

AT_ONCE = 1000  # rows
LONGEST = 1 << 26  # bytes of a line


class Writes(Protocol):
    """Where lines go to."""

    def write(self, data: bytes, /) -> object:
        """Take some of them."""


class Reads(Protocol):
    """Where lines come from."""

    def readline(self, size: int, /) -> bytes:
        """The next one, or as much of it; nothing at the end."""


class _Line(Struct, frozen=True, gc=False):
    """A row, and where it was found."""

    number: int
    table: str
    row: tuple[Any, ...]


class Transfer:
    """Takes a store out, or in."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def export(self, to: Writes) -> int:
        """Write everything, as it was at one moment; how many lines that took.

        A daemon may go on meanwhile. The same store gives the same lines, on whichever
        engine it is.
        """
        to.write(lines.first())
        number = 1
        with self._database.reading() as connection:
            for table in lines.TABLES:
                write = lines.writer(table)
                for some in self._rows(connection, table):
                    to.write(b"".join(map(write, some)))
                    number += len(some)
        to.write(lines.last(number))
        return number + 1

    def load(self, source: Reads, name: str) -> int:
        """Read into an empty store what was exported, all of it or nothing.

        Args:
            source: the lines.
            name: whence they are, for what is wrong with them.

        Returns:
            how many rows there are now.
        """
        number = 0
        with self._database.writing() as connection:
            require_empty(connection, self._database.shown)
            for replaced in (owner, fact, text_part):
                connection.execute(delete(replaced))
            for table, some in _batches(_read(source, name)):
                self._append(connection, table, some, name)
                number += len(some)
            for rule in checking.unattached():
                for problem in checking.broken(connection, rule):
                    raise StoreError(f"{name}: {problem}")
            tallies.recount(connection)
            loading.go_on(connection, lines.TABLES)
        textindex.catch_up(self._database)
        return number

    def _rows(
        self, connection: Connection, table: Table
    ) -> Iterable[list[tuple[Any, ...]]]:
        order: list[ColumnElement[Any]] = []
        for column in table.primary_key:
            # By bytes, as SQLite has it, whatever language PostgreSQL sorts in.
            plain = self._database.is_postgres and isinstance(column.type, Text)
            order.append(column.collate("C") if plain else column)
        streamed = connection.execution_options(yield_per=AT_ONCE)
        partitions: Any = streamed.execute(_all(table).order_by(*order)).partitions()
        found: Iterable[list[tuple[Any, ...]]] = partitions
        return found

    def _append(
        self, connection: Connection, table: Table, some: list[_Line], name: str
    ) -> None:
        try:
            with self._database.in_one_line():
                loading.append(connection, table, (line.row for line in some))
        except StoreError as error:
            where = f"{name}: lines {some[0].number} to {some[-1].number}"
            raise type(error)(f"{where}: {error}") from error


def _all(table: Table) -> Select[Any]:
    """The rows of a table, without what is true here only."""
    query = select(table)
    if table is fact:
        return query.where(fact.c.name != textindex.FACT)
    if table not in (server, batch):
        return query
    held = table.c.holder.is_not(None)
    instead: dict[str, ColumnElement[Any]] = {"holder": null()}
    if table is server:
        # As if its holder had died: there are other processes elsewhere.
        instead["inherited"] = or_(held, server.c.inherited)
        instead["due_at"] = case((held, due_at()), else_=server.c.due_at)
    named = [instead.get(c.name, c).label(c.name) for c in table.columns]
    return select(*named)


def require_empty(connection: Connection, shown: str) -> None:
    """Refuse a store in which something is already.

    Raises:
        StoreError: it is not empty.
    """
    for table in lines.TABLES:
        if table is fact:
            continue
        rows = select(func.count()).select_from(select(table).limit(2).subquery())
        # The operator is in every store.
        if connection.execute(rows).scalar_one() > (1 if table is owner else 0):
            words = f"not empty, there is something in {table.name}"
            raise StoreError(f"--db {shown}: {words}: name a new store")


def _read(source: Reads, name: str) -> Iterator[_Line]:
    number = 0
    while True:
        number += 1
        line = source.readline(LONGEST)
        try:
            if number == 1:
                if not lines.is_ours(line):
                    raise StoreError("not an export of Ronda's")
                continue
            if not line.endswith(b"\n"):
                raise StoreError("too long" if len(line) == LONGEST else "cut short")
            found = lines.read(line)
        except StoreError as error:
            raise StoreError(f"{name}: line {number}: {error}") from None
        if isinstance(found, lines.Last):
            if found.lines != number - 1:
                missing = f"{found.lines} lines should be before it"
                raise StoreError(f"{name}: line {number}: {missing}")
            return
        yield _Line(number, *found)


def _batches(rows: Iterator[_Line]) -> Iterator[tuple[Table, list[_Line]]]:
    """Lines of one table together, but not too many."""
    tables = {table.name: table for table in lines.TABLES}
    for name, group in groupby(rows, key=lambda line: line.table):
        while some := list(islice(group, AT_ONCE)):
            yield tables[name], some
