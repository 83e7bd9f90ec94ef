"""When hosts and servers may be asked again: remembered by whoever holds them."""

from collections.abc import Collection, Mapping
from functools import cache
from typing import Any

from msgspec.structs import astuple, replace
from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    exists,
    false,
    or_,
    select,
    update,
)

from ronda.store.sql.bulk import PROCESS, Change
from ronda.store.sql.lists import is_listed, is_postgres, listed
from ronda.store.sql.schema import host, server
from ronda.store.sql.values import Pace


def as_of(pace: Pace, now: float) -> Pace:
    """A pace, should the clock have been set back since it was written.

    Who was asked in the future was asked now, for all we know; and is left alone from
    now on for as long as it was to be from then on.
    """
    ahead = pace.asked_at - now
    if ahead <= 0:
        return pace
    return replace(
        pace,
        asked_at=now,
        next_at=max(0.0, pace.next_at - ahead),
        rests_until=max(0.0, pace.rests_until - ahead),
    )


def may_be_asked(now: Any) -> ColumnElement[bool]:
    """Whether a server may be asked; or was in the future: see `as_of`."""
    return or_(server.c.next_at <= now, server.c.asked_at > now)


def of_server(row: Any, now: float) -> Pace:
    """The pace of a server, from its row."""
    return as_of(Pace(row.asked_at, row.next_at), now)


@cache
def _hosts(*, postgres: bool) -> Select[Any]:
    c = host.c
    columns = (c.server_id, c.name, c.asked_at, c.next_at, c.gap, c.rests_until)
    return select(*columns).where(is_listed(c.server_id, postgres=postgres))


def of_hosts(
    connection: Connection, servers: list[int], now: float
) -> dict[int, dict[str, Pace]]:
    """The paces of all hosts that live at servers, by server and name."""
    found: dict[int, dict[str, Pace]] = {number: {} for number in servers}
    sql = _hosts(postgres=is_postgres(connection))
    for number, name, *values in connection.execute(sql, listed(connection, servers)):
        found[number][name] = as_of(Pace(*values), now)
    return found


_SERVERS = Change(
    server.c.id,
    server.c.asked_at,
    server.c.next_at,
    where=server.c.holder == PROCESS,
    # Who has asked it knows when; until then it is as a dead process left it.
    also=lambda _new: {"inherited": false()},
)
_HOSTS = Change(
    host.c.name,
    host.c.asked_at,
    host.c.next_at,
    host.c.gap,
    host.c.rests_until,
    where=exists().where(server.c.id == host.c.server_id, server.c.holder == PROCESS),
)


def doubt_hosts(connection: Connection, servers: Collection[int], now: float) -> None:
    """Take hosts for asked just now, whose server was held by a process that died.

    Written, and not only known to its heir: that may leave before it has asked them.
    """
    if servers:
        these = is_listed(host.c.server_id, postgres=is_postgres(connection))
        sql = update(host).where(these).values(asked_at=now)
        connection.execute(sql, listed(connection, servers))


def write_servers(
    connection: Connection, process: int, paces: Mapping[int, Pace]
) -> None:
    """Remember when servers may be asked again, of those that a process holds."""
    rows = [(n, pace.asked_at, pace.next_at) for n, pace in sorted(paces.items())]
    _SERVERS.run(connection, rows, process)


def write_hosts(
    connection: Connection, process: int, paces: Mapping[str, Pace]
) -> None:
    """Remember when hosts may be asked again, of servers that a process holds."""
    rows = [(name, *astuple(pace)) for name, pace in sorted(paces.items())]
    _HOSTS.run(connection, rows, process)
