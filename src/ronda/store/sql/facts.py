"""Small facts that the store remembers by name."""

from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.dialects import postgresql, sqlite

from ronda.store.sql.schema import fact


def read(connection: Connection, name: str) -> str:
    """What is remembered; empty: nothing."""
    found: str | None = connection.scalar(
        select(fact.c.value).where(fact.c.name == name)
    )
    return found or ""


def write(connection: Connection, name: str, value: str) -> None:
    """Remember it from now on."""
    postgres = connection.dialect.name == "postgresql"
    new: Any = (postgresql if postgres else sqlite).insert(fact)
    new = new.values(name=name, value=value)
    new = new.on_conflict_do_update(index_elements=["name"], set_={"value": value})
    connection.execute(new)
