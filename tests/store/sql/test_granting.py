"""A host lives at one server, and only who holds that server asks it."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from processes import NOW, Office, entry, handed
from ronda.store.sql.engines import Database
from ronda.store.sql.schema import host, request, schedule, server
from ronda.store.sql.values import Pace

A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"
ONE, TWO = "127.0.0.1", "127.0.0.2"


@pytest.fixture
def office(database: Database) -> Office:
    return Office(database)


def homes(office: Office) -> dict[str, str]:
    """Where each host lives."""
    query = select(host.c.name, server.c.address).join(server)
    with office.database.reading() as connection:
        return {row.name: row.address for row in connection.execute(query)}


def at(office: Office) -> dict[int, str]:
    """At which address each target is scheduled."""
    places = {row.id: row.address for row in office.rows(server)}
    return {row.target_id: places[row.server_id] for row in office.rows(schedule)}


def test_a_new_address_becomes_that_of_the_server_which_had_none(
    office: Office,
) -> None:
    office.watch(A)
    ran = office.join()
    [claimed] = office.claim(ran)

    found = office.claims.grant(ran, "a.test", ONE, NOW)

    assert found is not None
    assert (found.id, found.address) == (claimed.id, ONE)
    assert [row.address for row in office.rows(server)] == [ONE]


def test_a_host_moves_to_a_free_server_with_all_its_targets(office: Office) -> None:
    numbers = office.watch(A, f"{A}2", B, at={"b.test": ONE})
    office.in_order()
    ran = office.join()
    office.claim(ran, count=1)  # that of a.test

    found = office.claims.grant(ran, "a.test", ONE, NOW)

    assert found is not None
    assert found.address == ONE
    assert set(found.hosts) == {"a.test", "b.test"}
    assert homes(office) == {"a.test": ONE, "b.test": ONE}
    assert at(office) == dict.fromkeys(numbers, ONE)
    assert office.row(server, address=ONE).holder == ran


def test_what_was_claimed_elsewhere_is_written_where_its_host_lives_now(
    office: Office,
) -> None:
    office.watch(A, B, at={"b.test": ONE})
    ran = office.join()
    due = office.take(ran)
    office.claims.grant(ran, "a.test", ONE, NOW)

    assert office.write(ran, entry(due[A])) == ()


def test_a_host_moves_to_a_server_that_is_held_already(office: Office) -> None:
    office.watch(A, B, at={"b.test": ONE})
    ran = office.join()
    office.claim(ran)

    found = office.claims.grant(ran, "a.test", ONE, NOW)

    assert found is not None
    assert found.address == ONE
    assert homes(office)["a.test"] == ONE


def test_a_host_moves_to_a_server_of_another_process(office: Office) -> None:
    office.watch(A, B, at={"b.test": ONE})
    office.set(server, 2, due_at=NOW - 20)
    other, ran = office.join(), office.join()
    office.claim(other, count=1)
    due = office.take(ran)

    assert office.claims.grant(ran, "a.test", ONE, NOW) is None

    assert homes(office)["a.test"] == ONE
    assert office.row(server, address=ONE).holder == other
    more = office.claims.more(other, 2, NOW, count=9, held=())
    assert {one.url for one in more} == {A, B}
    # It is not ours any longer, and may have been asked by us a moment ago.
    assert office.write(ran, entry(due[A])) == (due[A].id,)
    assert office.row(host, name="a.test").asked_at == NOW


def test_only_the_targets_of_that_host_move(office: Office) -> None:
    numbers = office.watch(A, B, at={"a.test": ONE, "b.test": ONE})
    ran = office.join()
    office.claim(ran)

    found = office.claims.grant(ran, "a.test", TWO, NOW)

    assert found is not None
    assert found.address == TWO
    assert homes(office) == {"a.test": TWO, "b.test": ONE}
    assert at(office) == {numbers[0]: TWO, numbers[1]: ONE}
    assert {row.holder for row in office.rows(server)} == {ran}


def test_the_server_without_an_address_stays_but_is_not_due(office: Office) -> None:
    """It may be held, with results on their way."""
    office.watch(A, B, at={"b.test": ONE})
    ran = office.join()
    due = office.take(ran)
    office.claims.grant(ran, "a.test", ONE, NOW)

    office.write(ran, released=(due[A].server,))

    left = office.row(server, address="name:a.test")
    assert (left.holder, left.due_at) == (None, None)


def test_a_host_at_home_is_granted_if_its_server_is_free(office: Office) -> None:
    office.watch(A, at={"a.test": ONE})
    office.set(server, 1, asked_at=5.0, next_at=6.0)
    ran = office.join()

    found = office.claims.grant(ran, "a.test", ONE, NOW)

    assert found is not None
    assert (found.id, found.pace) == (1, Pace(5.0, 6.0))
    assert office.row(server).holder == ran
    assert office.claims.grant(ran, "a.test", ONE, NOW) == found


def test_a_host_at_home_at_another_process_is_not_granted(office: Office) -> None:
    office.watch(A, at={"a.test": ONE})
    office.claim(office.join())

    assert office.claims.grant(office.join(), "a.test", ONE, NOW) is None


def test_a_host_stays_with_the_process_that_asks_it(office: Office) -> None:
    """Only that one knows when it may be asked, whatever address others find."""
    numbers = office.watch(A, at={"a.test": ONE})
    other, ran = office.join(), office.join()
    office.claim(other)

    assert office.claims.grant(ran, "a.test", TWO, NOW) is None

    assert homes(office) == {"a.test": ONE}
    assert at(office) == {numbers[0]: ONE}


def test_a_host_that_nobody_knew_begins_where_it_was_found(office: Office) -> None:
    ran, other = office.join(), office.join()

    found = office.claims.grant(ran, "new.test", ONE, NOW)

    assert found is not None
    assert (found.address, found.hosts) == (ONE, {"new.test": Pace()})
    assert office.claims.grant(other, "newer.test", ONE, NOW) is None
    assert homes(office) == {"new.test": ONE, "newer.test": ONE}
    assert office.row(server).due_at is None


def test_the_heir_of_a_granted_server_knows_that_he_is_one(office: Office) -> None:
    office.watch(A, at={"a.test": ONE})
    silent = office.join()
    office.claim(silent)
    office.bury(silent)

    found = office.claims.grant(office.join(), "a.test", ONE, NOW)

    assert found is not None
    assert found.inherited


def test_who_was_buried_is_granted_nothing(office: Office) -> None:
    office.watch(A)
    ran = office.join()
    office.claim(ran)
    office.bury(ran)

    assert office.claims.grant(ran, "a.test", ONE, NOW) is None
    assert homes(office) == {"a.test": "name:a.test"}


def test_visits_that_wait_for_a_host_move_with_it(office: Office) -> None:
    office.watch(A, B, C, at={"c.test": ONE})
    ran = office.join()
    due = office.take(ran)
    office.write(ran, handed=(handed(due[B], "a.test"),))

    office.claims.grant(ran, "a.test", ONE, NOW)

    assert office.row(request).server_id == office.row(server, address=ONE).id


def test_of_two_that_find_the_same_new_address_one_gets_it(
    database: Database,
) -> None:
    office = Office(database)
    names = [f"h{n}.test" for n in range(6)]
    office.watch(*(f"http://{name}/" for name in names))
    processes = [office.join() for _ in names]
    for ran in processes:
        office.claim(ran, count=1)

    def run(number: int) -> bool:
        mine = Office(Database(database.where))
        ran = processes[number]
        [held] = [row.id for row in mine.rows(server) if row.holder == ran]
        [name] = [row.name for row in mine.rows(host, server_id=held)]
        found = mine.claims.grant(ran, name, ONE, NOW)
        mine.database.close()
        return found is not None

    with ThreadPoolExecutor(len(names)) as threads:
        granted = list(threads.map(run, range(len(names))))

    assert granted.count(True) == 1
    assert homes(office) == dict.fromkeys(names, ONE)
    assert set(at(office).values()) == {ONE}
