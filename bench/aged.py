"""A store after a year of checks: put there raw, for to check takes as long."""

import random
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from ronda.model import Result, State, Timings
from ronda.store.sql import evidence, schema
from ronda.store.sql.bulk import Change
from ronda.store.sql.engines import Database
from ronda.store.sql.loading import append, go_on
from ronda.store.sql.many import chunks
from ronda.store.sql.tallies import recount

NOW = 1_700_000_000.0
HOUR, DAY = 3600.0, 86_400.0
PART = 20_000  # rows a statement

# Of a thousand targets: how many, their state, reason and message.
FATES = (
    (860, State.OK, "http_200", "200 OK"),
    (20, State.OK, "redirected", "redirected for now"),
    (40, State.WARNING, "moved_permanently", "moved permanently"),
    (20, State.BROKEN, "http_404", "404 Not Found"),
    (9, State.BROKEN, "dns_no_such_name", "no such name"),
    (1, State.BROKEN, "tls_expired", "certificate has expired"),
    (19, State.TEMPORARY, "timeout_connect", "timed out while connecting"),
    (16, State.BLOCKED, "http_403", "403 Forbidden"),
    (1, State.UNSUPPORTED, "scheme_unsupported", "no handler for scheme"),
    (14, State.UNKNOWN, "", ""),
)


class Fate(NamedTuple):
    """What became of a target."""

    id: int
    server: int
    state: State
    reason: str
    message: str
    checked: float
    changed: float
    enabled: bool


def age(database: Database) -> None:
    """Let all targets have been checked, most of them in the last day."""
    fates = list(_fates(database))
    for some in chunks(fates, PART):
        with database.writing() as connection:
            _targets(connection, some)
    checked = [fate for fate in fates if fate.checked]
    # Each was checked the day before too: those results are no longer the newest.
    moments = [(fate.checked, fate, True) for fate in checked]
    moments += [(fate.checked - DAY, fate, False) for fate in checked]
    moments.sort(key=lambda row: row[0])
    _history(database, moments)
    with database.writing() as connection:
        recount(connection)
        go_on(connection, [schema.history])


def _fates(database: Database) -> Iterator[Fate]:
    chance = random.Random(3)
    weights = [row[0] for row in FATES]
    columns = (schema.schedule.c.target_id, schema.schedule.c.server_id)
    with database.reading() as connection:
        rows = connection.execute(select(*columns).order_by(columns[0])).all()
    for number, server in rows:
        [(_, state, reason, message)] = chance.choices(FATES, weights)
        enabled = chance.random() > 0.005
        checked, changed = _moments(chance, state, enabled)
        yield Fate(number, server, state, reason, message, checked, changed, enabled)


def _moments(chance: random.Random, state: State, enabled: bool) -> tuple[float, float]:
    """When it was checked last, and when its state changed."""
    if state is State.UNKNOWN:
        return 0.0, 0.0
    age = 7 if state is State.BROKEN else 1 if enabled else 90
    checked = NOW - chance.random() * age * DAY
    return checked, checked - chance.expovariate(1 / (40 * DAY))


def _targets(connection: Connection, fates: Iterable[Fate]) -> None:
    c = schema.target.c
    columns = (c.id, c.state, c.reason, c.message, c.last_change_at, c.enabled)
    rows = [
        (one.id, one.state.value, one.reason, one.message, one.changed, one.enabled)
        for one in fates
    ]
    Change(*columns).run(connection, rows)


def _history(database: Database, moments: list[tuple[float, Fate, bool]]) -> None:
    last: dict[int, int] = {}
    hours: dict[int, list[int]] = {}
    names = schema.history.columns.keys()
    number = 0
    for some in chunks(moments, PART):
        rows: list[Any] = []
        newest = []
        for at, fate, is_newest in some:
            number += 1
            rows.append(_result(names, number, at, fate, last.get(fate.id)))
            last[fate.id] = number
            hours.setdefault(int(at // HOUR), [number, number])[1] = number
            if is_newest:
                due = fate.checked + DAY if fate.enabled else None
                newest.append((fate.id, at, due, number, 1))
        with database.writing() as connection:
            append(connection, schema.history, rows)
            c = schema.schedule.c
            columns = (c.target_id, c.last_check_at, c.next_due, c.last_result)
            Change(*columns, c.repeats).run(connection, newest)
    with database.writing() as connection:
        append(connection, schema.hour, [(one, *edges) for one, edges in hours.items()])


def _result(
    names: list[str], number: int, at: float, fate: Fate, previous: int | None
) -> tuple[Any, ...]:
    found = Result(
        url="",
        verdict=fate.state,
        reason=fate.reason,
        message=fate.message,
        status=200,
        address="192.0.2.1",
        timings=Timings(0.01, 0.02, 0.03, 0.1, 0.1),
        bytes=number % 100_000,
    )
    values = {
        "id": number,
        "target_id": fate.id,
        "task": "url",
        "at": at,
        "state": fate.state.value,
        "standing": fate.state.value,
        "reason": fate.reason,
        "status": 200,
        "seconds": 0.1,
        "previous": previous,
        "pause": int(DAY),
        "message": fate.message,
        "evidence": evidence.pack(found),
    }
    return tuple(values[name] for name in names)
