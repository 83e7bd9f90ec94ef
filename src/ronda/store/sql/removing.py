"""Targets that an owner watches no longer, and the rows of those that nobody does."""

from collections import Counter
from collections.abc import Collection

from sqlalchemy import Connection, delete, select

from ronda.store.sql.locking import held_states, hold_homes
from ronda.store.sql.many import among
from ronda.store.sql.schema import (
    EVERYBODY,
    label,
    request,
    schedule,
    service,
    target,
    task_result,
    watch,
)
from ronda.store.sql.tallies import move


def unwatch(connection: Connection, owner_id: int, keys: Collection[int]) -> int:
    """Let an owner watch targets no longer; how many he did.

    Raises:
        MovedError: the transaction is to be begun anew.
    """
    mine = watch.c.owner_id == owner_id
    these = (
        select(target.c.id)
        .join(watch, watch.c.target_id == target.c.id)
        .where(mine, among(connection, target.c.key, keys))
    )
    targets = connection.scalars(these).all()
    if not targets:
        return 0
    # As whoever writes results does: servers first, so that none is on its way.
    hold_homes(connection, targets)
    states = held_states(connection, targets)
    watched = among(connection, watch.c.target_id, targets)
    connection.execute(delete(watch).where(mine, watched))
    left = set(connection.scalars(select(watch.c.target_id).where(watched)))
    gone = [number for number in targets if number not in left]
    _remove(connection, gone)
    changes = Counter({(owner_id, state): 0 for state in states.values()})
    changes.subtract((owner_id, state) for state in states.values())
    changes.subtract((EVERYBODY, states[number]) for number in gone)
    move(connection, changes)
    return len(targets)


def _remove(connection: Connection, targets: Collection[int]) -> None:
    """Drop all rows of targets but what was found: that is dropped when it is old."""
    for table in (request, label, schedule, service, task_result):
        these = among(connection, table.c.target_id, targets)
        connection.execute(delete(table).where(these))
    connection.execute(delete(target).where(among(connection, target.c.id, targets)))
