"""Servers are held by one living process each, and what is due comes with them."""

import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest
from sqlalchemy import event, insert

from processes import DAY, LATER, NOW, Office, entries, entry, handed
from ronda.errors import StoreBusyError
from ronda.model import State
from ronda.store.sql import machine, schema
from ronda.store.sql.engines import Database
from ronda.store.sql.schema import host, label, process, schedule, server
from ronda.store.sql.values import Pace

A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"
postgres_only = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)


@pytest.fixture
def office(database: Database) -> Office:
    return Office(database)


class TestClaim:
    def test_a_server_comes_with_its_hosts_and_what_is_due(
        self, office: Office
    ) -> None:
        at = {"a.test": "127.0.0.1", "b.test": "127.0.0.1"}
        office.watch(A, B, at=at)
        office.set(host, 1, asked_at=5.0, next_at=6.0, gap=7.0, rests_until=8.0)
        office.set(server, 1, asked_at=3.0, next_at=4.0)

        [found] = office.claim(office.join())

        assert found.address == "127.0.0.1"
        assert found.pace == Pace(3.0, 4.0)
        assert found.hosts == {"a.test": Pace(5.0, 6.0, 7.0, 8.0), "b.test": Pace()}
        assert {due.url for due in found.due} == {A, B}
        assert not found.inherited

    def test_what_is_due_says_how_it_stands(self, office: Office) -> None:
        [number] = office.watch(A)
        target = {"state": "broken", "reason": "http_404", "message": "gone"}
        target |= {"last_change_at": 5.0, "every": 60.0}
        office.set(schema.target, number, **target, enabled=False, why_disabled="why")
        row = {"last_check_at": 6.0, "failures": 2, "repeats": 3, "flap": 0.5}
        row |= {"flapping": True, "last_result": 9, "round_id": 4}
        office.set(schedule, number, **row)

        [due] = office.take(office.join()).values()

        standing = due.standing
        assert (due.id, due.url, due.every, due.round) == (number, A, 60.0, 4)
        assert due.last_result == 9
        assert standing.state is State.BROKEN
        assert (standing.reason, standing.message) == ("http_404", "gone")
        assert (standing.last_check_at, standing.last_change_at) == (6.0, 5.0)
        assert (standing.failures, standing.repeats) == (2, 3)
        assert (standing.flap, standing.flapping) == (0.5, True)
        assert (standing.enabled, standing.why_disabled) == (False, "why")

    def test_the_targets_that_are_due_longest_come_first(self, office: Office) -> None:
        numbers = office.watch(*(f"{A}{n}" for n in range(5)))
        for number, when in zip(numbers, (3, 1, 5, 2, 4), strict=True):
            office.set(schedule, number, next_due=NOW - when)

        [found] = office.claim(office.join(), length=3)

        assert [due.id for due in found.due] == [numbers[2], numbers[4], numbers[0]]

    def test_the_servers_that_are_due_longest_come_first(self, office: Office) -> None:
        office.watch(A, B, C)
        for number, when in ((1, 2), (2, 3), (3, 1)):
            office.set(server, number, due_at=NOW - when)

        assert [found.id for found in office.claim(office.join(), count=2)] == [2, 1]

    def test_owners_and_labels_come_when_asked_for(self, office: Office) -> None:
        zoe = office.owner("Zoë")
        [number] = office.watch(A, owners=[schema.OPERATOR, zoe])
        office.watch(B)
        with office.database.writing() as connection:
            rows = [{"name": name, "target_id": number} for name in ("b", "a")]
            connection.execute(insert(label), rows)

        found = office.claim(office.join(), details=True)

        due = {one.url: one for some in found for one in some.due}
        assert due[A].owners == ("Zoë", "operator")
        assert due[A].labels == ("a", "b")
        assert (due[B].owners, due[B].labels) == (("operator",), ())

    @pytest.mark.parametrize(
        ("spare", "servers", "targets"),
        [(0, 0, 0), (1, 1, 1), (2, 2, 2), (5, 3, 3), (6, 3, 6), (100, 3, 9)],
    )
    def test_no_more_targets_come_than_there_is_room_for(
        self, office: Office, spare: int, servers: int, targets: int
    ) -> None:
        office.watch(*(f"{url}{n}" for url in (A, B, C) for n in range(3)))

        found = office.claim(office.join(), count=3, spare=spare)

        assert len(found) == servers
        assert sum(len(one.due) for one in found) == targets

    def test_what_is_not_due_does_not_come(self, office: Office) -> None:
        office.watch(A, due=NOW + 1)
        office.watch(B, due=None)
        ran = office.join()

        assert office.claim(ran) == []
        assert list(office.take(ran, NOW + 1)) == [A]

    def test_a_server_is_not_claimed_before_it_may_be_asked(
        self, office: Office
    ) -> None:
        office.watch(A)
        office.set(server, 1, asked_at=NOW - 1, next_at=NOW + 5)
        ran = office.join()

        assert office.claim(ran, NOW + 4.9) == []
        assert len(office.claim(ran, NOW + 5)) == 1

    def test_a_clock_that_was_set_back_holds_nobody_up(self, office: Office) -> None:
        office.watch(A)
        office.set(server, 1, asked_at=NOW + 3600, next_at=NOW + 3605)
        paces = {"asked_at": NOW + 3600, "next_at": NOW + 3610}
        office.set(host, 1, **paces, rests_until=NOW + 3660)

        [found] = office.claim(office.join())

        assert found.pace == Pace(NOW, NOW + 5)
        assert found.hosts == {"a.test": Pace(NOW, NOW + 10, 0.0, NOW + 60)}

    def test_what_one_holds_another_does_not_get(self, office: Office) -> None:
        office.watch(A, B)
        office.in_order()

        first = office.claim(office.join(), count=1)
        others = office.claim(office.join())

        assert [one.id for one in first + others] == [1, 2]
        assert office.claim(office.join()) == []

    def test_who_is_no_process_gets_nothing(self, office: Office) -> None:
        office.watch(A)
        gone = office.join()
        office.claims.leave(gone)

        assert office.claim(gone) == []
        assert office.row(server).holder is None


