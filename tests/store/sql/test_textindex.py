"""Texts in URLs: what the index finds, and how it keeps up."""

from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import delete, func, select

from ronda.store.sql import loading, schema, textindex
from ronda.store.sql.adding import Adding, key_of
from ronda.store.sql.catalogue import Catalogue, Query
from ronda.store.sql.containing import folded
from ronda.store.sql.effort import Effort
from ronda.store.sql.engines import Database
from ronda.store.sql.places import pack, unpack
from ronda.store.sql.schema import OPERATOR
from ronda.store.sql.searching import Search
from ronda.store.sql.textindex import LARGE, SMALL, Ranges
from watched import NOW, number, wanted

WORDS = ("news", "Wiki", "shop", "2024", "a%20b", "under_score", "html", "x")


def urls(count: int) -> list[str]:
    """Different ones, some words of which are rare, or only at the end."""
    chance = Random(2)
    made = []
    for at in range(count):
        words = "/".join(chance.choices(WORDS, k=3))
        scheme = chance.choice(("http", "https", "https", "ftp"))
        made.append(f"{scheme}://www.h{at % 50}.test/{words}/{at}")
    made[7] += "/Needle"
    made[-1] += "/lastneedle"
    return made


@pytest.fixture
def stored(database: Database) -> list[str]:
    """Two small ranges, and some URLs beyond them."""
    made = urls(2 * SMALL + 300)
    Adding(database).add(OPERATOR, wanted(*made), NOW)
    with database.reading() as connection:
        assert textindex.ranges(connection) == Ranges(0, 0, 2 * SMALL)
    return made


TEXTS = [
    "needle",
    "NEEDLE",
    "h7.test/",
    "/news/wiki/",
    "https://www.h49",
    "ftp://www.h1.",
    "http://",
    "p://w",
    "20b",
    "r_s",
    "a%20b",
    "a b",
    "5",
    "x/",
    "nothing of the kind",
    "ewsnew",
    "é",
    "\\",
]


@pytest.mark.parametrize("sort", ["added", "changed"])
def test_a_text_is_found_wherever_it_stands(
    database: Database, stored: list[str], sort: Any
) -> None:
    thorough = Effort(few=50, sequential=10**6, random=10**6)
    catalogue = Catalogue(database, thorough)
    for text, down in product(TEXTS, (False, True)):
        page = catalogue.find(
            Query(text=text, sort=sort, descending=down, limit=10_000)
        )

        as_it_stands = text.replace(" ", "%20").replace("é", "%C3%A9").lower()
        expected = [url for url in stored if as_it_stands in url.lower()]
        found = [row.url for row in page.rows]
        assert (text, found) == (text, expected[::-1] if down else expected)


def test_little_more_is_looked_at_than_has_the_text(
    database: Database, stored: list[str]
) -> None:
    beyond = set(range(2 * SMALL, len(stored) + 1))
    for text in TEXTS:
        with database.reading() as connection:
            search = Search(connection, text)
            if not search.is_indexed:
                assert len(text) < 3 or "http://".find(text) >= 0
                continue
            found = search.few(100_000) or []

        having = {n for n, url in enumerate(stored, 1) if folded(text) in url.lower()}
        assert having | beyond <= set(found)
        assert len(found) == len(set(found))
        if text in {"needle", "ewsnew", "nothing of the kind"}:
            assert len(set(found) - beyond) < 300


def test_ids_come_in_order_after_one(database: Database, stored: list[str]) -> None:
    with database.reading() as connection:
        search = Search(connection, "news")
        up = [n for some in search.after(None, descending=False) for n in some]
        for last in (1, SMALL - 1, SMALL, 2 * SMALL + 5, len(stored), len(stored) + 9):
            after = search.after(last, descending=False)
            assert [n for some in after for n in some] == [n for n in up if n > last]
            before = search.after(last, descending=True)
            found = [n for some in before for n in some]
            assert found == [n for n in reversed(up) if n < last]
    assert up == sorted(up)


def test_what_was_removed_is_not_found(database: Database, stored: list[str]) -> None:
    with database.writing() as connection:
        gone = schema.target.c.key == key_of(stored[7])
        connection.execute(delete(schema.target).where(gone))

    page = Catalogue(database).find(Query(text="/needle"))
    assert page.rows == []


