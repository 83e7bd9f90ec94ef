"""A million URLs imported and asked for, on SQLite and on PostgreSQL."""

import gc
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.aged import DAY, HOUR, NOW, age
from bench.links import WORDS, links
from bench.postgres import Postgres
from ronda.model import State
from ronda.store.sql import textindex
from ronda.store.sql.adding import Adding, Given
from ronda.store.sql.catalogue import Catalogue, Query
from ronda.store.sql.engines import Database
from ronda.store.sql.migrating import ensure
from ronda.store.sql.owners import Owners
from ronda.store.sql.paging import Place, key
from ronda.store.sql.schema import OPERATOR

TARGETS = 1_000_000
TIMES = 40  # that each question is asked, each time for something else
BAR = 50.0  # ms, of 95 in 100
IMPORT_BAR = 60.0  # seconds
SMALL_OWNERS, WATCHED = 20, 100

Asks = Callable[[random.Random], Query]


def run() -> dict[str, Any]:
    """Both engines, one after the other."""
    with TemporaryDirectory(prefix="ronda-catalogue-") as temporary:
        folder = Path(temporary)
        folder.chmod(0o755)
        found = {"sqlite": measure(Database(str(folder / "ronda.db")))}
        with Postgres(folder / "postgres") as server:
            found["postgresql"] = measure(Database(server.url))
    return found


def measure(database: Database) -> dict[str, Any]:
    """Fill a store, and ask it."""
    ensure(database)
    given = links(TARGETS)
    found = fill(database, given)
    catalogue = Catalogue(database)
    hosts = sorted({one.host for one in given})
    gc.freeze()  # what is only ours here is not to be looked through while it answers
    owners = [owner.name for owner in Owners(database).list()[1:]]
    catalogue.find(
        Query(sort="checked")
    )  # the first one of a process looks through all
    answers = {
        name: ask(catalogue, asks, random.Random(name))
        for name, asks in questions(hosts, owners, given).items()
    }
    engine = "PostgreSQL" if database.is_postgres else "SQLite"
    print(f"\n{engine}: {found}")
    for name, answer in answers.items():
        mark = "" if answer["p95"] < BAR else "   MISSED"
        print(
            f"{name:44}{answer['p50']:8.1f}{answer['p95']:8.1f}{answer['max']:8.1f} ms"
            f"{answer['rows']:8.0f} rows{answer['short']:6.0%} short{mark}"
        )
    database.close()
    return found | {"questions": answers}


def fill(database: Database, given: list[Given]) -> dict[str, float]:
    """Import, some owners, and a year of checks."""
    adding = Adding(database)
    start = time.perf_counter()
    adding.add(OPERATOR, given, NOW - 365 * DAY)
    took = time.perf_counter() - start
    start = time.perf_counter()
    textindex.rebuild(database)
    text = time.perf_counter() - start
    chance = random.Random(7)
    for number in range(SMALL_OWNERS):
        owner, _ = Owners(database).add(f"owner{number}", now=NOW)
        adding.add(owner.id, chance.sample(given, WATCHED), NOW)
    half, _ = Owners(database).add("half", now=NOW)
    adding.add(half.id, given[300_000:350_000], NOW)
    age(database)
    if database.is_postgres:
        with database.engine.connect() as connection:
            alone = connection.execution_options(isolation_level="AUTOCOMMIT")
            alone.exec_driver_sql("VACUUM ANALYZE")
    return {"import_seconds": took, "of_which_text_index": text}


def ask(catalogue: Catalogue, asks: Asks, chance: random.Random) -> dict[str, float]:
    """Ask for first pages, the pages after them, and pages from anywhere."""
    times, rows, short = [], [], 0
    for number in range(TIMES):
        query = asks(chance)
        if number % 3 == 2:
            query = _deep(query, chance)
        for _ in range(3):
            start = time.perf_counter()
            page = catalogue.find(query)
            times.append((time.perf_counter() - start) * 1000)
            rows.append(len(page.rows))
            short += bool(page.next) and len(page.rows) < query.limit
            if not page.next:
                break
            fields = {name: getattr(query, name) for name in query.__struct_fields__}
            query = Query(**fields | {"after": page.next})
    return {
        "p50": statistics.median(times),
        "p95": sorted(times)[int(len(times) * 0.95)],
        "max": max(times),
        "rows": statistics.mean(rows),
        "short": short / len(times),
    }


