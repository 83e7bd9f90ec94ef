"""A query with its names looked up: who asks, what he means, and in which order."""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Column, Connection, select

from ronda.store.sql.query import Query, conditions, watched_by
from ronda.store.sql.schema import host, owner


class Asking(Struct, frozen=True):
    """A query that may be answered."""

    query: Query
    owner_id: int | None  # whose targets are meant, as he sees them; None: all
    host_id: int | None
    conditions: tuple[Any, ...]  # of target and schedule, but for the label


def asking(connection: Connection, query: Query, owner_id: int | None) -> Asking | None:
    """Look up the names; None: there is no owner or host of that name.

    Args:
        connection: a transaction.
        query: what is asked.
        owner_id: who asks, for what he watches; None: whom the query names.
    """
    named = host_id = None
    if query.owner is not None:
        named = _number(connection, owner.c.name, query.owner)
        if named is None:
            return None
    if query.host is not None:
        host_id = _number(connection, host.c.name, query.host)
        if host_id is None:
            return None
    who = named if owner_id is None else owner_id
    wanted = tuple(conditions(replace(query, label=None), who, host_id))
    if named is not None and named != who:
        wanted = (*wanted, watched_by(named))
    return Asking(query, who, host_id, wanted)


def _number(connection: Connection, column: Column[Any], name: str) -> int | None:
    found: int | None = connection.scalar(
        select(column.table.c.id).where(column == name)
    )
    return found
