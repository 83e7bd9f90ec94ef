"""Rounds through store, claims, rotation and ledger: who comes late is not last."""

import asyncio
from itertools import pairwise

import pytest
from msgspec.structs import replace

from ronda.app.watching import watch
from ronda.config import Plan, Settings, Tasks
from ronda.model import Answer, Done, Service, State, Verdict, Visit
from ronda.probes import Handlers
from ronda.probes.task import Asked, Row
from ronda.store.sql.catalogue import Query
from ronda.store.sql.schema import OPERATOR
from ronda.store.sql.store import Store
from ronda.store.sql.values import Entry
from ronda.workers.desk import Desk
from ronda.workers.enrolment import enrolled

GOOD = Verdict(State.OK, "fine", "it is fine")
MANY, FEW = 600, 20


def _ask(_visit: Visit, _service: Service) -> Verdict:
    return GOOD


def _judge(_visit: Visit, _answer: Answer, _now: float) -> Done:
    raise AssertionError("nobody was asked")


NOTHING = Row(name="nothing", task=Asked(_ask, _judge))
SETTINGS = Settings(
    plans=(Plan(kind="service", tasks=("nothing",)),), tasks=Tasks(workers=20, batch=5)
)


@pytest.fixture
def store(database_url: str) -> Store:
    with Store(database_url) as opened:
        handlers = Handlers(SETTINGS)
        # Some on servers of their own, some on one that all of them share.
        urls = [
            f"http://127.0.{n // 100}.{n % 100 + 1 if n % 3 else 250}/{n}"
            for n in range(MANY + FEW)
        ]
        given = [enrolled(url, url, handlers) for url in urls]
        opened.adding.add(OPERATOR, given, opened.database.epoch())
        opened.services.describe(dict.fromkeys(urls, Service(0, description="x")))
        yield opened


def visited(store: Store, settings: Settings = SETTINGS) -> list[Entry]:
    """All results, in the order in which they were written."""
    found: list[Entry] = []

    async def play() -> None:
        desk = Desk(lambda _words: None)
        opened = watch(
            settings,
            store,
            desk,
            lambda _words: None,
            until_done=True,
            tasks=[NOTHING],
            heard=found.append,
        )
        try:
            async with opened as session:
                await session.carry_out()
        finally:
            desk.close()

    asyncio.run(play())
    return found


def begin(store: Store, name: str, ids: list[int]) -> int:
    now = store.database.epoch()
    return store.rounds.begin(name, Query(), now, forced=True, ids=ids).id


def test_a_small_round_that_comes_late_does_not_wait_for_a_great_one(
    store: Store,
) -> None:
    great = begin(store, "great", list(range(1, MANY + 1)))
    small = begin(store, "small", list(range(MANY + 1, MANY + FEW + 1)))

    found = visited(store)

    rounds = [entry.due.round for entry in found]
    assert rounds.count(great) == MANY
    assert rounds.count(small) == FEW
    last = max(place for place, number in enumerate(rounds) if number == small)
    assert last < MANY / 3
    for number, count in ((great, MANY), (small, FEW)):
        ended = store.rounds.show(number)
        assert (ended.done, ended.total) == (count, count)
        assert ended.ended_at is not None
        assert store.rounds.counts(number)[State.OK] == count


def test_the_targets_of_a_round_are_visited_in_its_order(store: Store) -> None:
    """One worker, so that nothing overtakes; each server has its own line."""
    ids = [n for n in range(1, 100) if (n - 1) % 3][::-1]
    number = begin(store, "backwards", ids)
    alone = replace(SETTINGS, tasks=Tasks(workers=1, batch=1))

    found = [e.due.id for e in visited(store, alone) if e.due.round == number]

    assert sorted(found) == sorted(ids)
    places = {one: place for place, one in enumerate(ids)}
    # Servers are claimed in slices, whose targets come one slice after the other.
    backwards = sum(places[a] > places[b] for a, b in pairwise(found))
    assert backwards <= len(ids) / 10


def test_a_round_that_was_stopped_is_left_alone(store: Store) -> None:
    number = begin(store, "stopped", list(range(1, MANY + 1)))
    store.rounds.stop(number, store.database.epoch())

    found = visited(store)

    assert {entry.due.round for entry in found} == {None}  # they were due anyway
    assert len(found) == MANY + FEW
