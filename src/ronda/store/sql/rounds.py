"""Rounds: checks that begin together, are marked on their targets, followed as one.

A target is in one round at a time: a new round takes it over from an older one, which
then has one less. `total` is what was done and what is still marked.
"""

from collections.abc import Collection
from typing import Any

from msgspec import Struct
from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    case,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from ronda.errors import UsageError
from ronda.store.sql.catalogue import Query, chosen
from ronda.store.sql.engines import Database
from ronda.store.sql.schema import round_, schedule, server

RECHECK_GUARD = 3600.0  # seconds


class Round(Struct, frozen=True):
    """How far a round is."""

    id: int
    name: str
    started_at: float
    ended_at: float | None
    total: int
    done: int


class Rounds:
    """Begins rounds, and knows how far they are."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(
        self,
        name: str,
        query: Query,
        now: float,
        *,
        forced: bool = False,
        guard: float = RECHECK_GUARD,
        started_at: float | None = None,
    ) -> Round:
        """Make all targets due that a query finds; one without any has ended.

        Whoever begins the same round once more, at the same time or later, gets what
        is there and changes nothing.

        Args:
            name: what it is called.
            query: which targets; those that a person disabled are never among them.
            now: epoch seconds.
            forced: also those that were checked less than `guard` ago.
            guard: seconds.
            started_at: with its name the key of the round; not set: now.
        """
        at = now if started_at is None else started_at
        wanted: list[ColumnElement[bool]] = [schedule.c.next_due.is_not(None)]
        if (found := chosen(query)) is not None:
            wanted.append(schedule.c.target_id.in_(found))
        if not forced:
            wanted.append(schedule.c.last_check_at <= now - guard)
        with self._database.writing() as connection:
            number = _new(connection, name, at)
            if number is not None:
                total = _mark(connection, number, wanted, now)
                _set(connection, number, total, None if total else now)
                _recount(connection, now, besides=number)
            key = (round_.c.name == name, round_.c.started_at == at)
            return _round(connection.execute(select(round_).where(*key)).one())

    def list(self, limit: int = 100) -> list[Round]:
        """The newest rounds, the newest first."""
        newest = select(round_).order_by(round_.c.started_at.desc(), round_.c.id.desc())
        with self._database.reading() as connection:
            return [_round(row) for row in connection.execute(newest.limit(limit))]

    def show(self, number: int) -> Round:
        """One round."""
        with self._database.reading() as connection:
            sql = select(round_).where(round_.c.id == number)
            if (row := connection.execute(sql).one_or_none()) is None:
                raise UsageError(f"there is no round {number}")
            return _round(row)

    def begun(self, now: float) -> dict[str, float]:
        """When the newest round of each name was begun; not in the future.

        One from there was begun by a clock that was ahead.
        """
        sql = select(round_.c.name, func.max(round_.c.started_at)).group_by("name")
        sql = sql.where(round_.c.started_at <= now)
        with self._database.reading() as connection:
            return {row.name: row[1] for row in connection.execute(sql)}

    def recount(self, now: float) -> None:
        """Let rounds end whose last targets were removed, or disabled by a person."""
        with self._database.writing() as connection:
            _recount(connection, now)


def _new(connection: Connection, name: str, at: float) -> int | None:
    """The number of a new round; None: it is there already."""
    postgres = connection.dialect.name == "postgresql"
    insert: Any = postgresql.insert if postgres else sqlite.insert
    row = insert(round_).values(name=name, started_at=at)
    found: int | None = connection.execute(
        row.on_conflict_do_nothing().returning(round_.c.id)
    ).scalar()
    return found


def _mark(
    connection: Connection,
    number: int,
    wanted: Collection[ColumnElement[bool]],
    now: float,
) -> int:
    """Make targets due, and their servers; how many."""
    servers = select(schedule.c.server_id).where(*wanted)
    _hold(connection, servers)
    overdue = schedule.c.next_due < now  # keeps its place
    due = case((overdue, schedule.c.next_due), else_=now)
    marked = update(schedule).where(*wanted).values(round_id=number, next_due=due)
    total = connection.execute(marked).rowcount
    _pull(connection, servers, now)
    return total


def _hold(connection: Connection, servers: Select[tuple[int]]) -> None:
    """PostgreSQL: keep results of these servers from being written meanwhile.

    Everybody locks servers first, by their numbers: see `locking`. These may be too
    many to name them one by one.
    """
    if connection.dialect.name == "postgresql":
        held = select(server.c.id).where(server.c.id.in_(servers))
        held = held.order_by(server.c.id).with_for_update(key_share=True)
        connection.execute(select(func.count()).select_from(held.subquery()))


def _pull(connection: Connection, servers: Select[tuple[int]], now: float) -> None:
    soon = case((server.c.next_at > now, server.c.next_at), else_=now)
    later = or_(server.c.due_at.is_(None), server.c.due_at > soon)
    pulled = update(server).where(server.c.id.in_(servers), later).values(due_at=soon)
    connection.execute(pulled)


def _recount(connection: Connection, now: float, besides: int = 0) -> None:
    """Set what open rounds have in all; who has nothing left has ended."""
    rounds = select(round_).where(round_.c.ended_at.is_(None)).order_by(round_.c.id)
    others = rounds.where(round_.c.id != besides)
    if connection.execute(others.limit(1)).first() is None:
        return  # and nothing is looked through
    marked = schedule.c.round_id.is_not(None)
    lost = update(schedule).where(marked, schedule.c.next_due.is_(None))
    connection.execute(lost.values(round_id=None))
    # Held while counting: whoever finishes a target adds to `done` in the same
    # transaction, so it is counted here or there.
    rows = connection.execute(rounds.with_for_update()).all()
    sql = select(schedule.c.round_id, func.count()).where(marked).group_by("round_id")
    left = {row.round_id: row[1] for row in connection.execute(sql)}
    for row in rows:
        total = row.done + left.get(row.id, 0)
        _set(connection, row.id, total, None if row.id in left else now)


def _set(connection: Connection, number: int, total: int, ended: float | None) -> None:
    row = update(round_).where(round_.c.id == number)
    connection.execute(row.values(total=total, ended_at=ended))


def _round(row: Row[Any]) -> Round:
    return Round(row.id, row.name, row.started_at, row.ended_at, row.total, row.done)
