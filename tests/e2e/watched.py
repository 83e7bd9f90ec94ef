"""A store that the command line works on, and results as if a daemon had checked."""

import json
import re
from collections.abc import Mapping
from contextlib import closing
from typing import Any

from msgspec.structs import replace

from e2e.command import Command, Ended
from ronda.config import Settings
from ronda.model import Result, State, Timings
from ronda.probes import Handlers
from ronda.store.sql.engines import Database
from ronda.store.sql.schema import OPERATOR
from ronda.store.sql.store import Store
from ronda.store.sql.values import Due, Entry, Turn
from ronda.workers.enrolment import enrol

A, B, C = "https://a.example/", "https://b.example/x", "https://b.example/y"
DAY = 86_400.0  # seconds
REASONS = {
    State.OK: ("http_200", "200 OK", 200),
    State.WARNING: ("moved_permanently", "moved permanently", 301),
    State.TEMPORARY: ("http_503", "503 Service Unavailable", 503),
    State.BROKEN: ("http_404", "404 Not Found", 404),
}


class Watch:
    """`ronda … --db`, on one store."""

    def __init__(self, command: Command, db: str) -> None:
        self.command = command
        self.folder = command.folder
        self.db = db

    def __call__(self, *arguments: str, stdin: bytes = b"") -> Ended:
        # No daemon but the test's own is to be woken.
        env = {"XDG_RUNTIME_DIR": str(self.folder)}
        ended = self.command(*arguments, "--db", self.db, stdin=stdin, env=env)
        assert "Traceback" not in ended.err
        return ended

    def json(self, *arguments: str, stdin: bytes = b"") -> dict[str, Any]:
        """What a command that must end well prints for programs."""
        ended = self(*arguments, "--json", stdin=stdin)
        assert (ended.code, ended.err) == (0, ""), ended
        found: dict[str, Any] = json.loads(ended.out)
        return found

    def urls(self, *filters: str) -> list[str]:
        return [one["url"] for one in self.json("target", "list", *filters)["targets"]]


def one_line(ended: Ended, code: int) -> str:
    """The only thing that a mistake prints."""
    assert ended.code == code, ended
    assert ended.out == ""
    assert re.fullmatch(r"ronda: [^\n]+\n", ended.err), ended.err
    return ended.err


def add(db: str, *urls: str) -> None:
    """Let the operator watch URLs."""
    handlers = Handlers(Settings())
    with Store(db) as store:
        given = [enrol(url, handlers) for url in urls]
        store.adding.add(OPERATOR, given, store.database.epoch())


def check(db: str, found: Mapping[str, State], ago: float = 0.0) -> None:
    """Let targets be found in these states, so many seconds ago.

    All of them must be due.
    """
    with Store(db) as store:
        now = store.database.epoch()
        process = store.claims.join(1, now)
        claimed = store.claims.claim(process, now, count=1000, length=1000)
        due = {one.url: one for server in claimed for one in server.due}
        entries = [_entry(due[url], state, now - ago) for url, state in found.items()]
        released = tuple(server.id for server in claimed)
        turn = Turn(number=1, entries=tuple(entries), released=released)
        assert store.ledger.write(process, turn, now).refused == ()
        store.claims.leave(process)


def run(db: str, sql: str) -> None:
    """Change what is in a store behind its back."""
    with closing(Database(db)) as database, database.writing() as connection:
        connection.exec_driver_sql(sql)


def _entry(due: Due, state: State, at: float) -> Entry:
    reason, message, status = REASONS[state]
    changed = state is not due.standing.state
    standing = replace(
        due.standing,
        state=state,
        reason=reason,
        message=message,
        last_check_at=at,
        last_change_at=at if changed else due.standing.last_change_at,
        failures=0 if state is State.OK else due.standing.failures + 1,
    )
    result = Result(
        url=due.url,
        verdict=state,
        reason=reason,
        message=message,
        status=status,
        address="127.0.0.1",
        timings=Timings(total=0.25),
    )
    notices = ("change",) if changed else ()
    return Entry(due, result, at, standing, at + DAY, notices)
