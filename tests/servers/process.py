"""Server programs on free loopback ports: started, waited for, ended by their pid."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

HOST = "127.0.0.1"
ADDRESSES = tuple(f"127.0.0.{number}" for number in range(1, 21))
START_SECONDS = 60.0
STOP_SECONDS = 10.0
ATTEMPTS = 3  # another program may take a free port before ours binds it


def require(name: str, *folders: Path) -> str:
    """The path of a program. Without it: skip, but in CI nothing may be skipped."""
    # Debian keeps servers out of users' PATH.
    places = (*map(str, folders), os.environ.get("PATH", ""), "/usr/sbin", "/sbin")
    path = shutil.which(name, path=":".join(places))
    if path is not None:
        return path
    message = f"{name} is not installed: run scripts/install-servers"
    if os.environ.get("CI"):
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


def free_ports(count: int) -> list["FreePort"]:
    """Ports free on every loopback address, TCP and UDP, no two alike."""
    return [FreePort() for _ in range(count)]


class FreePort:
    """A port that no other worker of this test run will choose while it is held.

    The claim is an abstract Unix socket named after the port, which the kernel drops
    with the process: nothing to clean up, and the port itself stays free to bind.
    """

    def __init__(self) -> None:
        self._claim = socket.socket(socket.AF_UNIX)
        try:
            self.number = self._choose()
        except BaseException:
            self._claim.close()
            raise

    def release(self) -> None:
        """Let others choose it."""
        self._claim.close()

    def _choose(self) -> int:
        for _ in range(100):
            with socket.socket() as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
                # Bound, never listening: free on all addresses, open on none.
                tcp.bind(("", 0))
                port: int = tcp.getsockname()[1]
                try:
                    udp.bind(("", port))
                    self._claim.bind(f"\0ronda-test-port-{port}")
                except OSError:
                    continue
                return port
        raise OSError("no free port found")


class ServerProcess:
    """One server program, from its start to its end.

    `command` is called with the ports and returns the program's arguments (it may write
    its configuration first). It is called again with other ports if the program ends
    before it listens on the first of them.
    """

    def __init__(
        self,
        command: Callable[[list[int]], Sequence[str]],
        *,
        log: Path,
        ports: int = 1,
    ) -> None:
        self._setpriv = require("setpriv")
        self._command = command
        self._log = log
        self._count = ports
        self._claims: list[FreePort] = []
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> list[int]:
        """Start on free ports, wait until it accepts, and name the ports."""
        for _ in range(ATTEMPTS):
            self._claims = free_ports(self._count)
            ports = [claim.number for claim in self._claims]
            self._process = self._spawn(self._command(ports))
            try:
                if self._accepts(ports[0]):
                    return ports
            except BaseException:
                self.stop()
                raise
            self.stop()
        raise RuntimeError(f"server did not start:\n{self._log.read_text()[-2000:]}")

    def restart(self) -> None:
        """Start it again on the ports that it had."""
        ports = [claim.number for claim in self._claims]
        self._process = self._spawn(self._command(ports))
        if not self._accepts(ports[0]):
            log = self._log.read_text()
            raise RuntimeError(f"server did not start again:\n{log[-2000:]}")

    def stop(self) -> None:
        """End it, and let others have its ports."""
        self.end()
        for claim in self._claims:
            claim.release()
        self._claims = []

    def end(self) -> None:
        """End it by its pid: asked first, then forced."""
        process, self._process = self._process, None
        if process is not None:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def runs(self) -> bool:
        """Whether it was started and not ended."""
        return self._process is not None

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        assert self._process is not None, "not started"
        self._process.send_signal(number)

    def _spawn(self, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
        # setpriv: the server also ends when this process is killed. Its own session:
        # Ctrl-C reaches pytest alone, which then ends its servers in order.
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [self._setpriv, "--pdeathsig", "TERM", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _accepts(self, port: int) -> bool:
        assert self._process is not None
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            try:
                socket.create_connection((HOST, port), START_SECONDS).close()
                return self._process.poll() is None
            except ConnectionRefusedError:
                try:
                    self._process.wait(0.01)
                except subprocess.TimeoutExpired:
                    continue
                return False
        return False