class TestMore:
    def test_what_is_under_way_does_not_come_again(self, office: Office) -> None:
        numbers = office.watch(*(f"{A}{n}" for n in range(6)))
        ran = office.join()
        [found] = office.claim(ran, length=2)
        held = {due.id for due in found.due}

        more = office.claims.more(ran, found.id, NOW, count=3, held=held)

        assert len(more) == 3
        assert not held & {due.id for due in more}
        held |= {due.id for due in more}
        [last] = office.claims.more(ran, found.id, NOW, count=3, held=held)
        assert {*held, last.id} == set(numbers)

    def test_only_who_holds_a_server_gets_more_of_it(self, office: Office) -> None:
        office.watch(A)
        office.claim(office.join(), length=0)

        assert office.claims.more(office.join(), 1, NOW, count=9, held=()) == []

    def test_what_was_handed_over_is_not_due(self, office: Office) -> None:
        office.watch(A, f"{A}2", B)
        ran = office.join()
        due = office.take(ran)
        office.write(ran, handed=(handed(due[A], "b.test"),))

        [left] = office.claims.more(ran, due[A].server, NOW, count=9, held=())

        assert left.url == f"{A}2"

    def test_details_come_when_asked_for(self, office: Office) -> None:
        office.watch(A)
        ran = office.join()
        office.claim(ran, length=0)

        [due] = office.claims.more(ran, 1, NOW, count=1, held=(), details=True)

        assert due.owners == ("operator",)


class TestNextDue:
    def test_of_servers_that_nobody_holds(self, office: Office) -> None:
        assert office.claims.next_due(NOW) is None
        office.watch(A, due=NOW - 5)
        office.watch(B, due=NOW + 5)
        office.watch(C, due=None)

        assert office.claims.next_due(NOW) == NOW - 5
        office.claim(office.join())
        assert office.claims.next_due(NOW) == NOW + 5

    def test_one_that_may_not_be_asked_yet_is_not_waited_for_in_a_hurry(
        self, office: Office
    ) -> None:
        office.watch(A, due=NOW - 5)
        office.set(server, 1, next_at=NOW + 3)

        assert office.claims.next_due(NOW) == NOW + 3


