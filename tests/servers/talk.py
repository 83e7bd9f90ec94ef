"""One request to the rude server, and the means to answer it badly."""

import socket
import struct
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass

BODY = b"<!doctype html><title>fine</title><p>fine</p>\n"
DRIP_SECONDS = 0.1
ENDLESS_BYTES = 64_000_000  # "endless" ends here


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """One request and the means to answer it badly."""

    connection: socket.socket
    method: str
    path: str
    argument: str  # the path after the fault's name: "3" in /flaky/3
    headers: dict[str, str]
    earlier: int  # requests for the same path and query before this one
    served: int  # requests on the same connection before this one
    stopping: threading.Event
    until: float  # monotonic: no word after it

    @property
    def label(self) -> str:
        """The first part of the name that was asked for."""
        return self.headers.get("host", "").partition(".")[0]

    def send(self, data: bytes) -> None:
        """Send, unless our time is up."""
        left = self.until - time.monotonic()
        if left <= 0 or self.stopping.is_set():
            raise TimeoutError("the talk is over")
        self.connection.settimeout(left)
        self.connection.sendall(data)

    def answer(
        self,
        status: str = "200 OK",
        *headers: tuple[str, str],
        body: bytes = BODY,
        length: int | None = None,
        keep: bool = False,
    ) -> None:
        """Send a whole answer; `length` may lie about the body's."""
        lines = [
            f"HTTP/1.1 {status}",
            "Content-Type: text/html; charset=utf-8",
            f"Content-Length: {len(body) if length is None else length}",
            f"Connection: {'keep-alive' if keep else 'close'}",
            *(f"{name}: {value}" for name, value in headers),
        ]
        self.begin(*lines, body=body)

    def begin(self, *lines: str, body: bytes = b"") -> None:
        """Send these lines as the head, and the body if one is wanted."""
        head = "".join(f"{line}\r\n" for line in lines).encode("latin-1") + b"\r\n"
        self.send(head if self.method == "HEAD" else head + body)

    def chunked(self, parts: Iterable[bytes], *lines: str) -> None:
        """Send a body of unknown length, part by part; `lines` go into the head."""
        self.begin("HTTP/1.1 200 OK", *lines, "Transfer-Encoding: chunked")
        if self.method == "HEAD":
            return
        for part in parts:
            self.send(b"%x\r\n%b\r\n" % (len(part), part))
        self.send(b"0\r\n\r\n")

    def drip(self, data: bytes) -> None:
        """Send a byte at a time, slowly."""
        for number in data:
            self.send(bytes([number]))
            self.stopping.wait(DRIP_SECONDS)

    def flood(self, block: bytes) -> None:
        """Send the block again and again, up to the limit."""
        for _ in range(ENDLESS_BYTES // len(block)):
            self.send(block)

    def hang(self) -> None:
        """Say nothing until the other side leaves or our time is up."""
        self.connection.settimeout(max(0.01, self.until - time.monotonic()))
        while self.connection.recv(65_536):
            pass

    def reset(self) -> None:
        """Close so that the other side gets a reset."""
        reset(self.connection)


def reset(connection: socket.socket) -> None:
    """Close a connection with RST instead of FIN."""
    linger = struct.pack("ii", 1, 0)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    connection.close()
