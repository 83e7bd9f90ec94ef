"""What a clock that was ahead has put into the future: pulled back to now.

A clock may be wrong for an hour, and be put right: what was written meanwhile must not
wait until that moment has really come, which may be a year. Nobody knows when it was
written, so it counts as written now; and what it had to wait for it waits for from now
on, as in `paces.as_of`. So nothing comes early, and what was spread stays so.
"""

from collections.abc import Callable, Iterator, Sequence
from math import floor
from threading import Event
from typing import Any

from msgspec import Struct
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    and_,
    case,
    delete,
    func,
    or_,
    select,
    text,
    true,
    update,
)

from ronda.store.sql import recording
from ronda.store.sql.engines import Database
from ronda.store.sql.lists import is_postgres
from ronda.store.sql.locking import hold_homes, hold_servers, insist
from ronda.store.sql.many import among, chunks
from ronda.store.sql.releasing import set_due
from ronda.store.sql.schema import (
    CHANGED,
    history,
    host,
    hour,
    robots,
    round_,
    schedule,
    server,
    target,
)

TOLERANCE = 60.0  # seconds by which clocks may differ
HOUR = 3600  # seconds
FOUND = 100_000  # rows that are looked for at once: each look goes through a table
SLICE = 2000  # rows that are changed in one transaction
PAUSE = 0.02  # seconds between two, in which others write

Clock = Callable[[], float]  # epoch seconds
Ahead = Callable[[float], ColumnElement[bool]]  # which rows are, at a moment
Change = Callable[[Connection, Sequence[Any], float], int]  # of rows; how many


class PulledBack(Struct, frozen=True):
    """How much was in the future."""

    targets: int = 0
    servers: int = 0  # or hosts of theirs
    results: int = 0
    robots: int = 0


def pull_back(database: Database, clock: Clock) -> PulledBack:
    """Let nothing that was written be in the future.

    Args:
        database: the store.
        clock: asked again and again, for it may take minutes.
    """

    def pull(key: Column[Any], ahead: Ahead, change: Change) -> int:
        some = _slices(database, key, ahead, clock)
        return sum(insist(database, change, keys, clock()) for keys in some)

    # Servers first: when one is due depends on when it may be asked.
    servers = pull(server.c.id, _later(server.c.asked_at), _servers)
    servers += pull(host.c.server_id, _later(host.c.asked_at), _servers)
    targets = pull(schedule.c.target_id, of_targets, _targets)
    pull(target.c.id, _changes, _targets)
    results = pull(history.c.id, _results_ahead(database, clock()), _results)
    if results:
        with database.writing() as connection:  # and their hours have none left
            later = hour.c.hour > _hour(clock() + TOLERANCE)
            connection.execute(delete(hour).where(later))
    files = pull(robots.c.authority, _later(robots.c.at), _robots)
    return PulledBack(targets, servers, results, files)


def _slices(
    database: Database, key: Column[Any], ahead: Ahead, clock: Clock
) -> Iterator[list[Any]]:
    """Keys of rows that are ahead, some at a time, in order."""
    some = select(key).distinct().order_by(key).limit(FOUND)
    further: ColumnElement[bool] = true()
    while True:
        with database.reading() as connection:
            found = connection.scalars(some.where(ahead(clock()), further)).all()
        if not found:
            return
        for slice_ in chunks(found, SLICE):
            yield slice_
            Event().wait(PAUSE)  # `sleep` fails under faketime, which tests use
        further = key > found[-1]


# -- which rows are ahead ----------------------------------------------------------


def of_targets(now: float) -> ColumnElement[bool]:
    """Rows of `schedule`: of targets checked then, or added then and never checked.

    Or they are to be checked for a round that was begun then.
    """
    c, limit = schedule.c, now + TOLERANCE
    # A round may be spread over hours to come.
    added = func.coalesce(c.was_due, c.next_due)
    rounds = select(round_.c.id).where(round_.c.started_at > limit)
    return or_(
        c.last_check_at > limit,
        and_(c.last_check_at == 0, added > limit),
        and_(c.next_due > limit, c.round_id.in_(rounds)),
    )


