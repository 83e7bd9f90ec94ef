"""Who is to be told now, and the one batch that he is to be sent."""

from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    case,
    exists,
    func,
    insert,
    or_,
    select,
    true,
    update,
)

from ronda.config import Notices
from ronda.store.sql.batches import Frozen, freeze
from ronda.store.sql.schema import batch, notice, owner, process

MARGIN = 30.0  # seconds to tell what became of a batch, once its time-out is over


class Batch(Struct, frozen=True):
    """A batch that a process is to send, and whom to."""

    key: str
    body: bytes
    owner_id: int
    owner: str  # the name
    callback: str
    token_hash: str
    holder: int  # the process
    failures: int  # to tell this owner, in a row
    failing_since: float | None


def of_listeners(query: Select[Any]) -> Select[Any]:
    """Narrow a query to owners who are to be told, with the batch under way."""
    held = owner.outerjoin(batch, batch.c.owner_id == owner.c.id)
    held = held.outerjoin(process, process.c.id == batch.c.holder)
    return query.select_from(held).where(
        owner.c.callback != "", owner.c.notices_on == true()
    )


def due_at(is_postgres: bool) -> ColumnElement[float]:
    """From when a listener may, and should, be sent something."""
    waits = or_(
        batch.c.owner_id.is_not(None),
        owner.c.reconciled_to.is_not(None),
        exists().where(notice.c.owner_id == owner.c.id),
    )
    wanted = case((waits, 0.0), else_=owner.c.reconcile_at)
    # Who is no longer among the processes has died, or has let go of everything.
    free = case((process.c.id.is_not(None), batch.c.held_until), else_=0.0)
    latest = func.greatest if is_postgres else func.max
    return latest(owner.c.next_notice_at, wanted, free)


class Taking:
    """Makes or finds the batches of owners whose rows are locked."""

    def __init__(
        self, connection: Connection, holder: int, now: float, settings: Notices
    ) -> None:
        self._connection = connection
        self._holder = holder
        self._now = now
        self._settings = settings
        self._until = now + settings.timeout + MARGIN

    def batch(self, row: Row[Any]) -> Batch | None:
        """The one batch of an owner, ours from now on; None when there is none."""
        found = self._found(row)
        if found is None:
            return None
        key, body = found
        told = update(owner).where(owner.c.id == row.id)
        later = self._now + self._settings.interval
        self._connection.execute(told.values(next_notice_at=later))
        return Batch(
            key=key,
            body=body,
            owner_id=row.id,
            owner=row.name,
            callback=row.callback,
            token_hash=row.token_hash,
            holder=self._holder,
            failures=row.failures,
            failing_since=row.failing_since,
        )

    def _found(self, row: Row[Any]) -> tuple[str, bytes] | None:
        # Looked at anew: another process may have had this owner until just now.
        there = self._connection.execute(_with_holder(row.id)).one_or_none()
        if there is None:
            made = freeze(self._connection, row, self._now, self._settings.batch)
            return None if made is None else self._keep(row.id, made)
        if there.alive is not None and there.held_until > self._now:
            return None
        held = update(batch).where(batch.c.owner_id == row.id)
        self._connection.execute(
            held.values(holder=self._holder, held_until=self._until)
        )
        return there.key, there.body

    def _keep(self, owner_id: int, made: Frozen) -> tuple[str, bytes]:
        values = {
            **msgspec.structs.asdict(made),
            "owner_id": owner_id,
            "made_at": self._now,
            "holder": self._holder,
            "held_until": self._until,
        }
        self._connection.execute(insert(batch), values)
        return made.key, made.body


def _with_holder(owner_id: int) -> Select[Any]:
    """A batch, and its holder if that is among the processes."""
    held = batch.outerjoin(process, process.c.id == batch.c.holder)
    found = select(batch, process.c.id.label("alive")).select_from(held)
    return found.where(batch.c.owner_id == owner_id)
