"""Services are described, found by their owners and by patterns, with their tasks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from processes import Office, entry
from ronda.model import Service, State, TaskResult
from ronda.store.sql import schema
from ronda.store.sql.adding import Adding
from ronda.store.sql.catalogue import Catalogue, Query
from ronda.store.sql.engines import Database
from ronda.store.sql.owners import Owners
from ronda.store.sql.patterns import Pattern
from ronda.store.sql.services import Detail, Entity, Found, Record, Services
from ronda.store.sql.store import Store
from ronda.store.sql.watching import Watches
from watched import NOW, keys, number, rows, wanted

WMS, WFS, PAGE = "http://a.test/wms", "http://b.test/wfs?x=1", "http://a.test/"
MAP = Service(0, description="Map of Zürich", type="WMS", version="1.3.0", uuid="u-1")


@pytest.fixture
def services(database: Database) -> Services:
    """Of two services and a page: all the operator's, the map also Zoë's."""
    Adding(database).add(schema.OPERATOR, wanted(WMS, WFS, PAGE), NOW)
    Owners(database).add("Zoë")
    Owners(database).add("adam")
    Adding(database).add(3, wanted(WMS), NOW)
    Adding(database).add(2, wanted(WMS), NOW)
    found = Services(database)
    assert found.describe({WMS: MAP, WFS: Service(9, kind="feature")}) == 2
    return found


def test_what_is_described_is_known(services):
    known = services.facts([1, 2, 3, 99])

    assert known == {
        1: replace(MAP, id=1, kind="service", owner="Zoë"),
        2: Service(2, kind="feature", owner="operator"),
    }


def test_what_is_described_again_is_changed(services):
    again = Service(0, kind="map", description="New", uuid="u-2")

    assert services.describe({WMS: again, "http://nobody.test/": MAP}) == 1
    # What is not said again stays as it was.
    merged = replace(again, type="WMS", version="1.3.0", id=1, owner="Zoë")
    assert services.facts([1]) == {1: merged}
    assert services.describe({}) == 0


def test_only_those_that_an_owner_watches_are_his(services):
    assert services.existing([1, 2, 99]) == {1, 2}
    assert services.existing([1, 2, 99], eid=3) == {1}


def test_a_description_may_be_of_any_bytes(services):
    services.describe({WMS: Service(0, description="a\0b\udcff")})

    assert services.facts([1])[1].description == "a\ufffdb\ufffd"


def test_a_target_of_a_kind_is_found_and_claimed_as_such(services, database):
    page = Catalogue(database).find(Query(kind="feature"))
    assert [one.url for one in page.rows] == [WFS]

    found = Office(database)
    due = found.take(found.join())
    assert {one.url: one.kind for one in due.values()} == {
        WMS: "service",
        WFS: "feature",
        PAGE: "url",
    }


def test_owners_are_told_with_how_much_they_have(services):
    everybody = [Entity(1, "operator", 3), Entity(2, "Zoë", 1), Entity(3, "adam", 1)]

    assert services.entities() == everybody
    names = [one.description for one in services.entities(alphabetic=True)]
    assert names == ["adam", "operator", "Zoë"]
    assert services.entities("ZOË") == [Entity(2, "Zoë", 1)]
    assert services.entities("ad%") == [Entity(3, "adam", 1)]
    assert services.entities("d%") == []


def test_the_targets_of_an_owner_come_by_their_numbers(services):
    assert services.of_owner(2) == [
        Record(1, "Map of Zürich", WMS, "a.test", "WMS", "1.3.0", State.UNKNOWN)
    ]
    assert [one.gid for one in services.of_owner(1, offset=1, limit=1)] == [2]
    page = Record(3, "", PAGE, "a.test", "", "", State.UNKNOWN)
    assert services.of_owner(1)[2] == page
    assert services.of_owner(77) == []


@pytest.mark.parametrize(
    ("gids", "patterns", "expected"),
    [
        ((), (), []),
        ((), ("",), []),
        ((2, 1, 2), (), [1, 2]),
        ((2**70, -1, 0, 3), (), [3]),
        ((2**70,), (), []),
        ((), ("MAP of",), [1]),
        ((), ("%wfs?x=1",), [2]),
        ((), ("wfs%",), []),
        ((), ("a_test",), [1, 3]),
        ((3,), ("zürich", "WFS"), [1, 2, 3]),
        ((), ("\\",), []),
        ((), ("%\\",), []),
        ((), ("a\0\udcff'\x1f",), []),
    ],
)
def test_services_are_found_by_number_or_pattern(services, gids, patterns, expected):
    assert [one.gid for one in services.find(gids, patterns)] == expected


def test_numbers_that_are_there_are_told(services):
    assert services.existing([3, 1, 77, -5, 2**80]) == {1, 3}
    assert services.existing([]) == set()


# -- tasks ----------------------------------------------------------------------------


def task(name: str, state: State = State.OK, **more: str) -> TaskResult:
    words = {"reason": f"is_{state}", "message": str(state)} | more
    return TaskResult(name, state, seconds=0.25, **words)


def visit(database: Database, *tasks: TaskResult, state: State = State.OK) -> None:
    """A visit of the map, with what its tasks found."""
    office = Office(database)
    for one in office.rows(schema.schedule):
        office.set(schema.schedule, one.target_id, next_due=NOW)
    for one in office.rows(schema.server):
        office.set(schema.server, one.id, due_at=NOW, next_at=0.0)
    process = office.join()
    due = office.take(process)[WMS]
    found = entry(due, state, notices=())
    named = tasks[-1].task if tasks else ""
    result = replace(found.result, tasks=tasks, task=named)
    office.write(process, replace(found, result=result))
    office.claims.leave(process)


def names(services: Services) -> list[str]:
    return [one.task for one in services.tasks(1)]


def test_tasks_are_told_in_the_order_of_the_plan(services, database):
    visit(database, task("z"), task("a", data='{"x": 1}'), task("m"))

    assert names(services) == ["z", "a", "m"]
    expected = Found("a", NOW + 1, State.OK, "is_ok", "ok", 0.25, '{"x": 1}')
    assert services.tasks(1)[1] == expected
    assert services.tasks(2) == services.tasks(2**70) == []
    [detail] = services.find([1])
    assert detail == Detail(
        gid=1,
        description="Map of Zürich",
        owner="Zoë",
        url=WMS,
        type="WMS",
        version="1.3.0",
        uuid="u-1",
        kind="service",
        state=State.OK,
        reason="http_ok",
        message="ok",
        tasks=tuple(services.tasks(1)),
    )


def test_what_tasks_found_yesterday_does_not_linger(services, database):
    visit(database, task("a"), task("b"), task("c"))
    visit(database, task("a"), task("b", State.BROKEN), state=State.BROKEN)

    assert names(services) == ["a", "b"]
    assert services.tasks(1)[1].state is State.BROKEN


def test_a_visit_in_which_no_task_applied_clears_all(services, database):
    visit(database, task("a"))
    visit(database)

    assert names(services) == []


def test_a_fault_of_ours_says_nothing_of_other_tasks(services, database):
    visit(database, task("a"), task("b", State.WARNING), task("c"))
    visit(database, task("a", State.WARNING), state=State.UNKNOWN)

    states = {one.task: one.state for one in services.tasks(1)}
    assert states == {"a": State.WARNING, "b": State.WARNING, "c": State.OK}
    visit(database, state=State.UNKNOWN)
    assert names(services) == ["a", "b", "c"]


def test_a_task_that_a_plan_names_twice_is_there_once(services, database):
    visit(database, task("a"), task("b"), task("a", State.WARNING))

    assert {one.task: one.state for one in services.tasks(1)} == {
        "a": State.WARNING,
        "b": State.OK,
    }


def test_what_tasks_say_can_be_any_bytes(services, database):
    bad = "a\0b\udcffü"
    found = TaskResult(bad, State.OK, bad, bad, 0.1, bad, bad)
    visit(database, found)

    [kept] = rows(database, *schema.task_result.c)
    assert [word for word in kept if isinstance(word, str)] == [
        "a\ufffdb\ufffdü",
        "ok",
        *["a\ufffdb\ufffdü"] * 4,
    ]
    assert rows(database, schema.history.c.task) == [("a\ufffdb\ufffdü",)]


def test_the_history_names_the_task_and_keeps_them_all(services, database):
    found = (task("a"), task("b", State.BROKEN, data="d", output="o"))
    visit(database, *found, state=State.BROKEN)

    assert rows(database, schema.history.c.task) == [("b",)]
    shown = Catalogue(database).show(*keys(WMS))
    assert shown is not None
    assert shown.result is not None
    assert (shown.result.task, shown.result.tasks) == ("b", found)


def test_the_tasks_of_a_page_are_none(services, database):
    office = Office(database)
    process = office.join()
    office.write(process, entry(office.take(process)[PAGE]))

    assert number(database, schema.task_result) == 0
    shown = Catalogue(database).show(*keys(PAGE))
    assert shown is not None
    assert shown.result is not None
    assert shown.result.task == ""


def test_a_target_that_nobody_watches_leaves_nothing_behind(services, database):
    visit(database, task("a"))
    watches = Watches(database)
    watches.unregister(1, keys(WMS, WFS))
    assert (number(database, schema.service), len(names(services))) == (1, 1)

    watches.unregister(2, keys(WMS))
    watches.unregister(3, keys(WMS))
    assert number(database, schema.service) == 0
    assert number(database, schema.task_result) == 0


def test_a_store_has_services(database):
    with Store(database.where) as store:
        assert [one.description for one in store.services.entities()] == ["operator"]


# -- patterns -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "text", "fits"),
    [
        ("", "", True),
        ("", "a", True),
        ("b", "aBc", True),
        ("a%", "abc", True),
        ("a%", "ba", False),
        ("%a", "ba", True),
        ("%a", "ab", False),
        ("a%b%c", "a1b2c", True),
        ("a%b%c", "acb", False),
        ("a_%", "a", False),
        ("_", "", False),
        ("a%a", "a", False),
        ("%" * 50 + "x", "y" * 5000, False),
    ],
)
def test_a_pattern_fits(words, text, fits):
    assert Pattern(words).fits(text) is fits


@given(st.text("ab%_", max_size=6), st.text("ab", max_size=8))
def test_a_pattern_fits_what_a_slow_one_does(words, text):
    def slow(like: str, rest: str) -> bool:
        if not like:
            return not rest
        if like[0] == "%":
            return any(slow(like[1:], rest[n:]) for n in range(len(rest) + 1))
        same = rest and like[0] in ("_", rest[0])
        return bool(same) and slow(like[1:], rest[1:])

    like = words if "%" in words else f"%{words}%"
    assert Pattern(words).fits(text) is slow(like, text)