def _later(moment: Column[Any]) -> Ahead:
    return lambda now: moment > now + TOLERANCE


def _changes(now: float) -> ColumnElement[bool]:
    # In the words of its index.
    return and_(target.c.last_change_at > now + TOLERANCE, text(CHANGED))


def _results_ahead(database: Database, now: float) -> Ahead:
    """Results among those of hours that are ahead: not all are looked through."""
    ids = select(func.min(hour.c.first_id), func.max(hour.c.last_id))
    with database.reading() as connection:
        ahead = ids.where(hour.c.hour >= _hour(now + TOLERANCE))
        first, last = connection.execute(ahead).one()
    among_them = history.c.id.between(first or 0, last or 0)
    return lambda now: and_(among_them, history.c.at > now + TOLERANCE)


def _hour(moment: float) -> int:
    return floor(moment / HOUR)


# -- what becomes of them ----------------------------------------------------------


def _servers(connection: Connection, servers: Sequence[int], now: float) -> int:
    """Servers with their hosts."""
    hold_servers(connection, servers)
    at, next_at = server.c.asked_at, server.c.next_at
    these = among(connection, server.c.id, servers)
    places = update(server).where(these, _later(at)(now))
    values = {"asked_at": now, "next_at": _from_now_on(next_at, at, now)}
    connection.execute(places.values(values))
    at, next_at, rests = host.c.asked_at, host.c.next_at, host.c.rests_until
    these = among(connection, host.c.server_id, servers)
    hosts = update(host).where(these, _later(at)(now))
    values["next_at"] = _from_now_on(next_at, at, now)
    values["rests_until"] = _from_now_on(rests, at, now)
    connection.execute(hosts.values(values))
    set_due(connection, servers)
    return len(servers)


def _targets(connection: Connection, targets: Sequence[int], now: float) -> int:
    servers = hold_homes(connection, targets)
    these = among(connection, target.c.id, targets)
    changed = update(target).where(these, _changes(now))
    connection.execute(changed.values(last_change_at=now))
    last = schedule.c.last_check_at
    these = among(connection, schedule.c.target_id, targets)
    ahead = update(schedule).where(these, of_targets(now))
    values = {
        "next_due": _due(schedule.c.next_due, now),
        "was_due": _due(schedule.c.was_due, now),
        "last_check_at": case((last <= now, last), else_=now),
    }
    number = connection.execute(ahead.values(values)).rowcount
    set_due(connection, servers)
    return number


def _due(due: Column[Any], now: float) -> ColumnElement[float | None]:
    """As long after the last check as it was; at once, if there was none then."""
    last = schedule.c.last_check_at
    return case(
        (or_(due.is_(None), due <= now), due),  # keeps its place
        (last <= now, now),
        else_=_from_now_on(due, last, now, at_least=now),
    )


def _results(connection: Connection, results: Sequence[int], now: float) -> int:
    """Results, and the hour by which they are found."""
    these = among(connection, history.c.id, results)
    number = connection.execute(update(history).where(these).values(at=now)).rowcount
    values = {"hour": _hour(now), "first_id": results[0], "last_id": results[-1]}
    connection.execute(recording.widen(postgres=is_postgres(connection)), values)
    return number


def _robots(connection: Connection, authorities: Sequence[str], now: float) -> int:
    """Files that would be fresh until then."""
    these = among(connection, robots.c.authority, authorities)
    ahead = update(robots).where(these, _later(robots.c.at)(now))
    return connection.execute(ahead.values(at=now)).rowcount


def _from_now_on(
    until: Any, since: Any, now: float, at_least: float = 0.0
) -> ColumnElement[float]:
    """As long from now as it was from then; what was over then is over."""
    wait: ColumnElement[float] = until - since
    return case((wait > 0, wait + now), else_=at_least)
