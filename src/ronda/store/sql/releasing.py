"""Servers let go: free again, and due at the right moment."""

from collections.abc import Collection, Mapping
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Update,
    case,
    exists,
    false,
    null,
    select,
    true,
    update,
)

from ronda.store.sql.bulk import PROCESS, Change
from ronda.store.sql.dues import is_handed_over
from ronda.store.sql.lists import is_listed, is_postgres, listed
from ronda.store.sql.schema import request, schedule, server
from ronda.store.sql.values import Pace


def due_at(next_at: Any = server.c.next_at) -> ColumnElement[float | None]:
    """When a free server is to be claimed: at its first target that is due.

    But not before it may be asked. Visits that wait to be carried on do not wait for
    that: they go before all that is only due.
    """
    waits = exists().where(request.c.server_id == server.c.id)
    later = schedule.c.next_due > next_at
    first = (
        select(case((later, schedule.c.next_due), else_=next_at))
        .where(
            schedule.c.server_id == server.c.id,
            schedule.c.next_due.is_not(None),
            ~is_handed_over(),
        )
        .order_by(schedule.c.next_due)
        .limit(1)
        .correlate_except(schedule)
        .scalar_subquery()
    )
    return case((waits, next_at), else_=first)


@cache
def _release(*, postgres: bool) -> Update:
    these = is_listed(server.c.id, postgres=postgres)
    free = update(server).where(these, server.c.holder == PROCESS)
    return free.values(holder=null(), due_at=due_at())


_PACED = Change(
    server.c.id,
    server.c.asked_at,
    server.c.next_at,
    where=server.c.holder == PROCESS,
    also=lambda new: {
        "holder": null(),
        "due_at": due_at(new["next_at"]),
        "inherited": false(),
    },
)


def release(
    connection: Connection,
    process: int,
    servers: Collection[int],
    paces: Mapping[int, Pace],
) -> None:
    """Let go of servers, of those that the process holds.

    Args:
        connection: a transaction.
        process: its number.
        servers: which ones.
        paces: of those of them that were asked.
    """
    found = [(n, paces[n]) for n in sorted(servers) if n in paces]
    rows = [(number, pace.asked_at, pace.next_at) for number, pace in found]
    _PACED.run(connection, rows, process)
    if others := set(servers) - paces.keys():
        sql = _release(postgres=is_postgres(connection))
        values = listed(connection, others) | {PROCESS.key: process}
        connection.execute(sql, values)


def set_due(connection: Connection, servers: Collection[int]) -> None:
    """Let free servers be due anew: one of their targets no longer waits elsewhere."""
    if servers:
        sql = _set_due(postgres=is_postgres(connection))
        connection.execute(sql, listed(connection, servers))


@cache
def _set_due(*, postgres: bool) -> Update:
    these = is_listed(server.c.id, postgres=postgres)
    free = update(server).where(these, server.c.holder.is_(None))
    return free.values(due_at=due_at())


def release_all(connection: Connection, process: int, *, died: bool) -> None:
    """Let go of all that a process holds.

    Args:
        connection: a transaction.
        process: its number.
        died: so that nobody knows when it last asked whom.
    """
    held = server.c.holder == process
    hold = select(server.c.id).where(held).order_by(server.c.id)
    connection.execute(hold.with_for_update(key_share=True))
    free = update(server).where(held).values(holder=None, due_at=due_at())
    # An heir that asked nobody knows no more than it was left: the mark stays.
    connection.execute(free.values(inherited=true()) if died else free)
