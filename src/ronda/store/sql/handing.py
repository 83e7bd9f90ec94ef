"""Visits that one process hands over to another: the one that holds the next server."""

from collections.abc import Collection, Iterable
from functools import cache
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from ronda.model import Visit
from ronda.store.sql import dues
from ronda.store.sql.lists import is_listed, is_postgres, listed
from ronda.store.sql.many import among
from ronda.store.sql.schema import host, request, schedule, server, target
from ronda.store.sql.texts import packed
from ronda.store.sql.values import HandedOver, Queued

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Visit).decode


def queued(connection: Connection, process: int) -> list[Queued]:
    """The visits that wait at servers which a process holds, the oldest first.

    Each belongs to the server that it waits at, not to that of its target.
    """
    columns = [
        request.c.server_id if column is schedule.c.server_id else column
        for column in dues.COLUMNS
    ]
    rows = connection.execute(
        select(*columns, request.c.id, request.c.visit)
        .join(server, server.c.id == request.c.server_id)
        .join(schedule, schedule.c.target_id == request.c.target_id)
        .join(target, target.c.id == request.c.target_id)
        .where(server.c.holder == process)
        .order_by(request.c.id)
    )
    return [Queued(row[-2], _decode(row[-1]), dues.due_of(row[:-2])) for row in rows]


def homes(connection: Connection, handed: Iterable[HandedOver]) -> dict[str, int]:
    """The servers of the hosts that are to be asked next."""
    names = {one.host for one in handed}
    if not names:
        return {}
    rows = select(host.c.name, host.c.server_id)
    found = connection.execute(rows.where(among(connection, host.c.name, names)))
    return {row.name: row.server_id for row in found}


def homes_of(connection: Connection, targets: Collection[int]) -> set[int]:
    """The servers at which targets live that wait at another."""
    if not targets:
        return set()
    rows = select(schedule.c.server_id).distinct()
    these = among(connection, schedule.c.target_id, targets)
    return set(connection.scalars(rows.where(these)))


def waiting(connection: Connection, targets: Collection[int]) -> dict[int, Any]:
    """Visits of targets that were handed over, and who holds the server of each."""
    sql = _waiting(postgres=is_postgres(connection))
    rows = connection.execute(sql, listed(connection, targets))
    return {row.target_id: row for row in rows}


@cache
def _waiting(*, postgres: bool) -> Select[Any]:
    return (
        select(request.c.id, request.c.target_id, server.c.holder)
        .join(server, server.c.id == request.c.server_id)
        .where(is_listed(request.c.target_id, postgres=postgres))
    )


def end(connection: Connection, numbers: Collection[int]) -> None:
    """Visits have ended."""
    if numbers:
        connection.execute(
            delete(request).where(among(connection, request.c.id, numbers))
        )


def hand_over(
    connection: Connection,
    handed: Iterable[HandedOver],
    servers: dict[str, int],
    now: float,
) -> None:
    """Let visits wait at the servers of their next hosts.

    One whose host nobody knows is not written: its target is still due.
    """
    rows = [
        {
            "server_id": servers[one.host],
            "target_id": one.due.id,
            "visit": packed(_encode, one.visit),
            "at": now,
        }
        for one in handed
        if one.host in servers
    ]
    if not rows:
        return
    postgres = connection.dialect.name == "postgresql"
    new: Any = (postgresql if postgres else sqlite).insert(request)
    again = {name: new.excluded[name] for name in ("server_id", "visit", "at")}
    connection.execute(
        new.on_conflict_do_update(index_elements=["target_id"], set_=again), rows
    )
    # Who holds the server looks for it; and if nobody does, somebody shall.
    these = among(connection, server.c.id, {row["server_id"] for row in rows})
    free = update(server).where(these, server.c.holder.is_(None))
    connection.execute(free.values(due_at=server.c.next_at))
