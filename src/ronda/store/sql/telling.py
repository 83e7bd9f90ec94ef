"""Who hears of results: tallies, acknowledgements, and notices for the outbox."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import Connection, Select, Update, insert, select, text, update

from ronda.store.sql import tallies
from ronda.store.sql.lists import is_listed, is_postgres, listed
from ronda.store.sql.schema import (
    ACKNOWLEDGED,
    EVERYBODY,
    OPERATOR,
    notice,
    owner,
    watch,
)
from ronda.store.sql.sheets import CHANGE, WORDS, Told

_NOTICE = insert(notice)


def tell(connection: Connection, told: Sequence[Told]) -> None:
    """Let owners hear of results, once all else is written.

    The rows of their targets are ours until the transaction ends: nobody begins or
    ceases to watch them meanwhile.
    """
    if not told:
        return
    watches = _watches(connection, [one.entry.due.id for one in told])
    changed = [one for one in told if one.changes]
    if changed:
        _forget_acknowledged(connection, [one.entry.due.id for one in changed])
    if rows := _rows(told, watches):
        connection.execute(_NOTICE, rows)
    moves: Counter[tuple[int, str]] = Counter()
    for one in changed:
        owners = [seen.owner_id for seen in watches[one.entry.due.id]]
        for number in (EVERYBODY, *owners):
            moves[number, one.was] -= 1
            moves[number, WORDS[one.entry.standing.state]] += 1
    tallies.move(connection, moves)


def _watches(connection: Connection, targets: Sequence[int]) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = defaultdict(list)
    sql = _watched(postgres=is_postgres(connection))
    for row in connection.execute(sql, listed(connection, targets)):
        found[row.target_id].append(row)
    return found


@cache
def _watched(*, postgres: bool) -> Select[Any]:
    return (
        select(
            watch.c.target_id,
            watch.c.owner_id,
            watch.c.spelling,
            watch.c.acknowledged,
            owner.c.callback,
            owner.c.notices_on,
        )
        .join(owner, owner.c.id == watch.c.owner_id)
        .where(is_listed(watch.c.target_id, postgres=postgres))
        .order_by(watch.c.owner_id)
    )


def _forget_acknowledged(connection: Connection, targets: Sequence[int]) -> None:
    """What an owner knew of is no longer so."""
    sql = _unmark(postgres=is_postgres(connection))
    connection.execute(sql, listed(connection, targets))


@cache
def _unmark(*, postgres: bool) -> Update:
    these = is_listed(watch.c.target_id, postgres=postgres)
    marked = update(watch).where(these, text(ACKNOWLEDGED))
    return marked.values(acknowledged="")


def _rows(told: Sequence[Told], watches: dict[int, list[Any]]) -> list[dict[str, Any]]:
    """The notices for all who watch.

    Who has acknowledged a state hears nothing of its target while it lasts: not that it
    was disabled, nor that it has settled. What comes with a change of the state he
    hears, and all that comes after it.
    """
    rows = []
    moved: set[int] = set()  # targets whose state is another than was acknowledged
    for one in told:
        if one.changes:
            moved.add(one.entry.due.id)
        for seen in watches[one.entry.due.id]:
            if not seen.acknowledged or one.entry.due.id in moved:
                rows += _notices(one, seen)
    return rows


def _notices(one: Told, seen: Any) -> list[dict[str, Any]]:
    """The notices for one who watches.

    The operator finds what is not sent to him in a list; but changes he finds in the
    catalogue, and they would be as many as there are targets.
    """
    kinds = one.kinds
    if not (seen.callback and seen.notices_on):
        mine = seen.owner_id == OPERATOR
        kinds = tuple(kind for kind in kinds if mine and kind != CHANGE)
    due, standing = one.entry.due, one.entry.standing
    return [
        {
            "owner_id": seen.owner_id,
            "kind": kind,
            "url": seen.spelling or due.url,
            "state": WORDS[standing.state],
            "was": one.was,
            "reason": standing.reason,
            "message": standing.message,
            "at": one.entry.at,
        }
        for kind in kinds
    ]
