"""The results of a target, from its newest back along the chain."""

from typing import Any

import pytest
from sqlalchemy import delete, insert, update

from ronda.model import State
from ronda.store.sql import schema
from ronda.store.sql.adding import Adding
from ronda.store.sql.engines import Database
from ronda.store.sql.past import Past
from ronda.store.sql.schema import OPERATOR
from ronda.store.sql.summary import Change, Latency, Uptime
from watched import DAY, HOUR, NOW, wanted

ONE, TWO = 1, 2  # the targets


@pytest.fixture
def past(database: Database) -> Past:
    """Of two targets, checked by turns, every hour; the first broke at the third."""
    Adding(database).add(OPERATOR, wanted("http://a.test/1", "http://a.test/2"), NOW)
    for turn, state in enumerate(["ok", "ok", "broken", "broken", "ok"]):
        check(database, ONE, NOW + turn * HOUR, state, seconds=turn / 10)
        check(database, TWO, NOW + turn * HOUR + 1, "ok", seconds=9.0)
    return Past(database)


def check(database: Database, target: int, at: float, state: str, **more: Any) -> None:
    """Write a result as the ledger does."""
    this = schema.schedule.c.target_id == target
    with database.writing() as connection:
        row = connection.execute(schema.schedule.select().where(this)).one()
        values = {"target_id": target, "task": "url", "at": at, "state": state}
        values |= {"standing": state, "reason": f"r{at - NOW:.0f}", "pause": int(HOUR)}
        values |= {"previous": row.last_result, "evidence": b"\x90"} | more
        new = insert(schema.history).values(values).returning(schema.history.c.id)
        number = connection.scalar(new)
        connection.execute(
            update(schema.schedule).where(this).values(last_result=number)
        )


def test_the_newest_comes_first_and_only_of_this_target(past: Past) -> None:
    found = past.results(ONE)

    assert [seen.at for seen in found] == [NOW + n * HOUR for n in (4, 3, 2, 1, 0)]
    assert [seen.state for seen in found][:2] == [State.OK, State.BROKEN]
    assert found[0].seconds == 0.4
    assert found[0].pause == HOUR


def test_a_window_is_from_a_moment_to_before_another(past: Past) -> None:
    found = past.results(ONE, NOW + HOUR, NOW + 3 * HOUR)

    assert [seen.at for seen in found] == [NOW + 2 * HOUR, NOW + HOUR]


def test_no_more_than_wanted_are_told(past: Past) -> None:
    assert [seen.at for seen in past.results(ONE, limit=2)] == [
        NOW + 4 * HOUR,
        NOW + 3 * HOUR,
    ]


def test_who_was_never_checked_has_no_past(database: Database, past: Past) -> None:
    Adding(database).add(OPERATOR, wanted("http://new.test/"), NOW)

    assert past.results(3) == []
    assert past.changes(3) == []
    assert past.latency(3) is None
    assert past.uptime(3, NOW, NOW + DAY, NOW + DAY) == Uptime(None, 0, 0, 0, DAY)
    assert past.results(99) == []


def test_changes_are_told_the_newest_first(past: Past) -> None:
    assert past.changes(ONE) == [
        Change(NOW + 4 * HOUR, State.BROKEN, State.OK, "r14400"),
        Change(NOW + 2 * HOUR, State.OK, State.BROKEN, "r7200"),
    ]
    assert len(past.changes(ONE, NOW + 2 * HOUR, NOW + 3 * HOUR)) == 1
    assert past.changes(ONE, NOW + 3 * HOUR, NOW + 4 * HOUR) == []
    assert past.changes(TWO) == []


def test_uptime_begins_with_what_was_found_before_the_window(past: Past) -> None:
    since, until = NOW + HOUR / 2, NOW + 2.5 * HOUR
    found = past.uptime(ONE, since, until, NOW + DAY)

    assert found == Uptime(75.0, 1.5 * HOUR, 0.5 * HOUR, 0, 0)


def test_the_future_is_not_counted(past: Past) -> None:
    found = past.uptime(ONE, NOW, NOW + DAY, NOW + HOUR)

    assert found == Uptime(100.0, HOUR, 0, 0, 0)


def test_after_twice_the_pause_nobody_knows(past: Past) -> None:
    found = past.uptime(ONE, NOW + 4 * HOUR, NOW + 10 * HOUR, NOW + DAY)

    assert found == Uptime(100.0, 2 * HOUR, 0, 0, 4 * HOUR)


def test_latency_is_of_those_that_answered(past: Past) -> None:
    assert past.latency(ONE) == Latency(4, 0.2, 0.4, 0.4, 0.4)
    assert past.latency(ONE, NOW, NOW + 2 * HOUR) == Latency(1, 0.1, 0.1, 0.1, 0.1)


def test_what_was_pruned_ends_the_chain(database: Database, past: Past) -> None:
    with database.writing() as connection:
        connection.execute(delete(schema.history).where(schema.history.c.id <= 5))

    assert len(past.results(ONE)) == 2


def test_a_number_that_another_has_now_is_not_taken_for_ours(
    database: Database, past: Past
) -> None:
    with database.writing() as connection:
        ours = schema.history.c.id == 5
        connection.execute(update(schema.history).where(ours).values(target_id=TWO))

    assert len(past.results(ONE)) == 2
