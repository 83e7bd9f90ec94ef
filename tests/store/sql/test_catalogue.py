"""The catalogue against a slow one, and its pages while targets move."""

from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from sqlalchemy import event, update

from catalogued import HOSTS, LABELS, OWNERS, REASONS, TEXTS, Fact, slowly, store
from ronda.errors import UsageError
from ronda.model import State
from ronda.store.sql import schema, tallies
from ronda.store.sql.adding import Adding, key_of
from ronda.store.sql.catalogue import Catalogue, Page, Query, chosen
from ronda.store.sql.effort import Effort
from ronda.store.sql.engines import Database
from ronda.store.sql.owners import Owners
from ronda.store.sql.schema import OPERATOR
from ronda.store.sql.values import Known
from ronda.store.sql.watching import Watches
from watched import DAY, NOW, found, keys, wanted

COUNT = 70  # targets

# By a set that has it all; along orders; along orders, hardly looking at anything; and
# with a list of the stale that is full at once.
EFFORTS = {
    "sets": Effort(),
    "orders": Effort(few=0, span=0),
    "short": Effort(few=2, first=3, growth=2, sequential=9, random=5, span=3),
    "stale": Effort(few=0, span=0, listed=7, recent=1),
}

moments = st.sampled_from([0.0, 1.0, *(NOW - d * DAY for d in (0.05, 0.5, 2, 5, 30))])
queries = st.builds(
    Query,
    state=st.none() | st.sampled_from(State),
    owner=st.none() | st.sampled_from((*OWNERS, "nobody")),
    host=st.none() | st.sampled_from((*HOSTS, "nowhere.test")),
    label=st.none() | st.sampled_from((*LABELS, "x")),
    scheme=st.none() | st.sampled_from(("http", "https", "ftp", "gopher")),
    reason=st.none()
    | st.sampled_from(sorted({r for rs in REASONS.values() for r in rs})),
    checked_after=st.none() | moments,
    checked_before=st.none() | moments,
    changed_after=st.none() | moments,
    changed_before=st.none() | moments,
    text=st.none() | st.sampled_from(TEXTS),
    enabled=st.none() | st.booleans(),
    acknowledged=st.none() | st.booleans(),
    flapping=st.none() | st.booleans(),
    kind=st.none() | st.sampled_from(("url", "service", "other")),
    choose=st.sampled_from(("", "", "new", "failed", "unanswered")),
    sort=st.sampled_from(("added", "changed", "checked")),
    descending=st.booleans(),
    limit=st.sampled_from((1, 7, 100)),
)
# Most say one or two things: all of it together finds nothing.
FIELDS = [
    f for f in Query.__struct_fields__ if f not in {"sort", "descending", "limit"}
]
EMPTY = {"after": "", "choose": ""}
few = st.builds(
    lambda query, kept: replace(
        query, **{f: EMPTY.get(f) for f in FIELDS if f not in kept}
    ),
    queries,
    st.sets(st.sampled_from(FIELDS), max_size=2),
)


@pytest.fixture
def facts(database: Database) -> list[Fact]:
    return store(database, COUNT, Random(4))


def everything(catalogue: Catalogue, query: Query) -> list[Known]:
    """All pages, one after the other."""
    found: list[Known] = []
    for _ in range(10_000):
        page = catalogue.find(query)
        found += page.rows
        assert len(page.rows) <= query.limit
        if not page.next:
            return found
        query = replace(query, after=page.next)
    raise AssertionError("the pages do not end")


