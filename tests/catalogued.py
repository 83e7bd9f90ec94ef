"""A small store with targets of all sorts, and what a slow catalogue says of it."""

from random import Random
from typing import Any

from msgspec import Struct
from sqlalchemy import insert, update

from ronda.model import State
from ronda.store.sql import loading, schema, tallies
from ronda.store.sql.adding import Adding, Given
from ronda.store.sql.engines import Database
from ronda.store.sql.owners import Owners
from ronda.store.sql.query import Query
from watched import DAY, HOUR, NOW

OWNERS = ("operator", "press", "idle")
HOSTS = ("a.test", "b.test", "c.test")
LABELS = ("news", "old")
KINDS = ("url", "url", "service")
FAILING = {State.BROKEN, State.TEMPORARY, State.BLOCKED}
TEXTS = ("a.test", "PAGE/1", "9", "e/2", "https://", "zz", "%20x", "_", "http", "/")
REASONS = {
    State.OK: ("http_200", "redirected"),
    State.WARNING: ("moved_permanently",),
    State.BROKEN: ("http_404", "http_410"),
    State.TEMPORARY: ("http_503",),
    State.BLOCKED: ("http_403",),
    State.UNSUPPORTED: ("scheme_unsupported",),
    State.UNKNOWN: ("", "own_fault"),
}


class Fact(Struct):
    """What is true of a target."""

    id: int
    url: str
    host: str
    scheme: str
    labels: tuple[str, ...]
    state: State
    reason: str
    checked: float
    changed: float
    result: int  # 0: none
    enabled: bool
    flapping: bool
    owners: dict[str, bool]  # whether each has acknowledged it
    kind: str
    failures: int
    status: int = -1  # of the last answer; -1: there was none yet


def store(database: Database, count: int, chance: Random) -> list[Fact]:
    """Fill it; what is in it."""
    given = [_given(chance, number) for number in range(count)]
    adding = Adding(database)
    adding.add(1, given, NOW - 100 * DAY)
    other = Owners(database).add("press")[0].id
    Owners(database).add("idle")
    watched = [one for one in given if chance.random() < 0.4]
    adding.add(other, watched, NOW)
    facts = [
        _fact(chance, number, one, is_watched=one in watched)
        for number, one in enumerate(given, start=1)
    ]
    with database.writing() as connection:
        _check(connection, facts, chance)
        for fact in facts:
            _write(connection, fact, other)
        tallies.recount(connection)
        loading.go_on(connection, [schema.history])
    return facts


def _given(chance: Random, number: int) -> Given:
    scheme = chance.choice(("http", "https", "https", "ftp"))
    host = chance.choice(HOSTS)
    labels = tuple(label for label in LABELS if chance.random() < 0.3)
    url = f"{scheme}://{host}/{chance.choice(('page', 'Pa%20x', 'a_b'))}/{number}"
    return Given(url, host, scheme, None, labels)


def _fact(chance: Random, number: int, given: Given, *, is_watched: bool) -> Fact:
    state = chance.choice((*State, State.OK, State.OK))
    known = state is not State.UNKNOWN
    owners = {"operator": chance.random() < 0.2}
    if is_watched:
        owners["press"] = chance.random() < 0.5
    return Fact(
        id=number,
        url=given.url,
        host=given.host,
        scheme=given.scheme,
        labels=given.labels,
        state=state,
        reason=chance.choice(REASONS[state]),
        checked=0.0,
        # Some at the same moment.
        changed=NOW - chance.choice((0, 1, 1, 5, 30)) * DAY if known else 0.0,
        result=0,
        enabled=chance.random() < 0.8,
        flapping=chance.random() < 0.2,
        owners=owners,
        kind=chance.choice(KINDS),
        failures=chance.choice((0, 0, 0, 1)),
    )


def _check(connection: Any, facts: list[Fact], chance: Random) -> None:
    """Results of the last days, most of them not the newest of their targets."""
    checked = [f for f in facts if f.state is not State.UNKNOWN or f.reason]
    moments = sorted(
        (NOW - chance.random() * chance.choice((0.1, 1, 9, 80)) * DAY, fact.id)
        for fact in checked
        for _ in range(chance.choice((1, 1, 3)))
    )
    by_id = {fact.id: fact for fact in facts}
    hours: dict[int, list[int]] = {}
    for number, (at, target) in enumerate(moments, start=1):
        fact = by_id[target]
        row = {"id": number, "target_id": target, "task": "url", "at": at}
        row |= {"state": fact.state, "standing": fact.state, "reason": fact.reason}
        fact.status = chance.choice((0, 200))
        row |= {"previous": fact.result or None, "evidence": b"\x90"}
        row |= {"status": fact.status}
        connection.execute(insert(schema.history).values(row))
        fact.result, fact.checked = number, at
        hours.setdefault(int(at // HOUR), [number, number])[1] = number
    for hour, (first, last) in hours.items():
        row = {"hour": hour, "first_id": first, "last_id": last}
        connection.execute(insert(schema.hour).values(row))


def _write(connection: Any, fact: Fact, press: int) -> None:
    target, schedule, watch = schema.target, schema.schedule, schema.watch
    values = {"state": fact.state.value, "reason": fact.reason}
    values |= {"last_change_at": fact.changed, "enabled": fact.enabled}
    values |= {"kind": fact.kind}
    connection.execute(update(target).where(target.c.id == fact.id).values(values))
    planned = {"last_check_at": fact.checked, "last_result": fact.result or None}
    row = update(schedule).where(schedule.c.target_id == fact.id)
    marks = {"flapping": fact.flapping, "failures": fact.failures}
    connection.execute(row.values(**marks, **planned))
    for name, acknowledged in fact.owners.items():
        number = 1 if name == "operator" else press
        this = watch.c.owner_id == number, watch.c.target_id == fact.id
        mark = fact.state.value if acknowledged else ""
        connection.execute(update(watch).where(*this).values(acknowledged=mark))


def slowly(facts: list[Fact], query: Query) -> list[int]:
    """The ids that a query means, in their order."""
    found = [fact for fact in facts if _matches(fact, query)]
    keys = {
        "added": lambda fact: (fact.id,),
        "changed": lambda fact: (fact.changed, fact.id),
        "checked": lambda fact: (fact.result, fact.id),
    }
    found.sort(key=keys[query.sort], reverse=query.descending)
    return [fact.id for fact in found]


def _matches(fact: Fact, query: Query) -> bool:
    names = ("state", "host", "scheme", "reason", "enabled", "flapping", "kind")
    for name in names:
        value = getattr(query, name)
        if value is not None and value != getattr(fact, name):
            return False
    if query.owner is not None and query.owner not in fact.owners:
        return False
    if query.label is not None and query.label not in fact.labels:
        return False
    if query.text and query.text.lower() not in fact.url.lower():
        return False
    if query.acknowledged is not None:
        marks = fact.owners
        marked = any(marks.values()) if query.owner is None else marks[query.owner]
        if marked is not query.acknowledged:
            return False
    spans = (
        (fact.checked, query.checked_after, query.checked_before),
        (fact.changed, query.changed_after, query.changed_before),
    )
    return _is_chosen(fact, query.choose) and all(
        (low is None or low <= at) and (high is None or at < high)
        for at, low, high in spans
    )


def _is_chosen(fact: Fact, choose: str) -> bool:
    return {
        "": True,
        "new": fact.checked == 0,
        "failed": fact.state in FAILING or fact.failures > 0,
        "unanswered": fact.status == 0 and fact.state in FAILING,
    }[choose]
