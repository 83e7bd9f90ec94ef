"""Rounds begin once, mark what they are to check, and end when it is done."""

import threading
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest
from sqlalchemy import Connection, delete, event, insert, select, update

from ronda.errors import UsageError
from ronda.model import Result, Standing, State
from ronda.store.sql.catalogue import Query
from ronda.store.sql.claims import Claims
from ronda.store.sql.engines import Database
from ronda.store.sql.ledger import Ledger
from ronda.store.sql.rounds import Round, Rounds
from ronda.store.sql.schema import (
    OPERATOR,
    host,
    label,
    owner,
    round_,
    schedule,
    server,
    target,
    watch,
)
from ronda.store.sql.values import Due, Entry, Turn

NOW = 1_800_000_000.0
HOUR, DAY = 3600.0, 86_400.0
ALL = Query()


@pytest.fixture
def rounds(database: Database) -> Rounds:
    """Of a store with six targets, two a host, checked a day ago, due in a day."""
    fill(database, 6)
    return Rounds(database)


def fill(database: Database, count: int) -> None:
    numbers = range(1, count + 1)
    homes = range(1, (count + 1) // 2 + 1)
    due = {"next_due": NOW + DAY, "last_check_at": NOW - DAY}
    served = [{"id": n, "address": f"a{n}", "due_at": NOW + DAY} for n in homes]
    named = [{"id": n, "name": f"h{n}", "server_id": n} for n in homes]
    fixed = {"scheme": "http", "added_at": NOW, "state": "ok"}
    known = [
        {"id": n, "key": n, "url": f"http://h{home(n)}/{n}", "host_id": home(n)} | fixed
        for n in numbers
    ]
    planned = [{"target_id": n, "server_id": home(n), **due} for n in numbers]
    watched = [{"owner_id": OPERATOR, "target_id": n, "added_at": NOW} for n in numbers]
    with database.writing() as connection:
        for table, rows in (
            *((server, served), (host, named), (target, known)),
            *((schedule, planned), (watch, watched)),
        ):
            connection.execute(insert(table), rows)


def home(number: int) -> int:
    return (number + 1) // 2


def put(database: Database, number: int, **values: Any) -> None:
    """Change what the schedule says of a target."""
    with database.writing() as connection:
        row = update(schedule).where(schedule.c.target_id == number)
        connection.execute(row.values(values))


def marked(database: Database) -> dict[int, int]:
    """Targets that are checked for a round, and for which."""
    with database.reading() as connection:
        sql = select(schedule.c.target_id, schedule.c.round_id)
        rows = connection.execute(sql.where(schedule.c.round_id.is_not(None)))
        return {row.target_id: row.round_id for row in rows}


def due(database: Database) -> dict[int, float]:
    """When targets are due, by their number."""
    with database.reading() as connection:
        rows = connection.execute(select(schedule.c.target_id, schedule.c.next_due))
        return {row.target_id: row.next_due for row in rows}


def served(database: Database) -> dict[int, float]:
    """When servers are due."""
    with database.reading() as connection:
        rows = connection.execute(select(server.c.id, server.c.due_at))
        return {row.id: row.due_at for row in rows}


def fence(connection: Connection, numbers: list[int]) -> None:
    """What the ledger locks first: the servers, by their numbers."""
    servers = {home(number) for number in numbers}
    held = select(server.c.id).where(server.c.id.in_(servers)).order_by(server.c.id)
    connection.execute(held.with_for_update(read=True))


def finish(connection: Connection, number: int, now: float) -> None:
    """What the ledger does with the mark of a target that was checked."""
    row = select(schedule.c.round_id).where(schedule.c.target_id == number)
    of_round = connection.execute(row.with_for_update()).scalar()
    done = update(schedule).where(schedule.c.target_id == number)
    connection.execute(
        done.values(round_id=None, next_due=now + DAY, last_check_at=now)
    )
    if of_round is not None:
        count = update(round_).where(round_.c.id == of_round)
        connection.execute(count.values(done=round_.c.done + 1))
        ended = count.where(round_.c.done == round_.c.total)
        connection.execute(ended.values(ended_at=now))


# -- beginning ----------------------------------------------------------------------


def test_a_round_makes_its_targets_and_their_servers_due(rounds, database):
    found = rounds.begin("night", ALL, NOW)

    assert found == Round(found.id, "night", NOW, None, 6, 0)
    assert marked(database) == dict.fromkeys(range(1, 7), found.id)
    moments = due(database)
    assert all(NOW - 1 < at < NOW for at in moments.values())
    assert served(database) == {n: moments[2 * n - 1] for n in (1, 2, 3)}


def test_what_is_due_longest_comes_first(rounds, database):
    put(database, 5, next_due=NOW - HOUR)
    put(database, 3, next_due=NOW + HOUR)
    rounds.begin("night", ALL, NOW)

    moments = due(database)
    assert sorted(moments, key=moments.__getitem__) == [5, 3, 1, 2, 4, 6]
    assert served(database) == {1: moments[1], 2: moments[3], 3: moments[5]}


def test_a_server_that_somebody_holds_is_left_to_him(rounds, database):
    with database.writing() as connection:
        held = update(server).where(server.c.id == 2)
        connection.execute(held.values(holder=7))
    rounds.begin("night", ALL, NOW)

    assert served(database)[2] == NOW + DAY
    assert due(database)[3] < NOW


def test_a_server_that_had_nothing_to_do_has_now(rounds, database):
    with database.writing() as connection:
        connection.execute(update(server).values(due_at=None))
    rounds.begin("night", Query(host="h2"), NOW)

    assert served(database) == {1: None, 2: due(database)[3], 3: None}


def test_a_server_that_may_not_be_asked_yet_is_due_when_it_may(rounds, database):
    with database.writing() as connection:
        rested = update(server).where(server.c.id == 2)
        connection.execute(rested.values(next_at=NOW + HOUR))
    rounds.begin("night", ALL, NOW)

    moments = due(database)
    assert served(database) == {1: moments[1], 2: NOW + HOUR, 3: moments[5]}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (Query(state=State.BROKEN), {2, 5}),
        (Query(owner="ana"), {1, 2, 3}),
        (Query(label="news"), {3, 5}),
        (Query(host="h1"), {1, 2}),
        (Query(owner="ana", state=State.BROKEN), {2}),
        (Query(host="h9"), set()),
    ],
    ids=["state", "owner", "label", "host", "both", "none"],
)
def test_a_round_takes_what_a_query_finds(rounds, database, query, expected):
    with database.writing() as connection:
        broken = update(target).where(target.c.id.in_([2, 5]))
        connection.execute(broken.values(state="broken"))
        connection.execute(insert(owner), [{"id": 9, "name": "ana", "added_at": NOW}])
        watched = [{"owner_id": 9, "target_id": n, "added_at": NOW} for n in (1, 2, 3)]
        connection.execute(insert(watch), watched)
        labelled = [{"name": "news", "target_id": n} for n in (3, 5)]
        connection.execute(insert(label), labelled)
    found = rounds.begin("some", query, NOW)

    assert set(marked(database)) == expected
    assert found.total == len(expected)
    assert {n for n, at in due(database).items() if at < NOW} == expected
    assert {n for n, at in served(database).items() if at < NOW} == {
        home(n) for n in expected
    }


