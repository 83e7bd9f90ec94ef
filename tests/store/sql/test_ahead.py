"""What a clock that was ahead has written does not wait for that moment."""

import pytest
from sqlalchemy import insert, select

from processes import DAY, HOUR, NOW, Office, entry
from ronda.model import State
from ronda.store.sql import ahead
from ronda.store.sql.ahead import PulledBack
from ronda.store.sql.engines import Database
from ronda.store.sql.schema import (
    history,
    host,
    hour,
    robots,
    schedule,
    server,
    target,
)
from ronda.store.sql.upkeep import Upkeep
from ronda.store.sql.values import Pace

A, B = "http://a.test/", "http://b.test/"
YEAR = 365 * DAY
THEN = NOW + YEAR  # by the clock that was wrong


@pytest.fixture
def office(database: Database) -> Office:
    return Office(database)


def pull_back(office: Office, now: float = NOW) -> PulledBack:
    return ahead.pull_back(office.database, lambda: now)


def checked(office: Office, *urls: str, at: float = THEN) -> None:
    """Have targets checked at a moment, by a process that leaves after it."""
    office.watch(*urls, due=at)
    process = office.join(at)
    found = office.take(process, at)
    entries = [entry(due, at=at, next_due=at + DAY) for due in found.values()]
    office.write(
        process,
        *entries,
        now=at,
        servers={due.server: Pace(at, at + 5) for due in found.values()},
        hosts={"a.test": Pace(at, at + 10, 2.0, at + 60)},
    )
    office.claims.leave(process)


def test_a_target_is_due_as_long_from_now_as_it_was_from_its_check(
    office: Office,
) -> None:
    checked(office, A, B)

    assert pull_back(office) == PulledBack(targets=2, servers=2, results=2)
    assert {(row.last_check_at, row.next_due) for row in office.rows(schedule)} == {
        (NOW, NOW + DAY)
    }
    assert {row.due_at for row in office.rows(server)} == {NOW + DAY}
    assert {row.last_change_at for row in office.rows(target)} == {NOW}
    process = office.join()
    assert office.take(process, NOW + DAY - 1) == {}
    assert set(office.take(process, NOW + DAY)) == {A, B}


def test_paces_are_kept_from_now_on(office: Office) -> None:
    checked(office, A)
    pull_back(office)

    row = office.row(server)
    assert (row.asked_at, row.next_at) == (NOW, NOW + 5)
    row = office.row(host)
    assert (row.asked_at, row.next_at, row.gap) == (NOW, NOW + 10, 2.0)
    assert row.rests_until == NOW + 60


def test_a_host_rests_no_longer_than_it_was_to(office: Office) -> None:
    """Though it is never asked meanwhile, and its server is not ahead."""
    office.watch(A)
    office.set(host, 1, asked_at=THEN, rests_until=THEN + HOUR)

    assert pull_back(office).servers == 1
    assert office.row(host).rests_until == NOW + HOUR
    assert office.row(host).next_at == 0


def test_what_was_added_then_is_due_now(office: Office) -> None:
    office.watch(A, due=THEN)

    assert pull_back(office) == PulledBack(targets=1)
    assert office.row(schedule).last_check_at == 0
    assert list(office.take(office.join())) == [A]


def test_what_is_due_already_keeps_its_place_and_what_never_is_stays_so(
    office: Office,
) -> None:
    office.watch(A)
    office.watch(B, due=None)
    for number in (1, 2):
        office.set(schedule, number, last_check_at=THEN)

    assert pull_back(office).targets == 2
    assert [row.next_due for row in office.rows(schedule)] == [NOW - 10, None]
    assert {row.last_check_at for row in office.rows(schedule)} == {NOW}


def test_one_that_was_asked_for_out_of_turn_is_due_now(office: Office) -> None:
    office.watch(A, due=THEN - HOUR)
    office.set(schedule, 1, last_check_at=THEN)
    pull_back(office)

    assert office.row(schedule).next_due == NOW


def test_results_are_found_by_their_hour(office: Office) -> None:
    checked(office, A, at=NOW - DAY)
    checked(office, B)  # and A once more
    pull_back(office)

    assert [row.at for row in office.rows(history)] == [NOW - DAY, NOW, NOW]
    hours = [(row.hour, row.first_id, row.last_id) for row in office.rows(hour)]
    assert hours == [((NOW - DAY) // HOUR, 1, 1), (NOW // HOUR, 2, 3)]


def test_a_robots_file_grows_old(office: Office) -> None:
    with office.database.writing() as connection:
        row = {"authority": "http://a.test", "body": b"", "at": THEN}
        connection.execute(insert(robots).values(row))

    assert pull_back(office).robots == 1
    assert office.row(robots).at == NOW


@pytest.mark.parametrize("seconds", [-HOUR, 0.0, ahead.TOLERANCE])
def test_a_store_whose_clock_was_right_is_left_as_it_is(
    office: Office, seconds: float
) -> None:
    checked(office, A, B, at=NOW + seconds)
    before = office.everything()

    assert pull_back(office) == PulledBack()
    assert office.everything() == before


def test_servers_that_are_held_are_put_right_too(office: Office) -> None:
    """Their holder lets go of them later, and they are due at the right moment."""
    office.watch(A, due=THEN)
    process = office.join(THEN)
    due = office.take(process, THEN)[A]
    result = entry(due, at=THEN, next_due=THEN + DAY)
    office.write(process, result, now=THEN, servers={1: Pace(THEN, THEN + 5)})
    pull_back(office)

    office.write(process, released=(1,))
    assert office.row(server).due_at == NOW + DAY


def test_a_result_of_what_was_under_way_meanwhile_is_written(office: Office) -> None:
    office.watch(A)
    office.set(schedule, 1, last_check_at=THEN, next_due=NOW - 1)
    process = office.join()
    due = office.take(process)[A]
    pull_back(office)

    assert office.write(process, entry(due, State.BROKEN)) == ()
    assert office.row(target).state == "broken"
    assert office.row(schedule).last_check_at == NOW + 1


def test_many_are_put_right_in_slices(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "FOUND", 3)
    monkeypatch.setattr(ahead, "SLICE", 2)
    monkeypatch.setattr(ahead, "PAUSE", 0.0)
    checked(office, *(f"http://h{n}.test/{m}" for n in range(4) for m in range(2)))

    assert pull_back(office) == PulledBack(targets=8, servers=4, results=8)
    assert {row.next_due for row in office.rows(schedule)} == {NOW + DAY}
    assert {row.due_at for row in office.rows(server)} == {NOW + DAY}


def test_the_clock_goes_on_meanwhile(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is written rightly while it takes its time is not in the future."""
    monkeypatch.setattr(ahead, "PAUSE", 0.0)
    checked(office, A)
    moments = iter(range(1000))
    pulled = ahead.pull_back(office.database, lambda: NOW + next(moments) * HOUR)

    assert pulled.targets == 1
    assert NOW < office.row(schedule).last_check_at < NOW + DAY


def test_the_store_is_in_order_only_after_it(office: Office) -> None:
    """As the next daemon leaves it; by the machine's own clock."""
    then = office.database.epoch() + YEAR
    checked(office, A, at=then)
    upkeep = Upkeep(office.database)

    words = "1 targets checked or added by a clock that was ahead, such as number 1"
    assert upkeep.check() == [words]
    assert upkeep.pull_back() == PulledBack(targets=1, servers=1, results=1)
    assert upkeep.check() == []
    with office.database.reading() as connection:
        assert connection.scalar(select(schedule.c.next_due)) < then
