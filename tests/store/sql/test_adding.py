"""What is added is there once, in all tables, and due at once."""

import pytest
from sqlalchemy import select, update

from ronda.errors import StoreError
from ronda.store.sql import entering, schema
from ronda.store.sql.adding import Added, Adding, key_of
from ronda.store.sql.engines import Database
from ronda.store.sql.homes import homes
from ronda.store.sql.locking import MovedError, insist
from ronda.store.sql.many import CHUNK
from ronda.store.sql.owners import Owners
from ronda.store.sql.schema import EVERYBODY, OPERATOR
from watched import DAY, NOW, is_counted_right, number, rows, wanted

A, B, C = "http://a.test/1", "http://a.test/2", "https://b.test/"


@pytest.fixture
def adding(database: Database) -> Adding:
    return Adding(database)


def test_a_new_target_has_a_row_in_every_table_and_is_due(
    database: Database, adding: Adding
) -> None:
    assert adding.add(OPERATOR, wanted(A, B, C), NOW) == Added(3, 0, 3)

    target = schema.target.c
    assert rows(database, target.id, target.url, target.state, target.scheme) == [
        (1, A, "unknown", "http"),
        (2, B, "unknown", "http"),
        (3, C, "unknown", "https"),
    ]
    schedule = schema.schedule.c
    assert rows(database, schedule.target_id, schedule.next_due) == [
        (1, NOW),
        (2, NOW),
        (3, NOW),
    ]
    assert rows(database, schema.host.c.name) == [("a.test",), ("b.test",)]
    assert rows(database, schema.server.c.address, schema.server.c.due_at) == [
        ("name:a.test", NOW),
        ("name:b.test", NOW),
    ]
    assert rows(database, *schema.tally.c) == [
        (EVERYBODY, "unknown", 3),
        (OPERATOR, "unknown", 3),
    ]


def test_targets_are_numbered_in_the_order_given(
    database: Database, adding: Adding
) -> None:
    urls = [f"http://a.test/{n}" for n in (5, 3, 9, 1)]
    adding.add(OPERATOR, wanted(*urls), NOW)

    found = rows(database, schema.target.c.id, schema.target.c.url)
    assert [url for _, url in found] == urls


def test_what_is_added_twice_is_there_once(database: Database, adding: Adding) -> None:
    adding.add(OPERATOR, wanted(A, B), NOW)

    assert adding.add(OPERATOR, wanted(A, B, B, C), NOW) == Added(1, 2, 1)
    assert adding.add(OPERATOR, wanted(C, C), NOW) == Added(0, 1, 0)
    for table in (schema.target, schema.schedule, schema.watch):
        assert number(database, table) == 3
    assert is_counted_right(database)


def test_one_url_of_two_owners_is_one_target(
    database: Database, adding: Adding
) -> None:
    other, _ = Owners(database).add("other", now=NOW)
    adding.add(OPERATOR, wanted(A), NOW)

    assert adding.add(other.id, wanted(A, B), NOW) == Added(1, 1, 2)
    assert number(database, schema.target) == 2
    assert rows(database, schema.watch.c.owner_id, schema.watch.c.target_id) == [
        (OPERATOR, 1),
        (other.id, 1),
        (other.id, 2),
    ]
    assert is_counted_right(database)


def test_a_number_is_never_used_again(database: Database, adding: Adding) -> None:
    adding.add(OPERATOR, wanted(A, B), NOW)
    with database.writing() as connection:
        for table in (schema.watch, schema.schedule, schema.target):
            connection.execute(table.delete())

    adding.add(OPERATOR, wanted(C), NOW)

    assert rows(database, schema.target.c.id) == [(3,)]


def test_a_server_that_was_due_later_is_due_now(
    database: Database, adding: Adding
) -> None:
    adding.add(OPERATOR, wanted(A), NOW)
    for later in (NOW + DAY, None):
        with database.writing() as connection:
            connection.execute(update(schema.server).values(due_at=later))
        adding.add(OPERATOR, wanted(f"http://a.test/{later}"), NOW + 1)

        assert rows(database, schema.server.c.due_at) == [(NOW + 1,)]


def test_a_server_that_is_overdue_stays_so(database: Database, adding: Adding) -> None:
    adding.add(OPERATOR, wanted(A), NOW)
    adding.add(OPERATOR, wanted(B), NOW + DAY)

    assert rows(database, schema.server.c.due_at) == [(NOW,)]


def test_labels_come_together_from_all_who_give_them(
    database: Database, adding: Adding
) -> None:
    adding.add(OPERATOR, wanted(A, labels=("x", "y", "x")), NOW)
    adding.add(OPERATOR, [*wanted(A, labels=("z",)), *wanted(A, labels=("y",))], NOW)

    found = rows(database, schema.label.c.name, schema.label.c.target_id)
    assert found == [("x", 1), ("y", 1), ("z", 1)]


def test_an_owner_is_told_of_a_url_as_he_wrote_it_last(
    database: Database, adding: Adding
) -> None:
    adding.add(OPERATOR, wanted(A, spelling="HTTP://A.test/1"), NOW)
    assert rows(database, schema.watch.c.spelling) == [("HTTP://A.test/1",)]

    adding.add(OPERATOR, wanted(A), NOW)
    assert rows(database, schema.watch.c.spelling) == [(None,)]