class TestProcesses:
    def test_their_numbers_are_never_used_again(self, office: Office) -> None:
        first = office.join()
        office.claims.leave(first)

        assert office.join() > first

    def test_a_process_says_who_it_is_and_what_it_does(self, office: Office) -> None:
        ran = office.join()
        assert office.claims.renew(ran, NOW + 10, 30, active=3, queued=4)

        row, who = office.row(process), machine.myself()
        assert (row.machine, row.pid, row.started) == (
            who.machine,
            os.getpid(),
            who.started,
        )
        assert (row.began_at, row.until, row.pool) == (NOW, NOW + 40, 10)
        assert (row.active, row.queued) == (3, 4)

    def test_who_leaves_lets_go_of_everything(self, office: Office) -> None:
        office.watch(A, B)
        ran = office.join()
        due = office.take(ran)
        office.write(ran, entry(due[A], next_due=LATER))

        office.claims.leave(ran)

        assert office.rows(process) == []
        assert [row.holder for row in office.rows(server)] == [None, None]
        assert [row.due_at for row in office.rows(server)] == [LATER, NOW - 10]
        assert not any(row.inherited for row in office.rows(server))

    def test_who_gives_no_sign_of_life_is_buried(self, office: Office) -> None:
        office.watch(A)
        silent, other = office.join(), office.join()
        office.claim(silent)

        assert office.bury(silent) == 1

        assert [row.id for row in office.rows(process)] == [other]
        assert not office.claims.renew(silent, NOW, 30, 0, 0)
        assert office.claim(silent) == []

    def test_who_gives_a_sign_of_life_is_not(self, office: Office) -> None:
        ran = office.join()
        signs = office.claims.signs()
        office.claims.renew(ran, NOW + 1, 30, 0, 0)

        assert office.claims.bury(signs) == 0

    def test_no_date_makes_a_process_look_dead(self, office: Office) -> None:
        """The clock may have been set."""
        office.watch(A)
        office.claim(office.join())

        assert office.claims.bury() == 0
        assert office.claim(office.join(NOW + DAY), NOW + DAY) == []

    def test_the_heir_knows_that_he_is_one(self, office: Office) -> None:
        office.watch(A, B)
        office.set(server, 2, due_at=NOW + 50)
        silent = office.join()
        office.claim(silent)
        office.bury(silent)
        heir = office.join()

        found = office.claim(heir, NOW + 60)
        inherited = {one.id: one.inherited for one in found}

        assert inherited == {1: True, 2: False}

    def test_what_has_a_plan_can_be_left_for_later(self, office: Office) -> None:
        service, both = "http://b.test/", "http://a.test/service"
        office.watch(A, service, both)
        for number in (2, 3):
            office.set(schema.target, number, kind="service")
        ran = office.join()

        found = office.claims.claim(ran, NOW, count=10, length=10, plain=True)

        assert [due.url for one in found for due in one.due] == [A]
        more = {"count": 10, "held": ()}
        plain = office.claims.more(ran, found[0].id, NOW, **more, plain=True)
        assert [due.url for due in plain] == [A]
        rest = office.claims.more(ran, found[0].id, NOW, **more)
        assert {due.url: due.kind for due in rest} == {A: "url", both: "service"}
        [other] = office.claim(ran)
        assert [due.url for due in other.due] == [service]

    def test_an_heir_that_asked_nobody_leaves_the_mark_to_the_next(
        self, office: Office
    ) -> None:
        office.watch(A)
        silent = office.join()
        office.claim(silent)
        office.bury(silent)
        heir, next_heir = office.join(), office.join()
        office.claim(heir, NOW + 60)
        office.claims.leave(heir)

        [again] = office.claim(next_heir, NOW + 61)

        assert again.inherited
        assert [pace.asked_at for pace in again.hosts.values()] == [NOW + 61]

    def test_an_heir_that_has_asked_knows_when(self, office: Office) -> None:
        office.watch(A)
        silent = office.join()
        office.claim(silent)
        office.bury(silent)
        heir = office.join()
        office.claim(heir, NOW + 60)
        office.write(heir, servers={1: Pace(NOW + 61, NOW + 62)})
        office.claims.leave(heir)

        [again] = office.claim(heir := office.join(), NOW + 70)

        assert not again.inherited
        assert [pace.asked_at for pace in again.hosts.values()] == [NOW + 60]

    @pytest.mark.parametrize("claims", [False, True], ids=["bury", "claim"])
    def test_a_process_that_ended_on_this_machine_is_buried_at_once(
        self, office: Office, claims: bool
    ) -> None:
        office.watch(A)
        ran = office.join()
        office.claim(ran)
        ended = subprocess.Popen([sys.executable, "-c", ""])
        ended.wait()
        office.set(process, ran, pid=ended.pid)

        if claims:
            [found] = office.claim(office.join())
            assert found.inherited
        else:
            assert office.claims.bury() == 1
            assert office.row(server).inherited
        assert ran not in office.claims.signs()

    def test_a_process_on_another_machine_is_waited_for(self, office: Office) -> None:
        ran = office.join()
        office.set(process, ran, machine="elsewhere", pid=2**22 + 1)

        assert office.claims.bury() == 0
        assert office.bury(ran) == 1

    def test_what_a_dead_process_was_granted_is_due_for_its_heir(
        self, office: Office
    ) -> None:
        """Nothing was due there before, so nothing says so by itself."""
        office.watch(A, at={"a.test": "127.0.0.1"})
        with office.database.writing() as connection:
            connection.execute(insert(server).values(address="127.0.0.2"))
        silent = office.join()
        office.claim(silent)
        office.claims.grant(silent, "a.test", "127.0.0.2", NOW)
        office.bury(silent)

        found = office.claim(office.join())

        assert [due.url for one in found for due in one.due] == [A]

    @postgres_only
    def test_who_writes_just_now_is_not_buried(self, office: Office) -> None:
        office.watch(A)
        ran = office.join()
        office.claim(ran)
        with Office(office.database).database.writing() as connection:
            connection.exec_driver_sql("UPDATE process SET turn = 1")

            assert office.bury(ran) == 0
        assert office.bury(ran) == 1


