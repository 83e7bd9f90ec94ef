"""Rounds: checks that begin together, are marked on their targets, followed as one.

A target is in one round at a time: a new round takes it over from an older one, which
then has one less. `total` is what was done and what is still marked; of a round that
was stopped, what was marked then.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from ronda.errors import UsageError
from ronda.model import State
from ronda.store.sql.catalogue import Query
from ronda.store.sql.engines import Database
from ronda.store.sql.marking import Order, Wanted, mark, recount, unmark
from ronda.store.sql.schema import round_, round_result, schedule, target
from ronda.store.sql.states import STATES
from ronda.store.sql.values import Left, Round, RoundResult

__all__ = ["Left", "Order", "Round", "RoundResult", "Rounds", "eta"]

RECHECK_GUARD = 3600.0  # seconds
MOST = 1000  # results that are read at once, unless more are asked for

# In the class below, `list` is a method.
Found = list[Round]
Results = list[RoundResult]
Remaining = list[Left]

_COLUMNS = [round_.c[name] for name in Round.__struct_fields__]


class Rounds:
    """Begins rounds, stops them, and knows how far they are."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(  # noqa: PLR0913  # all that a round may be
        self,
        name: str,
        query: Query,
        now: float,
        *,
        forced: bool = False,
        guard: float = RECHECK_GUARD,
        started_at: float | None = None,
        starter: str = "",
        words: str = "",
        order: Order = "due",
        over: float = 0.0,
        ids: Sequence[int] | None = None,
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
            starter: who begins it.
            words: which targets these are, for people.
            order: who comes first: what is due longest, or the targets of the owners
                that have most, or fewest, or by the names of owners.
            over: seconds over which the checks are spread; 0: all may begin at once.
            ids: exactly these targets in place of those of a query, and unless
                `order` says otherwise in this order.
        """
        at = now if started_at is None else started_at
        before = None if forced else now - guard
        given = None if ids is None else list(dict.fromkeys(ids))
        wanted = Wanted(query, given, before, order, over)
        said = {"starter": starter, "words": words, "window": over}
        with self._database.writing() as connection:
            number = _new(connection, name=name, started_at=at, **said)
            if number is not None:
                total = mark(connection, number, wanted, now)
                row = update(round_).where(round_.c.id == number)
                ended = None if total else now
                connection.execute(row.values(total=total, ended_at=ended))
            key = (round_.c.name == name, round_.c.started_at == at)
            return _round(connection.execute(select(*_COLUMNS).where(*key)).one())

    def stop(self, number: int, now: float) -> Round:
        """Check no more of a round's targets; they are due as they were before it.

        One that has ended stays as it is.
        """
        with self._database.writing() as connection:
            if _find(connection, number).ended_at is None:
                left = unmark(connection, number, now)
                open_ = update(round_).where(
                    round_.c.id == number, round_.c.ended_at.is_(None)
                )
                values = {"ended_at": now, "stopped_at": now}
                total = round_.c.done + left
                connection.execute(open_.values(values | {"total": total}))
            return _find(connection, number)

    def stop_all(self, now: float) -> Found:
        """Stop all that are under way."""
        return [self.stop(each.id, now) for each in self.live()]

    def live(self) -> Found:
        """Those that have not ended, the oldest first."""
        rounds = select(*_COLUMNS).where(round_.c.ended_at.is_(None))
        rounds = rounds.order_by(round_.c.started_at, round_.c.id)
        with self._database.reading() as connection:
            return [_round(row) for row in connection.execute(rounds)]

    def show(self, number: int) -> Round:
        """One round."""
        with self._database.reading() as connection:
            return _find(connection, number)

    def results(self, number: int, limit: int = MOST, after: int = 0) -> Results:
        """What a round found, by the numbers of its targets.

        Args:
            number: of the round.
            limit: results, at most.
            after: the last target of those that were read before.
        """
        found = round_result.c
        columns = (func.coalesce(target.c.url, ""), found.at, found.state)
        words = (found.reason, found.task, found.message)
        rows = (
            select(found.target_id, *columns, *words)
            .outerjoin(target, target.c.id == found.target_id)
            .where(found.round_id == number, found.target_id > after)
            .order_by(found.target_id)
            .limit(limit)
        )
        with self._database.reading() as connection:
            return [
                RoundResult(*row[:3], STATES[row[3]], *row[4:])
                for row in connection.execute(rows)
            ]

    def counts(self, number: int) -> dict[State, int]:
        """How many results of each state a round has."""
        state = round_result.c.state
        rows = select(state, func.count()).where(round_result.c.round_id == number)
        with self._database.reading() as connection:
            found = {row[0]: row[1] for row in connection.execute(rows.group_by(state))}
        return {state: found.get(state.value, 0) for state in State}

    def left(self, number: int, limit: int = MOST) -> Remaining:
        """Targets that a round is still to check, in its order."""
        due = schedule.c.next_due
        rows = (
            select(schedule.c.target_id, target.c.url, due)
            .join(target, target.c.id == schedule.c.target_id)
            .where(schedule.c.round_id == number, due.is_not(None))
            .order_by(due, schedule.c.target_id)
            .limit(limit)
        )
        with self._database.reading() as connection:
            return [Left(*row) for row in connection.execute(rows)]

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
            recount(connection, now)

    def list(self, limit: int = 100) -> Found:
        """The newest rounds, the newest first."""
        order = round_.c.started_at.desc(), round_.c.id.desc()
        newest = select(*_COLUMNS).order_by(*order).limit(limit)
        with self._database.reading() as connection:
            return [_round(row) for row in connection.execute(newest)]


def eta(of: Round, now: float) -> float | None:
    """Seconds until a round ends, at its pace so far; None: nobody can tell.

    One that is spread does not end before its time is over.
    """
    passed = now - of.started_at
    if of.ended_at is not None:
        return None
    if of.done >= of.total:
        return 0.0
    spread = max(of.window - passed, 0.0) if of.window else None
    if not of.done or passed <= 0:
        return spread
    return max((of.total - of.done) * passed / of.done, spread or 0.0)


def _new(connection: Connection, **values: Any) -> int | None:
    """The number of a new round; None: it is there already."""
    postgres = connection.dialect.name == "postgresql"
    insert: Any = postgresql.insert if postgres else sqlite.insert
    row = insert(round_).values(values).on_conflict_do_nothing()
    found: int | None = connection.execute(row.returning(round_.c.id)).scalar()
    return found


def _find(connection: Connection, number: int) -> Round:
    sql = select(*_COLUMNS).where(round_.c.id == number)
    if (row := connection.execute(sql).one_or_none()) is None:
        raise UsageError(f"there is no round {number}")
    return _round(row)


def _round(row: Row[Any]) -> Round:
    values: Any = tuple(row)
    return Round(*values)
