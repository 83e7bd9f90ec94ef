"""Where hosts live: found, or begun as servers of their own until they are resolved."""

from collections.abc import Collection
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, Row, Table, or_, select, update

from ronda.store.sql.engines import Database
from ronda.store.sql.locking import MovedError, hold_servers
from ronda.store.sql.many import among, new_ids
from ronda.store.sql.schema import UNRESOLVED, host, server

__all__ = ["Home", "MovedError", "homes", "pull", "settle"]


class Home(Struct, frozen=True, gc=False):
    """A host, and the server that it lives at."""

    host: int
    server: int


def settle(database: Database, names: Collection[str]) -> None:
    """Give new hosts a server each.

    In a transaction of its own, which has nothing else locked: processes that follow a
    redirect begin hosts too.
    """
    with database.reading() as connection:
        found = {row.name for row in _known(connection, names)}
    if new := sorted(set(names) - found):
        addresses = [UNRESOLVED + name for name in new]
        with database.writing() as connection:
            numbers = list(new_ids(connection, server, len(new)))
            _put(connection, server, {"id": numbers, "address": addresses})
            # One of that name may have been there: its host was forgotten since.
            at = among(connection, server.c.address, addresses)
            found_at = select(server.c.address, server.c.id).where(at)
            servers = {row.address: row.id for row in connection.execute(found_at)}
            columns: dict[str, list[Any]] = {
                "id": list(new_ids(connection, host, len(new))),
                "name": new,
                "server_id": [servers[address] for address in addresses],
            }
            _put(connection, host, columns)


def homes(
    connection: Connection, names: Collection[str], now: float
) -> dict[str, Home]:
    """The homes of hosts, which stay where they are until the transaction ends.

    Their servers are due from now on.

    Raises:
        MovedError: they did not stay, or are gone.
    """
    known = _known(connection, names)
    pull(connection, {row.server_id for row in known}, now)
    # Servers are locked before hosts, by everybody: so they are held only now.
    held = {row.name: Home(row.id, row.server_id) for row in _held(connection, names)}
    found = {row.name: Home(row.id, row.server_id) for row in known}
    if held != found or len(found) < len(names):
        raise MovedError
    return found


def pull(connection: Connection, servers: Collection[int], now: float) -> None:
    """Let servers be due from now on."""
    hold_servers(connection, servers)
    later = or_(server.c.due_at.is_(None), server.c.due_at > now)
    these = among(connection, server.c.id, servers)
    connection.execute(update(server).where(these, later).values(due_at=now))


def _known(connection: Connection, names: Collection[str]) -> list[Row[Any]]:
    columns = select(host.c.id, host.c.name, host.c.server_id)
    found = columns.where(among(connection, host.c.name, names))
    return list(connection.execute(found.order_by(host.c.id)))


def _held(connection: Connection, names: Collection[str]) -> list[Row[Any]]:
    columns = select(host.c.id, host.c.name, host.c.server_id)
    found = columns.where(among(connection, host.c.name, names)).order_by(host.c.id)
    return list(connection.execute(found.with_for_update(read=True)))


def _put(connection: Connection, table: Table, columns: dict[str, list[Any]]) -> None:
    """Insert rows, column by column; those that somebody else put meanwhile stay."""
    names = ", ".join(columns)
    if connection.dialect.name == "postgresql":
        arrays = ", ".join(
            "%s::text[]" if name in {"name", "address"} else "%s::bigint[]"
            for name in columns
        )
        sql = f"INSERT INTO {table.name} ({names}) SELECT * FROM unnest({arrays})"  # noqa: S608
        connection.exec_driver_sql(
            f"{sql} ON CONFLICT DO NOTHING", tuple(columns.values())
        )
        return
    marks = ", ".join("?" * len(columns))
    sql = f"INSERT INTO {table.name} ({names}) VALUES ({marks}) ON CONFLICT DO NOTHING"  # noqa: S608
    connection.exec_driver_sql(sql, list(zip(*columns.values(), strict=True)))
