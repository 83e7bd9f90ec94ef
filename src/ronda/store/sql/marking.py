"""Targets marked for a round, in the order in which it is to check them, or no more.

The order is in `next_due`: places in the past, a hundred-thousandth of a second from
one to the next. A round that begins while others are under way has its first place
where the first of what they have left is: so their targets come in turn, one by one,
and nobody waits for all of another's.
"""

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct
from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Select,
    and_,
    case,
    exists,
    func,
    not_,
    select,
    update,
)

from ronda.store.sql.locking import hold_servers
from ronda.store.sql.many import in_places
from ronda.store.sql.query import Query, chosen
from ronda.store.sql.releasing import due_at, set_due
from ronda.store.sql.schema import round_, schedule, server, target, watch
from ronda.store.sql.steering import was_due
from ronda.store.sql.tallies import Size, sizes

Order = Literal["due", "biggest", "smallest", "name"]

STEP = 1e-5  # seconds between two places: far above what a moment's last digits are


class Wanted(Struct, frozen=True):
    """Which targets a round is to check, and how."""

    query: Query
    ids: Sequence[int] | None = None  # exactly these, in this order; None: by the query
    before: float | None = (
        None  # last checked at this moment or earlier; None: whenever
    )
    order: Order = "due"
    over: float = 0.0  # seconds over which they are spread


def mark(connection: Connection, number: int, wanted: Wanted, now: float) -> int:
    """Give targets their places in a round, and let their servers be due; how many."""
    conditions = _conditions(connection, wanted)
    servers = select(schedule.c.server_id).where(*conditions)
    _hold(connection, servers)
    _take_over(connection, conditions, now)
    ranked = _ranked(connection, wanted, conditions)
    first = None if wanted.over else _first_left(connection, conditions, number)
    moment = _moment(ranked, wanted.over, now, first)
    marked = update(schedule).where(schedule.c.target_id == ranked.c.id)
    values = {"round_id": number, "next_due": moment, "was_due": was_due()}
    total = connection.execute(marked.values(values)).rowcount
    free = server.c.id.in_(servers), server.c.holder.is_(None)
    connection.execute(update(server).where(*free).values(due_at=due_at()))
    return total


def _conditions(connection: Connection, wanted: Wanted) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = [schedule.c.next_due.is_not(None)]
    if wanted.ids is not None:
        these = in_places(connection, wanted.ids)
        found.append(schedule.c.target_id.in_(select(these.c.id)))
    elif (ids := chosen(wanted.query)) is not None:
        found.append(schedule.c.target_id.in_(ids))
    if wanted.before is not None:
        found.append(schedule.c.last_check_at <= wanted.before)
    return found


def _hold(connection: Connection, servers: Select[tuple[int]]) -> None:
    """PostgreSQL: keep results of these servers from being written meanwhile.

    Everybody locks servers first, by their numbers: see `locking`. These may be too
    many to name them one by one.
    """
    if connection.dialect.name == "postgresql":
        held = select(server.c.id).where(server.c.id.in_(servers))
        held = held.order_by(server.c.id).with_for_update(key_share=True)
        connection.execute(select(func.count()).select_from(held.subquery()))


def _take_over(
    connection: Connection, conditions: Sequence[ColumnElement[bool]], now: float
) -> None:
    """Let rounds have less whose targets another takes; who has none left has ended."""
    older = select(schedule.c.round_id, func.count().label("number"))
    older = older.where(schedule.c.round_id.is_not(None), *conditions)
    rows = connection.execute(older.group_by(schedule.c.round_id))
    for row in sorted(rows, key=lambda row: int(row.round_id)):
        total = round_.c.total - row.number
        ended = case((round_.c.done >= total, now), else_=None)
        less = update(round_).where(round_.c.id == row.round_id)
        ended_at = func.coalesce(round_.c.ended_at, ended)
        connection.execute(less.values(total=total, ended_at=ended_at))


