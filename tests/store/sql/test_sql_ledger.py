"""Results are written once, as a whole, and by nobody but who holds their server."""

from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import psycopg
import pytest
from msgspec.structs import replace
from sqlalchemy import delete, event, insert, update

from processes import HOUR, LATER, NOW, Office, entries, entry, handed, visit
from ronda.errors import StoreBusyError
from ronda.model import State
from ronda.store.sql import evidence
from ronda.store.sql.engines import Database
from ronda.store.sql.schema import (
    OPERATOR,
    history,
    host,
    hour,
    notice,
    owner,
    process,
    request,
    robots,
    round_,
    schedule,
    server,
    tally,
    target,
    watch,
)
from ronda.store.sql.values import Pace, Turn

A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"
BROKEN = State.BROKEN
postgres_only = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)


@pytest.fixture
def office(database: Database) -> Office:
    return Office(database)


def told(office: Office) -> list[tuple[Any, ...]]:
    """What owners are to be told."""
    return [(row.owner_id, row.kind, row.url) for row in office.rows(notice)]


class TestResults:
    def test_a_result_moves_the_schedule(self, office: Office) -> None:
        [number] = office.watch(A)
        ran = office.join()
        [due] = office.take(ran).values()
        after = {"failures": 3, "repeats": 4, "flap": 0.5, "flapping": True}
        found = entry(due, next_due=LATER)
        found = replace(found, standing=replace(found.standing, **after))

        assert office.write(ran, found) == ()

        row = office.row(schedule)
        assert (row.target_id, row.server_id, row.next_due) == (number, 1, LATER)
        assert (row.failures, row.repeats) == (3, 4)
        assert (row.flap, row.flapping) == (0.5, True)
        assert (row.last_check_at, row.round_id) == (NOW + 1, None)
        assert row.last_result == office.row(history).id

    def test_a_result_is_in_the_history_with_its_evidence(self, office: Office) -> None:
        [number] = office.watch(A)
        ran = office.join()
        [due] = office.take(ran).values()
        pending = entry(due, BROKEN, reason="http_404", message="404 Not Found")
        standing = replace(pending.standing, state=State.OK)

        office.write(ran, replace(pending, standing=standing, next_due=NOW + 61))

        row = office.row(history)
        assert (row.target_id, row.task, row.at) == (number, "url", NOW + 1)
        assert (row.state, row.standing) == ("broken", "ok")
        assert (row.reason, row.message) == ("http_404", "404 Not Found")
        assert (row.status, row.seconds, row.pause) == (200, 0.5, 60)
        words = {"reason": row.reason, "message": row.message}
        kept = evidence.unpack(row.evidence, url=A, state=BROKEN, **words)
        assert kept == pending.result

    def test_each_result_names_the_one_before_it(self, office: Office) -> None:
        office.watch(A, B)
        ran = office.join()
        first = office.take(ran)
        office.write(ran, *entries(first.values()), released=(1, 2))
        second = office.take(ran, LATER + 1)
        assert len(second) == 2

        office.write(ran, *(entry(due, at=LATER + 1) for due in second.values()))

        rows = office.rows(history)
        before = {row.target_id: row.id for row in rows[:2]}
        assert [row.previous for row in rows[:2]] == [None, None]
        assert {row.target_id: row.previous for row in rows[2:]} == before

    def test_the_hours_name_their_results(self, office: Office) -> None:
        office.watch(A, B, C)
        ran = office.join()
        due = office.take(ran)
        late = NOW + HOUR

        office.write(ran, entry(due[A]), entry(due[B], at=late), entry(due[C], at=late))
        office.write(ran, entry(due[A]))

        ids = {row.id: row.at for row in office.rows(history)}
        spans = {row.hour: (row.first_id, row.last_id) for row in office.rows(hour)}
        assert set(spans) == {int(NOW // HOUR), int(late // HOUR)}
        for number, at in ids.items():
            first, last = spans[int(at // HOUR)]
            assert first <= number <= last

    def test_one_turn_may_hold_two_results_of_a_target(self, office: Office) -> None:
        office.watch(A)
        ran = office.join()
        [due] = office.take(ran).values()

        office.write(ran, entry(due), entry(due, BROKEN, at=NOW + 2))

        first, second = office.rows(history)
        assert (first.previous, second.previous) == (None, first.id)
        assert (first.state, second.state) == ("ok", "broken")
        assert office.row(schedule).last_result == second.id
        assert office.row(target).state == "broken"
        assert office.is_sound()

    def test_an_empty_turn_writes_nothing(self, office: Office) -> None:
        ran = office.join()
        before = office.everything()

        office.write(ran)

        assert office.everything() == before


class TestTargets:
    def test_the_moment_of_change_moves_with_the_state_only(
        self, office: Office
    ) -> None:
        office.watch(A)
        ran = office.join()
        [due] = office.take(ran).values()
        office.write(ran, entry(due, BROKEN, reason="http_404", message="not found"))
        [again] = office.claims.more(ran, 1, LATER + 1, count=1, held=())

        found = entry(again, BROKEN, reason="http_410", message="gone", at=LATER)
        office.write(ran, found)

        row = office.row(target)
        assert (row.state, row.last_change_at) == ("broken", NOW + 1)
        assert (row.reason, row.message) == ("http_410", "gone")

    def test_the_row_of_a_target_is_not_written_when_nothing_is_new(
        self, office: Office
    ) -> None:
        office.watch(A)
        ran = office.join()
        office.write(ran, *entries(office.take(ran).values()), released=(1,))
        due = office.take(ran, LATER + 1)
        asked = _statements(office.database)

        office.write(ran, *entries(due.values()))

        assert len(office.rows(history)) == 2
        assert not any("target SET" in sql for sql in asked)
        assert not any("FROM target" in sql for sql in asked)

    def test_failures_disable(self, office: Office) -> None:
        office.watch(A)
        ran = office.join()
        [due] = office.take(ran).values()
        off = {"enabled": False, "why_disabled": "failures"}

        office.write(ran, entry(due, BROKEN, standing=off))

        row = office.row(target)
        assert (row.enabled, row.why_disabled) == (False, "failures")
        assert office.row(schedule).next_due == LATER + 1

    def test_a_good_check_enables(self, office: Office) -> None:
        [number] = office.watch(A)
        office.set(target, number, enabled=False, why_disabled="failures")
        ran = office.join()
        [due] = office.take(ran).values()
        on = {"enabled": True, "why_disabled": ""}

        office.write(ran, entry(due, standing=on))

        assert (office.row(target).enabled, office.row(target).why_disabled) == (
            True,
            "",
        )

    @pytest.mark.parametrize("state", [State.OK, State.BROKEN, State.UNKNOWN])
    def test_what_a_person_disabled_meanwhile_stays_disabled(
        self, office: Office, state: State
    ) -> None:
        [number] = office.watch(A)
        ran = office.join()
        [due] = office.take(ran).values()
        office.set(target, number, enabled=False, why_disabled="by a person")
        office.set(schedule, number, next_due=None)

        office.write(ran, entry(due, state), released=(1,))

        row = office.row(target)
        assert (row.enabled, row.why_disabled) == (False, "by a person")
        assert row.state == state
        assert office.row(schedule).next_due is None
        assert office.row(history).pause is None
        assert office.row(server).due_at is None

    @pytest.mark.parametrize("state", [State.OK, State.UNKNOWN])
    def test_what_a_person_enabled_while_it_was_checked_once_is_checked_again(
        self, office: Office, state: State
    ) -> None:
        """It was disabled, so its check planned no other."""
        [number] = office.watch(A)
        office.set(target, number, enabled=False, why_disabled="by a person")
        ran = office.join()
        [due] = office.take(ran).values()
        office.set(target, number, enabled=True, why_disabled="")
        office.set(schedule, number, next_due=NOW + 5)

        office.write(ran, entry(due, state, reason="", message="", next_due=None))

        assert office.row(schedule).next_due == NOW + 5
        assert office.row(target).enabled

    def test_what_a_person_enabled_meanwhile_stays_enabled(
        self, office: Office
    ) -> None:
        [number] = office.watch(A)
        office.set(target, number, enabled=False, why_disabled="failures")
        ran = office.join()
        [due] = office.take(ran).values()
        office.set(target, number, enabled=True, why_disabled="")

        office.write(ran, entry(due, BROKEN))

        assert (office.row(target).enabled, office.row(target).why_disabled) == (
            True,
            "",
        )

    def test_results_of_removed_targets_are_dropped(self, office: Office) -> None:
        numbers = office.watch(A, B)
        ran = office.join()
        due = office.take(ran)
        with office.database.writing() as connection:
            for table in (schedule, watch):
                gone = delete(table).where(table.c.target_id == numbers[0])
                connection.execute(gone)
            connection.execute(delete(target).where(target.c.id == numbers[0]))

        assert office.write(ran, *entries(due.values())) == ()

        assert [row.target_id for row in office.rows(history)] == numbers[1:]

    def test_a_removed_target_is_dropped_though_its_result_is_nothing_new(
        self, office: Office
    ) -> None:
        numbers = office.watch(A, B)
        ran = office.join()
        due = office.take(ran)
        quiet = [
            entry(one, State.UNKNOWN, reason="", message="") for one in due.values()
        ]
        with office.database.writing() as connection:
            gone = delete(schedule).where(schedule.c.target_id == numbers[0])
            connection.execute(gone)

        assert office.write(ran, *quiet) == ()

        assert [row.target_id for row in office.rows(history)] == numbers[1:]

    def test_what_another_visit_found_meanwhile_is_built_upon(
        self, office: Office
    ) -> None:
        """Somebody had it checked at once, while it was under way."""
        office.watch(A)
        ran = office.join()
        [due] = office.take(ran).values()
        office.write(ran, entry(due, BROKEN))

        office.write(ran, entry(due, State.UNKNOWN, reason="", message="", at=NOW + 2))

        first, second = office.rows(history)
        assert second.previous == first.id
        assert office.row(target).state == "unknown"
        assert office.row(target).last_change_at == NOW + 2
        assert office.is_sound()


class TestFence:
    def test_late_results_of_a_buried_process_are_refused(self, office: Office) -> None:
        [number] = office.watch(A)
        late = office.join()
        [due] = office.take(late).values()
        office.bury(late)
        before = office.everything()
        turn = {
            "hosts": {"a.test": Pace(NOW, NOW + 9)},
            "servers": {1: Pace(NOW, NOW + 9)},
            "robots": {"http://a.test": b"x"},
            "released": (1,),
        }

        assert office.write(late, entry(due, BROKEN), **turn) == (number,)

        assert office.everything() == before

    def test_late_results_are_refused_while_the_heir_is_at_work(
        self, office: Office
    ) -> None:
        [number] = office.watch(A)
        late = office.join()
        [due] = office.take(late).values()
        office.bury(late)
        heir = office.join()
        office.claim(heir)
        before = office.everything()

        assert office.write(late, entry(due), released=(1,)) == (number,)

        assert office.everything() == before
        assert office.write(heir, entry(due)) == ()

    def test_only_what_is_not_held_is_refused(self, office: Office) -> None:
        numbers = office.watch(A, B)
        ran, other = office.join(), office.join()
        due = office.take(ran)
        office.write(ran, released=(due[A].server,))
        office.claim(other)

        refused = office.write(
            ran,
            *entries(due.values(), BROKEN),
            hosts={"a.test": Pace(1, 2), "b.test": Pace(1, 2)},
            servers={1: Pace(1, 2), 2: Pace(1, 2)},
        )

        assert refused == (numbers[0],)
        assert [row.target_id for row in office.rows(history)] == [numbers[1]]
        assert [row.state for row in office.rows(target)] == ["unknown", "broken"]
        assert [row.next_at for row in office.rows(host)] == [0, 2]
        assert [row.next_at for row in office.rows(server)] == [0, 2]
        assert office.is_sound()

    def test_who_let_go_may_not_write_any_more(self, office: Office) -> None:
        [number] = office.watch(A)
        ran = office.join()
        [due] = office.take(ran).values()
        office.write(ran, released=(1,))

        assert office.write(ran, entry(due)) == (number,)

    def test_nobody_lets_go_of_what_another_holds(self, office: Office) -> None:
        office.watch(A)
        ran = office.join()
        office.claim(ran)

        office.write(office.join(), released=(1,))

        assert office.row(server).holder == ran


class TestOnce:
    def test_a_turn_that_was_written_is_not_written_again(self, office: Office) -> None:
        office.watch(A, B, C)
        ran = office.join()
        due = office.take(ran)
        again = Turn(
            number=1,
            entries=(entry(due[A], BROKEN, notices=("disabled",)),),
            handed=(handed(due[B], "c.test"),),
            released=(due[A].server,),
        )
        office.ledger.write(ran, again, NOW)
        before = office.everything()

        assert office.ledger.write(ran, again, NOW).refused == ()

        assert office.everything() == before

    @postgres_only
    def test_a_turn_whose_commit_nobody_saw_is_written_once(
        self, office: Office
    ) -> None:
        office.watch(A)
        ran = office.join()
        [due] = office.take(ran).values()
        turn = Turn(number=1, entries=(entry(due, BROKEN),))

        def lose(connection: Any) -> None:
            connection.connection.driver_connection.commit()
            connection.connection.driver_connection.close()
            raise psycopg.OperationalError("server closed the connection")

        event.listen(office.database.engine, "commit", lose, once=True)
        with pytest.raises(StoreBusyError):
            office.ledger.write(ran, turn, NOW)
        office.ledger.write(ran, turn, NOW)

        assert len(office.rows(history)) == 1
        assert office.row(target).state == "broken"
        assert office.is_sound()

    def test_turns_of_different_processes_have_the_same_numbers(
        self, office: Office
    ) -> None:
        office.watch(A, B)
        for _ in range(2):
            ran = office.join()
            [found] = office.claim(ran, count=1)
            turn = Turn(number=1, entries=tuple(entries(found.due)))
            office.ledger.write(ran, turn, NOW)

        assert len(office.rows(history)) == 2

    def test_a_crash_in_the_middle_leaves_nothing(self, office: Office) -> None:
        """Wherever it is: at the first statement, the second, and so on to the last."""
        zoe = office.owner("Zoë")
        office.watch(A, B, C, owners=[OPERATOR, zoe])
        ran = office.join()
        due = office.take(ran)
        turn = Turn(
            number=1,
            entries=(entry(due[A], BROKEN, notices=("change", "disabled")),),
            hosts={"a.test": Pace(1, 2, 3, 4)},
            servers={1: Pace(1, 2)},
            robots={"http://a.test": b"x"},
            handed=(handed(due[B], "c.test"),),
            released=(1, 2, 3),
        )
        before = office.everything()
        statements = 0
        while True:
            statements += 1
            crash = _Crash(office.database, statements)
            try:
                office.ledger.write(ran, turn, NOW)
            except _CrashError:
                assert office.everything() == before
            else:
                break
            finally:
                crash.end()

        assert statements > 15
        after = office.everything()
        assert all(after[t.name] != before[t.name] for t in (history, target, server))
        assert len(after["notice"]) == 3  # changes of the operator are not sent


class _CrashError(Exception):
    """Not one of the database's."""


class _Crash:
    """Raises at a statement, by its number."""

    def __init__(self, database: Database, at: int) -> None:
        self._left = at
        self._engine = database.engine
        event.listen(self._engine, "before_cursor_execute", self._count)

    def _count(self, *_: object) -> None:
        self._left -= 1
        if self._left == 0:
            raise _CrashError

    def end(self) -> None:
        event.remove(self._engine, "before_cursor_execute", self._count)


def _statements(database: Database) -> list[str]:
    """The statements that are executed from now on."""
    found: list[str] = []

    def note(_connection: object, _cursor: object, sql: str, *_: object) -> None:
        found.append(sql)

    event.listen(database.engine, "before_cursor_execute", note)
    return found


class TestOwners:
    def test_tallies_move_with_the_state(self, office: Office) -> None:
        zoe = office.owner("Zoë")
        office.watch(A, owners=[OPERATOR, zoe])
        office.watch(B, owners=[zoe])
        ran = office.join()
        due = office.take(ran)

        office.write(ran, entry(due[A], BROKEN), entry(due[B]))

        rows = office.rows(tally)
        found = {(row.owner_id, row.state): row.number for row in rows if row.number}
        everybody = {(0, "broken"): 1, (0, "ok"): 1}
        assert found == everybody | {
            (OPERATOR, "broken"): 1,
            (zoe, "broken"): 1,
            (zoe, "ok"): 1,
        }

    def test_all_who_watch_are_told_as_they_write_it(self, office: Office) -> None:
        adam, zoe, other = (office.owner(name) for name in ("Adam", "Zoë", "Eve"))
        [number] = office.watch(A, owners=[adam, zoe])
        office.watch(B, owners=[other])
        with office.database.writing() as connection:
            mine = update(watch).where(watch.c.owner_id == zoe)
            connection.execute(mine.values(spelling="HTTP://A.test"))
        ran = office.join()
        due = office.take(ran)

        office.write(ran, entry(due[A], BROKEN, reason="http_404", message="gone"))

        assert told(office) == [(adam, "change", A), (zoe, "change", "HTTP://A.test")]
        row = office.rows(notice)[0]
        assert (row.state, row.was) == ("broken", "unknown")
        assert (row.reason, row.message, row.at) == ("http_404", "gone", NOW + 1)
        assert number == 1

    @pytest.mark.parametrize("off", ["callback", "notices_on"])
    def test_who_wants_no_notices_gets_none(self, office: Office, off: str) -> None:
        zoe = office.owner("Zoë")
        office.watch(A, owners=[zoe])
        office.set(owner, zoe, **{off: "" if off == "callback" else False})
        ran = office.join()
        [due] = office.take(ran).values()

        office.write(ran, entry(due, BROKEN, notices=("change", "disabled")))

        assert told(office) == []

    @pytest.mark.parametrize(
        ("callback", "kinds"),
        [("", ["disabled"]), ("http://127.0.0.1/", ["change", "disabled"])],
        ids=["kept", "sent"],
    )
    def test_the_operator_finds_what_is_not_sent_in_a_list(
        self, office: Office, callback: str, kinds: list[str]
    ) -> None:
        office.watch(A)
        office.set(owner, OPERATOR, callback=callback)
        ran = office.join()
        [due] = office.take(ran).values()

        office.write(ran, entry(due, BROKEN, notices=("change", "disabled")))

        assert [kind for _, kind, _ in told(office)] == kinds

    def test_a_change_is_not_told_while_the_target_flaps(self, office: Office) -> None:
        zoe = office.owner("Zoë")
        office.watch(A, owners=[zoe])
        ran = office.join()
        [due] = office.take(ran).values()
        flapping = {"flapping": True}
        kinds = ("change", "flapping")

        office.write(ran, entry(due, BROKEN, notices=kinds, standing=flapping))

        assert told(office) == [(zoe, "flapping", A)]
        assert office.is_sound()

    def test_a_change_that_was_written_before_is_not_told_again(
        self, office: Office
    ) -> None:
        zoe = office.owner("Zoë")
        office.watch(A, owners=[zoe])
        ran = office.join()
        [due] = office.take(ran).values()
        office.write(ran, entry(due, BROKEN))

        office.write(ran, entry(due, BROKEN, at=NOW + 2))

        assert told(office) == [(zoe, "change", A)]
        assert office.row(target).last_change_at == NOW + 1

    def test_an_acknowledged_state_is_forgotten_when_it_changes(
        self, office: Office
    ) -> None:
        office.watch(A, B)
        with office.database.writing() as connection:
            connection.execute(update(watch).values(acknowledged="unknown"))
        ran = office.join()
        due = office.take(ran)

        office.write(ran, entry(due[A], BROKEN), entry(due[B], State.UNKNOWN))

        assert [row.acknowledged for row in office.rows(watch)] == ["", "unknown"]


class TestRounds:
    def test_a_round_counts_its_results_and_ends(self, office: Office) -> None:
        numbers = office.watch(A, B, C)
        with office.database.writing() as connection:
            row = {"name": "night", "started_at": NOW, "total": 2}
            connection.execute(insert(round_).values(row))
        for number in numbers[:2]:
            office.set(schedule, number, round_id=1)
        ran = office.join()
        due = office.take(ran)

        office.write(ran, entry(due[A]), entry(due[C]))
        assert (office.row(round_).done, office.row(round_).ended_at) == (1, None)
        office.write(ran, entry(due[B]), now=NOW + 5)
        assert (office.row(round_).done, office.row(round_).ended_at) == (2, NOW + 5)
        assert {row.round_id for row in office.rows(schedule)} == {None}

    def test_a_round_that_began_meanwhile_counts_it_too(self, office: Office) -> None:
        [number] = office.watch(A)
        ran = office.join()
        [due] = office.take(ran).values()
        with office.database.writing() as connection:
            row = {"name": "night", "started_at": NOW, "total": 1}
            connection.execute(insert(round_).values(row))
        office.set(schedule, number, round_id=1)
        quiet = entry(due, State.UNKNOWN, reason="", message="")

        office.write(ran, quiet)

        assert office.row(round_).done == 1
        assert office.row(schedule).round_id is None


class TestPaces:
    def test_hosts_and_servers_are_remembered(self, office: Office) -> None:
        office.watch(A, B)
        ran = office.join()
        office.claim(ran)
        paces = {"a.test": Pace(1, 2, 3, 4)}

        office.write(ran, hosts=paces, servers={2: Pace(5, 6)})

        first, second = office.rows(host)
        assert (first.asked_at, first.next_at) == (1, 2)
        assert (first.gap, first.rests_until) == (3, 4)
        assert (second.asked_at, second.next_at) == (0, 0)
        assert [row.next_at for row in office.rows(server)] == [0, 6]

    def test_robots_files_are_kept_the_newest_of_each(self, office: Office) -> None:
        ran = office.join()

        office.write(ran, robots={"http://a.test": b"old", "http://b.test": b"b"})
        office.write(ran, robots={"http://a.test": b"new"}, now=NOW + 5)

        found = {row.authority: (row.body, row.at) for row in office.rows(robots)}
        assert found == {
            "http://a.test": (b"new", NOW + 5),
            "http://b.test": (b"b", NOW),
        }


class TestRelease:
    @pytest.mark.parametrize(
        ("next_at", "dues", "due_at"),
        [
            (0.0, (LATER, LATER + 5), LATER),
            (0.0, (LATER, None), LATER),
            (0.0, (None, None), None),
            (LATER + 2, (LATER, LATER + 5), LATER + 2),
            (LATER + 2, (None, None), None),
        ],
        ids=["first", "one", "none", "later", "never"],
    )
    def test_a_server_is_due_with_its_first_target(
        self,
        office: Office,
        next_at: float,
        dues: tuple[float | None, ...],
        due_at: float | None,
    ) -> None:
        numbers = office.watch(A, f"{A}2")
        for number, moment in zip(numbers, dues, strict=True):
            off = {} if moment else {"enabled": False, "why_disabled": "me"}
            office.set(target, number, reason="", **off)
        ran = office.join()
        due = sorted(office.take(ran).values(), key=lambda one: one.id)
        pairs = zip(due, dues, strict=True)
        found = [entry(one, next_due=moment) for one, moment in pairs]

        office.write(ran, *found, servers={1: Pace(NOW, next_at)}, released=(1,))

        row = office.row(server)
        assert (row.holder, row.due_at, row.next_at) == (None, due_at, next_at)

    def test_what_was_not_checked_is_still_due(self, office: Office) -> None:
        office.watch(A, f"{A}2")
        ran = office.join()
        due = office.take(ran)

        office.write(ran, entry(due[A]), released=(1,))

        assert office.row(server).due_at == NOW - 10


class TestHandingOver:
    @pytest.fixture
    def pair(self, office: Office) -> tuple[Office, int, int]:
        """A process that holds a.test, and one that holds b.test."""
        office.watch(A, B)
        office.in_order()
        first, second = office.join(), office.join()
        office.claim(first, count=1)
        office.claim(second)
        return office, first, second

    def test_a_visit_is_carried_on_by_who_holds_its_next_host(
        self, pair: tuple[Office, int, int]
    ) -> None:
        office, first, second = pair
        [due] = office.claims.more(first, 1, NOW, count=1, held=())

        office.write(first, handed=(handed(due, "b.test"),), released=(1,))

        assert office.claims.requests(first) == []
        [queued] = office.claims.requests(second)
        assert queued.visit == visit(A, "b.test")
        assert (queued.due.url, queued.due.server) == (A, 2)
        assert office.row(server, id=1).due_at is None  # nothing is left to do there
        assert office.claim(first) == []

    def test_who_carries_it_on_ends_it(self, pair: tuple[Office, int, int]) -> None:
        office, first, second = pair
        [due] = office.claims.more(first, 1, NOW, count=1, held=())
        office.write(first, handed=(handed(due, "b.test"),), released=(1,))
        [queued] = office.claims.requests(second)

        found = entry(queued.due, BROKEN, request=queued.id)
        assert office.write(second, found) == ()

        assert office.rows(request) == []
        assert office.row(history).target_id == due.id
        assert office.row(schedule, target_id=due.id).next_due == LATER + 1
        assert office.row(schedule, target_id=due.id).server_id == 1

    def test_nobody_else_ends_it(self, pair: tuple[Office, int, int]) -> None:
        office, first, second = pair
        [due] = office.claims.more(first, 1, NOW, count=1, held=())
        office.write(first, handed=(handed(due, "b.test"),))
        [queued] = office.claims.requests(second)
        late = entry(queued.due, request=queued.id)

        assert office.write(first, late) == (due.id,)
        assert office.write(second, late) == ()
        assert office.write(second, late) == (due.id,)
        assert len(office.rows(history)) == 1

    def test_it_is_handed_on(self, pair: tuple[Office, int, int]) -> None:
        office, first, second = pair
        third = office.join()
        office.claims.grant(third, "c.test", "127.0.0.3", NOW)
        [due] = office.claims.more(first, 1, NOW, count=1, held=())
        office.write(first, handed=(handed(due, "b.test"),))
        [queued] = office.claims.requests(second)

        assert office.write(second, handed=(handed(queued.due, "c.test"),)) == ()

        assert office.claims.requests(second) == []
        [last] = office.claims.requests(third)
        assert (last.id, last.visit.host) == (queued.id, "c.test")

    def test_nobody_hands_over_what_he_does_not_hold(
        self, pair: tuple[Office, int, int]
    ) -> None:
        office, first, second = pair
        [due] = office.claims.more(first, 1, NOW, count=1, held=())

        assert office.write(second, handed=(handed(due, "b.test"),)) == (due.id,)
        assert office.rows(request) == []

    def test_a_free_server_is_due_at_once_when_a_visit_waits_for_it(
        self, office: Office
    ) -> None:
        office.watch(A)
        office.watch(B, due=LATER)
        ran = office.join()
        [due] = office.take(ran).values()

        office.write(ran, handed=(handed(due, "b.test"),))

        [found] = office.claim(ran)
        assert (found.hosts, found.due) == ({"b.test": Pace()}, ())
        assert [one.visit.host for one in office.claims.requests(ran)] == ["b.test"]

    def test_a_server_that_is_let_go_while_visits_wait_is_due_at_once(
        self, pair: tuple[Office, int, int]
    ) -> None:
        office, first, second = pair
        [due] = office.claims.more(first, 1, NOW, count=1, held=())
        office.write(first, handed=(handed(due, "b.test"),))
        [mine] = office.claims.more(second, 2, NOW, count=1, held=())

        office.write(
            second, entry(mine), released=(2,), servers={2: Pace(NOW, NOW + 3)}
        )

        assert office.row(server, id=2).due_at == NOW + 3

    def test_the_heir_carries_it_on(self, pair: tuple[Office, int, int]) -> None:
        office, first, second = pair
        [due] = office.claims.more(first, 1, NOW, count=1, held=())
        office.write(first, handed=(handed(due, "b.test"),))
        office.bury(second)
        heir = office.join()
        office.claim(heir)

        [queued] = office.claims.requests(heir)

        assert queued.due.url == A

    def test_a_visit_to_a_host_that_nobody_knows_is_still_due(
        self, pair: tuple[Office, int, int]
    ) -> None:
        office, first, _ = pair
        [due] = office.claims.more(first, 1, NOW, count=1, held=())

        office.write(first, handed=(handed(due, "nowhere.test"),), released=(1,))

        assert [one.due[0].url for one in office.claim(first)] == [A]

    def test_the_visit_of_a_removed_target_is_dropped(
        self, pair: tuple[Office, int, int]
    ) -> None:
        office, first, _ = pair
        [due] = office.claims.more(first, 1, NOW, count=1, held=())
        with office.database.writing() as connection:
            gone = delete(schedule).where(schedule.c.target_id == due.id)
            connection.execute(gone)

        assert office.write(first, handed=(handed(due, "b.test"),)) == ()
        assert office.rows(request) == []


def _hand_about(office: Office, ran: int, chance: Random, names: list[str]) -> None:
    """Some turns of a process, with all that a turn can hold."""
    mine: dict[int, list[Any]] = {}
    for number in range(1, 13):
        for one in office.claim(ran, count=3, length=3):
            mine[one.id] = [*one.due]
        due = [each for some in mine.values() for each in some]
        chance.shuffle(due)
        given = [handed(one, chance.choice(names)) for one in due[:1]]
        states = [State.OK, State.BROKEN, State.WARNING]
        found = [entry(one, chance.choice(states)) for one in due[1:]]
        found = [replace(one, next_due=NOW - 1) for one in found]
        for queued in office.claims.requests(ran):
            again = entry(queued.due, State.OK, request=queued.id)
            found.append(replace(again, next_due=NOW - 1))
        turn = Turn(
            number=number,
            entries=tuple(found),
            handed=tuple(given),
            hosts={name: Pace(NOW, NOW) for name in chance.sample(names, 4)},
            servers={n: Pace(NOW, NOW) for n in mine},
            robots={f"http://{name}": b"" for name in chance.sample(names, 4)},
            released=tuple(mine),
        )
        office.ledger.write(ran, turn, NOW)
        mine = {}


def test_nobody_waits_for_another_in_a_circle(database: Database) -> None:
    """Eight at once, who hand visits to each other and share all owners."""
    office = Office(database)
    names = [f"h{n}.test" for n in range(12)]
    owners = [OPERATOR, *(office.owner(f"owner {n}") for n in range(3))]
    given = [f"http://{name}/{n}" for name in names for n in range(4)]
    office.watch(*given, owners=owners)
    processes = [office.join() for _ in range(8)]

    def run(number: int) -> None:
        mine = Office(Database(database.where))
        _hand_about(mine, processes[number], Random(number), names)
        mine.database.close()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(run, range(8)))

    assert office.is_sound()
    assert {row.turn for row in office.rows(process)} == {12}
    rows = office.rows(history)
    previous = [row.previous for row in rows if row.previous]
    assert len(previous) == len(set(previous)), "two results follow the same one"
    assert len(rows) - len(previous) == len({row.target_id for row in rows})