@pytest.mark.parametrize("effort", EFFORTS)
@settings(
    max_examples=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(query=few | queries)
def test_pages_show_what_a_slow_catalogue_finds_in_its_order(
    database: Database, facts: list[Fact], effort: str, query: Query
) -> None:
    catalogue = Catalogue(database, EFFORTS[effort])

    shown = [known.id for known in everything(catalogue, query)]

    assert shown == slowly(facts, query)


@settings(
    max_examples=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(query=few | queries)
def test_what_is_chosen_for_a_round_is_what_is_found(
    database: Database, facts: list[Fact], query: Query
) -> None:
    found = chosen(query)
    with database.reading() as connection:
        ids = connection.scalars(found).all() if found is not None else None

    if ids is None:
        assert len(slowly(facts, query)) == COUNT
    else:
        assert sorted(ids) == sorted(slowly(facts, query))


@pytest.mark.parametrize("sort", ["added", "changed", "checked"])
@pytest.mark.parametrize("descending", [False, True], ids=["up", "down"])
def test_who_stays_where_he_is_is_shown_exactly_once_while_others_move(
    database: Database, facts: list[Fact], sort: Any, descending: bool
) -> None:
    effort = EFFORTS["orders"]
    query = Query(sort=sort, descending=descending, limit=5)
    chance = Random(1)
    moved: set[int] = set()
    shown: list[int] = []
    while True:
        page = Catalogue(database, effort).find(query)
        shown += [known.id for known in page.rows]
        if not page.next:
            break
        query = replace(query, after=page.next)
        moved |= _change_some(database, facts, chance)

    still = {fact.id for fact in facts} - moved
    assert len(still) > 10
    assert sorted(n for n in shown if n in still) == sorted(still)
    if sort == "added":
        assert sorted(shown) == [fact.id for fact in facts]


def _change_some(database: Database, facts: list[Fact], chance: Random) -> set[int]:
    """Let some be checked, and change."""
    some = {fact.id for fact in chance.sample(facts, 2) if fact.result}
    with database.writing() as connection:
        for number in some:
            row = {"target_id": number, "task": "url", "at": NOW, "state": "broken"}
            row |= {"standing": "broken", "reason": "x", "evidence": b"\x90"}
            new = schema.history.insert().values(row).returning(schema.history.c.id)
            result = connection.scalar(new)
            this = schema.schedule.c.target_id == number
            values = {"last_result": result, "last_check_at": NOW}
            connection.execute(update(schema.schedule).where(this).values(values))
            this = schema.target.c.id == number
            values = {"state": "broken", "last_change_at": NOW}
            connection.execute(update(schema.target).where(this).values(values))
        tallies.recount(connection)
    return some


def test_who_asks_sees_only_what_he_watches_as_he_spells_it(
    database: Database,
) -> None:
    other = Owners(database).add("press")[0].id
    watches = Watches(database)
    watches.register(OPERATOR, wanted("http://a.test/1", "http://a.test/2"), NOW)
    watches.register(other, wanted("http://a.test/1", spelling="HTTP://a.test/1"), NOW)
    watches.acknowledge(other, keys("http://a.test/1"))
    catalogue = Catalogue(database)

    [seen] = catalogue.find(Query(), other).rows
    assert (seen.spelling, seen.acknowledged) == ("HTTP://a.test/1", True)

    [seen] = catalogue.find(Query(owner="operator"), other).rows
    assert seen.spelling == "HTTP://a.test/1"

    first, second = catalogue.find(Query()).rows
    assert not second.acknowledged
    assert (first.spelling, first.acknowledged) == ("", True)  # by somebody
    [mine] = catalogue.find(Query(text="/1"), OPERATOR).rows
    assert not mine.acknowledged
    assert [r.url for r in catalogue.find(Query(owner="press")).rows] == [first.url]
    assert catalogue.find(Query(owner="nobody")) == Page([])


def test_a_page_is_short_when_enough_was_looked_at(
    database: Database, facts: list[Fact]
) -> None:
    rare = Query(sort="changed", label="old", enabled=False)

    page = Catalogue(database, EFFORTS["short"]).find(rare)

    assert len(page.rows) < len(slowly(facts, rare))
    assert page.next


@pytest.mark.parametrize("sort", ["added", "changed", "checked"])
@pytest.mark.parametrize("descending", [False, True], ids=["up", "down"])
def test_a_small_set_has_pages_too(
    database: Database, facts: list[Fact], sort: Any, descending: bool
) -> None:
    query = Query(label="old", sort=sort, descending=descending, limit=3)

    found = [known.id for known in everything(Catalogue(database), query)]

    assert found == slowly(facts, query)


def test_who_watches_nothing_unknown_is_not_looked_for_among_it(
    database: Database,
) -> None:
    Adding(database).add(OPERATOR, wanted("http://a.test/1"), NOW)
    found(database, "http://a.test/1", state="ok", last_change_at=NOW)
    other = Owners(database).add("press")[0].id
    Adding(database).add(other, wanted("http://a.test/2"), NOW)

    page = Catalogue(database, EFFORTS["orders"]).find(Query(sort="changed"), OPERATOR)

    assert [known.url for known in page.rows] == ["http://a.test/1"]


@pytest.mark.parametrize("limit", [0, -1, 10_001])
def test_a_page_has_a_size(database: Database, limit: int) -> None:
    with pytest.raises(UsageError, match="a page has from 1 to 10,000 targets"):
        Catalogue(database).find(Query(limit=limit))


@pytest.mark.parametrize("after", ["x", "é", "WyJ4Il0", "////", "=" * 9])
def test_a_key_that_is_none_is_refused(database: Database, after: str) -> None:
    with pytest.raises(UsageError, match="not the key of a page"):
        Catalogue(database).find(Query(after=after))


def test_a_key_of_another_order_is_refused(
    database: Database, facts: list[Fact]
) -> None:
    catalogue = Catalogue(database)
    after = catalogue.find(Query(limit=1)).next

    for other in ({"sort": "changed"}, {"descending": True}):
        with pytest.raises(UsageError, match="of another order"):
            catalogue.find(Query(after=after, **other))


def test_the_list_of_the_stale_is_made_anew_after_a_day(
    database: Database, facts: list[Fact]
) -> None:
    catalogue = Catalogue(database, EFFORTS["stale"])
    catalogue.find(Query(sort="checked"))
    with database.writing() as connection:
        latest = {"hour": int(NOW // 3600) + 30, "first_id": 10_000, "last_id": 10_000}
        connection.execute(schema.hour.insert().values(latest))

    found = [known.id for known in everything(catalogue, Query(sort="checked"))]

    assert found == slowly(facts, Query(sort="checked"))


def test_no_page_asks_the_same_twice(database: Database, facts: list[Fact]) -> None:
    steps = Effort(few=0, span=0, first=3, growth=2, sequential=50, random=50)
    catalogue = Catalogue(database, steps)
    catalogue.find(Query(sort="checked"))  # the first one lists what is stale
    asked: list[str] = []

    @event.listens_for(database.engine, "before_cursor_execute")
    def note(_connection: Any, _cursor: Any, words: str, values: Any, *_: Any) -> None:
        asked.append(f"{words} {values}")

    for sort in ("changed", "checked"):
        asked.clear()
        catalogue.find(
            Query(sort=sort, owner="press", state=State.OK, text="/", limit=100)
        )

        assert any("tally" in one for one in asked)
        assert len(asked) == len(set(asked))


def test_counts_are_those_of_the_tally_and_name_every_state(
    database: Database, facts: list[Fact]
) -> None:
    catalogue = Catalogue(database)
    counts = catalogue.counts()

    assert list(counts) == list(State)
    for state in State:
        assert counts[state] == sum(fact.state is state for fact in facts)
    press = catalogue.counts(Owners(database).find("press").id)
    assert sum(press.values()) == sum("press" in fact.owners for fact in facts)
    assert set(catalogue.counts(99).values()) == {0}


class TestShow:
    def test_all_that_is_known_of_a_target_is_shown(self, database: Database) -> None:
        Owners(database).add("press")
        given = wanted("http://a.test/1", labels=("x", "b"))
        for owner in Owners(database).list():
            Adding(database).add(owner.id, given, NOW)
        with database.writing() as connection:
            pace = {"asked_at": 1.0, "next_at": 2.0}
            connection.execute(update(schema.server).values(pace))
            pace |= {"next_at": 3.0, "gap": 4.0, "rests_until": 5.0}
            connection.execute(update(schema.host).values(pace))

        shown = Catalogue(database).show(key_of("http://a.test/1"))

        assert shown is not None
        assert shown.target.url == "http://a.test/1"
        assert shown.owners == ["operator", "press"]
        assert shown.labels == ["b", "x"]
        assert (shown.host, shown.server) == ("a.test", "name:a.test")
        assert (shown.server_pace.asked_at, shown.server_pace.next_at) == (1.0, 2.0)
        assert (shown.host_pace.next_at, shown.host_pace.gap) == (3.0, 4.0)
        assert shown.host_pace.rests_until == 5.0
        assert shown.result is None

    def test_the_last_result_is_shown_with_its_evidence(
        self, database: Database, facts: list[Fact]
    ) -> None:
        fact = next(fact for fact in facts if fact.result)

        shown = Catalogue(database).show(key_of(fact.url))

        assert shown is not None
        assert shown.result is not None
        assert shown.result.url == fact.url
        assert shown.result.verdict is fact.state
        assert shown.result.checked_at.endswith("Z")

    def test_what_nobody_watches_is_not_shown(self, database: Database) -> None:
        assert Catalogue(database).show(key_of("http://a.test/1")) is None
