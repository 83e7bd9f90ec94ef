"""A store with something of everything in it: by hand, or whatever hypothesis wants."""

from typing import Any

from hypothesis import strategies as st
from sqlalchemy import Table, delete

from ronda.model import Certificate, Hop, Result, State, Timings
from ronda.store.sql import loading, schema, tallies
from ronda.store.sql.engines import Database
from ronda.store.sql.evidence import pack

NOW = 1_700_000_000.0
HOUR = 3600.0
DAY = 24 * HOUR

Rows = dict[Table, list[dict[str, Any]]]

# PostgreSQL has no NUL in a text, and neither engine has surrogates.
texts = st.text(
    st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), max_size=12
)
moments = st.floats(0, 4e9)
counts = st.integers(0, 2**31 - 1)
states = st.sampled_from([state.value for state in State])


def result(number: int = 0) -> Result:
    """A result with evidence of every sort."""
    return Result(
        url="",
        verdict=State.OK,
        reason="",
        message="",
        hops=(Hop(f"http://a.test/{number}", 301, "http://a.test/"),),
        status=200 + number,
        address="127.0.0.1",
        timings=Timings(0.1, 0.2, 0.3, 0.4, 0.5),
        bytes=number,
        certificate=Certificate(subject="a.test", names=("a.test", "ü.test")),
        attempts=2,
        directives=("nofollow",),
        media_type="text/html",
        evidence="Traceback",
    )


def fill(database: Database, rows: Rows) -> None:
    """Put rows into a store; the operator is among them only if they say so."""
    with database.writing() as connection:
        if schema.owner in rows:
            connection.execute(delete(schema.owner))
        for table in schema.metadata.sorted_tables:
            columns = [column.name for column in table.columns]
            some = [tuple(row[name] for name in columns) for row in rows.get(table, [])]
            if some:
                loading.append(connection, table, some)
        loading.go_on(connection, rows)
        tallies.recount(connection)


