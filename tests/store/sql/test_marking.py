"""Rounds have an order, share fairly, are spread, stopped, and tell what they found."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import insert, update

from processes import DAY, HOUR, NOW, Office, entry
from ronda.errors import UsageError
from ronda.model import State
from ronda.store.sql import ahead, tallies
from ronda.store.sql.catalogue import Query
from ronda.store.sql.engines import Database
from ronda.store.sql.marking import STEP
from ronda.store.sql.rounds import Left, Round, RoundResult, Rounds, eta
from ronda.store.sql.schema import (
    owner,
    round_result,
    schedule,
    server,
    target,
    watch,
)
from ronda.store.sql.steering import check_now

ALL = Query()


@pytest.fixture
def office(database: Database) -> Office:
    """Six targets of three hosts, due in a day."""
    found = Office(database)
    found.watch(*urls(6), due=NOW + DAY)
    return found


@pytest.fixture
def rounds(office: Office, database: Database) -> Rounds:
    return Rounds(database)


def urls(count: int) -> list[str]:
    return [f"http://h{(n + 1) // 2}.test/{n}" for n in range(1, count + 1)]


def row(office: Office, number: int) -> Any:
    return office.row(schedule, target_id=number)


def in_order(office: Office) -> list[int]:
    """Targets that are marked, in the order in which they are due."""
    rows = [one for one in office.rows(schedule) if one.round_id is not None]
    return [one.target_id for one in sorted(rows, key=lambda one: one.next_due)]


def of_rounds(office: Office) -> list[int]:
    """The rounds of what is marked, in the order in which it is due."""
    marks = {one.target_id: one.round_id for one in office.rows(schedule)}
    return [marks[number] for number in in_order(office)]


def unmark(office: Office, numbers: Iterable[int]) -> None:
    for number in numbers:
        values = {"round_id": None, "was_due": None, "next_due": NOW + DAY}
        office.set(schedule, number, **values)


def finish(office: Office, *numbers: int, state: State = State.OK) -> None:
    """Check some of what is due, and let the rest go."""
    process = office.join()
    held = office.claim(process)
    found = [due for one in held for due in one.due if due.id in numbers]
    assert {due.id for due in found} == set(numbers)
    office.write(
        process,
        *(entry(due, state, next_due=NOW + 2 * DAY) for due in found),
        released=tuple(one.id for one in held),
    )


# -- the order ----------------------------------------------------------------------


def test_given_targets_are_checked_in_the_order_in_which_they_are_given(office, rounds):
    found = rounds.begin("some", ALL, NOW, ids=[5, 2, 99, 6, 2])

    assert in_order(office) == [5, 2, 6]
    assert (found.total, found.ended_at) == (3, None)


def test_no_given_target_is_not_all_of_them(office, rounds):
    assert rounds.begin("none", ALL, NOW, ids=[]).total == 0
    assert in_order(office) == []


def test_given_targets_too_are_left_out_that_were_checked_lately(office, rounds):
    office.set(schedule, 2, last_check_at=NOW - 5)
    office.set(schedule, 3, next_due=None)

    assert rounds.begin("some", ALL, NOW, ids=[3, 2, 1]).total == 1
    assert rounds.begin("all", ALL, NOW + 1, ids=[3, 2, 1], forced=True).total == 2


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("biggest", [1, 2, 3, 4, 5, 6]),  # the operator's
        ("smallest", [6, 3, 4, 5, 1, 2]),
        ("name", [3, 4, 5, 6, 1, 2]),
    ],
)
def test_owners_come_by_their_size_or_their_name(
    office, rounds, database, order, expected
):
    """A target of several owners comes with the first of them."""
    with database.writing() as connection:
        owners = {2: "ana", 3: "Bob"}
        rows = [{"id": n, "name": name, "added_at": 0} for n, name in owners.items()]
        connection.execute(insert(owner), rows)
        pairs = [(2, 3), (2, 4), (2, 5), (3, 6), (3, 5)][:4]
        rows = [{"owner_id": a, "target_id": b, "added_at": 0} for a, b in pairs]
        connection.execute(insert(watch), rows)
        tallies.recount(connection)
    rounds.begin("night", ALL, NOW, order=order)

    assert in_order(office) == expected


def test_given_targets_may_be_in_the_order_of_owners(office, rounds):
    rounds.begin("night", ALL, NOW, order="name", ids=[4, 1])

    assert in_order(office) == [1, 4]


def test_a_round_is_spread_over_hours(office, rounds):
    found = rounds.begin("night", ALL, NOW, over=6 * HOUR, starter="ana", words="all")

    moments = [one.next_due for one in office.rows(schedule)]
    assert moments == [pytest.approx(NOW + n * HOUR) for n in range(6)]
    assert [one.due_at for one in office.rows(server)] == [
        pytest.approx(NOW + n * HOUR) for n in (0, 2, 4)
    ]
    assert rounds.show(found.id) == found
    assert (found.window, found.starter, found.words) == (6 * HOUR, "ana", "all")


def test_what_is_spread_over_hours_to_come_is_not_of_a_clock_that_was_ahead(
    office, rounds, database
):
    with database.writing() as connection:
        connection.execute(update(schedule).values(next_due=NOW))
    rounds.begin("night", ALL, NOW, over=6 * HOUR)

    assert ahead.pull_back(database, lambda: NOW).targets == 0


def test_what_a_round_of_a_clock_that_was_ahead_has_put_off_is_due_at_once(
    office, rounds, database
):
    office.set(schedule, 1, last_check_at=NOW - DAY)
    unmark(office, [1])
    rounds.begin("night", Query(host="h1.test"), NOW + 300 * DAY)

    assert ahead.pull_back(database, lambda: NOW + DAY).targets == 2
    assert {row(office, n).next_due for n in (1, 2)} == {NOW + DAY}
    assert ahead.pull_back(database, lambda: NOW + DAY).targets == 0


# -- fairness -----------------------------------------------------------------------


def test_a_second_round_comes_in_turn_with_what_the_first_has_left(office, rounds):
    first = rounds.begin("first", ALL, NOW, ids=[1, 2, 3])
    unmark(office, [1])
    second = rounds.begin("second", ALL, NOW + 60, ids=[4, 5, 6])

    a, b = first.id, second.id
    found = of_rounds(office)
    assert sorted(found[:2]) == sorted(found[2:4]) == [a, b]
    assert found[4] == b


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    arrivals=st.lists(
        st.tuples(st.integers(1, 9), st.floats(1, 1e6), st.integers(0, 9)),
        min_size=2,
        max_size=4,
    )
)
def test_no_round_waits_for_another(database, arrivals):
    """Whenever one begins, nobody has more before its tenth target than ten."""
    office, rounds = Office(database), Rounds(database)
    if not office.rows(target):
        office.watch(*urls(36), due=NOW + DAY)
    now = max((one.started_at for one in rounds.list()), default=NOW)
    numbers = list(range(1, 37))
    for size, later, done in arrivals:
        now += later
        ids = [numbers.pop() for _ in range(size)]
        begun = rounds.begin("next", ALL, now, ids=ids)
        places = of_each(office)
        mine = places.pop(begun.id)
        assert all(b - a == pytest.approx(STEP, rel=0.1) for a, b in pairwise(mine))
        assert mine[-1] <= now + 36 * STEP
        for others in places.values():
            assert mine[0] <= others[0]
            for at, moment in enumerate(mine):
                assert sum(one < moment - STEP / 2 for one in others) <= at
        unmark(office, in_order(office)[:done])
    rounds.stop_all(now)


def of_each(office: Office) -> dict[int, list[float]]:
    """The moments at which targets of each round are due, in order."""
    places: dict[int, list[float]] = {}
    for one in sorted(office.rows(schedule), key=lambda one: one.next_due):
        if one.round_id is not None:
            places.setdefault(one.round_id, []).append(one.next_due)
    return places


def test_a_great_round_does_not_pass_a_small_one_that_was_before_it(office, rounds):
    small = rounds.begin("small", ALL, NOW, ids=[1])
    rounds.begin("great", ALL, NOW, ids=[2, 3, 4, 5, 6])

    assert small.id in of_rounds(office)[:2]


def test_a_later_round_takes_over_and_the_first_moment_is_remembered(office, rounds):
    first = rounds.begin("first", ALL, NOW)
    rounds.begin("second", ALL, NOW + 60, ids=[1, 2])

    assert {row(office, n).was_due for n in range(1, 7)} == {NOW + DAY}
    assert rounds.show(first.id).total == 4


# -- stopping -----------------------------------------------------------------------


def test_a_round_that_is_stopped_leaves_targets_as_they_were(office, rounds):
    office.set(schedule, 4, next_due=NOW + HOUR)
    begun = rounds.begin("night", ALL, NOW)
    finish(office, 1, 2)

    found = rounds.stop(begun.id, NOW + 9)

    assert (found.total, found.done) == (6, 2)
    assert found.ended_at == found.stopped_at == NOW + 9
    assert in_order(office) == []
    moments = [one.next_due for one in office.rows(schedule)]
    assert moments == [NOW + 2 * DAY] * 2 + [NOW + DAY, NOW + HOUR] + [NOW + DAY] * 2
    assert {one.was_due for one in office.rows(schedule)} == {None}
    servers = [one.due_at for one in office.rows(server)]
    assert servers == [NOW + 2 * DAY, NOW + HOUR, NOW + DAY]


def test_a_server_that_is_held_is_not_freed_by_a_stop(office, rounds):
    begun = rounds.begin("night", ALL, NOW)
    process = office.join()
    found = office.take(process)

    rounds.stop(begun.id, NOW + 1)
    assert {one.holder for one in office.rows(server)} == {process}
    office.write(process, *map(entry, found.values()), released=(1, 2, 3))

    assert rounds.show(begun.id).done == 0
    assert office.rows(round_result) == []
    assert {one.last_check_at for one in office.rows(schedule)} == {NOW + 1}


def test_a_round_that_has_ended_is_not_stopped(office, rounds):
    begun = rounds.begin("night", ALL, NOW, ids=[1])
    finish(office, 1)
    ended = rounds.show(begun.id)
    assert ended.ended_at is not None

    assert rounds.stop(begun.id, NOW + 9) == ended
    assert ended.stopped_at is None


def test_stopping_twice_is_stopping_once(office, rounds):
    begun = rounds.begin("night", ALL, NOW)
    found = rounds.stop(begun.id, NOW + 1)

    assert rounds.stop(begun.id, NOW + 2) == found


def test_what_was_disabled_meanwhile_stays_so(office, rounds):
    begun = rounds.begin("night", ALL, NOW)
    office.set(schedule, 3, next_due=None)

    assert rounds.stop(begun.id, NOW + 1).total == 5
    assert row(office, 3).next_due is None


def test_the_mark_of_an_older_ronda_makes_a_target_due_now(office, rounds):
    begun = rounds.begin("night", ALL, NOW, ids=[1, 2])
    office.set(schedule, 1, was_due=None)
    office.set(schedule, 2, was_due=None)
    office.set(target, 2, enabled=False)
    rounds.stop(begun.id, NOW + 1)

    assert row(office, 1).next_due == NOW + 1
    assert row(office, 2).next_due is None


def test_no_round_that_is_not_there_is_stopped(rounds):
    with pytest.raises(UsageError, match=r"^there is no round 77$"):
        rounds.stop(77, NOW)


def test_all_rounds_are_stopped(office, rounds):
    rounds.begin("none", ALL, NOW, ids=[])
    first = rounds.begin("a", ALL, NOW, ids=[1, 2])
    second = rounds.begin("b", ALL, NOW + 1, ids=[3])
    assert [one.id for one in rounds.live()] == [first.id, second.id]

    assert [one.id for one in rounds.stop_all(NOW + 2)] == [first.id, second.id]
    assert rounds.live() == rounds.stop_all(NOW + 3) == []
    assert {one.next_due for one in office.rows(schedule)} == {NOW + DAY}


def test_a_target_added_to_a_round_by_hand_is_stopped_with_it(office, rounds, database):
    begun = rounds.begin("night", ALL, NOW, ids=[1])
    keys = [one.key for one in office.rows(target)][:2]
    check_now(database, keys, NOW, forced=True, guard=0.0, round_id=begun.id)
    rounds.recount(NOW)
    assert rounds.show(begun.id).total == 2

    rounds.stop(begun.id, NOW + 1)
    assert {row(office, n).next_due for n in (1, 2)} == {NOW + DAY}


# -- what was found -----------------------------------------------------------------


def test_a_round_knows_what_it_found_and_what_is_left(office, rounds):
    begun = rounds.begin("night", ALL, NOW)
    finish(office, 2, 5)
    finish(office, 3, state=State.BROKEN)

    found = rounds.results(begun.id)
    assert [one.target_id for one in found] == [2, 3, 5]
    assert found[1] == RoundResult(
        3, urls(3)[2], NOW + 1, State.BROKEN, "http_broken", "url", "broken"
    )
    assert rounds.results(begun.id, 1, after=2) == found[1:2]
    counts = rounds.counts(begun.id)
    assert {state: n for state, n in counts.items() if n} == {
        State.OK: 2,
        State.BROKEN: 1,
    }
    assert set(counts) == set(State)
    left = rounds.left(begun.id)
    assert [one.target_id for one in left] == [1, 4, 6]
    assert left[0] == Left(1, urls(1)[0], row(office, 1).next_due)
    assert rounds.left(begun.id, 2) == left[:2]


def test_a_target_that_was_removed_is_told_without_its_url(office, rounds, database):
    begun = rounds.begin("night", ALL, NOW, ids=[1])
    finish(office, 1)
    with database.writing() as connection:
        connection.execute(update(round_result).values(target_id=77))

    assert [one.url for one in rounds.results(begun.id)] == [""]


def test_what_is_checked_without_a_round_is_in_none(office, rounds):
    with office.database.writing() as connection:
        connection.execute(update(schedule).values(next_due=NOW))
        connection.execute(update(server).values(due_at=NOW))
    finish(office, 1)

    assert office.rows(round_result) == []


def test_a_target_that_is_checked_twice_for_a_round_is_there_once(
    office, rounds, database
):
    begun = rounds.begin("night", ALL, NOW, ids=[1, 2])
    finish(office, 1)
    [key] = [one.key for one in office.rows(target, id=1)]
    check_now(database, [key], NOW, forced=True, guard=0.0, round_id=begun.id)
    finish(office, 1, state=State.BROKEN)

    assert [one.state for one in rounds.results(begun.id)] == [State.BROKEN]


def test_the_mark_and_the_moment_go_with_the_result(office, rounds):
    rounds.begin("night", ALL, NOW)
    finish(office, 1)

    found = row(office, 1)
    assert (found.round_id, found.was_due) == (None, None)


# -- how long it takes --------------------------------------------------------------


def about(done: int, total: int = 100, **more: Any) -> Round:
    return Round(1, "night", NOW, more.pop("ended_at", None), total, done, **more)


@pytest.mark.parametrize(
    ("found", "passed", "expected"),
    [
        (about(0), 60, None),
        (about(25), 60, 180.0),
        (about(25), 0, None),
        (about(25), -5, None),
        (about(100), 60, 0.0),
        (about(50, ended_at=NOW + 1), 60, None),
        (about(0, window=HOUR), 60, HOUR - 60),
        (about(50, window=HOUR), 60, HOUR - 60),
        (about(50, window=60.0), 120, 120.0),
    ],
)
def test_how_long_a_round_still_takes_goes_by_its_pace(found, passed, expected):
    assert eta(found, NOW + passed) == expected
