"""Polite work: 2,000 hosts at one request a second each, judged from nginx's log.

Half of the hosts are addresses, half are names (dnsmasq), each on an address of its
own; every tenth answer redirects to another of them. What counts is what nginx wrote:
`$msec` of each request, by name and by address.
"""

import random
import shutil
import subprocess
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.measure import ENV
from bench.nginx import free_port, wait_for
from bench.rivals import BIN

HOSTS = 2000
SECONDS = 60
INTERVAL = 1.0
SPARE = 12  # URLs of a host beyond one a second: redirects come on top of them
TICK = 0.001  # seconds: nginx knows no finer moment
LOG_FORMAT = '$msec $server_addr $host "$request" $status $request_time'
NGINX = """\
worker_processes 2;
worker_rlimit_nofile 20000;
pid {folder}/nginx.pid;
error_log {folder}/error.log crit;
daemon off;
user root;
events {{ worker_connections 8000; }}
http {{
    log_format polite '{log_format}';
    access_log {folder}/access.log polite;
    keepalive_timeout 120;
    keepalive_requests 100000;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen {port} backlog=4096;
        location ~ ^/to/([^/]+)/(.*)$ {{ return 302 http://$1:{port}/$2; }}
        location / {{ return 200 "fine"; }}
    }}
}}
"""


def measure() -> dict[str, Any]:
    """One run of a minute, and what the server saw of it."""
    with TemporaryDirectory(prefix="ronda-polite-") as temporary:
        folder = Path(temporary)
        folder.chmod(0o755)
        names = {f"h{n}.polite.test": address(n) for n in range(HOSTS // 2, HOSTS)}
        hosts = [address(n) for n in range(HOSTS // 2)] + list(names)
        port, dns = free_port(), free_port()
        servers = [_nginx(folder, port), _dnsmasq(folder, dns, names)]
        try:
            wait_for("127.2.0.1", port)
            wait_for("127.0.0.1", dns)
            _run(folder, _listed(folder, hosts, port), dns)
        finally:
            for server in servers:
                server.terminate()
                server.wait()
        return judged(folder / "access.log") | audited(folder)


def address(number: int) -> str:
    """The loopback address of a host."""
    return f"127.2.{number // 250}.{number % 250 + 1}"


def _nginx(folder: Path, port: int) -> subprocess.Popen[bytes]:
    program = shutil.which("nginx", path="/usr/sbin:/usr/bin:/bin") or "nginx"
    text = NGINX.format(folder=folder, port=port, log_format=LOG_FORMAT)
    (folder / "nginx.conf").write_text(text)
    config = str(folder / "nginx.conf")
    return subprocess.Popen([program, "-c", config, "-e", "stderr"])


def _dnsmasq(folder: Path, port: int, names: dict[str, str]) -> subprocess.Popen[bytes]:
    program = shutil.which("dnsmasq", path="/usr/sbin:/usr/bin:/bin") or "dnsmasq"
    lines = (f"{address} {name}\n" for name, address in names.items())
    (folder / "hosts").write_text("".join(lines))
    options = ["--no-daemon", "--no-resolv", "--no-hosts", "--conf-file=/dev/null"]
    options += ["--listen-address=127.0.0.1", "--bind-interfaces", f"--port={port}"]
    options += ["--local-ttl=20", f"--addn-hosts={folder / 'hosts'}", "--pid-file="]
    nowhere = subprocess.DEVNULL
    return subprocess.Popen([program, *options], stdout=nowhere, stderr=nowhere)


def _listed(folder: Path, hosts: list[str], port: int) -> Path:
    """URLs of all hosts in turn; every tenth leads to another host."""
    chance = random.Random(3)
    lines = []
    for number in range(SECONDS + SPARE):
        for host in hosts:
            page = f"{number}.html"
            if chance.random() < 0.1:
                page = f"to/{chance.choice(hosts)}/from-{host}-{number}.html"
            lines.append(f"http://{host}:{port}/{page}\n")
    path = folder / "urls.txt"
    path.write_text("".join(lines))
    return path


def _run(folder: Path, urls: Path, dns: int) -> None:
    limits = {"interval": INTERVAL, "server-interval": INTERVAL}
    limits |= {"per-host": 1, "per-server": 1}
    options = [f"--{name}={value}" for name, value in limits.items()]
    options += [f"--max-time={SECONDS + 2}"]
    options += [f"--name-server=127.0.0.1:{dns}", "--no-robots", "--no-progress"]
    options += [f"--request-log={folder / 'requests.jsonl'}", "--quiet", str(urls)]
    command = [str(BIN / "ronda"), "check", *options]
    ended = subprocess.run(command, env=ENV, check=False, capture_output=True)
    if ended.returncode:
        raise SystemExit(
            f"bench: ronda ended with {ended.returncode}: {ended.stderr!r}"
        )


def judged(log: Path) -> dict[str, Any]:
    """The rate, and every gap that was too short, from the server's own moments."""
    by_key: dict[str, list[float]] = defaultdict(list)
    hops = 0
    for line in log.read_text().splitlines():
        moment, server, host, _, target, _ = line.split(" ", 5)
        at = float(moment)
        hops += target.startswith("/from-")
        by_key[server].append(at)
        by_key[f"host {host}"].append(at)
    hosts = [times for key, times in by_key.items() if key.startswith("host ")]
    # Between the first and the last of each: a minute of 60 gaps has 61 requests.
    spans = sum(max(times) - min(times) for times in hosts)
    gaps = [b - a for times in by_key.values() for a, b in pairwise(sorted(times))]
    return {
        "requests": sum(map(len, hosts)),
        "of_the_ideal": sum(len(times) - 1 for times in hosts) * INTERVAL / spans,
        "hops": hops,
        "shortest_gap": min(gaps),
        "violations": sum(gap + TICK < INTERVAL - 1e-9 for gap in gaps),
        "hosts": len(hosts),
        "servers": len(by_key) - len(hosts),
    }


def audited(folder: Path) -> dict[str, Any]:
    """What `ronda audit` says of the server's log and of our own."""
    logs = {"nginx": [f"--log-format={LOG_FORMAT}", str(folder / "access.log")]}
    logs["own"] = [str(folder / "requests.jsonl")]
    found = {}
    for name, arguments in logs.items():
        limits = [f"--interval={INTERVAL}", f"--server-interval={INTERVAL}"]
        command = [str(BIN / "ronda"), "audit", *limits, *arguments]
        found[f"audit_{name}"] = subprocess.run(
            command, env=ENV, check=False, capture_output=True
        ).returncode
    return found


def run() -> dict[str, Any]:
    """Measure, and print it."""
    found = measure()
    print(
        f"\n{found['hosts']:,} hosts at 1 request/s for {SECONDS} s, "
        f"{found['hops']:,} of {found['requests']:,} requests redirect hops\n"
        f"{found['of_the_ideal']:.1%} of the ideal rate, {found['violations']} gaps "
        f"too short in nginx's log, the shortest {found['shortest_gap']:.3f} s"
    )
    return found
