"""Daemons that are killed at random moments, and what must hold all the same.

`test_torture.py` does it some 50 times on each engine; `make torture` a thousand times.
"""

import json
import random
import signal
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path

from e2e.command import Command
from e2e.daemon import Daemon
from servers.process import ADDRESSES, HOST
from servers.site import Site

GAP = 0.25  # seconds between two requests to one host, and to one server
SLACK = 0.02  # seconds that nginx may write its log late
HOSTS = ADDRESSES[:12]
PAGES = 8  # of each host
STARTING = 0.2  # the part of the daemons that are killed before they ask anybody
RELOADS = 0.2  # the part of the kills before which another one reads its settings again
STOPS = 0.2  # and of those after which another one is ended in order
LONGEST = 5.0  # seconds that one is given to ask somebody
SETTINGS = f"""
[fetch]
retries = 0
timeout = 5.0

[store]
batch_age = 0.1
lease = 6.0

[serve]
grace = 5.0

[notices]
interval = 1.0
retry_first = 0.5
retry_longest = 1.0
failures_to_switch_off = 100000

[[politeness]]
interval = {GAP}
server_interval = {GAP}
per_host = 1
per_server = 1

[[schedule]]
ok = 3.0
warning = 3.0
temporary = 3.0
temporary_longest = 3.0
broken = 3.0
broken_longest = 3.0
blocked = 3.0
confirm = 1
flaps = 1000000
"""
# Who is killed writes no coverage down: counting would only slow it.
UNMEASURED = {"COVERAGE_PROCESS_START": ""}
# Hops that lead to another host, which another process may hold.
HOP = "location = /hop{} {{ return 302 http://{}:PORT/page0.html; }}"
LOCATIONS = (
    # One that is there is kept in the store: who follows need not ask for it again, and
    # is not killed before it comes to the pages.
    r'location = /robots.txt { return 200 "User-agent: *\nAllow: /\n"; }',
    *(HOP.format(number, host) for number, host in enumerate(HOSTS)),
)