class TestEvery:
    """How often a target is checked, when owners say different things."""

    def every(self, database: Database) -> float | None:
        [(found,)] = rows(database, schema.target.c.every)
        return found

    def test_who_watches_alone_may_change_his_mind(
        self, database: Database, adding: Adding
    ) -> None:
        adding.add(OPERATOR, wanted(A, every=60.0), NOW)
        assert self.every(database) == 60.0

        adding.add(OPERATOR, wanted(A, every=900.0), NOW)
        assert self.every(database) == 900.0

        adding.add(OPERATOR, wanted(A), NOW)
        assert self.every(database) == 900.0

    def test_what_is_to_be_checked_more_often_is_due_sooner(
        self, database: Database, adding: Adding
    ) -> None:
        adding.add(OPERATOR, wanted(A, B), NOW)
        with database.writing() as connection:
            seen = {"last_check_at": NOW, "next_due": NOW + 86_400}
            connection.execute(update(schema.schedule).values(seen))
            first = schema.target.c.url == A
            connection.execute(update(schema.target).where(first).values(state="ok"))

        adding.add(OPERATOR, wanted(A, B, every=60.0), NOW + 1)

        found = rows(database, schema.schedule.c.next_due)
        assert [due for (due,) in found] == [NOW + 60, NOW + 86_400]

    def test_of_two_the_one_who_wants_it_more_often_has_his_way(
        self, database: Database, adding: Adding
    ) -> None:
        other, _ = Owners(database).add("other", now=NOW)
        adding.add(OPERATOR, wanted(A, every=600.0), NOW)

        adding.add(other.id, wanted(A, every=900.0), NOW)
        assert self.every(database) == 600.0

        adding.add(other.id, wanted(A, every=60.0), NOW)
        assert self.every(database) == 60.0

        adding.add(OPERATOR, wanted(A, every=900.0), NOW)
        assert self.every(database) == 60.0

    def test_who_watches_alone_may_leave_it_to_the_rules(
        self, database: Database, adding: Adding
    ) -> None:
        adding.add(OPERATOR, wanted(A, every=0.0), NOW)
        assert self.every(database) is None

        adding.add(OPERATOR, wanted(A, every=60.0), NOW)
        adding.add(OPERATOR, wanted(A, every=0.0), NOW)
        assert self.every(database) is None

    def test_of_two_none_takes_from_the_other_what_he_wants(
        self, database: Database, adding: Adding
    ) -> None:
        other, _ = Owners(database).add("other", now=NOW)
        adding.add(OPERATOR, wanted(A, every=600.0), NOW)

        adding.add(other.id, wanted(A, every=0.0), NOW)
        assert self.every(database) == 600.0


def test_a_url_whose_key_another_has_is_told_of(
    database: Database, adding: Adding
) -> None:
    adding.add(OPERATOR, wanted(A), NOW)
    with database.writing() as connection:
        connection.execute(update(schema.target).values(key=key_of(B)))

    found = adding.add(OPERATOR, wanted(B, C), NOW)

    assert found == Added(1, 0, 1, (f"{B}: not added, for its key is that of {A}",))
    assert is_counted_right(database)


def test_of_two_new_urls_with_one_key_the_first_is_added(
    database: Database, adding: Adding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entering, "key_of", len)  # no two such URLs are known

    found = adding.add(OPERATOR, wanted(A, B, C + "longer"), NOW)

    assert found == Added(2, 0, 2, (f"{B}: not added, for its key is that of {A}",))
    assert is_counted_right(database)


def test_more_than_a_chunk_is_added(database: Database, adding: Adding) -> None:
    urls = [f"http://h{n % 7}.test/{n}" for n in range(CHUNK + 5)]

    assert adding.add(OPERATOR, iter(wanted(*urls, *urls[:3])), NOW).new == CHUNK + 5
    assert number(database, schema.target) == CHUNK + 5
    assert is_counted_right(database)


def test_an_owner_who_is_not_there_watches_nothing(
    database: Database, adding: Adding
) -> None:
    with pytest.raises(StoreError, match="no owner with the number 77"):
        adding.add(77, wanted(A), NOW)
    assert number(database, schema.target) == 0


def test_keys_are_spread_over_64_bits_and_stay_the_same() -> None:
    assert key_of(A) == key_of(A) != key_of(B)
    assert key_of("http://a.test/") == 1270200465448464901  # as in all stores there are
    found = [key_of(f"http://a.test/{n}") for n in range(100)]
    assert min(found) < -(2**62)
    assert max(found) > 2**62


def test_a_host_that_moves_under_our_hands_is_looked_for_anew(
    database: Database, adding: Adding
) -> None:
    adding.add(OPERATOR, wanted(A), NOW)
    attempts = 0

    def work(connection: object) -> int:
        nonlocal attempts
        attempts += 1
        if attempts < 3:
            raise MovedError
        return attempts

    assert insist(database, work) == 3


def test_hosts_that_move_all_the_time_are_given_up(database: Database) -> None:
    def work(_connection: object) -> None:
        raise MovedError

    with pytest.raises(StoreError, match="hosts keep changing their addresses"):
        insist(database, work)


def test_a_host_that_was_forgotten_meanwhile_is_noticed(database: Database) -> None:
    with pytest.raises(MovedError), database.writing() as connection:
        homes(connection, ["gone.test"], NOW)


def test_a_server_that_was_left_is_lived_in_again(
    database: Database, adding: Adding
) -> None:
    with database.writing() as connection:
        row = {"address": "name:a.test", "next_at": NOW + 50}
        connection.execute(schema.server.insert().values(row))
    adding.add(OPERATOR, wanted(A), NOW)

    with database.reading() as connection:
        [row] = connection.execute(select(schema.server)).all()
    assert (row.address, row.next_at, row.due_at) == ("name:a.test", NOW + 50, NOW)
