"""What owners are told: notices become batches, and a batch stays until it is taken.

Rows are locked in one order: owner, batch, notice. An owner's row is never locked in
the way that keeps the ledger from writing notices for it.
"""

from collections.abc import Collection
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, delete, exists, func, insert, select, update

from ronda import urls
from ronda.config import Notices
from ronda.store.sql.batches import NOTICES, Body, Notice, noticed
from ronda.store.sql.engines import Database
from ronda.store.sql.schema import OPERATOR, batch, notice, owner
from ronda.store.sql.taking import MARGIN, Batch, Taking, due_at, of_listeners

KEPT = 1000  # notices to an operator who has no callback
_NOT_RECONCILING = {"reconciled_to": None, "reconciled_parts": 0}
_NOT_FAILING = {"failures": 0, "failing_since": None}


class Outbox:
    """Gives batches out to be sent, and learns what became of them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def next_at(self) -> float | None:
        """Since or from when there is something to send; None: nobody listens."""
        first = of_listeners(select(func.min(due_at(self._database.is_postgres))))
        with self._database.reading() as connection:
            found: float | None = connection.scalar(first)
            return found

    def take(
        self,
        holder: int,
        now: float,
        settings: Notices,
        *,
        count: int,
        besides: Collection[int] = (),
    ) -> list[Batch]:
        """Batches that are due, held by a process from now on.

        Args:
            holder: the process.
            now: the moment.
            settings: how large a batch is, and how long it is held.
            count: of batches, at most; there is never more than one an owner.
            besides: owners who are being told already.
        """
        due = (
            of_listeners(select(owner))
            .where(due_at(self._database.is_postgres) <= now)
            .where(owner.c.id.not_in(besides))
            .order_by(owner.c.next_notice_at, owner.c.id)
            .limit(count)
            .with_for_update(of=owner, key_share=True, skip_locked=True)
        )
        with self._database.writing() as connection:
            rows = connection.execute(due).all()
            taking = Taking(connection, holder, now, settings)
            found = [taking.batch(row) for row in rows]
            return [one for one in found if one is not None]

    def delivered(
        self, sent: Batch, now: float, *, next_at: float, reconcile_at: float
    ) -> bool:
        """A batch was taken by its receiver; False: it was no longer ours to send.

        Args:
            sent: the batch.
            now: the moment.
            next_at: before which this owner gets no other one.
            reconcile_at: when his next reconciliation is due, if this has ended one.
        """
        with self._database.writing() as connection:
            row = _ours(connection, sent)
            if row is None:
                return False
            connection.execute(delete(batch).where(batch.c.owner_id == sent.owner_id))
            values: dict[str, Any] = {**_NOT_FAILING, "next_notice_at": next_at}
            if row.kind != NOTICES and row.last_target is None:
                values |= {**_NOT_RECONCILING, "reconciled_at": now}
                values["reconcile_at"] = reconcile_at
            elif row.kind != NOTICES:
                values["reconciled_to"] = row.last_target
                values["reconciled_parts"] = owner.c.reconciled_parts + 1
            _change(connection, sent.owner_id, values)
            return True

    def failed(self, sent: Batch, now: float, next_at: float) -> bool:
        """A batch was not taken; it is sent again, as it is, from a moment on."""
        with self._database.writing() as connection:
            if _ours(connection, sent) is None:
                return False
            _let_go(connection, sent.owner_id)
            values = {**_failure(now), "next_notice_at": next_at}
            _change(connection, sent.owner_id, values)
            return True

    def switch_off(self, sent: Batch, now: float, words: str) -> bool:
        """An owner cannot be told: no longer try to, and let the operator know."""
        with self._database.writing() as connection:
            if _ours(connection, sent) is None:
                return False
            _let_go(connection, sent.owner_id)
            _change(connection, sent.owner_id, {**_failure(now), "notices_on": False})
            _drop(connection, sent.owner_id)
            told = {"kind": "switched_off", "message": words, "at": now}
            where = {"url": urls.masked(sent.callback), "reason": "not_told"}
            blank = {"owner_id": OPERATOR, "state": "", "was": ""}
            connection.execute(insert(notice), {**blank, **told, **where})
            return True

    def kept(self, limit: int = KEPT) -> list[Notice]:
        """What the operator has been told, or still is to be; the newest first."""
        newest = select(notice).where(notice.c.owner_id == OPERATOR)
        newest = newest.order_by(notice.c.id.desc()).limit(limit)
        under_way = select(batch.c.body).where(
            batch.c.owner_id == OPERATOR, batch.c.kind == NOTICES
        )
        with self._database.reading() as connection:
            found = [noticed(row) for row in connection.execute(newest)]
            for body in connection.scalars(under_way):
                found += reversed(msgspec.json.decode(body, type=Body).notices)
        return found[:limit]

    def tidy(self, now: float, settings: Notices) -> None:
        """Drop what nobody reads, and mend what a clock that went back has spoilt."""
        listens = of_listeners(select(owner.c.id)).where(owner.c.id == OPERATOR)
        own = notice.c.owner_id == OPERATOR
        last = select(notice.c.id).where(own).order_by(notice.c.id.desc())
        too_old = notice.c.id <= last.offset(KEPT).limit(1).scalar_subquery()
        longest = now + max(settings.interval, settings.retry_longest)
        held = now + settings.timeout + MARGIN
        day = now + settings.reconcile
        with self._database.writing() as connection:
            connection.execute(delete(notice).where(own, too_old, ~exists(listens)))
            for column, most in (
                (owner.c.next_notice_at, longest),
                (owner.c.reconcile_at, day),
                (batch.c.held_until, held),
            ):
                late = update(column.table).where(column > most)
                connection.execute(late.values({column.name: now}))


def start_over(connection: Connection, owner_id: int) -> None:
    """Drop what waits for an owner; a full reconciliation is what he is told next."""
    _lock(connection, owner_id)
    _drop(connection, owner_id)
    at_once = {"next_notice_at": 0.0, "reconcile_at": 0.0}
    _change(connection, owner_id, {**_NOT_FAILING, **_NOT_RECONCILING, **at_once})


def _lock(connection: Connection, owner_id: int) -> None:
    locked = select(owner.c.id).where(owner.c.id == owner_id)
    connection.execute(locked.with_for_update(key_share=True))


def _ours(connection: Connection, sent: Batch) -> Row[Any] | None:
    """The batch, its owner locked, if it is still there and ours."""
    _lock(connection, sent.owner_id)
    found = select(batch).where(
        batch.c.owner_id == sent.owner_id,
        batch.c.key == sent.key,
        batch.c.holder == sent.holder,
    )
    return connection.execute(found).one_or_none()


def _let_go(connection: Connection, owner_id: int) -> None:
    free = update(batch).where(batch.c.owner_id == owner_id)
    free = free.values(attempts=batch.c.attempts + 1, holder=None, held_until=0.0)
    connection.execute(free)


def _drop(connection: Connection, owner_id: int) -> None:
    """Drop what waits for an owner; the operator's notices stay, to be listed."""
    dropped = delete(batch).where(batch.c.owner_id == owner_id)
    if owner_id == OPERATOR:
        connection.execute(dropped.where(batch.c.kind != NOTICES))
        return
    connection.execute(dropped)
    connection.execute(delete(notice).where(notice.c.owner_id == owner_id))


def _change(connection: Connection, owner_id: int, values: dict[str, Any]) -> None:
    connection.execute(update(owner).where(owner.c.id == owner_id).values(values))


def _failure(now: float) -> dict[str, Any]:
    since = func.coalesce(owner.c.failing_since, now)
    return {"failures": owner.c.failures + 1, "failing_since": since}
