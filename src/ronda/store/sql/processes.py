"""The processes that share a store: rows that live as long as they are renewed."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update

from ronda.store.sql import machine
from ronda.store.sql.releasing import release_all
from ronda.store.sql.schema import process


def join(connection: Connection, pool: int, now: float, seconds: float) -> int:
    """Begin one; its number is never used again."""
    who = machine.myself()
    row = insert(process).values(
        machine=who.machine,
        pid=who.pid,
        started=who.started,
        began_at=now,
        until=now + seconds,
        pool=pool,
    )
    return int(connection.execute(row.returning(process.c.id)).scalar_one())


def renew(connection: Connection, number: int, **values: float) -> bool:
    """Let one live on; False: it was buried."""
    row = update(process).where(process.c.id == number)
    return connection.execute(row.values(values)).rowcount > 0


def is_alive(connection: Connection, number: int) -> bool:
    """Whether one lives, and cannot be buried until the transaction ends."""
    row = select(process.c.id).where(process.c.id == number)
    locked = row.with_for_update(read=True, key_share=True)
    return connection.scalar(locked) is not None


def leave(connection: Connection, number: int) -> None:
    """End one in order."""
    connection.execute(select(process).where(_is(number)).with_for_update())
    release_all(connection, number, died=False)
    connection.execute(delete(process).where(_is(number)))


def signs(connection: Connection) -> dict[int, float]:
    """To when each of them holds what it claimed: its last sign of life."""
    rows = connection.execute(select(process.c.id, process.c.until))
    return {row.id: row.until for row in rows}


def dead(connection: Connection, silent: Mapping[int, float]) -> list[int]:
    """Those that have died, or have given no sign of life since that one."""
    return _dead(connection.execute(select(process)), silent)


def bury(connection: Connection, number: int, silent: Mapping[int, float]) -> bool:
    """End one that is dead; False: it writes just now, or has renewed."""
    row = select(process).where(_is(number)).with_for_update(skip_locked=True)
    if not _dead(connection.execute(row), silent):
        return False
    release_all(connection, number, died=True)
    connection.execute(delete(process).where(_is(number)))
    return True


def _is(number: int) -> Any:
    return process.c.id == number


def _dead(rows: Iterable[Row[Any]], silent: Mapping[int, float]) -> list[int]:
    return [
        row.id
        for row in rows
        if silent.get(row.id) == row.until
        or machine.is_dead(machine.Identity(row.machine, row.pid, row.started))
    ]
