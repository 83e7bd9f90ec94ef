"""What is known of services, read as values."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, Row, Select, func, select

from ronda.model import Service, State
from ronda.store.sql.many import ids
from ronda.store.sql.schema import (
    OPERATOR,
    host,
    owner,
    service,
    target,
    task_result,
    watch,
)
from ronda.store.sql.states import STATES


class Entity(Struct, frozen=True):
    """An owner as those see him who look for services."""

    eid: int
    description: str  # the name
    records: int  # how many targets he watches


class Record(Struct, frozen=True):
    """A target in the list of an owner."""

    gid: int
    description: str
    url: str
    host: str
    type: str
    version: str
    state: State


class Found(Struct, frozen=True):
    """What a task found last."""

    task: str
    at: float
    state: State
    reason: str
    message: str
    seconds: float
    data: str


class Detail(Struct, frozen=True):
    """All that is known of a target, and what its tasks found."""

    gid: int
    description: str
    owner: str
    url: str
    type: str
    version: str
    uuid: str
    kind: str
    state: State
    reason: str
    message: str
    tasks: tuple[Found, ...] = ()


def _or_empty(column: Any) -> Any:
    return func.coalesce(column, "").label(column.name)


def described() -> Select[Any]:
    """Targets, with what is known of those that have a plan."""
    of = target.c
    columns = (of.id, of.url, of.kind, of.state, of.reason, of.message)
    names = ("description", "type", "version", "uuid")
    told = [_or_empty(service.c[name]) for name in names]
    return select(*columns, *told).outerjoin(service, service.c.target_id == of.id)


def of_owner(eid: int | None) -> Select[Any]:
    """The targets that an owner watches, or all services, in the order of a Record."""
    of = service.c
    found = (
        select(target.c.id, _or_empty(of.description), target.c.url, host.c.name)
        .add_columns(_or_empty(of.type), _or_empty(of.version), target.c.state)
        .order_by(target.c.id)
    )
    if eid is None:
        joined = service.join(target, target.c.id == of.target_id)
        return found.select_from(joined.join(host, host.c.id == target.c.host_id))
    return found.select_from(
        watch.join(target, target.c.id == watch.c.target_id)
        .join(host, host.c.id == target.c.host_id)
        .outerjoin(service, of.target_id == target.c.id)
    ).where(watch.c.owner_id == eid)


def owners(connection: Connection, targets: Sequence[int]) -> dict[int, str]:
    """The first owner of each who does not run Ronda, or else who does."""
    first = func.coalesce(func.min(func.nullif(watch.c.owner_id, OPERATOR)), OPERATOR)
    # Joined, and not looked up in a list: PostgreSQL may read the whole table for that,
    # and the whole list for each of its rows.
    listed = ids(connection, targets)
    these = (
        select(watch.c.target_id, first.label("owner_id"))
        .join(listed, listed.c.id == watch.c.target_id)
        .group_by(watch.c.target_id)
        .subquery()
    )
    named = select(these.c.target_id, owner.c.name)
    rows = connection.execute(named.join(owner, owner.c.id == these.c.owner_id))
    names = dict.fromkeys(targets, "")
    return names | {row.target_id: row.name for row in rows}


def tasks(connection: Connection, targets: Sequence[int]) -> dict[int, list[Found]]:
    """What the tasks of targets found last, in the order of their plans."""
    names = [column for column in Found.__struct_fields__ if column != "state"]
    columns = [task_result.c[name] for name in (*names, "target_id", "state")]
    listed = ids(connection, targets)
    rows = connection.execute(
        select(*columns)
        .join(listed, listed.c.id == task_result.c.target_id)
        .order_by(task_result.c.target_id, task_result.c.place)
    )
    found: dict[int, list[Found]] = {}
    for row in rows:
        values = {name: getattr(row, name) for name in names}
        one = Found(**values, state=STATES[row.state])
        found.setdefault(row.target_id, []).append(one)
    return found


def service_of(row: Row[Any], owner_name: str) -> Service:
    """What `described` found."""
    return Service(
        row.id,
        row.kind,
        row.description,
        owner_name,
        row.type,
        row.version,
        row.uuid,
    )


def record(row: Row[Any]) -> Record:
    """What `of_owner` found."""
    values: Any = (*row[:-1], STATES[row.state])
    return Record(*values)


def detail(row: Row[Any], owner_name: str, found: Sequence[Found]) -> Detail:
    """What `described` found, with its tasks."""
    return Detail(
        gid=row.id,
        description=row.description,
        owner=owner_name,
        url=row.url,
        type=row.type,
        version=row.version,
        uuid=row.uuid,
        kind=row.kind,
        state=STATES[row.state],
        reason=row.reason,
        message=row.message,
        tasks=tuple(found),
    )
