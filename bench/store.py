"""The store at a million targets: results written, servers claimed, bytes on disk.

Beside the ledger a plain program writes as many results in the same minute: the machine
is not equally fast at all times.
Both engines on this machine's disk: SQLite as the store opens it, PostgreSQL with its
usual durability (fsync and all), on loopback.
"""

import cProfile
import gc
import json
import pstats
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec.structs import replace
from sqlalchemy import text

from bench import million, plain
from bench.million import DAY, NOW, SERVERS, TARGETS
from bench.postgres import Postgres
from ronda.model import Standing, State
from ronda.store.sql.claims import Claims
from ronda.store.sql.engines import Database
from ronda.store.sql.ledger import Ledger
from ronda.store.sql.values import Claimed, Due, Entry, Pace, Turn

WARM, RESULTS = 60_000, 60_000  # first writes of a page after a load cost more
BATCHES = (1000, 5000)  # results a turn
WINDOW = 500  # servers held at once, whose targets come in no order
LEASE = 3600.0
CLAIMERS = 8  # processes
SECONDS = 10  # that they claim
AT_ONCE = 50  # servers a claim
LENGTH = 10  # targets of each
# What the time of a turn is told by: functions, and what they do.
PARTS = {
    "held": "fence",
    "_read": "targets in doubt read",
    "_sheet": "rows made",
    "new_ids": "numbers",
    "_write_schedule": "schedule",
    "append": "history, copied",
    "_write_targets": "targets",
    "write_servers": "paces of servers",
    "write_hosts": "paces of hosts",
    "release": "release",
    "count": "hours",
    "tell": "tallies, notices",
    "_commit_impl": "commit",
}


def main() -> None:
    """Print all figures."""
    if len(sys.argv) > 1:
        claim_for_a_while(sys.argv[1], sys.argv[2])
    else:
        print(json.dumps(run(), indent=2))


def run() -> dict[str, Any]:
    """Measure, and print it."""
    found = {}
    for engine in ("sqlite", "postgresql"):
        with _store(engine) as where:
            found[engine] = _measured(where)
        _show(engine, found[engine])
    return found


@contextmanager
def _store(engine: str) -> Iterator[str]:
    """A store of a million targets; what `--db` takes."""
    with TemporaryDirectory(prefix="ronda-store-") as temporary:
        folder = Path(temporary)
        folder.chmod(0o755)
        if engine == "sqlite":
            yield str(folder / "ronda.db")
        else:
            with Postgres(folder / "postgres") as server:
                yield server.url


def _measured(where: str) -> dict[str, Any]:
    database = Database(where)
    started = time.perf_counter()
    million.load(database)
    found: dict[str, Any] = {"load_seconds": time.perf_counter() - started}
    found |= {"bytes": sizes(database)}
    for batch in BATCHES:
        found[f"ledger_{batch}"] = results(database, batch)
    found["profile"] = _profile(database)
    database.close()
    for batch in BATCHES:
        found[f"plain_{batch}"] = plain.results(_beside(where), batch, WARM, RESULTS)
    for what in ("hold", "release", "results"):
        found[f"claims_{what}"] = claims(where, what)
    return found


def _beside(where: str) -> str:
    """Where the plain program writes: a file of its own, or the same server."""
    return where if where.startswith("postgresql:") else f"{where}-plain"


# -- the ledger --------------------------------------------------------------------


