"""Who may change what, at PostgreSQL, where many write at once.

Everybody locks in one order, so that nobody waits for another in a circle: servers,
hosts, targets, schedules, each by their numbers, and tallies last.
"""

from collections.abc import Callable, Collection
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, select

from ronda.errors import StoreBusyError
from ronda.store.sql.engines import Database
from ronda.store.sql.many import among
from ronda.store.sql.schema import schedule, server, target

REGISTRY = 0x526F5265  # "RoRe": the lock of who changes what is watched
ATTEMPTS = 5  # while hosts move to other servers under our hands

P = ParamSpec("P")
T = TypeVar("T")


class MovedError(Exception):
    """A host has moved to another server meanwhile: begin anew."""


def insist(
    database: Database,
    work: Callable[Concatenate[Connection, P], T],
    *args: P.args,
    **options: P.kwargs,
) -> T:
    """Change what is watched, alone, in one transaction.

    Args:
        database: the store.
        work: what to do; begun anew when it raises MovedError.
        args: for it.
        options: for it.
    """
    for _ in range(ATTEMPTS):
        try:
            with database.writing() as connection:
                alone(connection)
                return work(connection, *args, **options)
        except MovedError:
            continue
    words = "hosts keep changing their addresses: try again"
    raise StoreBusyError(f"--db {database.shown}: {words}")


def alone(connection: Connection) -> None:
    """Let nobody else change what is watched, until the transaction ends."""
    if connection.dialect.name == "postgresql":
        # What is looked up by many keys is found by its index, never by reading all.
        connection.exec_driver_sql(
            f"SELECT pg_advisory_xact_lock({REGISTRY}),"
            " set_config('enable_seqscan', 'off', true)"
        )


def hold_servers(connection: Connection, servers: Collection[int]) -> None:
    """Keep results of servers from being written, and their hosts from moving."""
    if connection.dialect.name == "postgresql":
        these = select(server.c.id).where(among(connection, server.c.id, servers))
        connection.execute(these.order_by(server.c.id).with_for_update(key_share=True))


def hold_homes(connection: Connection, targets: Collection[int]) -> set[int]:
    """Hold the servers of targets; who they are.

    Raises:
        MovedError: targets moved before their servers were held.
    """
    if not targets:
        return set()
    where = select(schedule.c.server_id).distinct()
    where = where.where(among(connection, schedule.c.target_id, targets))
    servers = set(connection.scalars(where))
    hold_servers(connection, servers)
    if not servers.issuperset(connection.scalars(where)):
        raise MovedError
    return servers


def held_states(connection: Connection, targets: Collection[int]) -> dict[int, str]:
    """The states of targets, which they keep until the transaction ends."""
    these = select(target.c.id, target.c.state).where(
        among(connection, target.c.id, targets)
    )
    rows = connection.execute(these.order_by(target.c.id).with_for_update(read=True))
    return {row.id: row.state for row in rows}