class Told(ThreadingHTTPServer):
    """Hears notices, and keeps each batch once, by its key."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__((HOST, 0), _Heard)
        self.batches: dict[str, list[dict[str, str]]] = {}
        self.times: Counter[str] = Counter()
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.server_address[1]}/told"

    def changes(self) -> dict[str, list[tuple[str, str]]]:
        """What was told of each URL, in order: what it was, and what it is."""
        found = defaultdict(list)
        with self.lock:
            for notices in self.batches.values():
                for notice in notices:
                    if notice["kind"] == "change":
                        found[notice["url"]].append((notice["was"], notice["state"]))
        return found


class _Heard(BaseHTTPRequestHandler):
    server: Told

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            key = self.headers["Ronda-Batch"]
            self.server.times[key] += 1
            if body["kind"] == "notices":
                self.server.batches.setdefault(key, body["notices"])
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@contextmanager
def listening() -> Iterator[Told]:
    server = Told()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


class Torture:
    """A site, a store, an owner who listens, and daemons that do not live long."""

    def __init__(
        self, folder: Path, where: str, site: Site, told: Told, seed: int
    ) -> None:
        self.ronda = Command(folder)
        self.folder = folder
        self.where = where
        self.site = site
        self.told = told
        self.random = random.Random(seed)
        self.daemons: list[Daemon] = []
        self.kills = 0
        self.written: Counter[str] = Counter()  # results that daemons said are stored
        self.left_behind = 0  # of those, by daemons that were killed then
        (folder / "torture.toml").write_text(SETTINGS)
        self.urls = self._targets()

    def _targets(self) -> list[str]:
        found = []
        for number, host in enumerate(HOSTS):
            pages = (f"/page{page}.html" for page in range(PAGES))
            found.extend(self.site.url(page, host) for page in pages)
            other = (number + 5) % len(HOSTS)
            found.append(self.site.url(f"/hop{other}", host))
            found.append(self.site.url(f"/gone{number}.html", host))
        for page in range(PAGES):
            self.site.write(f"/page{page}.html", "fine")
        return found

    def call(self, *arguments: str) -> str:
        done = self.ronda(*arguments, "--db", self.where)
        assert done.code == 0, (arguments, done.err, done.out)
        return done.out

    def register(self) -> None:
        self.call("owner", "add", "listener", "--callback", self.told.url)
        name = self.ronda.listed(self.urls)
        self.call("register", name, "--owner", "listener")

    def start(self, count: int) -> None:
        """Have so many daemons."""
        share = () if self.where.startswith("postgresql") else ("--share",)
        while len(self.daemons) < count:
            options = ("--config", "torture.toml", "--db", self.where, *share)
            daemon = Daemon(self.folder, *options, "--verbose", env=UNMEASURED)
            self.daemons.append(daemon)

    def kill_one(self) -> None:
        daemon = self._one()
        with daemon:
            assert daemon.process.poll() is None, daemon.stop()
            daemon.kill()
        self.kills += 1
        before = self.written.total()
        self._heard(daemon)
        self.left_behind += self.written.total() - before

    def _one(self) -> Daemon:
        return self.daemons.pop(self.random.randrange(len(self.daemons)))

    def _heard(self, daemon: Daemon) -> None:
        """A daemon tells a result when it is written, and not before."""
        for line in daemon.told:
            words = line.split()
            if len(words) > 2 and words[2].startswith("http://"):
                self.written[words[2]] += 1

    def disturb(self) -> None:
        """Let heirs of the dead leave, or begin anew, before they asked anybody."""
        if self.random.random() < RELOADS and self.daemons:
            daemon = self.random.choice(self.daemons)
            if daemon.is_ready:
                daemon.send(signal.SIGHUP)
        if self.random.random() < STOPS:
            self.start(1)
            with self._one() as daemon:
                time.sleep(self.random.random())
                if daemon.is_ready:
                    assert daemon.stop() == 0, daemon.told
                else:
                    daemon.kill()
            self._heard(daemon)

    def play(self, kills: int, processes: int) -> None:
        """Kill one of the daemons after the other, while pages come and go."""
        while self.kills < kills:
            self.start(processes)
            self._let_work(processes)
            self._change()
            self.kill_one()
            self.disturb()
        self.end()

    def _let_work(self, processes: int) -> None:
        """Most are killed at work, however slow the machine is; some as they start."""
        time.sleep(0.2 * self.random.random() / processes)
        if self.random.random() < STARTING:
            return
        more = self.random.randrange(1, 10)
        wanted, until = self.site.lines + more, time.monotonic() + LONGEST
        while self.site.lines < wanted and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(0.6 * self.random.random())

    def _change(self) -> None:
        """Let a page vanish, or come back."""
        page = self.site.root / f"page{self.random.randrange(1, PAGES)}.html"
        if page.exists():
            page.unlink()
        else:
            page.write_text("fine")

    def end(self) -> None:
        """Let all be checked once more, told, and ended in order."""
        self.start(1)
        daemon = self.daemons[0]
        begun = time.time()
        self._until(lambda: self.oldest() > begun, "not all targets were checked")
        self._until(lambda: self.waiting() == 0, "not all owners were told")
        for daemon in self.daemons:
            with daemon:
                assert daemon.stop() == 0, daemon.told
            self._heard(daemon)
        self.daemons.clear()

    def _until(self, is_so: object, words: str, seconds: float = 120.0) -> None:
        until = time.monotonic() + seconds
        while not is_so():  # type: ignore[operator]
            assert time.monotonic() < until, words
            time.sleep(0.5)

    def oldest(self) -> float:
        """When the target was checked that was checked longest ago."""
        rows = self.targets()
        assert len(rows) == len(self.urls)
        return min(row["last_check_at"] or 0.0 for row in rows)

    def targets(self) -> list[dict]:
        from ronda.store.sql.catalogue import Query  # noqa: PLC0415
        from ronda.store.sql.store import Store  # noqa: PLC0415

        with Store(self.where) as store:
            page = store.catalogue.find(Query(limit=1000))
        return [
            {"id": row.id, "url": row.url, "last_check_at": row.last_check_at}
            for row in page.rows
        ]

    def waiting(self) -> int:
        from sqlalchemy import func, select  # noqa: PLC0415

        from ronda.store.sql.schema import batch, notice  # noqa: PLC0415
        from ronda.store.sql.store import Store  # noqa: PLC0415

        with Store(self.where) as store, store.database.reading() as connection:
            notices = connection.scalar(select(func.count()).select_from(notice))
            batches = connection.scalar(select(func.count()).select_from(batch))
        return notices + batches

    # -- what must hold ----------------------------------------------------------------

    def judge(self) -> None:
        self.call("db", "check")
        self._nobody_too_early()
        self._nothing_doubled()
        self._nothing_lost()
        self._everything_told()

    def _nobody_too_early(self) -> None:
        """By nginx's own log: each host is a server of its own here."""
        asked = defaultdict(list)
        for one in self.site.asked():
            asked[one.address].append(one.at)
        early = []
        for address, moments in asked.items():
            moments.sort()
            early += [
                f"{address} was asked {second - first:.3f} s after it was asked"
                for first, second in pairwise(moments)
                if second - first < GAP - SLACK
            ]
        assert early == [], (
            f"{len(early)} of {sum(map(len, asked.values()))}: {early[:5]}"
        )

    def _nothing_doubled(self) -> None:
        """No result without a request of its own."""
        asked = Counter(
            self.site.url(one.target, one.address) for one in self.site.asked()
        )
        for url, rows in self.history().items():
            assert len(rows) <= asked[url], (url, len(rows), asked[url])

    def _nothing_lost(self) -> None:
        """Whatever a daemon said to be written is there."""
        history = self.history()
        assert self.left_behind > self.kills / 10, "killed before any result"
        for url, count in self.written.items():
            assert count <= len(history[url]), (url, count, len(history[url]))

    def history(self) -> dict[str, list[tuple[str, str]]]:
        """What each target was found to be, and what it stood at, oldest first."""
        from sqlalchemy import select  # noqa: PLC0415

        from ronda.store.sql.schema import history, target  # noqa: PLC0415
        from ronda.store.sql.store import Store  # noqa: PLC0415

        found = defaultdict(list)
        query = (
            select(target.c.url, history.c.state, history.c.standing)
            .join(target, target.c.id == history.c.target_id)
            .order_by(history.c.id)
        )
        with Store(self.where) as store, store.database.reading() as connection:
            for url, state, standing in connection.execute(query):
                found[url].append((state, standing))
        return found

    def _everything_told(self) -> None:
        """Every change of a state was told once, in order, and nothing else."""
        told = self.told.changes()
        for url, rows in self.history().items():
            states = ["unknown", *(standing for _, standing in rows)]
            changes = [(a, b) for a, b in pairwise(states) if a != b]
            assert told.get(url, []) == changes, url