class TestRaces:
    def test_two_threads_never_hold_one_server(self, database: Database) -> None:
        office = Office(database)
        office.watch(*(f"http://h{n}.test/" for n in range(60)))

        def run(_number: int) -> list[int]:
            mine = Office(Database(database.where))
            ran, found = mine.join(), []
            while some := mine.claim(ran, count=3):
                found += [one.id for one in some]
            mine.database.close()
            return found

        with ThreadPoolExecutor(6) as threads:
            found = Counter(n for some in threads.map(run, range(6)) for n in some)

        assert found == Counter(range(1, 61))

    def test_two_processes_never_hold_one_server(self, database: Database) -> None:
        office = Office(database)
        office.watch(*(f"http://h{n}.test/" for n in range(40)))
        script = f"""
import sys
from ronda.store.sql.claims import Claims
from ronda.store.sql.engines import Database
claims = Claims(Database({database.where!r}))
ran = claims.join(1, {NOW}, 3600)
print("ready", flush=True)
sys.stdin.readline()
while found := claims.claim(ran, {NOW}, count=2, length=1):
    print(*(one.id for one in found), sep="\\n")
print("done", flush=True)
sys.stdin.readline()  # who ends is buried, and inherited from
"""
        found: list[str] = []
        with ExitStack() as stack:
            ran = [stack.enter_context(_python(script)) for _ in range(3)]
            for one in ran:
                assert one.stdout.readline() == "ready\n"
            for one in ran:
                one.stdin.write("go\n")
                one.stdin.flush()
            for one in ran:
                found += iter(one.stdout.readline, "done\n")

        assert sorted(map(int, found)) == list(range(1, 41))


def _python(script: str) -> Any:
    """A program that ends when its input does."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", script], **pipes, text=True)


class Lost:
    """Commits, and loses the connection before anybody hears of it."""

    def __init__(self, database: Database, commits: int = 1) -> None:
        self._left = commits
        event.listen(database.engine, "commit", self._commit)

    def _commit(self, connection: Any) -> None:
        self._left -= 1
        if self._left == 0:
            connection.connection.driver_connection.commit()
            connection.connection.driver_connection.close()
            raise psycopg.OperationalError("server closed the connection")


@postgres_only
class TestDoubt:
    def test_a_claim_that_nobody_saw_is_given_when_asked_again(
        self, office: Office
    ) -> None:
        office.watch(A, B)
        office.in_order()
        ran = office.join()
        Lost(office.database)
        with pytest.raises(StoreBusyError):
            office.claim(ran, count=1)

        assert [one.address for one in office.claim(ran, count=1)] == ["name:a.test"]
        assert [one.address for one in office.claim(ran, count=9)] == ["name:b.test"]

    def test_a_claim_that_was_not_made_is_made(self, office: Office) -> None:
        office.watch(A)
        ran = office.join()

        def fail(_connection: object) -> None:
            raise psycopg.OperationalError("server closed the connection")

        event.listen(office.database.engine, "commit", fail, once=True)
        with pytest.raises(StoreBusyError):
            office.claim(ran)

        assert office.row(server).holder is None
        assert len(office.claim(ran)) == 1

    def test_who_was_buried_meanwhile_gets_nothing(self, office: Office) -> None:
        office.watch(A)
        ran = office.join()
        Lost(office.database)
        with pytest.raises(StoreBusyError):
            office.claim(ran)
        office.bury(ran)

        assert office.claim(ran) == []

    def test_another_process_does_not_get_it(self, office: Office) -> None:
        office.watch(A)
        Lost(office.database, 2)
        with pytest.raises(StoreBusyError):
            office.claim(office.join())

        assert office.claim(office.join()) == []


def test_results_keep_a_server_until_it_is_let_go(office: Office) -> None:
    office.watch(A)
    ran, other = office.join(seconds=9 * DAY), office.join(seconds=9 * DAY)
    office.write(ran, *entries(office.take(ran).values()))

    assert office.claim(other, NOW + 2 * DAY) == []
    office.write(ran, released=(1,))
    assert [due.url for due in office.claim(other, NOW + 2 * DAY)[0].due] == [A]