def everything() -> Rows:
    """Two targets of three results each, and a row of everything else."""
    return {
        schema.owner: [_owner(1, "operator"), _owner(2, "Zoë"), _owner(3, "adam")],
        schema.server: [
            _server(1, "127.0.0.1", due_at=NOW + HOUR),
            _server(2, "name:b.test", due_at=NOW - HOUR, holder=9),
        ],
        schema.host: [_host(1, "a.test", 1), _host(2, "b.test", 2)],
        schema.target: [_target(1, 1, "ok"), _target(2, 2, "broken")],
        schema.schedule: [_schedule(1, 1, 5), _schedule(2, 2, 6)],
        schema.history: [_history(number) for number in range(1, 7)],
        schema.hour: [
            {"hour": int((NOW - days * DAY) // HOUR), "first_id": a, "last_id": a + 1}
            for days, a in ((100, 1), (10, 3), (1, 5))
        ],
        schema.watch: [_watch(1, 1), _watch(2, 1, "HTTP://a.test/1"), _watch(2, 2)],
        schema.label: [
            {"name": name, "target_id": 1} for name in ("b", "Ä", "a", "B", "z")
        ],
        schema.service: [
            _row(schema.service, target_id=2, description="Map of Zürich", type="WMS")
        ],
        schema.task_result: [_task(2, name, at) for at, name in enumerate("zÄa")],
        schema.round_: [
            _row(schema.round_, id=3, name="night", started_at=NOW, total=2, done=1)
        ],
        schema.round_result: [_round_result(3, number) for number in (2, 1)],
        schema.request: [
            {"id": 4, "server_id": 2, "target_id": 2, "visit": b"\x00\xff", "at": NOW}
        ],
        schema.robots: [
            {"authority": "http://a.test", "body": b"Disallow: /\xff", "at": NOW}
        ],
        schema.notice: [_notice(7, 2)],
        schema.batch: [_batch(2)],
        schema.process: [_process(9)],
        schema.fact: [{"name": "colour", "value": "red"}],
    }


@st.composite
def contents(draw: st.DrawFn) -> Rows:
    """Rows that go together, whatever is in them."""
    ids = st.lists(st.integers(1, 2**40), min_size=1, max_size=3, unique=True)
    owners, hosts = draw(ids), draw(ids)
    few = st.lists(st.integers(1, 9000), min_size=1, max_size=3, unique=True)
    targets = draw(few)  # the text index goes through all numbers up to the last
    some = st.lists(st.sampled_from(targets), max_size=3)
    pairs = st.lists(st.tuples(texts, st.sampled_from(targets)), unique=True)
    watches = st.tuples(st.sampled_from(owners), st.sampled_from(targets))
    history = draw(ids)
    rounds = draw(ids)
    return {
        schema.owner: [_drawn(draw, schema.owner, id=n, name=str(n)) for n in owners],
        schema.server: [
            _drawn(draw, schema.server, id=n, address=str(n), holder=None)
            for n in hosts
        ],
        schema.host: [
            _drawn(draw, schema.host, id=n, name=str(n), server_id=n) for n in hosts
        ],
        schema.target: [
            _drawn(draw, schema.target, id=n, key=-n, url=f"x:{n}", host_id=hosts[0])
            for n in targets
        ],
        schema.schedule: [
            _drawn(draw, schema.schedule, target_id=n, server_id=hosts[0])
            for n in targets
        ],
        schema.history: [
            _drawn(
                draw,
                schema.history,
                id=n,
                status=n % 99,
                evidence=pack(result(n % 99)),
            )
            for n in history
        ],
        schema.watch: [
            _drawn(draw, schema.watch, owner_id=owner, target_id=target)
            for owner, target in draw(st.lists(watches, unique=True, max_size=4))
        ],
        schema.label: [
            {"name": name, "target_id": target} for name, target in draw(pairs)
        ],
        schema.request: [
            _drawn(draw, schema.request, id=n, target_id=n, server_id=hosts[0])
            for n in set(draw(some))
        ],
        schema.service: [
            _drawn(draw, schema.service, target_id=n) for n in set(draw(some))
        ],
        schema.task_result: [
            _drawn(draw, schema.task_result, target_id=number, task=name)
            for name, number in draw(pairs)
        ],
        schema.round_: [_drawn(draw, schema.round_, id=n, name=str(n)) for n in rounds],
        schema.round_result: [
            _drawn(draw, schema.round_result, round_id=rounds[0], target_id=n)
            for n in set(draw(some))
        ],
        schema.robots: [
            _drawn(draw, schema.robots, authority=name) for name in set(draw(_names))
        ],
        schema.notice: [
            _drawn(draw, schema.notice, id=n, owner_id=owners[0]) for n in draw(ids)
        ],
        schema.batch: [
            _drawn(draw, schema.batch, owner_id=owners[0], holder=None, number=1)
        ],
        schema.fact: [
            _drawn(draw, schema.fact, name=name) for name in set(draw(_names))
        ],
    }


_names = st.lists(texts, max_size=3)
_values = {
    str: texts,
    int: counts,
    float: moments,
    bool: st.booleans(),
    bytes: st.binary(max_size=12),
}


def _drawn(draw: st.DrawFn, table: Table, **given: Any) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for column in table.columns:
        if column.name in given:
            row[column.name] = given[column.name]
        elif column.name in {"state", "standing"}:
            row[column.name] = draw(states)
        else:
            values: st.SearchStrategy[Any] = _values[column.type.python_type]
            row[column.name] = draw(st.none() | values if column.nullable else values)
    return row


def _owner(number: int, name: str) -> dict[str, Any]:
    return _row(schema.owner, id=number, name=name, added_at=NOW, token_hash="ab" * 32)


def _server(number: int, address: str, **more: Any) -> dict[str, Any]:
    return _row(schema.server, id=number, address=address, asked_at=NOW, **more)


def _host(number: int, name: str, server: int) -> dict[str, Any]:
    return _row(schema.host, id=number, name=name, server_id=server, asked_at=NOW)


def _target(number: int, host: int, state: str) -> dict[str, Any]:
    return _row(
        schema.target,
        id=number,
        key=-number,
        url=f"http://a.test/{number}",
        scheme="http",
        host_id=host,
        state=state,
        added_at=NOW - 200 * DAY,
    )


def _schedule(target: int, server: int, last_result: int) -> dict[str, Any]:
    return _row(
        schema.schedule,
        target_id=target,
        server_id=server,
        next_due=NOW + HOUR,
        last_check_at=_history(last_result)["at"],
        last_result=last_result,
    )


def _history(number: int) -> dict[str, Any]:
    """Of two targets in turn, three times: 100 days, 10 days and 1 day ago."""
    days = (100, 10, 1)[(number - 1) // 2]
    state = "ok" if number % 2 else "broken"
    return _row(
        schema.history,
        id=number,
        target_id=2 - number % 2,
        task="url",
        at=NOW - days * DAY,
        state=state,
        standing=state,
        reason="",
        previous=number - 2 if number > 2 else None,
        evidence=pack(result()),
    )


def _watch(owner: int, target: int, spelling: str | None = None) -> dict[str, Any]:
    row = {"owner_id": owner, "target_id": target, "added_at": NOW}
    return row | {"spelling": spelling, "acknowledged": ""}


def _task(target: int, name: str, place: int) -> dict[str, Any]:
    words = dict.fromkeys(("reason", "message", "data", "output"), "x")
    row = {"target_id": target, "task": name, "place": place, "at": NOW}
    return row | words | {"state": "ok", "seconds": 0.5}


def _round_result(round_: int, target: int) -> dict[str, Any]:
    words = {"state": "ok", "reason": "http_200", "task": "url", "message": "200 OK"}
    return {"round_id": round_, "target_id": target, "at": NOW} | words


def _notice(number: int, owner: int) -> dict[str, Any]:
    words = dict.fromkeys(("kind", "url", "state", "was", "reason", "message"), "x")
    return {"id": number, "owner_id": owner, "at": NOW, **words}


def _batch(owner: int) -> dict[str, Any]:
    row = {"owner_id": owner, "key": "k", "kind": "notices", "body": b"{}", "number": 1}
    return _row(schema.batch, **row, made_at=NOW, holder=9)


def _process(number: int) -> dict[str, Any]:
    row = {"id": number, "machine": "m", "pid": 1, "started": 1, "began_at": NOW}
    return _row(schema.process, **row, until=NOW + 30)


def _row(table: Table, **given: Any) -> dict[str, Any]:
    """A row with what is given, and what the schema says of the rest."""
    row: dict[str, Any] = {}
    for column in table.columns:
        default: Any = column.server_default
        kind = column.type.python_type
        if column.name in given:
            row[column.name] = given[column.name]
        elif default is None:
            assert column.nullable, column
            row[column.name] = None
        elif kind is bool:
            row[column.name] = str(default.arg) == "true"
        else:
            row[column.name] = kind(str(default.arg))
    return row
