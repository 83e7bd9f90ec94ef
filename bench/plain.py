"""What a plain program reaches: an upsert and a row of history for each result.

No claims, no fence, no notices, no tallies, no moment stored at which a server may be
asked again: only the two rows, a turn in one transaction. It is the measure of what the
machine gives at this minute.
"""

import random
import sqlite3
import time
from pathlib import Path
from typing import Any

import psycopg

from bench.million import DAY, NOW, TARGETS

MESSAGE = "200 OK"
EVIDENCE = b"x" * 60  # as many bytes as ours has
STATE = (
    "CREATE TABLE plain_state (id bigint PRIMARY KEY, state text, reason text,"
    " message text, next_due double precision, changed double precision)"
)
HISTORY = (
    "CREATE TABLE plain_history (id {serial} PRIMARY KEY, target bigint,"
    " at double precision, state text, reason text, evidence {bytes})"
)
INDEXES = (
    "CREATE INDEX plain_due ON plain_state (next_due)",
    "CREATE INDEX plain_changed ON plain_state (changed)",
    "CREATE INDEX plain_target ON plain_history (target, at)",
)
UPSERT = (
    "INSERT INTO plain_state VALUES ({marks}) ON CONFLICT (id) DO UPDATE SET"
    " state = excluded.state, reason = excluded.reason, message = excluded.message,"
    " next_due = excluded.next_due, changed = excluded.changed"
)
APPEND = (
    "INSERT INTO plain_history (target, at, state, reason, evidence) VALUES ({marks})"
)


def results(where: str, batch: int, warm: int, count: int) -> float:
    """Results a second, in turns of a size."""
    connection, mark = _opened(where)
    upsert, append = (
        sql.format(marks=", ".join([mark] * number))
        for sql, number in ((UPSERT, 6), (APPEND, 5))
    )
    chance = random.Random(batch)
    seconds, written = 0.0, -warm
    while written < count:
        numbers = sorted(chance.sample(range(TARGETS), batch))
        rows = [_row(number, NOW + DAY * chance.random()) for number in numbers]
        past = [(number, NOW, "ok", "http_200", EVIDENCE) for number in numbers]
        started = time.perf_counter()
        cursor = connection.cursor()
        cursor.executemany(upsert, rows)
        cursor.executemany(append, past)
        connection.commit()
        if written >= 0:
            seconds += time.perf_counter() - started
        written += batch
    connection.close()
    return written / seconds


def _row(number: int, next_due: float) -> tuple[object, ...]:
    return (number, "ok", "http_200", MESSAGE, next_due, NOW)


def _opened(where: str) -> tuple[Any, str]:
    """A connection to a store of a million targets, and how it marks a parameter."""
    connection: Any
    if where.startswith("postgresql:"):
        connection, mark = psycopg.connect(where), "%s"
        words = {"serial": "bigserial", "bytes": "bytea"}
        there = "SELECT 1 FROM pg_class WHERE relname = 'plain_state'"
    else:
        path = Path(where)
        connection, mark = sqlite3.connect(path), "?"
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        words = {"serial": "integer", "bytes": "blob"}
        there = "SELECT 1 FROM sqlite_master WHERE name = 'plain_state'"
    if not connection.execute(there).fetchone():
        for sql in (STATE, HISTORY):
            connection.execute(sql.format(**words))
        cursor = connection.cursor()
        marks = ", ".join([mark] * 6)
        insert = f"INSERT INTO plain_state VALUES ({marks})"
        chance = random.Random(3)
        rows = (_row(number, NOW + DAY * chance.random()) for number in range(TARGETS))
        cursor.executemany(insert, rows)
        for sql in INDEXES:
            connection.execute(sql)
        connection.commit()
    return connection, mark
