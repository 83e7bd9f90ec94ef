"""The statistics of the whole."""

import socket
from typing import Any

import pytest
from sqlalchemy import insert, update

from ronda.model import State
from ronda.store.sql import machine, schema
from ronda.store.sql.adding import Adding
from ronda.store.sql.engines import Database
from ronda.store.sql.numbers import Numbers, Stats
from ronda.store.sql.owners import Owners
from ronda.store.sql.schema import OPERATOR
from watched import DAY, HOUR, NOW, found, wanted

A, B, C = "http://a.test/1", "http://a.test/2", "https://b.test/"


@pytest.fixture
def numbers(database: Database) -> Numbers:
    return Numbers(database)


def put(database: Database, table: Any, *rows: dict[str, Any]) -> None:
    with database.writing() as connection:
        connection.execute(insert(table), list(rows))


def test_of_an_empty_store_all_is_0(numbers: Numbers) -> None:
    stats = numbers.stats(NOW)

    assert stats == Stats(
        pool=0,
        available=0,
        active=0,
        queue=0,
        late=0.0,
        by_state=dict.fromkeys(State, 0),
        unconfirmed=0,
        targets=0,
        owners=1,
        hosts=0,
        servers=0,
        notices=0,
        checks_hour=0,
        checks_day=0,
        processes=[],
    )


def test_targets_are_counted_by_state_and_what_they_live_at(
    database: Database, numbers: Numbers
) -> None:
    Owners(database).add("press")
    Adding(database).add(OPERATOR, wanted(A, B, C), NOW)
    found(database, A, state="ok")

    stats = numbers.stats(NOW)

    assert (stats.targets, stats.hosts, stats.servers, stats.owners) == (3, 2, 2, 2)
    assert stats.by_state[State.OK] == 1
    assert stats.by_state[State.UNKNOWN] == 2


def test_the_queue_is_what_is_due(database: Database, numbers: Numbers) -> None:
    Adding(database).add(OPERATOR, wanted(A, B, C), NOW)
    found(database, A, next_due=NOW + 50)
    found(database, C, next_due=None)

    stats = numbers.stats(NOW + 20)

    assert (stats.queue, stats.late) == (1, 20)
    assert numbers.stats(NOW + 60).queue == 2
    assert numbers.stats(NOW - 1).queue == 0


def test_what_is_due_at_a_server_that_is_held_counts_too(
    database: Database, numbers: Numbers
) -> None:
    Adding(database).add(OPERATOR, wanted(A), NOW)
    with database.writing() as connection:
        held = {"holder": 5, "due_at": NOW + DAY}
        connection.execute(update(schema.server).values(held))

    assert numbers.stats(NOW).queue == 1


def test_pools_of_living_processes_are_one(
    database: Database, numbers: Numbers
) -> None:
    some = {"machine": "m", "started": 1, "began_at": NOW}
    put(
        database,
        schema.process,
        some | {"pid": 1, "until": NOW + 9, "pool": 20, "active": 5, "queued": 7},
        some | {"pid": 2, "until": NOW + 9, "pool": 10, "active": 12, "queued": 0},
        some | {"pid": 3, "until": NOW - 9, "pool": 99, "active": 9, "queued": 9},
    )

    stats = numbers.stats(NOW)

    assert (stats.pool, stats.active, stats.available) == (30, 17, 13)
    assert [one.pid for one in stats.processes] == [1, 2]
    assert stats.processes[0].queued == 7


def test_a_process_that_was_killed_is_gone_at_once(
    database: Database, numbers: Numbers
) -> None:
    me = machine.myself()
    some = {"machine": me.machine, "pid": me.pid, "began_at": NOW, "until": NOW + 60}
    put(
        database,
        schema.process,
        some | {"started": me.started, "pool": 20},
        some | {"started": me.started - 1, "pool": 99},  # had our number before us
    )

    stats = numbers.stats(NOW)

    assert [one.machine for one in stats.processes] == [socket.gethostname()]
    assert stats.pool == 20


def test_failures_are_counted_until_they_are_confirmed(
    database: Database, numbers: Numbers
) -> None:
    Adding(database).add(OPERATOR, wanted(A, B, C), NOW)
    found(database, A, state="ok", failures=1, next_due=NOW + 60)
    found(database, B, state="broken", failures=2, next_due=NOW + 60)
    found(database, C, state="ok", failures=0, next_due=NOW + 60)

    assert numbers.stats(NOW).unconfirmed == 1


def test_notices_wait_in_the_outbox_or_in_a_batch(
    database: Database, numbers: Numbers
) -> None:
    words = {"kind": "change", "url": A, "state": "ok", "was": "broken", "reason": ""}
    row = words | {"owner_id": OPERATOR, "message": "", "at": NOW}
    put(database, schema.notice, row, row)
    other, _ = Owners(database).add("press")
    batch = {"body": b"", "made_at": NOW}
    put(
        database,
        schema.batch,
        batch | {"owner_id": OPERATOR, "kind": "notices", "number": 5, "key": "a"},
        batch | {"owner_id": other.id, "kind": "states", "number": 100, "key": "b"},
    )

    assert numbers.stats(NOW).notices == 7


def test_checks_are_counted_by_the_hour(database: Database, numbers: Numbers) -> None:
    begins = int(NOW // HOUR)
    put(
        database,
        schema.hour,
        {"hour": begins - 30, "first_id": 1, "last_id": 1000},
        {"hour": begins - 24, "first_id": 1001, "last_id": 1100},
        {"hour": begins - 1, "first_id": 1101, "last_id": 1200},
        {"hour": begins, "first_id": 1201, "last_id": 1210},
    )
    quarter = begins * HOUR + HOUR / 4

    stats = numbers.stats(quarter)

    assert stats.checks_hour == 10 + 75
    assert stats.checks_day == 10 + 100 + 75
