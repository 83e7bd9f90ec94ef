"""What targets are, as somebody says who knows: their kinds, and what else is known."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, case, select, update
from sqlalchemy.dialects import postgresql, sqlite

from ronda.model import Service
from ronda.store.sql.entering import key_of
from ronda.store.sql.many import among
from ronda.store.sql.schema import service, target


def describe(connection: Connection, rows: Mapping[str, Service]) -> int:
    """Set the kinds of targets, and what is known of them; how many there are."""
    keys = {key_of(url): url for url in rows}
    known = select(target.c.id, target.c.url, target.c.kind)
    these = known.where(among(connection, target.c.key, keys)).order_by(target.c.id)
    found = [row for row in connection.execute(these) if row.url in rows]
    for kind in sorted({rows[row.url].kind for row in found}):
        others = [r.id for r in found if rows[r.url].kind == kind and r.kind != kind]
        change = update(target).where(among(connection, target.c.id, others))
        connection.execute(change.values(kind=kind))
    if found:
        values = [_values(row.id, rows[row.url]) for row in found]
        connection.execute(_put(connection), values)
    return len(found)


def _values(number: int, said: Service) -> dict[str, Any]:
    return {
        "target_id": number,
        "description": said.description,
        "type": said.type,
        "version": said.version,
        "uuid": said.uuid,
    }


def _put(connection: Connection) -> Any:
    postgres = connection.dialect.name == "postgresql"
    new: Any = (postgresql if postgres else sqlite).insert(service)
    names = ("description", "type", "version", "uuid")
    # What somebody does not say, somebody else may have said.
    changed = {
        name: case(
            (new.excluded[name] == "", service.c[name]), else_=new.excluded[name]
        )
        for name in names
    }
    return new.on_conflict_do_update(index_elements=["target_id"], set_=changed)
