"""Debian's nginx on loopback: well-behaved http and https, and what it was asked."""

import contextlib
import getpass
import http.client
import os
import re
import socket
import time
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Self

from servers.certificates import KINDS, Certificates
from servers.locations import MARKER, PASSWORD, USER, locations, write_files
from servers.process import ADDRESSES, HOST, ServerProcess, require

LOG_SECONDS = 30.0
# https ports: one a certificate, then two more ways to speak with the good one.
PORTS = ("http", *KINDS, "http2", "tls12")

LOG_FORMAT = (
    '$msec $remote_addr $server_addr $host "$request" $status '
    '$server_port $connection "$http_user_agent"'
)
LOG_LINE = re.compile(
    r'(\S+) (\S+) (\S+) (\S+) "(\S+) (\S+) \S+" (\d+) (\d+) (\d+) "(.*)"'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One line of the access log."""

    at: float  # Unix time at which nginx was done with it
    client: str
    address: str  # the address that was dialled
    host: str
    method: str
    target: str  # path and query
    status: int
    port: int
    connection: int  # the same number: the same connection
    user_agent: str


class Nginx:
    """nginx on 127.0.0.1 … 127.0.0.20 and ::1, one port a way of speaking (`PORTS`)."""

    def __init__(self, folder: Path, certificates: Certificates) -> None:
        self._program = require("nginx")
        self._folder = folder
        self._certificates = certificates
        self._log = folder / "access.log"
        self._markers = count(1)
        self._process = ServerProcess(
            self._command, log=folder / "output.log", ports=len(PORTS)
        )
        self.ports: dict[str, int] = {}
        write_files(folder / "html")

    def url(
        self, path: str = "/page.html", *, host: str = HOST, port: str = "http"
    ) -> str:
        """The URL of a path; `port` is one of `PORTS`, such as "good" or "expired"."""
        scheme = "http" if port == "http" else "https"
        return f"{scheme}://{host}:{self.ports[port]}{path}"

    def requests(self, path: str | None = None, *, since: int = 0) -> list[Request]:
        """What was asked, for `path` (without query) only; the first `since` left out.

        An answer reaches its reader before its line reaches the log. nginx has one
        worker, so when a request of our own is in the log, all earlier ones are.
        """
        marker = f"{MARKER}{next(self._markers)}"
        with contextlib.closing(
            http.client.HTTPConnection(HOST, self.ports["http"], timeout=LOG_SECONDS)
        ) as connection:
            connection.request("GET", marker)
            connection.getresponse().read()
        until = time.monotonic() + LOG_SECONDS
        while f" {marker} " not in (text := self._log.read_text()):
            if time.monotonic() > until:
                raise TimeoutError("nginx does not write its log")
        seen = [_request(line) for line in text.splitlines() if MARKER not in line]
        return [
            request
            for request in seen[since:]
            if path is None or request.target.partition("?")[0] == path
        ]

    def mark(self) -> int:
        """How much was asked so far: give it to `requests` as `since` later."""
        return len(self.requests())

    def __enter__(self) -> Self:
        self.ports = dict(zip(PORTS, self._process.start(), strict=True))
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stop()

    def _command(self, ports: list[int]) -> list[str]:
        by_name = dict(zip(PORTS, ports, strict=True))
        answers = locations(http=by_name["http"], https=by_name["good"])
        configuration = self._folder / "nginx.conf"
        configuration.write_text(self._configuration(by_name))
        (self._folder / "locations.conf").write_text("\n".join(answers))
        (self._folder / "users").write_text(f"{USER}:{{PLAIN}}{PASSWORD}\n")
        return [
            self._program,
            *("-p", f"{self._folder}/", "-c", str(configuration)),
            *("-e", str(self._folder / "error.log"), "-g", "daemon off;"),
        ]

    def _configuration(self, ports: dict[str, int]) -> str:
        servers = "\n".join(self._server(name, port) for name, port in ports.items())
        # Only root may name a user, and must, or the workers could not read our files.
        user = f"user {getpass.getuser()};" if os.geteuid() == 0 else ""
        spools = "\n".join(
            f"{kind}_temp_path spool-{kind};"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        return f"""{user}
worker_processes 1;
pid nginx.pid;
events {{ worker_connections 2048; }}
http {{
{spools}
log_format ronda '{LOG_FORMAT}';
access_log access.log ronda;
types {{ text/html html; text/plain txt; application/octet-stream bin; }}
default_type text/plain;
ssl_session_cache off;
{servers}
}}
"""

    def _server(self, name: str, port: int) -> str:
        tls = "" if name == "http" else " ssl"
        http2 = " http2" if name == "http2" else ""
        addresses = [*ADDRESSES, "[::1]"] if _has_ipv6() else list(ADDRESSES)
        lines = [f"listen {address}:{port}{tls}{http2};" for address in addresses]
        if tls:
            certificate = self._certificates[name if name in KINDS else "good"]
            lines += [
                f"ssl_certificate {certificate.chain};",
                f"ssl_certificate_key {certificate.key};",
                f"ssl_protocols TLSv1.2{'' if name == 'tls12' else ' TLSv1.3'};",
            ]
        lines += ["root html;", "include locations.conf;"]
        return "server {\n" + "\n".join(lines) + "\n}"


def _request(line: str) -> Request:
    match = LOG_LINE.fullmatch(line)
    assert match is not None, f"not a line of our log: {line}"
    at, client, address, host, method, target, status, port, connection, agent = (
        match.groups()
    )
    return Request(
        at=float(at),
        client=client,
        address=address,
        host=host,
        method=method,
        target=target,
        status=int(status),
        port=int(port),
        connection=int(connection),
        user_agent=agent,
    )


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True
