"""A name server (dnsmasq) that knows `ronda.test` and asks nobody else."""

import signal
import socket
import struct
import threading
import time
from pathlib import Path
from typing import Self

from servers.process import ADDRESSES, HOST, ServerProcess, require

A, MX, AAAA = 1, 15, 28
NO_ERROR, SERVER_FAILED, NO_SUCH_NAME = 0, 2, 3
QUERY_SECONDS = 5.0
ADD_SECONDS = 5.0

HOSTS = (
    # h1 … h20.ronda.test stand on 127.0.0.1 … 127.0.0.20
    *((ip, f"h{number}.ronda.test") for number, ip in enumerate(ADDRESSES, 1)),
    # three names, one server
    *(("127.0.0.3", f"shared-{number}.ronda.test") for number in (1, 2, 3)),
    # one name, two servers
    ("127.0.0.4", "two.ronda.test"),
    ("127.0.0.5", "two.ronda.test"),
    ("127.0.0.1", "www.ronda.test"),
    ("127.0.0.1", "both.ronda.test"),
    ("::1", "both.ronda.test"),
    ("::1", "six.ronda.test"),
    ("127.0.0.1", "xn--mnchen-3ya.ronda.test"),  # münchen.ronda.test
    ("10.0.0.1", "private.ronda.test"),  # for the address guard: not to be dialled
    ("127.0.0.1", "mail.ronda.test"),
    ("127.0.0.1", "no-mx.ronda.test"),
    ("127.0.0.1", "null-mx.ronda.test"),
)
OPTIONS = (
    "no-resolv",
    "no-hosts",
    "no-poll",
    "bind-interfaces",
    f"listen-address={HOST}",
    "pid-file=",
    "local=/ronda.test/",  # what is not known does not exist
    f"address=/any.ronda.test/{HOST}",  # as many names as a test wants
    "cname=alias.ronda.test,www.ronda.test",
    # seconds for which an answer holds; 0 for all the others
    "host-record=lasting.ronda.test,127.0.0.6,::1,300",
    "host-record=ages.ronda.test,127.0.0.6,1000000",
    "cname=brief-alias.ronda.test,lasting.ronda.test,20",
    "mx-host=mail.ronda.test,h1.ronda.test,10",
    "mx-host=mail.ronda.test,h2.ronda.test,20",
    "mx-host=lost-mx.ronda.test,nowhere.ronda.test,10",
    "dns-rr=null-mx.ronda.test,15,000000",  # RFC 7505: preference 0, exchange "."
    "txt-record=no-address.ronda.test,a name without an address",
)


class Names:
    """dnsmasq on 127.0.0.1, UDP and TCP."""

    def __init__(self, folder: Path) -> None:
        self._program = require("dnsmasq")
        self._folder = folder
        self._hosts = folder / "hosts"
        self._hosts.write_text("".join(f"{ip} {name}\n" for ip, name in HOSTS))
        self._failing = _FailingServer()
        self._silent = socket.socket(type=socket.SOCK_DGRAM)
        self._process = ServerProcess(self._command, log=folder / "dnsmasq.log")
        self.port = 0

    @property
    def server(self) -> str:
        """What a resolver takes: "127.0.0.1:5353"."""
        return f"{HOST}:{self.port}"

    def add(self, name: str, address: str) -> None:
        """Let `name` have `address` too, from now on."""
        with self._hosts.open("a") as hosts:
            hosts.write(f"{address} {name}\n")
        kind, family = (
            (AAAA, socket.AF_INET6) if ":" in address else (A, socket.AF_INET)
        )
        until = time.monotonic() + ADD_SECONDS
        while time.monotonic() < until:
            self._process.send(signal.SIGHUP)
            if socket.inet_pton(family, address) in self.query(name, kind)[1]:
                return
        raise TimeoutError(f"dnsmasq did not take {name}")

    def move(self, name: str, address: str) -> None:
        """Let `name`, which was added, have only `address` from now on."""
        lines = self._hosts.read_text().splitlines(keepends=True)
        others = (line for line in lines if line.split()[1] != name)
        self._hosts.write_text("".join(others))
        self.add(name, address)

    def query(
        self, name: str, kind: int = A, *, timeout: float = QUERY_SECONDS
    ) -> tuple[int, bytes]:
        """The answer's code and its records, asked over UDP."""
        labels = name.encode("idna").split(b".")
        question = b"".join(bytes([len(label)]) + label for label in labels) + b"\0"
        header = struct.pack(">6H", 7, 0x0100, 1, 0, 0, 0)  # one question, recursive
        with socket.socket(type=socket.SOCK_DGRAM) as client:
            client.settimeout(timeout)
            client.connect((HOST, self.port))
            client.send(header + question + struct.pack(">2H", kind, 1))
            answer = client.recv(4096)
        return answer[3] & 15, answer[len(header) + len(question) + 4 :]

    def __enter__(self) -> Self:
        self._silent.bind((HOST, 0))
        self._failing.start()
        try:
            [self.port] = self._process.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stop()
        self._failing.stop()
        self._silent.close()

    def _command(self, ports: list[int]) -> list[str]:
        configuration = self._folder / "dnsmasq.conf"
        options = (
            *OPTIONS,
            f"port={ports[0]}",
            f"addn-hosts={self._hosts}",
            f"server=/broken.ronda.test/{HOST}#{self._failing.port}",
            f"server=/silent.ronda.test/{HOST}#{self._silent.getsockname()[1]}",
        )
        configuration.write_text("\n".join(options) + "\n")
        return [
            self._program,
            # In the foreground and as who we are: a change of user, even from root to
            # root, would let it outlive a killed test run.
            "--no-daemon",
            f"--conf-file={configuration}",
        ]


class _FailingServer:
    """Answers every question with SERVFAIL."""

    def __init__(self) -> None:
        self._socket = socket.socket(type=socket.SOCK_DGRAM)
        self._thread = threading.Thread(target=self._run, name="servfail", daemon=True)

    @property
    def port(self) -> int:
        port: int = self._socket.getsockname()[1]
        return port

    def start(self) -> None:
        self._socket.bind((HOST, 0))
        self._thread.start()

    def stop(self) -> None:
        if self._thread.is_alive():
            with socket.socket(type=socket.SOCK_DGRAM) as client:
                client.sendto(b"", (HOST, self.port))  # an empty one: the end
            self._thread.join()
        self._socket.close()

    def _run(self) -> None:
        while True:
            message, client = self._socket.recvfrom(4096)
            if not message:
                return
            flags = struct.pack(">H", 0x8180 | SERVER_FAILED)
            self._socket.sendto(message[:2] + flags + message[4:], client)