class Worker:
    """One process that claims servers, and writes results of all that is due."""

    def __init__(self, database: Database, batch: int) -> None:
        gc.freeze()  # as in the daemon
        gc.set_threshold(50_000, 20, 100)
        self._claims = Claims(database)
        self._ledger = Ledger(database)
        self._batch = batch
        self._chance = random.Random(batch)
        self._process = self._claims.join(200, NOW, LEASE)
        self._turn = 0
        self.written = 0
        self.seconds = 0.0

    def work(self, results: int) -> None:
        """Write so many results, and see that none was refused."""
        while self.written < results:
            held = self._claims.claim(
                self._process, NOW + 1, count=WINDOW, length=LENGTH
            )
            due = [entry(one, self._chance) for place in held for one in place.due]
            self._chance.shuffle(due)
            left = {place.id: len(place.due) for place in held}
            hosts = {place.id: next(iter(place.hosts)) for place in held}
            for first in range(0, len(due), self._batch):
                self._write(due[first : first + self._batch], left, hosts)

    def _write(
        self, entries: list[Entry], left: dict[int, int], hosts: dict[int, str]
    ) -> None:
        for one in entries:
            left[one.due.server] -= 1
        done = {one.due.server for one in entries if not left[one.due.server]}
        pace = Pace(NOW + 1, NOW + 1, 1.0)
        self._turn += 1
        turn = Turn(
            number=self._turn,
            entries=tuple(entries),
            hosts={hosts[number]: pace for number in done},
            servers=dict.fromkeys(done, pace),
            released=tuple(done),
        )
        started = time.perf_counter()
        written = self._ledger.write(self._process, turn, NOW + 1)
        self.seconds += time.perf_counter() - started
        assert not written.refused
        self.written += len(entries)


def entry(due: Due, chance: random.Random) -> Entry:
    """A result: two of a hundred change the state; of those, one of four is told."""
    result = million.result(due.id - 1, chance)
    standing = Standing(
        State.OK,
        "http_200",
        "200 OK",
        NOW + 1,
        due.standing.last_change_at,
        repeats=due.standing.repeats + 1,
    )
    notices: tuple[str, ...] = ()
    if (drawn := chance.random()) < 0.02:
        broken = {"state": State.BROKEN, "reason": "http_404"}
        standing = replace(standing, **broken, message="404 Not Found")
        notices = ("disabled",) if drawn < 0.005 else ()
    next_due = NOW + DAY * (0.9 + chance.random() / 5)
    return Entry(due, result, NOW + 1, standing, next_due, notices)


def results(database: Database, batch: int) -> dict[str, float]:
    """Results a second, with turns of a size."""
    worker = Worker(database, batch)
    worker.work(WARM)
    written, seconds = worker.written, worker.seconds
    worker.work(written + RESULTS)
    return {"a_second": (worker.written - written) / (worker.seconds - seconds)}


def _profile(database: Database) -> dict[str, float]:
    """The share of each part in the time of turns, as far as it can be told."""
    worker, profile = Worker(database, BATCHES[0]), cProfile.Profile()
    profile.runcall(worker.work, 20_000)
    stats: Any = pstats.Stats(profile)
    spent = {name: values[3] for (_, _, name), values in stats.stats.items()}
    return {
        words: spent[name] / worker.seconds
        for name, words in PARTS.items()
        if name in spent
    }


# -- claims --------------------------------------------------------------------------


def claims(where: str, what: str) -> dict[str, float]:
    """What some processes claim at once, and that no server is held by two of them."""
    command = [sys.executable, "-m", "bench.store", where, what]
    ran = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(CLAIMERS)
    ]
    pipes: list[Any] = [(one.stdin, one.stdout) for one in ran]
    for _, out in pipes:
        out.readline()  # it is ready
    for given, _ in pipes:
        given.write(b"go\n")
        given.flush()
    said = [one.communicate()[0] for one in ran]
    spans = [json.loads(words) for words in said]
    _disjoint([span for one in spans for span in one["held"]])
    claimed = sum(len(one["held"]) for one in spans)
    seconds = max(one["seconds"] for one in spans)
    return {
        "a_second": claimed / seconds,
        "targets_a_second": sum(one["targets"] for one in spans) / seconds,
        "processes": CLAIMERS,
    }


