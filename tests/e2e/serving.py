"""A store that is served: its daemon, the commands that people use on it, its site."""

import json
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

from e2e.command import Ended
from e2e.daemon import SECONDS, Daemon
from e2e.forks import Forked
from servers.process import HOST
from servers.site import Site

GAP = 0.25  # seconds between two requests to one server
SLACK = 0.02  # seconds that nginx may write its log late
NO_ROBOTS = "location = /robots.txt { return 404; }"
HOUR = 3600.0


def settings(again: float = HOUR, grace: float = 5.0, more: str = "") -> str:
    """Settings under which what is found is written soon.

    Args:
        again: seconds after which each target is checked again.
        grace: seconds that checks under way have at the end.
        more: sections of their own.
    """
    states = ("ok", "warning", "temporary", "broken", "blocked")
    times = "\n".join(f"{state} = {again}" for state in states)
    return f"""
[fetch]
retries = 0
timeout = 20.0

[store]
batch_age = 0.1
lease = 6.0

[serve]
grace = {grace}

[notices]
interval = 1.0
retry_first = 0.5
retry_longest = 1.0

[[politeness]]
interval = {GAP}
server_interval = {GAP}
per_host = 1
per_server = 1

[[schedule]]
{times}
temporary_longest = {max(again, HOUR)}
broken_longest = {max(again, HOUR)}
confirm = 1
flaps = 1000000

{more}
"""


class Served:
    """One store, and all that is done with it."""

    def __init__(self, folder: Path, where: str, text: str = "") -> None:
        self.folder = folder
        self.where = where
        self.command = Forked(folder)
        self.set(text or settings())

    def set(self, text: str) -> None:
        """Write the settings."""
        (self.folder / "serve.toml").write_text(text)

    def start(self, *arguments: str, **how: Any) -> Daemon:
        """A daemon, which may not be ready yet."""
        options = ("--config", "serve.toml", "--db", self.where, *arguments)
        return Daemon(self.folder, *options, **how)

    @contextmanager
    def serving(self, *arguments: str, **how: Any) -> Iterator[Daemon]:
        """A daemon that is ready, and is gone at the end."""
        with self.start(*arguments, **how) as daemon:
            daemon.line("serving")
            yield daemon

    def run(self, *arguments: str) -> Ended:
        runtime = {"XDG_RUNTIME_DIR": str(self.folder)}
        return self.command(*arguments, "--db", self.where, env=runtime)

    def call(self, *arguments: str) -> str:
        """What a command that must end well prints."""
        done = self.run(*arguments)
        assert done.code == 0, (arguments, done)
        return done.out

    def json(self, *arguments: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.call(*arguments, "--json"))
        return found

    def why(self, *arguments: str) -> Ended:
        runtime = {"XDG_RUNTIME_DIR": str(self.folder)}
        return self.command("why", *arguments, env=runtime)

    def states(self) -> dict[str, str]:
        found = self.json("target", "list", "--limit", "1000")["targets"]
        return {one["url"]: one["state"] for one in found}

    def results(self) -> dict[str, int]:
        """How many results of each target are kept."""
        from sqlalchemy import func, select  # noqa: PLC0415

        from ronda.store.sql.schema import history, target  # noqa: PLC0415
        from ronda.store.sql.store import Store  # noqa: PLC0415

        query = (
            select(target.c.url, func.count(history.c.id))
            .join(history, target.c.id == history.c.target_id)
            .group_by(target.c.url)
        )
        with Store(self.where) as store, store.database.reading() as connection:
            return dict(connection.execute(query).all())


def until(is_so: Callable[[], bool], words: str, seconds: float = SECONDS) -> None:
    """Wait for something that has no line of its own."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, words
        time.sleep(0.1)


def nobody_was_early(site: Site) -> None:
    """By nginx's own log; each address is a server of its own here."""
    asked = defaultdict(list)
    for one in site.asked():
        asked[one.address].append(one.at)
    gaps = [
        second - first
        for moments in asked.values()
        for first, second in pairwise(sorted(moments))
    ]
    assert [gap for gap in gaps if gap < GAP - SLACK] == []


class Slow(ThreadingHTTPServer):
    """Answers when it is told to, and keeps what it is sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__((HOST, 0), _Answering)
        self.came = threading.Event()
        self.answers = threading.Event()
        self.sent: list[tuple[dict[str, str], bytes]] = []

    def url(self, path: str = "/") -> str:
        return f"http://{HOST}:{self.server_address[1]}{path}"


class _Answering(BaseHTTPRequestHandler):
    server: Slow

    def do_GET(self) -> None:
        if self.path == "/robots.txt":
            self._answer(404)
            return
        self.server.came.set()
        self.server.answers.wait(SECONDS)
        self._answer(200)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(headers["content-length"]))
        self.server.sent.append((headers, body))
        self._answer(204)

    def _answer(self, status: int) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()
        except OSError:
            return  # whoever asked has given up

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@contextmanager
def slow() -> Iterator[Slow]:
    server = Slow()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.answers.set()
        server.shutdown()
        server.server_close()
