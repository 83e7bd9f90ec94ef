"""The server that all sides ask: Debian's nginx on many loopback addresses.

What is asked of a site to crawl is logged, in every run and for every program alike:
so each run proves that it saw every page, and says how often it asked.
"""

import os
import random
import shutil
import socket
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

import trustme
from msgspec import Struct

from bench.site import SITES, Site

PAGES = 200
FLUSH = 0.2  # seconds after which nginx writes what it has logged
CONFIG = """\
worker_processes 2;
worker_rlimit_nofile 65000;
pid {folder}/nginx.pid;
error_log {folder}/error.log crit;
daemon off;
user root;
events {{ worker_connections 30000; }}
http {{
    access_log off;
    types {{ text/html html; }}
    sendfile on;
    tcp_nopush on;
    keepalive_timeout 60;
    keepalive_requests 1000000;
    open_file_cache max=10000;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    root {folder}/www;
    server {{ listen 127.0.0.1:{http} backlog=8192; {listen} }}
    log_format asked '$status http://$server_addr:$server_port$request_uri';
    server {{
        {listen_away}
        access_log {folder}/asked.log asked buffer=64k flush={flush}ms;
    }}
    {sites}
    server {{
        {listen_tls}
        ssl_certificate {folder}/chain.pem;
        ssl_certificate_key {folder}/key.pem;
        ssl_protocols TLSv1.2 TLSv1.3;
        ssl_session_cache off;
        ssl_session_tickets off;
    }}
}}
"""
SITE = """\
server {{
        listen {address}:{http} backlog=8192;
        root {folder}/sites/{name};
        access_log {folder}/asked.log asked buffer=64k flush={flush}ms;
        add_header LinkChecker fast;  # or LinkChecker asks 4 times a second at most
    }}
"""


class Asked(Struct, frozen=True):
    """What a run asked for, as the server saw it."""

    requests: int
    missed: int  # URLs of the site that it should have asked for and did not
    strange: int  # and those that it asked for beside


class Nginx:
    """Plain http on 127.0.0.1-100; https on 127.1.0.0-127.1.7.249.

    The sites to crawl are on 127.3.0.1-3; what they link elsewhere is on 127.4.0.1-100.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.http, self.https = free_port(), free_port()
        self.addresses = [f"127.0.0.{n}" for n in range(1, 101)]
        self.tls_addresses = [f"127.1.{n // 250}.{n % 250 + 1}" for n in range(2000)]
        self.away_addresses = [f"127.4.0.{n}" for n in range(1, 101)]
        self.sites = {site.name: f"127.3.0.{n}" for n, site in enumerate(SITES, 1)}

    def __enter__(self) -> Self:
        self._write()
        program = shutil.which("nginx", path="/usr/sbin:/usr/bin:/bin") or "nginx"
        config = str(self.folder / "nginx.conf")
        self._process = subprocess.Popen([program, "-c", config, "-e", "stderr"])
        for port, address in ((self.http, "127.0.0.1"), (self.https, "127.1.0.1")):
            wait_for(address, port)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.wait()

    def _write(self) -> None:
        www = self.folder / "www"
        www.mkdir()
        random.seed(1)
        for number in range(PAGES):
            body = "x" * random.randint(1000, 20_000)
            (www / f"{number}.html").write_text(f"<html><body>{body}</body></html>")
        certificate = trustme.CA().issue_cert("localhost")
        certificate.private_key_pem.write_to_path(str(self.folder / "key.pem"))
        for part in certificate.cert_chain_pems:
            part.write_to_path(str(self.folder / "chain.pem"), append=True)
        others = self.addresses[1:]
        plain = " ".join(f"listen {a}:{self.http} backlog=512;" for a in others)
        tls = " ".join(f"listen {a}:{self.https} ssl;" for a in self.tls_addresses)
        away = " ".join(f"listen {a}:{self.http};" for a in self.away_addresses)
        names = {"folder": self.folder, "http": self.http, "flush": int(FLUSH * 1000)}
        sites = "".join(
            SITE.format(address=address, name=name, **names)
            for name, address in self.sites.items()
        )
        text = CONFIG.format(
            listen=plain, listen_tls=tls, listen_away=away, sites=sites, **names
        )
        (self.folder / "nginx.conf").write_text(text)

    def plain_list(self, count: int) -> Path:
        """Distinct URLs, spread evenly over the plain addresses."""
        lines = (
            f"http://{self.addresses[n % 100]}:{self.http}/{n % PAGES}.html?n={n}\n"
            for n in range(count)
        )
        return self._list(f"plain-{count}.txt", lines)

    def tls_list(self) -> Path:
        """One URL on each of the https addresses: a fresh connection each."""
        lines = (
            f"https://{address}:{self.https}/{n % PAGES}.html\n"
            for n, address in enumerate(self.tls_addresses)
        )
        return self._list("tls.txt", lines)

    def site(self, site: Site) -> str:
        """The front page of a site, which is written when first asked for."""
        folder = self.folder / "sites" / site.name
        if not folder.exists():
            site.write(folder, self._away(site))
        return f"http://{self.sites[site.name]}:{self.http}/"

    def page_list(self, site: Site) -> Path:
        """Every page of a site, for a program that cannot crawl."""
        front = self.site(site)
        lines = (f"{front[:-1]}{path}\n" for path in site.paths())
        return self._list(f"{site.name}.txt", lines)

    def asked(self, site: Site) -> Asked:
        """What was asked for since the last call, against what the site has."""
        time.sleep(2 * FLUSH)
        log = self.folder / "asked.log"
        lines = log.read_text().splitlines()
        os.truncate(log, 0)  # nginx appends: it goes on at the new end
        found = {url for status, url in map(str.split, lines) if status == "200"}
        front = self.site(site)[:-1]
        wanted = {f"{front}{path}" for path in site.paths()} | set(self._away(site))
        return Asked(len(lines), len(wanted - found), len(found - wanted))

    def _away(self, site: Site) -> list[str]:
        """The links of a site to others, spread evenly over their addresses."""
        hosts = [f"http://{address}:{self.http}" for address in self.away_addresses]
        count = site.pages * site.away
        return [f"{hosts[n % 100]}/{n // 100}.html" for n in range(count)]

    def _list(self, name: str, lines: Iterable[str]) -> Path:
        path = self.folder / name
        path.write_text("".join(lines))
        return path


def free_port() -> int:
    """A port where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(address: str, port: int) -> None:
    """Wait until somebody listens."""
    for _ in range(200):
        try:
            socket.create_connection((address, port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise SystemExit(f"bench: nothing listens on {address}:{port}")
