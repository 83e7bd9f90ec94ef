"""nginx with one folder as a whole site, and a log that tells bytes and conditions."""

import contextlib
import getpass
import http.client
import os
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Self

from servers.process import ADDRESSES, HOST, ServerProcess, require

LOG_SECONDS = 30.0
MARKER = "/marker-of-the-log/"
FIELDS = (
    "$msec $server_addr $host $request_method $request_uri $status $body_bytes_sent "
    '"$http_if_none_match$http_if_modified_since" $sent_http_location'
)
TYPES = {
    "text/html": "html",
    "text/css": "css",
    "text/plain": "txt",
    "text/xml": "xml",
    "image/png": "png",
    "image/svg+xml": "svg",
    "text/javascript": "js",
    "application/manifest+json": "webmanifest",
    "application/pdf": "pdf",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One line of the log."""

    at: float  # Unix time at which nginx was done with it
    address: str  # that was dialled
    host: str
    method: str
    target: str  # path and query
    status: int
    bytes: int  # of the body
    conditional: bool  # only a changed page was wanted

    @property
    def key(self) -> tuple[str, str, str]:
        return self.method, self.host, self.target


class Site:
    """A folder served on 127.0.0.1 … 127.0.0.20, one port."""

    def __init__(self, folder: Path, *locations: str) -> None:
        self._program = require("nginx")
        self._folder = folder
        self._locations = locations  # lines of nginx configuration
        self._log = folder / "access.log"
        self._markers = count(1)
        self._process = ServerProcess(self._command, log=folder / "output.log")
        self.root = folder / "html"
        self.root.mkdir(parents=True)
        self.port = 0

    def url(self, path: str = "/", host: str = HOST) -> str:
        return f"http://{host}:{self.port}{path}"

    def write(self, path: str, text: str | bytes) -> str:
        """Put a page on the site; its URL."""
        file = self.root / (path[1:] + ("index.html" if path.endswith("/") else ""))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return self.url(path)

    @property
    def lines(self) -> int:
        """How many requests are in the log so far."""
        return self._log.read_bytes().count(b"\n")

    def asked(self, since: int = 0) -> list[Asked]:
        """What was asked; the first `since` are left out.

        There is one worker, so when a request of our own is in the log, all that were
        answered before it are.
        """
        marker = f"{MARKER}{next(self._markers)}"
        with contextlib.closing(
            http.client.HTTPConnection(HOST, self.port, timeout=LOG_SECONDS)
        ) as connection:
            connection.request("GET", marker)
            connection.getresponse().read()
        until = time.monotonic() + LOG_SECONDS
        while f" {marker} " not in (text := self._log.read_text()):
            if time.monotonic() > until:
                raise TimeoutError("nginx does not write its log")
        seen = [_asked(line) for line in text.splitlines() if MARKER not in line]
        return seen[since:]

    def times(self, since: int = 0) -> Counter[tuple[str, str]]:
        """How often each target was asked by which method."""
        return Counter((a.method, a.target) for a in self.asked(since))

    def mark(self) -> int:
        """How much was asked so far: give it to `asked` as `since` later."""
        return len(self.asked())

    def __enter__(self) -> Self:
        [self.port] = self._process.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stop()

    def _command(self, ports: list[int]) -> list[str]:
        configuration = self._folder / "nginx.conf"
        configuration.write_text(self._configuration(ports[0]))
        return [
            self._program,
            *("-p", f"{self._folder}/", "-c", str(configuration)),
            *("-e", str(self._folder / "error.log"), "-g", "daemon off;"),
        ]

    def _configuration(self, port: int) -> str:
        # Only root may name a user, and must, or the workers could not read our files.
        user = f"user {getpass.getuser()};" if os.geteuid() == 0 else ""
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        return "\n".join(
            [
                user,
                "worker_processes 1; pid nginx.pid;",
                "events { worker_connections 1024; }",
                "http {",
                *(f"{kind}_temp_path spool-{kind};" for kind in kinds),
                f"log_format site '{FIELDS}'; access_log access.log site;",
                f"types {{ {_rows(TYPES.items())} }} default_type text/plain;",
                "server {",
                *(f"listen {address}:{port};" for address in ADDRESSES),
                "root html; absolute_redirect off;",
                f'location {MARKER} {{ return 200 "seen"; }}',
                *(line.replace("PORT", str(port)) for line in self._locations),
                "} }",
            ]
        )


def _rows(pairs: Iterable[tuple[str, str]]) -> str:
    return " ".join(f"{kind} {ending};" for kind, ending in pairs)


def _asked(line: str) -> Asked:
    at, address, host, method, target, status, size, condition, *_ = line.split(" ", 8)
    return Asked(
        at=float(at),
        address=address,
        host=host,
        method=method,
        target=target,
        status=int(status),
        bytes=int(size),
        conditional=not condition.startswith('"-'),
    )
