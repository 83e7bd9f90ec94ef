"""Who hears of results: an acknowledged state is not told of while it lasts."""

from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import update

from processes import Office, entry
from ronda.model import State
from ronda.store.sql.engines import Database
from ronda.store.sql.schema import notice, watch

A = "http://a.test/"
BROKEN, UNKNOWN = State.BROKEN, State.UNKNOWN


@pytest.fixture
def office(database: Database) -> Office:
    return Office(database)


def told(office: Office) -> list[tuple[Any, ...]]:
    """What owners are to be told."""
    return [(row.owner_id, row.kind) for row in office.rows(notice)]


def acknowledging(office: Office, name: str) -> int:
    """An owner who has acknowledged all that he watches; his number."""
    number = office.owner(name)
    office.watch(A, owners=[number])
    with office.database.writing() as connection:
        connection.execute(update(watch).values(acknowledged="unknown"))
    return number


@pytest.mark.parametrize("kind", ["disabled", "settled"])
def test_who_acknowledged_a_state_hears_nothing_while_it_lasts(
    office: Office, kind: str
) -> None:
    acknowledging(office, "Zoë")
    ran = office.join()
    [due] = office.take(ran).values()

    office.write(ran, entry(due, UNKNOWN, notices=(kind,)))

    assert told(office) == []


def test_who_did_not_acknowledge_it_hears_all(office: Office) -> None:
    acknowledging(office, "Zoë")
    adam = office.owner("Adam")
    number = office.row(watch).target_id
    with office.database.writing() as connection:
        values = {"owner_id": adam, "target_id": number, "added_at": 0.0}
        connection.execute(watch.insert().values(values))
    ran = office.join()
    [due] = office.take(ran).values()

    office.write(ran, entry(due, UNKNOWN, notices=("disabled",)))

    assert told(office) == [(adam, "disabled")]


@pytest.mark.parametrize(
    "kinds", [("change",), ("change", "disabled"), ("change", "enabled"), ("flapping",)]
)
def test_what_comes_with_a_change_is_told_and_the_state_is_no_longer_acknowledged(
    office: Office, kinds: tuple[str, ...]
) -> None:
    zoe = acknowledging(office, "Zoë")
    ran = office.join()
    [due] = office.take(ran).values()

    office.write(ran, entry(due, BROKEN, notices=kinds))

    assert told(office) == [(zoe, kind) for kind in kinds]
    assert office.row(watch).acknowledged == ""


def test_what_comes_after_a_change_in_the_same_turn_is_told(office: Office) -> None:
    zoe = acknowledging(office, "Zoë")
    ran = office.join()
    [due] = office.take(ran).values()
    change = entry(due, BROKEN)
    then = replace(due, standing=change.standing)

    office.write(ran, change, entry(then, BROKEN, notices=("disabled",)))

    assert told(office) == [(zoe, "change"), (zoe, "disabled")]
