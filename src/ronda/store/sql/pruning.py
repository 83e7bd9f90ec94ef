"""What a store need not remember any longer, taken out in slices."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing

from msgspec import Struct
from sqlalchemy import (
    ColumnElement,
    Connection,
    Delete,
    Table,
    and_,
    delete,
    exists,
    func,
    select,
)

from ronda.errors import StoreBusyError
from ronda.store.sql import facts
from ronda.store.sql.engines import Database
from ronda.store.sql.schema import (
    history,
    host,
    hour,
    metadata,
    request,
    robots,
    round_,
    round_result,
    schedule,
    server,
    target,
)

SLICE = 2000  # rows that are looked at in one transaction
PAUSE = 0.02  # seconds between two, in which others write
ATTEMPTS = 10  # to be alone for a moment; what is left is for the next time
HOUR, DAY = 3600, 86400.0  # seconds
ROBOTS_AGE = 30 * DAY
FACT = "pruned"  # the fact: up to which result, and before which hour


class Pruned(Struct, frozen=True):
    """How much was taken out."""

    results: int
    hosts: int
    servers: int
    robots: int
    rounds: int = 0


def prune(database: Database, now: float, retention: float) -> Pruned:
    """Forget results older than so many seconds, and what nobody needs.

    The last result of each target stays, however old it is.
    """
    return Pruned(
        results=_results(database, now - retention),
        hosts=_unused(database, host, _host_unused(now)),
        servers=_unused(database, server, _server_unused(now)),
        robots=_unused(database, robots, robots.c.at < now - ROBOTS_AGE),
        rounds=_rounds(database, now - retention),
    )


def compact(database: Database) -> None:
    """Give the space of what was taken out back; others wait meanwhile."""
    if database.path is None:
        tables = ", ".join(f'"{table.name}"' for table in metadata.sorted_tables)
        alone = database.engine.execution_options(isolation_level="AUTOCOMMIT")
        with database.in_one_line(), alone.connect() as connection:
            connection.exec_driver_sql(f"VACUUM (ANALYZE) {tables}")
        return
    # A connection of its own: it needs as much room as the file, and not in memory.
    file = sqlite3.connect(database.path, isolation_level=None)
    with database.in_one_line(), closing(file):
        file.execute("VACUUM")
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")


class Past(Struct, frozen=True):
    """How far a store was pruned: there only last results are left."""

    result: int = 0  # the last number of those that were taken out
    hour: int = 0  # the first of which all are left


def past(connection: Connection) -> Past:
    """How far it was pruned."""
    words = facts.read(connection, FACT)
    return Past(*map(int, words.split())) if words else Past()


def _note(connection: Connection, result: int, first_hour: int) -> None:
    was = past(connection)
    words = f"{max(was.result, result)} {max(was.hour, first_hour)}"
    facts.write(connection, FACT, words)


def _results(database: Database, before: float) -> int:
    is_last = exists().where(
        schedule.c.target_id == history.c.target_id,
        schedule.c.last_result == history.c.id,
    )
    gone = 0
    for low, high in _slices(database, _end(database, before)):
        old = and_(history.c.id > low, history.c.id <= high, history.c.at < before)
        with database.writing() as connection:
            number = connection.execute(delete(history).where(old, ~is_last)).rowcount
            if number:
                _note(connection, high, 0)
        gone += number
        time.sleep(PAUSE)
    first_hour = int(before // HOUR)
    with database.writing() as connection:
        if connection.execute(delete(hour).where(hour.c.hour < first_hour)).rowcount:
            _note(connection, 0, first_hour)
    return gone


def _end(database: Database, before: float) -> int:
    """From which number on all results are newer; those amid the hour wait for it."""
    with database.reading() as connection:
        first = select(func.min(hour.c.first_id)).where(hour.c.hour >= before // HOUR)
        found = connection.scalar(first)
        # Not the very last: SQLite would use its number again.
        newest = connection.scalar(select(func.max(history.c.id)))
    return min(newest or 0, newest or 0 if found is None else found)


def _slices(database: Database, end: int) -> Iterator[tuple[int, int]]:
    """Numbers of results, above one and up to another."""
    low = 0
    while True:
        some = (
            select(history.c.id)
            .where(history.c.id > low, history.c.id < end)
            .order_by(history.c.id)
            .limit(SLICE)
            .subquery()
        )
        with database.reading() as connection:
            high = connection.scalar(select(func.max(some.c.id)))
        if high is None:
            return
        yield low, high
        low = high


def _rounds(database: Database, before: float) -> int:
    """Forget old rounds with what they found; how many.

    The newest of each name stays, but not what it found: when the next one of that name
    is due goes by it.
    """
    old = select(round_.c.id).where(round_.c.ended_at < before)
    with database.reading() as connection:
        numbers = connection.scalars(old.order_by(round_.c.id)).all()
        last = connection.scalar(select(func.max(round_.c.id)))
    gone = 0
    for number in numbers:
        while _found(database, number):
            time.sleep(PAUSE)
        if number != last:  # or SQLite would use its number again
            with database.writing() as connection:
                gone += connection.execute(_older(number)).rowcount
    return gone


def _found(database: Database, number: int) -> int:
    """Take out some of what a round found; how much."""
    targets = select(round_result.c.target_id).where(round_result.c.round_id == number)
    with database.writing() as connection:
        some = connection.scalars(targets.limit(SLICE)).all()
        mine = round_result.c.round_id == number, round_result.c.target_id.in_(some)
        return connection.execute(delete(round_result).where(*mine)).rowcount


def _older(number: int) -> Delete:
    """A round is taken out, if there is a newer one of its name."""
    newer = round_.alias("newer")
    same = newer.c.name == round_.c.name, newer.c.started_at > round_.c.started_at
    return delete(round_).where(round_.c.id == number, exists().where(*same))


def _host_unused(now: float) -> ColumnElement[bool]:
    free = exists().where(server.c.id == host.c.server_id, server.c.holder.is_(None))
    return and_(
        # Redirects lead to hosts without targets: their pace is remembered for a day.
        host.c.asked_at < now - DAY,
        host.c.next_at < now,
        host.c.rests_until < now,
        ~exists().where(target.c.host_id == host.c.id),
        free,
    )


def _server_unused(now: float) -> ColumnElement[bool]:
    return and_(
        server.c.asked_at < now - DAY,
        server.c.next_at < now,
        server.c.holder.is_(None),
        ~exists().where(host.c.server_id == server.c.id),
        ~exists().where(schedule.c.server_id == server.c.id),
        ~exists().where(request.c.server_id == server.c.id),
    )


def _unused(database: Database, table: Table, unused: ColumnElement[bool]) -> int:
    key = next(iter(table.primary_key))
    gone, attempts = 0, 0
    while attempts < ATTEMPTS:
        with database.reading() as connection:
            some = connection.scalars(select(key).where(unused).limit(SLICE)).all()
        if not some:
            break
        try:
            with database.writing() as connection:
                _alone(connection)
                query = delete(table).where(key.in_(some), unused)
                gone += connection.execute(query).rowcount
        except StoreBusyError:
            attempts += 1
        time.sleep(PAUSE)
    return gone


def _alone(connection: Connection) -> None:
    """Nobody may begin to use a host or server between our look and its end."""
    if connection.dialect.name == "postgresql":
        # Less than the second after which one of two that wait for each other is
        # chosen to fail: it shall be we.
        connection.exec_driver_sql("SET LOCAL lock_timeout = '200ms'")
        connection.exec_driver_sql(
            "LOCK TABLE server, host IN SHARE ROW EXCLUSIVE MODE"
        )
