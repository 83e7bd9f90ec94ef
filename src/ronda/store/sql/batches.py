"""What an owner is told at once, in the very bytes that are sent."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import msgspec
from msgspec import UNSET, Struct, UnsetType
from sqlalchemy import Connection, Row, delete, func, select

from ronda.store.sql import schema

NOTICES, RECONCILIATION = "notices", "reconciliation"  # kinds of batches


class Notice(Struct, frozen=True):
    """A change that an owner is told of; in a reconciliation, how a target stands."""

    kind: str  # change, disabled, enabled, flapping, settled, switched_off, state
    url: str  # as the owner writes it
    state: str
    was: str
    reason: str
    message: str
    at: str  # ISO 8601, UTC: since when it is so
    enabled: bool | UnsetType = UNSET  # only in a reconciliation
    acknowledged: bool | UnsetType = UNSET


class Body(Struct, frozen=True):
    """A batch as its receiver reads it."""

    batch: str  # the key: whoever has seen it has seen all of this
    owner: str
    kind: str
    made_at: str
    notices: list[Notice]
    part: int | UnsetType = UNSET  # of a reconciliation, from 1
    last: bool | UnsetType = UNSET


class Frozen(Struct, frozen=True):
    """A batch as it is stored."""

    key: str
    kind: str
    body: bytes
    number: int  # of the notices in it
    last_target: int | None = None  # None: no part of a reconciliation comes after it


def freeze(
    connection: Connection, owner: Row[Any], now: float, most: int
) -> Frozen | None:
    """The next batch for an owner, not stored yet; None when there is nothing to tell.

    Notices go first, those too that were written while we looked at the states: so a
    reconciliation never tells of a target what a notice of before contradicts later.
    """
    key = str(uuid4())
    due = owner.reconciled_to is not None or owner.reconcile_at <= now
    notices = _take_notices(connection, owner.id, most)
    states: list[Notice] = []
    last_target = None
    if not notices and due:
        states, last_target = _states(connection, owner, most)
        notices = _take_notices(connection, owner.id, most)
    if notices:
        body = Body(key, owner.name, NOTICES, moment(now), notices)
        return Frozen(key, NOTICES, msgspec.json.encode(body), len(notices))
    if not due:
        return None
    body = Body(
        key,
        owner.name,
        RECONCILIATION,
        moment(now),
        states,
        part=owner.reconciled_parts + 1,
        last=last_target is None,
    )
    data = msgspec.json.encode(body)
    return Frozen(key, RECONCILIATION, data, len(states), last_target)


def _take_notices(connection: Connection, owner_id: int, most: int) -> list[Notice]:
    notice = schema.notice
    first = select(notice.c.id).where(notice.c.owner_id == owner_id)
    ids = first.order_by(notice.c.id).limit(most)
    taken = delete(notice).where(notice.c.id.in_(ids)).returning(*notice.c)
    rows = sorted(connection.execute(taken), key=lambda row: int(row.id))
    return [noticed(row) for row in rows]


def noticed(row: Row[Any]) -> Notice:
    """A row of the table as it is told."""
    return Notice(
        row.kind, row.url, row.state, row.was, row.reason, row.message, moment(row.at)
    )


def _states(
    connection: Connection, owner: Row[Any], most: int
) -> tuple[list[Notice], int | None]:
    """How the next targets stand, and the last of them if others come after it."""
    target, watch = schema.target, schema.watch
    since = func.coalesce(func.nullif(target.c.last_change_at, 0.0), target.c.added_at)
    found = (
        select(
            target.c.id,
            func.coalesce(watch.c.spelling, target.c.url).label("url"),
            target.c.state,
            target.c.reason,
            target.c.message,
            since.label("at"),
            target.c.enabled,
            (watch.c.acknowledged == target.c.state).label("acknowledged"),
        )
        .join(watch, watch.c.target_id == target.c.id)
        .where(
            watch.c.owner_id == owner.id, watch.c.target_id > (owner.reconciled_to or 0)
        )
        .order_by(watch.c.target_id)
        .limit(most + 1)
    )
    rows = connection.execute(found).all()
    told = [_state(row) for row in rows[:most]]
    return told, rows[most - 1].id if len(rows) > most else None


def _state(row: Row[Any]) -> Notice:
    return Notice(
        "state",
        row.url,
        row.state,
        "",
        row.reason,
        row.message,
        moment(row.at),
        enabled=row.enabled,
        acknowledged=row.acknowledged,
    )


def moment(at: float) -> str:
    """A moment as receivers read it."""
    found = datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")
    return found.replace("+00:00", "Z")
