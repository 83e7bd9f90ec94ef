"""Free servers taken by a process, with what it has to know of them."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import Connection, Select, Update, bindparam, exists, select, update

from ronda.store.sql import dues, paces
from ronda.store.sql.bulk import PROCESS
from ronda.store.sql.lists import is_listed, is_postgres, listed
from ronda.store.sql.schema import schedule, server
from ronda.store.sql.values import Claimed, Due


def take(
    connection: Connection, process: int, now: float, count: int, *, plain: bool = False
) -> Sequence[Any]:
    """Servers that are the process's from now on, as they were before.

    Args:
        connection: a transaction.
        process: whose they are.
        now: epoch seconds.
        count: of them, at most.
        plain: only those at which something is due that has no plan.
    """
    values = {"now": now, "count": count}
    rows = connection.execute(_free(plain=plain), values).all()
    if rows:
        held = _hold(postgres=is_postgres(connection))
        values = listed(connection, (row.id for row in rows))
        connection.execute(held, values | {PROCESS.key: process})
        paces.doubt_hosts(connection, [row.id for row in rows if row.inherited], now)
    return rows


@cache
def _free(*, plain: bool) -> Select[Any]:
    """Servers to be claimed."""
    now: Any = bindparam("now")
    free = server.c.holder.is_(None), server.c.due_at <= now, paces.may_be_asked(now)
    found = select(server).where(*free).order_by(server.c.due_at)
    if plain:
        there = schedule.c.server_id == server.c.id
        due = schedule.c.next_due <= now
        is_plain = dues.is_plain(schedule.c.target_id)
        found = found.where(exists().where(there, due, is_plain))
    # What others are about to claim, or to change, is passed over.
    return found.limit(bindparam("count")).with_for_update(
        skip_locked=True, key_share=True
    )


@cache
def _hold(*, postgres: bool) -> Update:
    these = update(server).where(is_listed(server.c.id, postgres=postgres))
    return these.values(holder=PROCESS)


def described(
    connection: Connection,
    rows: Sequence[Any],
    now: float,
    length: int,
    *,
    details: bool,
    plain: bool = False,
) -> list[Claimed]:
    """Servers with their hosts, and the targets of each that are due longest."""
    if not rows:
        return []
    numbers = [row.id for row in rows]
    hosts = paces.of_hosts(connection, numbers, now)
    due = dues.at(connection, numbers, now, length, plain=plain) if length else []
    if details:
        due = dues.with_details(connection, due)
    at: dict[int, list[Due]] = defaultdict(list)
    for one in due:
        at[one.server].append(one)
    return [
        Claimed(
            id=row.id,
            address=row.address,
            pace=paces.of_server(row, now),
            hosts=hosts[row.id],
            due=tuple(at[row.id]),
            inherited=row.inherited,
        )
        for row in rows
    ]


def next_due(connection: Connection, now: float, ahead: int) -> float | None:
    """When the first of the free servers is to be claimed; None: none is.

    Args:
        connection: a transaction.
        now: epoch seconds.
        ahead: how many are looked at; all others are due later than these.
    """
    free = select(server.c.due_at, server.c.asked_at, server.c.next_at)
    free = free.where(server.c.holder.is_(None), server.c.due_at.is_not(None))
    rows = connection.execute(free.order_by(server.c.due_at).limit(ahead))
    # One that is due but may not be asked yet is no reason to come back at once.
    moments = (max(row.due_at, paces.of_server(row, now).next_at) for row in rows)
    return min(moments, default=None)