def test_many_small_ranges_become_a_large_one(database: Database) -> None:
    made = urls(LARGE + SMALL + 10)
    _put(database, made[:-SMALL])
    textindex.catch_up(database)
    with database.reading() as connection:
        # The large one is made at once, where nobody looked before it was full.
        assert textindex.ranges(connection) == Ranges(0, LARGE, LARGE)

    textindex.rebuild(database)
    _put(database, made[-SMALL:], begin=len(made) - SMALL)
    textindex.catch_up(database)

    with database.reading() as connection:
        assert textindex.ranges(connection) == Ranges(0, LARGE, LARGE + SMALL)
        firsts = select(schema.text_part.c.first).distinct()
        assert set(connection.scalars(firsts)) == {0, LARGE}
    for text in ("needle", "h33.test/news/x"):
        found = Catalogue(database).find(Query(text=text, limit=10_000))
        expected = [url for url in made if text in url.lower()]
        assert [row.url for row in found.rows] == expected


def test_small_ranges_are_replaced_when_the_large_one_is_full(
    database: Database,
) -> None:
    made = urls(LARGE)
    _put(database, made[: SMALL + 5])
    textindex.catch_up(database)
    assert _firsts(database) == {0}

    _put(database, made[SMALL + 5 :], begin=SMALL + 5)
    textindex.catch_up(database)

    assert _firsts(database) == {0}
    with database.reading() as connection:
        assert textindex.ranges(connection) == Ranges(0, LARGE, LARGE)
        # Nothing of the small one is left beside it.
        number = connection.scalar(select(func.count()).select_from(schema.text_part))
        grams = select(func.count(schema.text_part.c.gram.distinct()))
        assert number == connection.scalar(grams)


def test_numbers_that_begin_high_are_not_looked_through_from_0(
    database: Database,
) -> None:
    far = 10**12
    _put(database, urls(SMALL), begin=far - 1)
    textindex.rebuild(database)

    page = Catalogue(database).find(Query(text="needle"))

    assert [row.id for row in page.rows] == [far + 7, far + SMALL - 1]


def test_nothing_is_written_while_no_range_is_full(database: Database) -> None:
    Adding(database).add(OPERATOR, wanted(*urls(20)), NOW)

    assert number(database, schema.text_part) == 0
    assert len(Catalogue(database).find(Query(text="needle")).rows) == 2


def test_what_is_no_url_does_no_harm(database: Database) -> None:
    made = [f"http://x.test/{n}/{chr(0xE9 + n % 9)}İ" for n in range(SMALL)]
    _put(database, made)
    textindex.rebuild(database)

    assert len(Catalogue(database).find(Query(text="/77/")).rows) == 1


@given(st.lists(st.integers(0, 65535), max_size=300).map(sorted))
def test_places_that_are_packed_are_the_same(places: list[int]) -> None:
    assert list(unpack(pack(places))) == places


@given(st.integers(1, 900), st.integers(65, 5000))
def test_places_in_rows_take_few_bytes(step: int, count: int) -> None:
    places = list(range(0, 65536, step))[:count]
    packed = pack(places)

    assert list(unpack(packed)) == places
    assert len(packed) <= 2 * len(places) + 1
    if step < 256 and len(places) > 1000:
        assert len(packed) < len(places) / 4


def test_places_that_cannot_be_pressed_are_kept_as_they_are() -> None:
    chance = Random(1)
    places = sorted(chance.sample(range(65536), 66))

    assert len(pack(places)) == 2 * len(places) + 1
    assert list(unpack(pack(places))) == places


def _put(database: Database, made: list[str], begin: int = 0) -> None:
    """Targets without any of their other rows but what the catalogue joins."""
    with database.writing() as connection:
        if not number(database, schema.host):
            connection.execute(schema.server.insert().values(id=1, address="x"))
            row = {"id": 1, "name": "x", "server_id": 1}
            connection.execute(schema.host.insert().values(row))
        numbered = list(enumerate(made, start=begin + 1))
        rows = [(n, key_of(url), url, "http", 1, NOW) for n, url in numbered]
        columns = ("id", "key", "url", "scheme", "host_id", "added_at")
        loading.append(connection, schema.target, rows, columns)
        due = [(n, 1) for n, _ in numbered]
        loading.append(connection, schema.schedule, due, ("target_id", "server_id"))


def _firsts(database: Database) -> set[int]:
    with database.reading() as connection:
        return set(connection.scalars(select(schema.text_part.c.first).distinct()))
