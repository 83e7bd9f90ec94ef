"""How many targets of an owner are in a state: kept, and counted to be compared."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, delete, func, insert, select
from sqlalchemy.dialects import postgresql, sqlite

from ronda.store.sql.schema import EVERYBODY, owner, tally, target, watch


def move(connection: Connection, changes: Mapping[tuple[int, str], int]) -> None:
    """Add to numbers, by owner and state, or take from them.

    One after the other, always in the same order, and as the last thing that a
    transaction does: so nobody waits for another in a circle, and nobody for long.
    """
    sql = _add(postgres=connection.dialect.name == "postgresql")
    for (who, state), change in sorted(changes.items()):
        if change:
            values = {"owner_id": who, "state": state, "number": change}
            connection.execute(sql, values)


@cache
def _add(*, postgres: bool) -> Any:
    new: Any = (postgresql if postgres else sqlite).insert(tally)
    number = tally.c.number + new.excluded.number
    return new.on_conflict_do_update(
        index_elements=tally.primary_key, set_={"number": number}
    )


def counted(connection: Connection) -> dict[tuple[int, str], int]:
    """The numbers by owner and state, `EVERYBODY` among them; it takes a while."""
    number = func.count()
    everybody = select(target.c.state, number).group_by(target.c.state)
    owners = (
        select(watch.c.owner_id, target.c.state, number)
        .join(target, target.c.id == watch.c.target_id)
        .group_by(watch.c.owner_id, target.c.state)
    )
    found = {(EVERYBODY, state): n for state, n in connection.execute(everybody)}
    return found | {(who, state): n for who, state, n in connection.execute(owners)}


def kept(connection: Connection) -> dict[tuple[int, str], int]:
    """The numbers as the store has them, without those that are 0."""
    rows = connection.execute(select(tally).where(tally.c.number != 0))
    return {(row.owner_id, row.state): row.number for row in rows}


class Size(Struct, frozen=True):
    """An owner, and how many targets he watches."""

    owner_id: int
    name: str
    number: int


def sizes(connection: Connection) -> list[Size]:
    """Those of all owners, as they came."""
    number = func.coalesce(func.sum(tally.c.number), 0)
    rows = (
        select(owner.c.id, owner.c.name, number)
        .outerjoin(tally, tally.c.owner_id == owner.c.id)
        .group_by(owner.c.id, owner.c.name)
        .order_by(owner.c.id)
    )
    # A sum is a decimal number to PostgreSQL.
    return [Size(id_, name, int(n)) for id_, name, n in connection.execute(rows)]


def recount(connection: Connection) -> None:
    """Keep what is counted."""
    connection.execute(delete(tally))
    rows = [
        {"owner_id": who, "state": state, "number": number}
        for (who, state), number in counted(connection).items()
    ]
    if rows:
        connection.execute(insert(tally), rows)