def test_what_was_checked_lately_is_left_out_unless_forced(rounds, database):
    put(database, 1, last_check_at=NOW - HOUR + 1)
    put(database, 2, last_check_at=NOW - HOUR)
    put(database, 3, last_check_at=0.0)

    rounds.begin("night", ALL, NOW)
    assert set(marked(database)) == {2, 3, 4, 5, 6}
    assert due(database)[1] == NOW + DAY
    assert rounds.begin("now", ALL, NOW, forced=True).total == 6


def test_how_lately_can_be_set(rounds, database):
    put(database, 1, last_check_at=NOW - 30)

    assert rounds.begin("night", ALL, NOW, guard=30.0).total == 6


def test_what_a_person_disabled_is_never_in_a_round(rounds, database):
    put(database, 4, next_due=None)
    found = rounds.begin("night", ALL, NOW, forced=True)

    assert found.total == 5
    assert due(database)[4] is None


def test_a_round_without_targets_has_ended(rounds, database):
    found = rounds.begin("none", Query(host="h9"), NOW)

    assert (found.total, found.done, found.ended_at) == (0, 0, NOW)
    assert set(served(database).values()) == {NOW + DAY}


# -- once only -----------------------------------------------------------------------


def test_the_same_round_is_not_begun_twice(rounds, database):
    first = rounds.begin("night", ALL, NOW, started_at=NOW - 5)
    with database.writing() as connection:
        finish(connection, 1, NOW + 1)
    again = rounds.begin("night", ALL, NOW + 2, started_at=NOW - 5, forced=True)

    assert (again.id, again.done, again.total) == (first.id, 1, 6)
    assert 1 not in marked(database)
    assert len(rounds.list()) == 1