def _deep(query: Query, chance: random.Random) -> Query:
    place = {
        "added": Place(0, chance.randrange(TARGETS)),
        "changed": Place(NOW - chance.expovariate(1 / (40 * DAY)), 1),
        "checked": Place(chance.randrange(2 * TARGETS), 1),
    }[query.sort]
    fields = {name: getattr(query, name) for name in query.__struct_fields__}
    return Query(**fields | {"after": key(query, place)})


def questions(
    hosts: list[str], owners: list[str], given: list[Given]
) -> dict[str, Asks]:
    """What people ask of a catalogue, each with a part that chance chooses."""

    def ordered(**asked: Any) -> Asks:
        def make(chance: random.Random) -> Query:
            chosen = {
                name: value(chance) if callable(value) else value
                for name, value in asked.items()
            }
            sort = chance.choice(("added", "changed", "checked"))
            return Query(**{"sort": sort, "descending": chance.random() < 0.5} | chosen)

        return make

    def state(chance: random.Random) -> State:
        return chance.choice(list(State))

    def host(chance: random.Random) -> str:
        return chance.choice(hosts)

    def owner(chance: random.Random) -> str:
        return chance.choice(owners[:SMALL_OWNERS])

    def piece(chance: random.Random) -> str:
        url = chance.choice(given).url
        begin = chance.randrange(8, len(url) - 4)
        return url[begin : begin + chance.randrange(4, 20)].swapcase()

    def word(chance: random.Random) -> str:
        return chance.choice(WORDS)

    def ago(days: float) -> Callable[[random.Random], float]:
        return lambda chance: NOW - chance.random() * days * DAY

    big, first = given[0].host, "operator"
    reasons = ["http_404", "http_200", "redirected", "tls_expired", "http_403", "typo"]
    reason: Any = lambda chance: chance.choice(reasons)  # noqa: E731
    label: Any = lambda chance: chance.choice(["press", "docs", "rare", "first", "x"])  # noqa: E731
    scheme: Any = lambda chance: chance.choice(["https", "http", "ftp", "sftp", "x"])  # noqa: E731
    return {
        "all": ordered(),
        "state": ordered(state=state),
        "owner of 1,000,000": ordered(owner=first),
        "owner of 50,000": ordered(owner="half"),
        "owner of 100": ordered(owner=owner),
        "owner of 1,000,000, state": ordered(owner=first, state=state),
        "owner of 50,000, state": ordered(owner="half", state=state),
        "owner of 100, state": ordered(owner=owner, state=state),
        "host": ordered(host=host),
        "host of 50,000": ordered(host=big),
        "host of 50,000, state": ordered(host=big, state=state),
        "label": ordered(label=label),
        "label, state": ordered(label=label, state=state),
        "label, reason": ordered(label=label, reason=reason),
        "scheme": ordered(scheme=scheme),
        "scheme, state": ordered(scheme=scheme, state=state),
        "reason": ordered(reason=reason),
        "reason, owner of 50,000": ordered(reason=reason, owner="half"),
        "checked within an hour": ordered(checked_after=ago(1 / 24)),
        "checked within a day": ordered(checked_after=ago(1)),
        "not checked for days": ordered(checked_before=ago(10)),
        "checked in an hour of some day": lambda chance: _window(chance, ordered()),
        "broken, not checked for days": ordered(
            state=State.BROKEN, checked_before=ago(7)
        ),
        "never checked": ordered(checked_before=1.0),
        "changed within a day": ordered(changed_after=ago(1)),
        "changed long ago": ordered(changed_before=ago(200)),
        "broken, changed within a week": ordered(
            state=State.BROKEN, changed_after=ago(7)
        ),
        "disabled": ordered(enabled=False),
        "text: a piece of some URL": ordered(text=piece),
        "text: a word": ordered(text=word),
        "text: nearly all": ordered(text="HTTP"),
        "text: one host": ordered(text=host),
        "text: nothing": ordered(text="no such text"),
        "text: two characters": ordered(text=lambda c: word(c)[:2]),
        "text: a word, state": ordered(text=word, state=state),
        "text: a piece, owner of 50,000": ordered(text=piece, owner="half"),
        "text: a word, label, reason": ordered(text=word, label=label, reason=reason),
    }


def _window(chance: random.Random, asks: Asks) -> Query:
    begin = NOW - chance.random() * 7 * DAY
    query = asks(chance)
    return Query(
        checked_after=begin,
        checked_before=begin + HOUR,
        sort=query.sort,
        descending=query.descending,
    )


if __name__ == "__main__":
    run()