def _ranked(
    connection: Connection, wanted: Wanted, conditions: Sequence[ColumnElement[bool]]
) -> FromClause:
    """The targets with their places, from 0 on, and how many they are in all."""
    key: ColumnElement[Any]
    number = schedule.c.target_id
    if wanted.order != "due":
        owners = _in_order(sizes(connection), wanted.order)
        placed = in_places(connection, owners)
        key = func.min(placed.c.place)
        tables: FromClause = schedule.join(watch, watch.c.target_id == number).join(
            placed, placed.c.id == watch.c.owner_id
        )
    elif wanted.ids is not None:
        placed = in_places(connection, wanted.ids)
        key = func.min(placed.c.place)
        tables = schedule.join(placed, placed.c.id == number)
    else:
        key = func.min(was_due())
        tables = schedule
    place = func.row_number().over(order_by=(key, number)) - 1
    found = select(number.label("id"), place.label("place"))
    found = found.add_columns(func.count().over().label("number"))
    found = found.select_from(tables).where(*conditions).group_by(number)
    return found.subquery("ranked")


def _in_order(owners: Sequence[Size], order: Order) -> list[int]:
    keys = {
        "biggest": lambda one: (-one.number, one.owner_id),
        "smallest": lambda one: (one.number, one.owner_id),
        "name": lambda one: (one.name.casefold(), one.owner_id),
    }
    return [one.owner_id for one in sorted(owners, key=keys[order])]


def _first_left(
    connection: Connection, conditions: Sequence[ColumnElement[bool]], number: int
) -> float | None:
    """The first place that other rounds have left; None: there is none."""
    live = select(round_.c.id).where(round_.c.ended_at.is_(None))
    if connection.scalar(live.where(round_.c.id != number).limit(1)) is None:
        return None  # and nothing is looked through
    others = schedule.c.round_id.is_not(None), not_(and_(*conditions))
    found: float | None = connection.scalar(
        select(func.min(schedule.c.next_due)).where(*others)
    )
    return found


def _moment(
    ranked: FromClause, over: float, now: float, first: float | None
) -> ColumnElement[float]:
    """When a target of a round is due, by its place."""
    place: Any = ranked.c.place
    if over:
        spread: ColumnElement[float] = now + place * over / ranked.c.number
        return spread
    # Not before what others have left, however many these are. Should the last of them
    # be due a moment from now: so many are not checked in that time.
    in_turn = first is not None and first <= now
    begin: Any = first if in_turn else now - ranked.c.number * STEP
    moment: ColumnElement[float] = begin + place * STEP
    return moment


def unmark(connection: Connection, number: int, now: float) -> int:
    """Let targets be due as if there had been no round; how many were to be checked."""
    mine = schedule.c.round_id == number
    where = select(schedule.c.server_id).where(mine).distinct()
    hold_servers(connection, connection.scalars(where).all())
    enabled = exists().where(target.c.id == schedule.c.target_id, target.c.enabled)
    next_due = case(
        (schedule.c.next_due.is_(None), None),  # it was disabled meanwhile
        (schedule.c.was_due.is_not(None), schedule.c.was_due),
        (enabled, now),
        else_=None,
    )
    values = {"next_due": next_due, "was_due": None, "round_id": None}
    left = update(schedule).where(mine).values(values)
    rows = connection.execute(
        left.returning(schedule.c.server_id, schedule.c.next_due)
    ).all()
    set_due(connection, {row.server_id for row in rows})
    return sum(row.next_due is not None for row in rows)


def recount(connection: Connection, now: float) -> None:
    """Set what open rounds have in all; who has nothing left has ended."""
    rounds = select(round_).where(round_.c.ended_at.is_(None)).order_by(round_.c.id)
    if connection.execute(rounds.limit(1)).first() is None:
        return  # and nothing is looked through
    marked = schedule.c.round_id.is_not(None)
    lost = update(schedule).where(marked, schedule.c.next_due.is_(None))
    connection.execute(lost.values(round_id=None, was_due=None))
    # Held while counting: whoever finishes a target adds to `done` in the same
    # transaction, so it is counted here or there.
    rows = connection.execute(rounds.with_for_update()).all()
    sql = select(schedule.c.round_id, func.count()).where(marked).group_by("round_id")
    left = {row.round_id: row[1] for row in connection.execute(sql)}
    for row in rows:
        total = row.done + left.get(row.id, 0)
        ended_at = None if row.id in left else now
        counted = update(round_).where(round_.c.id == row.id)
        connection.execute(counted.values(total=total, ended_at=ended_at))