def test_of_many_who_begin_a_round_at_once_one_does(database):
    fill(database, 200)
    start = threading.Barrier(8)

    def begin(_: int) -> Round:
        other = Database(database.where)
        try:
            start.wait()
            return Rounds(other).begin("night", ALL, NOW)
        finally:
            other.close()

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(begin, range(8)))
    assert len(set(found)) == 1
    assert found[0].total == 200
    assert Rounds(database).list() == [found[0]]


@pytest.mark.parametrize("statement", ["INSERT INTO round", "UPDATE schedule"])
def test_a_round_that_fails_to_begin_leaves_nothing_behind(rounds, database, statement):
    class PowerCutError(Exception):
        pass

    def fail(*args: Any) -> None:
        if args[2].startswith(statement):
            raise PowerCutError

    event.listen(database.engine, "after_cursor_execute", fail)
    with pytest.raises(PowerCutError):
        rounds.begin("night", ALL, NOW)
    event.remove(database.engine, "after_cursor_execute", fail)

    assert rounds.list() == []
    assert marked(database) == {}
    assert set(served(database).values()) == {NOW + DAY}
    assert rounds.begin("night", ALL, NOW).total == 6


# -- one round after another -----------------------------------------------------------


def test_a_new_round_takes_targets_over_and_the_old_one_has_less(rounds, database):
    old = rounds.begin("night", ALL, NOW)
    with database.writing() as connection:
        finish(connection, 6, NOW + 1)
    new = rounds.begin("some", Query(host="h1"), NOW + 2)

    assert marked(database) == {1: new.id, 2: new.id, 3: old.id, 4: old.id, 5: old.id}
    assert rounds.show(old.id) == Round(old.id, "night", NOW, None, 4, 1)
    assert (new.total, new.ended_at) == (2, None)


def test_an_old_round_that_has_nothing_left_has_ended(rounds, database):
    old = rounds.begin("night", ALL, NOW)
    with database.writing() as connection:
        finish(connection, 6, NOW + 1)
    new = rounds.begin("night", ALL, NOW + DAY)

    assert rounds.show(old.id) == Round(old.id, "night", NOW, NOW + DAY, 1, 1)
    assert set(marked(database).values()) == {new.id}
    assert new.total == 6


def test_a_round_whose_last_targets_are_removed_or_disabled_ends(rounds, database):
    found = rounds.begin("night", Query(host="h1"), NOW)
    with database.writing() as connection:
        connection.execute(delete(schedule).where(schedule.c.target_id == 1))
    put(database, 2, next_due=None)
    rounds.recount(NOW + 9)

    assert rounds.show(found.id) == Round(found.id, "night", NOW, NOW + 9, 0, 0)
    assert marked(database) == {}


def test_counting_again_changes_nothing_of_what_is_right(rounds, database):
    ended = rounds.begin("none", Query(host="h9"), NOW)
    found = rounds.begin("night", ALL, NOW)
    with database.writing() as connection:
        finish(connection, 1, NOW + 1)
    before = rounds.show(found.id)
    rounds.recount(NOW + 9)

    assert rounds.show(found.id) == before == Round(found.id, "night", NOW, None, 6, 1)
    assert rounds.show(ended.id) == ended


def test_a_target_that_is_finished_while_they_are_counted_is_counted_once(
    rounds, database
):
    found = rounds.begin("night", ALL, NOW)

    def late() -> None:
        other = Database(database.where)
        with other.writing() as connection:
            finish(connection, 1, NOW + 1)
        other.close()

    thread = threading.Thread(target=late)

    def meanwhile(*args: Any) -> None:
        if "count(" in args[2]:
            thread.start()
            thread.join(timeout=0.5)  # it has to wait for us, or is done by then

    event.listen(database.engine, "before_cursor_execute", meanwhile)
    rounds.recount(NOW)
    event.remove(database.engine, "before_cursor_execute", meanwhile)
    thread.join()

    assert rounds.show(found.id) == Round(found.id, "night", NOW, None, 6, 1)


