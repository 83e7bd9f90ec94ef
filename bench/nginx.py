"""The server that both sides ask: Debian's nginx on many loopback addresses."""

import random
import shutil
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import trustme

PAGES = 200
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
    open_file_cache max=1000;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    root {folder}/www;
    server {{ listen 127.0.0.1:{http} backlog=8192; {listen} }}
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


class Nginx:
    """Plain http on 127.0.0.1-100; https on 127.1.0.0-127.1.7.249."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.http, self.https = free_port(), free_port()
        self.addresses = [f"127.0.0.{n}" for n in range(1, 101)]
        self.tls_addresses = [f"127.1.{n // 250}.{n % 250 + 1}" for n in range(2000)]

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
        text = CONFIG.format(
            folder=self.folder, http=self.http, listen=plain, listen_tls=tls
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

    def _list(self, name: str, lines: "object") -> Path:
        path = self.folder / name
        path.write_text("".join(lines))  # type: ignore[call-overload]
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
