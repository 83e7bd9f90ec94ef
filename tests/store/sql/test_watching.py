"""Owners and targets: registered, unregistered, synced, acknowledged, steered."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import insert, select

from ronda.model import State
from ronda.store.sql import schema
from ronda.store.sql.adding import Adding
from ronda.store.sql.engines import Database
from ronda.store.sql.owners import Owners
from ronda.store.sql.schema import OPERATOR
from ronda.store.sql.values import Known
from ronda.store.sql.watching import Watches
from watched import DAY, HOUR, NOW, found, is_counted_right, keys, number, rows, wanted

A, B, C, D = "http://a.test/1", "http://a.test/2", "https://b.test/", "ftp://c.test/x"


@pytest.fixture
def watches(database: Database) -> Watches:
    return Watches(database)


@pytest.fixture
def other(database: Database) -> int:
    """Another owner."""
    return Owners(database).add("other", now=NOW)[0].id


def states(known: list[Known]) -> list[tuple[str, State]]:
    return [(one.url, one.state) for one in known]


class TestRegister:
    def test_states_that_are_known_are_told_at_once_and_new_ones_are_unknown(
        self, database: Database, watches: Watches, other: int
    ) -> None:
        watches.register(OPERATOR, wanted(A, B), NOW)
        found(database, A, state="broken", reason="http_404", last_change_at=NOW)

        told = watches.register(other, wanted(C, A, B, A), NOW + 5)

        assert states(told) == [
            (C, State.UNKNOWN),
            (A, State.BROKEN),
            (B, State.UNKNOWN),
            (A, State.BROKEN),
        ]
        assert told[1].reason == "http_404"
        assert told[0].next_due == NOW + 5
        assert told[1].added_at == NOW

    def test_nothing_is_registered_of_nothing(self, watches: Watches) -> None:
        assert watches.register(OPERATOR, [], NOW) == []

    def test_the_owner_sees_his_own_spelling(
        self, watches: Watches, other: int
    ) -> None:
        watches.register(OPERATOR, wanted(A), NOW)

        [told] = watches.register(other, wanted(A, spelling="HTTP://A.test/1"), NOW)

        assert told.spelling == "HTTP://A.test/1"
        assert watches.register(OPERATOR, wanted(A), NOW)[0].spelling == ""


class TestUnregister:
    def test_what_nobody_watches_any_more_leaves_nothing_behind(
        self, database: Database, watches: Watches
    ) -> None:
        watches.register(OPERATOR, wanted(A, B, labels=("x",)), NOW)
        with database.writing() as connection:
            row = {"server_id": 1, "target_id": 1, "visit": b"", "at": NOW}
            connection.execute(insert(schema.request).values(row))

        assert watches.unregister(OPERATOR, keys(A, B)) == 2

        for table in schema.metadata.sorted_tables:
            # When a host may be asked is remembered, and forgotten by `prune`.
            kept = {"owner": 1, "host": 1, "server": 1, "tally": 2}.get(table.name, 0)
            assert (table.name, number(database, table)) == (table.name, kept)
        assert is_counted_right(database)

    def test_what_another_watches_stays(
        self, database: Database, watches: Watches, other: int
    ) -> None:
        watches.register(OPERATOR, wanted(A, B), NOW)
        watches.register(other, wanted(B, C), NOW)

        assert watches.unregister(OPERATOR, keys(A, B, C, D)) == 2

        assert rows(database, schema.target.c.url) == [(B,), (C,)]
        assert rows(database, schema.watch.c.owner_id) == [(other,), (other,)]
        assert is_counted_right(database)

    def test_its_history_stays_until_it_is_old(
        self, database: Database, watches: Watches
    ) -> None:
        watches.register(OPERATOR, wanted(A), NOW)
        with database.writing() as connection:
            row = {"target_id": 1, "task": "url", "at": NOW, "state": "ok"}
            row |= {"standing": "ok", "reason": "", "evidence": b"\x90"}
            connection.execute(insert(schema.history).values(row))
        watches.unregister(OPERATOR, keys(A))

        assert number(database, schema.history) == 1

    def test_of_nothing_is_nothing(self, watches: Watches) -> None:
        assert watches.unregister(OPERATOR, []) == 0
        assert watches.unregister(OPERATOR, keys(A)) == 0


class TestSync:
    def test_a_full_list_adds_and_drops(
        self, database: Database, watches: Watches, other: int
    ) -> None:
        watches.register(OPERATOR, wanted(A, B, C), NOW)
        watches.register(other, wanted(A), NOW)
        found(database, C, state="ok", last_change_at=NOW)

        synced = watches.sync(OPERATOR, wanted(D, C), NOW)

        assert (synced.new, synced.dropped) == (1, 2)
        assert states(synced.states) == [(D, State.UNKNOWN), (C, State.OK)]
        assert sorted(rows(database, schema.target.c.url)) == [(D,), (A,), (C,)]
        assert is_counted_right(database)

    def test_the_same_list_again_changes_nothing(
        self, database: Database, watches: Watches
    ) -> None:
        watches.sync(OPERATOR, wanted(A, B, C), NOW)
        before = {t.name: rows(database, *t.c) for t in schema.metadata.sorted_tables}

        synced = watches.sync(OPERATOR, wanted(C, B, A), NOW + DAY)

        assert (synced.new, synced.dropped) == (0, 0)
        after = {t.name: rows(database, *t.c) for t in schema.metadata.sorted_tables}
        assert after == before

    def test_an_empty_list_drops_all(
        self, database: Database, watches: Watches
    ) -> None:
        watches.register(OPERATOR, wanted(A, B), NOW)

        assert watches.sync(OPERATOR, [], NOW).dropped == 2
        assert number(database, schema.target) == 0


class TestAcknowledge:
    def test_it_is_of_the_state_and_of_one_owner(
        self, database: Database, watches: Watches, other: int
    ) -> None:
        watches.register(OPERATOR, wanted(A, B), NOW)
        watches.register(other, wanted(A), NOW)
        found(database, A, state="broken", last_change_at=NOW)

        assert watches.acknowledge(OPERATOR, keys(A, C)) == 1

        assert [one.acknowledged for one in self.seen(watches, OPERATOR)] == [
            True,
            False,
        ]
        assert not self.seen(watches, other)[0].acknowledged

        found(database, A, state="temporary")
        assert not self.seen(watches, OPERATOR)[0].acknowledged

    def seen(self, watches: Watches, owner: int) -> list[Known]:
        return watches.register(owner, wanted(A, B), NOW)

    def test_what_one_does_not_watch_he_cannot_acknowledge(
        self, watches: Watches, other: int
    ) -> None:
        watches.register(OPERATOR, wanted(A), NOW)

        assert watches.acknowledge(other, keys(A)) == 0


class TestSteering:
    @pytest.fixture(autouse=True)
    def watched(self, database: Database, watches: Watches) -> None:
        watches.register(OPERATOR, wanted(A, B, C), NOW - DAY)
        for url in (A, B, C):
            values = {"last_check_at": NOW - DAY / 2, "next_due": NOW + DAY / 2}
            found(database, url, state="ok", failures=3, **values)
        with database.writing() as connection:
            connection.execute(schema.server.update().values(due_at=NOW + DAY / 2))

    def test_what_is_disabled_is_never_due(
        self, database: Database, watches: Watches
    ) -> None:
        assert watches.disable(keys(A, C, D), "rebuilt") == 2

        known = watches.register(OPERATOR, wanted(A, B, C), NOW)
        assert [one.enabled for one in known] == [False, True, False]
        assert [one.next_due for one in known] == [None, NOW + DAY / 2, None]
        assert known[0].why_disabled == "rebuilt"

    def test_what_is_enabled_is_due_at_once_and_begins_anew(
        self, database: Database, watches: Watches
    ) -> None:
        watches.disable(keys(A), "")

        assert watches.enable(keys(A, B, D), NOW) == 2

        a, b = watches.register(OPERATOR, wanted(A, B), NOW)
        assert (a.enabled, a.why_disabled, a.next_due, a.failures) == (True, "", NOW, 0)
        assert (b.next_due, b.failures) == (NOW + DAY / 2, 3)  # it was not disabled
        assert due(database) == {"name:a.test": NOW, "name:b.test": NOW + DAY / 2}

    def test_a_person_cannot_say_what_failures_say(self, watches: Watches) -> None:
        watches.disable(keys(A), "failures")

        [known] = watches.register(OPERATOR, wanted(A), NOW)
        assert known.why_disabled == "failures, says a person"

    def test_a_reason_stays_until_another_is_given(self, watches: Watches) -> None:
        watches.disable(keys(A), "rebuilt")
        assert watches.disabled(keys(A, B, D)) == 1

        watches.disable(keys(A, B))

        a, b = watches.register(OPERATOR, wanted(A, B), NOW)
        assert (a.why_disabled, b.why_disabled) == ("rebuilt", "")
        assert watches.disabled(keys(A, B, D)) == 2
        watches.disable(keys(A, B), "gone")
        known = watches.register(OPERATOR, wanted(A, B), NOW)
        assert {one.why_disabled for one in known} == {"gone"}

    def test_a_person_may_take_over_what_failures_have_disabled(
        self, database: Database, watches: Watches
    ) -> None:
        found(database, A, enabled=False, why_disabled="failures")

        watches.disable(keys(A))

        [known] = watches.register(OPERATOR, wanted(A), NOW)
        assert known.why_disabled == "failures, says a person"

    def test_a_pace_is_told_where_it_was_set(self, watches: Watches) -> None:
        a, b = watches.register(OPERATOR, wanted(A, B), NOW)
        watches.register(OPERATOR, wanted(A, every=60.0), NOW)

        assert watches.every([a.id, b.id, 999]) == {a.id: 60.0}
        assert watches.every([]) == {}

    def test_a_check_is_asked_for(self, database: Database, watches: Watches) -> None:
        asked = watches.check_now(keys(A, D), NOW, round_id=7)

        assert (asked.asked, asked.fresh, asked.disabled) == (1, [], [])
        schedule = schema.schedule.c
        assert rows(database, schedule.next_due, schedule.round_id)[0] == (NOW, 7)
        assert due(database) == {"name:a.test": NOW, "name:b.test": NOW + DAY / 2}

    def test_what_was_checked_within_the_hour_is_left_alone_unless_forced(
        self, database: Database, watches: Watches
    ) -> None:
        found(database, A, last_check_at=NOW - HOUR + 1)
        found(database, B, last_check_at=NOW - HOUR)

        asked = watches.check_now(keys(A, B), NOW)
        assert (asked.asked, asked.fresh) == (1, [A])

        asked = watches.check_now(keys(A, B), NOW, forced=True)
        assert (asked.asked, asked.fresh) == (2, [])

    def test_what_is_disabled_is_checked_only_when_forced(
        self, watches: Watches
    ) -> None:
        watches.disable(keys(A), "")

        asked = watches.check_now(keys(A), NOW)
        assert (asked.asked, asked.disabled, asked.fresh) == (0, [A], [])

        assert watches.check_now(keys(A), NOW, forced=True).asked == 1
        [known] = watches.register(OPERATOR, wanted(A), NOW)
        assert (known.enabled, known.next_due) == (False, NOW)

    def test_what_is_overdue_keeps_its_place(
        self, database: Database, watches: Watches
    ) -> None:
        found(database, A, next_due=NOW - 50)
        watches.check_now(keys(A), NOW)

        [known] = watches.register(OPERATOR, wanted(A), NOW)
        assert known.next_due == NOW - 50

    def test_many_are_steered_in_chunks(
        self, database: Database, watches: Watches
    ) -> None:
        urls = [f"http://many.test/{n}" for n in range(10_050)]
        Adding(database).add(OPERATOR, wanted(*urls), NOW)

        assert watches.check_now(keys(*urls), NOW + 2 * HOUR).asked == len(urls)
        assert watches.disable(keys(*urls)) == len(urls)
        assert watches.unregister(OPERATOR, keys(*urls)) == len(urls)
        assert is_counted_right(database)


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_target_that_moves_before_it_is_locked_is_looked_for_anew(
    database: Database, watches: Watches
) -> None:
    watches.register(OPERATOR, wanted(A), NOW)
    with ThreadPoolExecutor() as pool:
        with database.writing() as connection:
            held = select(schema.server).with_for_update(key_share=True)
            connection.execute(held).all()
            disabled = pool.submit(watches.disable, keys(A))
            _wait_for_a_lock(database)
            row = insert(schema.server).values(address="192.0.2.1")
            there = connection.scalar(row.returning(schema.server.c.id))
            for table in (schema.host, schema.schedule):
                connection.execute(table.update().values(server_id=there))

        assert disabled.result() == 1
    [known] = watches.register(OPERATOR, wanted(A), NOW)
    assert not known.enabled


def _wait_for_a_lock(database: Database) -> None:
    """Until another connection waits for one of ours."""
    waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    until = time.monotonic() + 30
    with database.engine.connect() as connection:
        while connection.exec_driver_sql(waits).first() is None:
            assert time.monotonic() < until
            connection.rollback()


def due(database: Database) -> dict[str, float]:
    with database.reading() as connection:
        found = select(schema.server.c.address, schema.server.c.due_at)
        return {row.address: row.due_at for row in connection.execute(found)}
