"""URLs to be watched, and what a store has of them, for tests of the registry."""

from typing import Any

from sqlalchemy import Table, func, select, update

from ronda.store.sql import schema, tallies
from ronda.store.sql.adding import Given, key_of
from ronda.store.sql.engines import Database
from ronda.urls import host_key, scheme

NOW = 1_800_000_000.0
HOUR, DAY = 3600.0, 86_400.0


def wanted(*urls: str, **more: Any) -> list[Given]:
    """As `enrolment` makes them, but for schemes whose handlers know better."""
    return [Given(url, host_key(url), scheme(url), **more) for url in urls]


def keys(*urls: str) -> list[int]:
    return [key_of(url) for url in urls]


def number(database: Database, table: Table) -> int:
    """How many rows there are."""
    with database.reading() as connection:
        return connection.scalar(select(func.count()).select_from(table)) or 0


def rows(database: Database, *columns: Any) -> list[tuple[Any, ...]]:
    with database.reading() as connection:
        found = connection.execute(select(*columns).order_by(*columns))
        return [tuple(row) for row in found]


def found(database: Database, url: str, **values: Any) -> None:
    """Let a target have a state, a reason and so on, as if a check had found it."""
    key = key_of(url)
    of_target = {k: v for k, v in values.items() if k in schema.target.c}
    of_schedule = {k: v for k, v in values.items() if k in schema.schedule.c}
    ids = select(schema.target.c.id).where(schema.target.c.key == key)
    with database.writing() as connection:
        if of_target:
            row = update(schema.target).where(schema.target.c.key == key)
            connection.execute(row.values(of_target))
        if of_schedule:
            this = schema.schedule.c.target_id.in_(ids)
            row = update(schema.schedule).where(this)
            connection.execute(row.values(of_schedule))
        tallies.recount(connection)


def is_counted_right(database: Database) -> bool:
    """Whether the tally is what counting gives."""
    with database.reading() as connection:
        return tallies.kept(connection) == tallies.counted(connection)