def claim_for_a_while(where: str, what: str) -> None:
    """Claim, and let go, with results or none; or claim only: one of the processes."""
    database = Database(where, patience=60.0)
    claims, ledger = Claims(database), Ledger(database)
    process = claims.join(1, NOW, LEASE)
    print("ready", flush=True)
    sys.stdin.readline()
    until = time.monotonic() + SECONDS
    chance, turn, targets = random.Random(process), 0, 0
    held: list[tuple[int, float, float]] = []
    while time.monotonic() < until:
        found = claims.claim(process, NOW + 1, count=AT_ONCE, length=LENGTH)
        claimed_at = time.monotonic()
        turn += 1
        written = _turn(found, turn, chance if what == "results" else None)
        let_go_at = time.monotonic()
        held += [(one.id, claimed_at, let_go_at) for one in found]
        targets += sum(len(one.due) for one in found)
        if what != "hold":
            assert not ledger.write(process, written, NOW + 1).refused
        elif not found:
            break
    took = time.monotonic() - until + SECONDS
    if what == "hold":
        let_go_at = time.monotonic()
        held = [(number, claimed_at, let_go_at) for number, claimed_at, _ in held]
    claims.leave(process)
    print(json.dumps({"held": held, "targets": targets, "seconds": took}))


def _turn(found: list[Claimed], number: int, chance: random.Random | None) -> Turn:
    pace = Pace(NOW + 1, NOW + 1)
    due = [one for place in found for one in place.due]
    return Turn(
        number=number,
        entries=tuple(entry(one, chance) for one in due) if chance else (),
        servers={place.id: pace for place in found},
        released=tuple(place.id for place in found),
    )


def _disjoint(held: list[tuple[int, float, float]]) -> None:
    """See that nobody claimed a server before who had it began to let go of it."""
    last: dict[int, float] = {}
    for number, claimed_at, let_go_at in sorted(held, key=lambda span: span[1]):
        assert claimed_at >= last.get(number, 0.0), f"server {number} was held by two"
        last[number] = let_go_at


# -- bytes ---------------------------------------------------------------------------


def sizes(database: Database) -> dict[str, float]:
    """Bytes a target, by table and index; URLs and history are told apart."""
    if database.is_postgres:
        sql = (
            "SELECT relname, pg_relation_size(oid) FROM pg_class WHERE relkind IN"
            " ('r', 'i') AND relnamespace = 'public'::regnamespace"
        )
    else:
        sql = "SELECT name, sum(pgsize) FROM dbstat GROUP BY name"
    with database.reading() as connection:
        rows = {name: size / TARGETS for name, size in connection.execute(text(sql))}
    urls = sum(len(million.url(number)) for number in range(TARGETS)) / TARGETS
    history = sum(size for name, size in rows.items() if name.startswith("history"))
    parts = {name: size for name, size in rows.items() if size >= 1}
    totals = {"urls": urls, "history": history}
    totals["beyond_urls_and_history"] = sum(rows.values()) - urls - history
    return totals | parts


def _show(engine: str, found: dict[str, Any]) -> None:
    rates = ", ".join(f"{found[f'ledger_{n}']['a_second']:,.0f}" for n in BATCHES)
    beside = ", ".join(f"{found[f'plain_{n}']:,.0f}" for n in BATCHES)
    held, claimed = (found[f"claims_{k}"]["a_second"] for k in ("hold", "release"))
    whole = found["claims_results"]
    print(
        f"\n{engine}, {TARGETS:,} targets over {SERVERS:,} servers\n"
        f"{rates} results a second in turns of {BATCHES}; a plain program {beside}\n"
        f"{held:,.0f} servers claimed a second by {CLAIMERS} processes, "
        f"{claimed:,.0f} claimed and let go, "
        f"{whole['a_second']:,.0f} with {whole['targets_a_second']:,.0f} results\n"
        f"{found['bytes']['beyond_urls_and_history']:.0f} bytes a target beyond its URL"
    )


if __name__ == "__main__":
    main()
