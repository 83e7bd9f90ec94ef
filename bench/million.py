"""A million checked targets over a hundred thousand servers, put there raw."""

import random
from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import Connection, Table

from ronda.model import Result, State, Timings
from ronda.store.sql import evidence, schema
from ronda.store.sql.engines import Database

TARGETS = 1_000_000
SERVERS = 100_000
NOW = 1_700_000_000.0
DAY = 86_400.0
PART = 50_000  # rows a statement


def home(number: int) -> int:
    """The server of a target: its targets lie far apart in every table."""
    return number % SERVERS


def url(number: int) -> str:
    return f"https://{host(home(number))}/path/to/page-{number}.html"


def host(number: int) -> str:
    return f"host{number}.example"


def result(number: int, chance: random.Random) -> Result:
    """What a check of a target may find: some 2 % are not fine."""
    wait = chance.random() / 5
    phases = [wait * share for share in (0.1, 0.3, 0.6, 0.9, 1.0)]
    state, status, words = State.OK, 200, "200 OK"
    if chance.random() < 0.02:
        state, status, words = State.BROKEN, 404, "404 Not Found"
    return Result(
        url=url(number),
        verdict=state,
        reason=f"http_{status}",
        message=words,
        status=status,
        address=_address(home(number)),
        timings=Timings(*phases),
        bytes=chance.randrange(100_000),
        media_type="text/html",
    )


def load(database: Database) -> None:
    """All rows of all tables, as if every target had been checked once."""
    with database.writing() as connection:
        schema.metadata.create_all(connection)
        row = {"id": schema.OPERATOR, "name": "operator", "added_at": NOW}
        connection.execute(schema.owner.insert(), row)
    for table, rows in _tables():
        columns = list(rows(range(1)).__next__())
        for first in range(0, _count(table), PART):
            numbers = range(first, min(first + PART, _count(table)))
            with database.writing() as connection:
                _put(connection, table, columns, rows(numbers))
    with database.writing() as connection:
        states = {State.OK: TARGETS}
        rows = [
            {"owner_id": who, "state": state, "number": number}
            for who in (schema.EVERYBODY, schema.OPERATOR)
            for state, number in states.items()
        ]
        connection.execute(schema.tally.insert(), rows)
        _set_sequences(connection, database)
    alone = database.engine.execution_options(isolation_level="AUTOCOMMIT")
    with alone.connect() as connection:
        if database.is_postgres:
            connection.exec_driver_sql("VACUUM ANALYZE")


def _count(table: Table) -> int:
    return SERVERS if table.name in {"server", "host"} else TARGETS


def _put(
    connection: Connection,
    table: Table,
    columns: list[str],
    rows: Iterable[dict[str, Any]],
) -> None:
    names = ", ".join(columns)
    if connection.dialect.name == "sqlite":
        marks = ", ".join("?" * len(columns))
        sql = f"INSERT INTO {table.name} ({names}) VALUES ({marks})"
        connection.exec_driver_sql(sql, [tuple(row.values()) for row in rows])
        return
    cursor = connection.connection.cursor()
    with cursor.copy(f"COPY {table.name} ({names}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(tuple(row.values()))


def _set_sequences(connection: Connection, database: Database) -> None:
    if database.is_postgres:
        for name in ("server", "host", "target", "history", "owner"):
            sql = f"SELECT setval('{name}_id_seq', (SELECT max(id) FROM {name}))"
            connection.exec_driver_sql(sql)


def _tables() -> list[tuple[Table, Any]]:
    return [
        (schema.server, _servers),
        (schema.host, _hosts),
        (schema.target, _targets),
        (schema.schedule, _schedules),
        (schema.history, _history),
        (schema.watch, _watches),
    ]


def _address(number: int) -> str:
    return f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"


def _servers(numbers: Iterable[int]) -> Iterator[dict[str, Any]]:
    for number in numbers:
        # In no order: a claim takes servers from anywhere.
        due_at = NOW - (number * 7919 % SERVERS) / 100
        yield {"id": number + 1, "address": _address(number), "due_at": due_at}


def _hosts(numbers: Iterable[int]) -> Iterator[dict[str, Any]]:
    for number in numbers:
        yield {"id": number + 1, "name": host(number), "server_id": number + 1}


def _targets(numbers: Iterable[int]) -> Iterator[dict[str, Any]]:
    chance = random.Random(1)
    for number in numbers:
        yield {
            "id": number + 1,
            "key": chance.randrange(-(1 << 63), 1 << 63) ^ number,
            "url": url(number),
            "scheme": "https",
            "host_id": home(number) + 1,
            "state": "ok",
            "reason": "http_200",
            "message": "200 OK",
            "added_at": NOW - 30 * DAY + number / 100,
            "last_change_at": NOW - 29 * DAY + (number * 7919 % TARGETS),
        }


def _schedules(numbers: Iterable[int]) -> Iterator[dict[str, Any]]:
    for number in numbers:
        yield {
            "target_id": number + 1,
            "server_id": home(number) + 1,
            "next_due": NOW - (number * 104_729 % TARGETS) / 100,
            "last_check_at": NOW - DAY,
            "repeats": 1,
            "last_result": number + 1,
        }


def _history(numbers: Iterable[int]) -> Iterator[dict[str, Any]]:
    chance = random.Random(2)
    for number in numbers:
        yield {
            "id": number + 1,
            "target_id": number + 1,
            "task": "url",
            "at": NOW - DAY,
            "state": "ok",
            "standing": "ok",
            "reason": "http_200",
            "status": 200,
            "seconds": 0.1,
            "pause": int(DAY),
            "message": "200 OK",
            "evidence": evidence.pack(result(number, chance)),
        }


def _watches(numbers: Iterable[int]) -> Iterator[dict[str, Any]]:
    for number in numbers:
        yield {
            "owner_id": schema.OPERATOR,
            "target_id": number + 1,
            "added_at": NOW - 30 * DAY,
        }
