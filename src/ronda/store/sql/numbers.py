"""How much there is of everything: the statistics of the whole."""

from msgspec import Struct
from sqlalchemy import Connection, Table, func, or_, select

from ronda.model import State
from ronda.store.sql import machine
from ronda.store.sql.engines import Database
from ronda.store.sql.schema import (
    EVERYBODY,
    batch,
    host,
    hour,
    notice,
    owner,
    process,
    schedule,
    server,
    target,
)
from ronda.store.sql.sides import counts

HOUR = 3600.0  # seconds
DAY = 24  # hours
SOON = HOUR  # seconds in which failures are confirmed, and far less
_FAILING = (State.TEMPORARY, State.BROKEN, State.BLOCKED)


class Process(Struct, frozen=True):
    """A process that checks what is in this store."""

    id: int
    machine: str  # its name
    pid: int
    began_at: float
    pool: int
    active: int
    queued: int


class Stats(Struct, frozen=True):
    """How much there is, and how much of it is under way."""

    pool: int  # how many checks may be under way at once, in all processes
    available: int  # of them, those that are free
    active: int
    queue: int  # targets that are due
    late: float  # seconds that the first of them has waited
    by_state: dict[State, int]
    unconfirmed: int  # that failed, and are checked again before their state says so
    targets: int
    owners: int
    hosts: int
    servers: int
    notices: int  # that wait to be sent
    checks_hour: int  # in the last hour, about
    checks_day: int
    processes: list[Process]


class Numbers:
    """Counts what is there."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def processes(self, now: float) -> list[Process]:
        """Who checks what is in this store."""
        with self._database.reading() as connection:
            return _processes(connection, now)

    def stats(self, now: float) -> Stats:
        """All numbers, as of one moment."""
        with self._database.reading() as connection:
            found = counts(connection, EVERYBODY)
            by_state = {state: found.get(state, 0) for state in State}
            processes = _processes(connection, now)
            queue, first = _queue(connection, now)
            pool = sum(one.pool for one in processes)
            active = sum(one.active for one in processes)
            return Stats(
                pool=pool,
                available=max(0, pool - active),
                active=active,
                queue=queue,
                late=now - first if queue else 0.0,
                by_state=by_state,
                unconfirmed=_unconfirmed(connection, now),
                targets=sum(by_state.values()),
                owners=_count(connection, owner),
                hosts=_count(connection, host),
                servers=_count(connection, server),
                notices=_notices(connection),
                checks_hour=_checks(connection, now, 1),
                checks_day=_checks(connection, now, DAY),
                processes=processes,
            )


def _processes(connection: Connection, now: float) -> list[Process]:
    """Those that live; of those of this machine, that is certain."""
    rows = connection.execute(
        select(process).where(process.c.until > now).order_by(process.c.id)
    )
    return [
        Process(
            row.id,
            machine.name(row.machine),
            row.pid,
            row.began_at,
            row.pool,
            row.active,
            row.queued,
        )
        for row in rows
        if not machine.is_dead(machine.Identity(row.machine, row.pid, row.started))
    ]


def _queue(connection: Connection, now: float) -> tuple[int, float]:
    """How many targets are due, and since when the first of them."""
    # Of servers that are held, nobody keeps up to date when they are due.
    due = or_(server.c.due_at <= now, server.c.holder.is_not(None))
    sql = (
        select(func.count(), func.min(schedule.c.next_due))
        .join_from(server, schedule, schedule.c.server_id == server.c.id)
        .where(due, schedule.c.next_due <= now)
    )
    number, first = connection.execute(sql).one()
    return number, first or now


def _unconfirmed(connection: Connection, now: float) -> int:
    """How many have failed, though their state does not say so yet."""
    # By the index of what is due: no other has the failures of a million targets.
    soon = or_(server.c.due_at <= now + SOON, server.c.holder.is_not(None))
    sql = (
        select(func.count())
        .join_from(server, schedule, schedule.c.server_id == server.c.id)
        .join(target, target.c.id == schedule.c.target_id)
        .where(soon, schedule.c.next_due <= now + SOON, schedule.c.failures > 0)
        .where(target.c.state.not_in(_FAILING))
    )
    return int(connection.scalar(sql) or 0)


def _checks(connection: Connection, now: float, hours: int) -> int:
    """How many results were written in the last hours: each hour says its own."""
    begins = now / HOUR - hours
    number = hour.c.last_id - hour.c.first_id + 1
    rows = connection.execute(
        select(hour.c.hour, number.label("number")).where(hour.c.hour >= int(begins))
    )
    # Of the first hour, as much as is not too old.
    found: float = sum(min(1.0, row.hour + 1 - begins) * row.number for row in rows)
    return round(found)


def _notices(connection: Connection) -> int:
    sent = select(func.sum(batch.c.number)).where(batch.c.kind == "notices")
    return _count(connection, notice) + int(connection.scalar(sent) or 0)


def _count(connection: Connection, table: Table) -> int:
    return int(connection.scalar(select(func.count()).select_from(table)) or 0)