def test_rounds_come_out_even_while_others_finish_their_targets(database):
    """The ledgers of two processes, each with its servers, against a third's rounds."""
    fill(database, 60)
    rounds = Rounds(database)

    def work(numbered: range) -> None:
        random, other = Random(1), Database(database.where)
        for _ in range(60):
            numbers = random.sample(numbered, 8)
            with other.writing() as connection:
                fence(connection, numbers)
                for number in numbers:
                    finish(connection, number, NOW)
        other.close()

    with ThreadPoolExecutor(2) as pool:
        workers = [pool.submit(work, half) for half in (range(1, 31), range(31, 61))]
        for turn in range(12):
            rounds.begin(f"r{turn}", ALL, NOW + turn, forced=True)
            rounds.recount(NOW)
        for worker in workers:
            worker.result()
    left = marked(database)
    with database.writing() as connection:
        for number in left:
            finish(connection, number, NOW)

    found = rounds.list()
    assert len(found) == 12
    assert all(each.ended_at is not None for each in found)
    assert [each for each in found if each.done != each.total] == []


# -- with claims and the ledger --------------------------------------------------------


def claimed(database: Database, process: int) -> list[Due]:
    found = Claims(database).claim(process, NOW, count=10, length=10)
    return [due for each in found for due in each.due]


def write(database: Database, process: int, found: list[Due]) -> None:
    at = NOW + 5
    result = Result(url="", verdict=State.OK, reason="http_200", message="OK")
    standing = Standing(State.OK, "http_200", "OK", at)
    entries = [Entry(due, result, at, standing, at + DAY) for due in found]
    Ledger(database).write(process, Turn(entries=tuple(entries)), at)


def test_a_round_ends_when_the_results_of_all_its_targets_are_written(rounds, database):
    begun = rounds.begin("night", ALL, NOW)
    process = Claims(database).join(1, NOW)
    found = claimed(database, process)

    assert {due.round for due in found} == {begun.id}
    write(database, process, found[:4])
    assert rounds.show(begun.id) == Round(begun.id, "night", NOW, None, 6, 4)
    write(database, process, found[4:])
    assert rounds.show(begun.id) == Round(begun.id, "night", NOW, NOW + 5, 6, 6)
    assert marked(database) == {}


def test_a_check_under_way_counts_for_the_round_that_has_begun_meanwhile(
    rounds, database
):
    with database.writing() as connection:
        connection.execute(update(schedule).values(next_due=NOW))
        connection.execute(update(server).values(due_at=NOW))
    process = Claims(database).join(1, NOW)
    found = claimed(database, process)
    old = rounds.begin("old", ALL, NOW)
    new = rounds.begin("new", Query(host="h1"), NOW + 1)
    write(database, process, found)

    assert [due.round for due in found] == [None] * 6
    assert rounds.show(old.id) == Round(old.id, "old", NOW, NOW + 5, 4, 4)
    assert rounds.show(new.id) == Round(new.id, "new", NOW + 1, NOW + 5, 2, 2)


# -- looking -------------------------------------------------------------------------


def test_the_newest_rounds_come_first_and_not_all_of_them(rounds):
    for turn in range(4):
        rounds.begin("night", ALL, NOW + turn * DAY)

    found = rounds.list(limit=3)
    assert [each.started_at for each in found] == [
        NOW + 3 * DAY,
        NOW + 2 * DAY,
        NOW + DAY,
    ]


def test_a_round_that_is_not_there_is_told_in_one_line(rounds):
    with pytest.raises(UsageError, match=r"^there is no round 77$"):
        rounds.show(77)


def test_when_a_round_of_a_name_was_begun_last_is_known(rounds):
    assert rounds.begun(NOW) == {}
    rounds.begin("night", ALL, NOW + 9, started_at=NOW)
    rounds.begin("night", ALL, NOW + DAY)
    rounds.begin("noon", ALL, NOW)

    assert rounds.begun(NOW + DAY) == {"night": NOW + DAY, "noon": NOW}


def test_a_round_that_was_begun_by_a_clock_that_was_ahead_holds_up_none(rounds):
    rounds.begin("night", ALL, NOW)
    rounds.begin("night", ALL, NOW + 365 * DAY)

    assert rounds.begun(NOW + DAY) == {"night": NOW}
