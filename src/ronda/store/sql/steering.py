"""When targets are checked, as people say: enabled, disabled, now."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, Row, case, func, select, update

from ronda.store.sql.engines import Database
from ronda.store.sql.homes import pull
from ronda.store.sql.locking import hold_homes, insist
from ronda.store.sql.many import among, chunks
from ronda.store.sql.schema import schedule, target

GUARD = 3600.0  # seconds in which a target is not checked again, unless it is forced
# What says that a target was disabled by its failures, and is enabled by a good check.
FAILURES = "failures"
BY_A_PERSON = f"{FAILURES}, says a person"


class Asked(Struct, frozen=True):
    """What became of targets that were to be checked now."""

    asked: int = 0
    fresh: list[str] = []  # URLs of those that were checked less than an hour ago
    disabled: list[str] = []  # and of those that are not checked at all


def enable(database: Database, keys: Iterable[int], now: float) -> int:
    """Check targets again, from now on; how many of them there are."""
    return sum(insist(database, _enable, some, now) for some in chunks(keys))


def disable(database: Database, keys: Iterable[int], why: str) -> int:
    """Check targets no longer; how many of them there are.

    Without a reason, that of those which are disabled already stays.
    """
    words = BY_A_PERSON if why == FAILURES else why
    return sum(insist(database, _disable, some, words) for some in chunks(keys))


def disabled(database: Database, keys: Iterable[int]) -> int:
    """How many of some targets are not checked."""
    off = select(func.count()).select_from(target).where(~target.c.enabled)
    with database.reading() as connection:
        counts = (
            connection.scalar(off.where(among(connection, target.c.key, some)))
            for some in chunks(keys)
        )
        return sum(filter(None, counts))


def check_now(
    database: Database,
    keys: Iterable[int],
    now: float,
    *,
    forced: bool,
    guard: float,
    round_id: int | None,
) -> Asked:
    """Let targets be due now, but for those that were checked just before."""
    asked = Asked()
    for some in chunks(keys):
        more = insist(
            database, _check, some, now, forced=forced, guard=guard, round_id=round_id
        )
        asked = Asked(
            asked.asked + more.asked,
            asked.fresh + more.fresh,
            asked.disabled + more.disabled,
        )
    return asked


def _enable(connection: Connection, keys: Sequence[int], now: float) -> int:
    rows = _held(connection, keys)
    off = [row for row in rows if not row.enabled]
    pull(connection, {row.server_id for row in off}, now)
    these = among(connection, target.c.id, [row.id for row in off])
    on = {"enabled": True, "why_disabled": ""}
    connection.execute(update(target).where(these).values(on))
    _plan(connection, off, {"next_due": now, "failures": 0})
    return len(rows)


def _disable(connection: Connection, keys: Sequence[int], why: str) -> int:
    rows = _held(connection, keys)
    these = among(connection, target.c.id, [row.id for row in rows])
    off = {"enabled": False, "why_disabled": why or _known_reason()}
    connection.execute(update(target).where(these).values(off))
    _plan(connection, rows, {"next_due": None})
    return len(rows)


def _known_reason() -> ColumnElement[str]:
    """Why a target is disabled; by its failures no longer, but by a person."""
    why = target.c.why_disabled
    return case((target.c.enabled, ""), (why == FAILURES, BY_A_PERSON), else_=why)


def _check(
    connection: Connection,
    keys: Sequence[int],
    now: float,
    *,
    forced: bool,
    guard: float,
    round_id: int | None,
) -> Asked:
    rows = _held(connection, keys)
    idle = [] if forced else [row for row in rows if row.next_due is None]
    fresh = [] if forced else [row for row in rows if row.last_check_at > now - guard]
    left_out = {row.id for row in (*idle, *fresh)}
    wanted = [row for row in rows if row.id not in left_out]
    pull(connection, {row.server_id for row in wanted}, now)
    overdue = schedule.c.next_due < now  # keeps its place
    values: dict[str, Any] = {
        "next_due": case((overdue, schedule.c.next_due), else_=now)
    }
    if round_id is not None:
        values |= {"round_id": round_id, "was_due": was_due()}
    _plan(connection, wanted, values)
    never = {row.id for row in idle}
    return Asked(
        len(wanted),
        [row.url for row in fresh if row.id not in never],
        [row.url for row in idle],
    )


def was_due() -> ColumnElement[float | None]:
    """When a target that is marked for a round is due without it.

    Of one that was marked before, the place in that round says nothing of it.
    """
    marked = schedule.c.round_id.is_not(None)
    return case((marked, schedule.c.was_due), else_=schedule.c.next_due)


def _held(connection: Connection, keys: Sequence[int]) -> Sequence[Any]:
    """Targets by their keys; no result of them is written until we have ended.

    Raises:
        MovedError: the transaction is to be begun anew.
    """
    these = select(target.c.id).where(among(connection, target.c.key, keys))
    ids = connection.scalars(these).all()
    hold_homes(connection, ids)
    columns = (target.c.id, target.c.url, target.c.enabled, schedule.c.server_id)
    rows = (
        select(*columns, schedule.c.next_due, schedule.c.last_check_at)
        .join(schedule, schedule.c.target_id == target.c.id)
        .where(among(connection, target.c.id, ids))
        .order_by(target.c.id)
        .with_for_update(key_share=True)
    )
    return connection.execute(rows).all()


def _plan(
    connection: Connection, rows: Iterable[Row[Any]], values: dict[str, Any]
) -> None:
    these = among(connection, schedule.c.target_id, [row.id for row in rows])
    connection.execute(update(schedule).where(these).values(values))
