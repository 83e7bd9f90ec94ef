"""What the rude server does to those who ask: one function a path, and the table."""

import random
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

BODY = b"<!doctype html><title>fine</title><p>fine</p>\n"
DRIP_SECONDS = 0.1
ENDLESS_BYTES = 64_000_000  # "endless" ends here
BIG_HEADER_BYTES = 256_000
BLOCK = bytes(65_536)


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """One request and the means to answer it badly."""

    connection: socket.socket
    method: str
    path: str
    argument: str  # the path after the fault's name: "3" in /flaky/3
    headers: dict[str, str]
    earlier: int  # requests for the same path and query before this one
    stopping: threading.Event
    until: float  # monotonic: no word after it

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


# The connection


def _nothing(_: Talk) -> None:
    """Close without a byte: so does whoever calls us."""


def _keepalive_closes(talk: Talk) -> None:
    talk.answer(keep=True)


def _keepalive_drops(talk: Talk) -> None:
    talk.answer(keep=True)
    talk.connection.settimeout(max(0.01, talk.until - time.monotonic()))
    talk.connection.recv(65_536)  # the next request gets no answer


# What is no HTTP, or bad HTTP


def _garbage(talk: Talk) -> None:
    talk.send(b"\x00\xff\x16" + random.Random(3).randbytes(2000))


def _double_length(talk: Talk) -> None:
    talk.begin(
        "HTTP/1.1 200 OK", "Content-Length: 10", "Content-Length: 20", body=bytes(20)
    )


def _no_colon_header(talk: Talk) -> None:
    talk.answer("200 OK\r\nthis line has no colon")


def _big_header(talk: Talk) -> None:
    talk.answer("200 OK", ("X-Big", "x" * BIG_HEADER_BYTES))


def _endless_headers(talk: Talk) -> None:
    talk.send(b"HTTP/1.1 200 OK\r\n")
    talk.flood(b"X-More: and more\r\n" * 1000)


def _flood_1xx(talk: Talk) -> None:
    talk.flood(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n" * 1000)


def _slow_headers(talk: Talk) -> None:
    talk.drip(b"HTTP/1.1 200 OK\r\n" + b"X-Slow: and slow\r\n" * 1000)


# The body


def _slow_body(talk: Talk) -> None:
    talk.answer(body=b"", length=10_000)
    if talk.method != "HEAD":
        talk.drip(b"s" * 10_000)


def _short_body(talk: Talk) -> None:
    talk.answer(length=len(BODY) + 1000)


def _bad_chunk(talk: Talk) -> None:
    talk.begin(
        "HTTP/1.1 200 OK",
        "Transfer-Encoding: chunked",
        body=b"5\r\nhello\r\nthis is no length\r\nhello\r\n0\r\n\r\n",
    )


def _bad_gzip(talk: Talk) -> None:
    talk.answer("200 OK", ("Content-Encoding", "gzip"), body=b"this is no gzip " * 50)


def _endless_body(talk: Talk) -> None:
    talk.begin(
        "HTTP/1.1 200 OK", "Content-Type: text/html", "Transfer-Encoding: chunked"
    )
    if talk.method != "HEAD":
        talk.flood(b"%x\r\n%b\r\n" % (len(BLOCK), BLOCK))


# HEAD is not GET


def _for_head(fault: Callable[[Talk], None]) -> Callable[[Talk], None]:
    """The fault for HEAD; anything else is answered well."""

    def choose(talk: Talk) -> None:
        if talk.method == "HEAD":
            fault(talk)
        else:
            talk.answer()

    return choose


# Statuses and redirects


def _answer(status: str, *headers: tuple[str, str]) -> Callable[[Talk], None]:
    return lambda talk: talk.answer(status, *headers)


def _status(talk: Talk) -> None:
    talk.answer(f"{talk.argument} Odd")


def _cookie_loop(talk: Talk) -> None:
    if "seen=1" in talk.headers.get("cookie", ""):
        talk.answer()
    else:
        talk.answer("302 Found", ("Location", talk.path), ("Set-Cookie", "seen=1"))


def _retry_after(talk: Talk) -> None:
    if talk.earlier:
        talk.answer()
    else:
        talk.answer("429 Too Many Requests", ("Retry-After", talk.argument))


def _retry_after_date(talk: Talk) -> None:
    if talk.earlier:
        talk.answer()
    else:
        moment = datetime.now(UTC) + timedelta(seconds=int(talk.argument))
        date = format_datetime(moment, usegmt=True)
        talk.answer("503 Service Unavailable", ("Retry-After", date))


def _flaky(talk: Talk) -> None:
    failing = talk.earlier < int(talk.argument)
    talk.answer("503 Service Unavailable" if failing else "200 OK")


def _challenge(talk: Talk) -> None:
    talk.answer(
        "403 Forbidden",
        ("server", "cloudflare"),
        ("cf-mitigated", "challenge"),
        ("cf-ray", "0123456789abcdef-LIS"),
        body=b"<!doctype html><title>Just a moment...</title><p>Just a moment...</p>",
    )


FAULTS: dict[str, Callable[[Talk], None]] = {
    "/ok": Talk.answer,
    "/empty-reply": _nothing,
    "/reset": Talk.reset,
    "/garbage": _garbage,
    "/http09": lambda talk: talk.send(BODY),
    "/hang": Talk.hang,
    "/slow-headers": _slow_headers,
    "/slow-body": _slow_body,
    "/short-body": _short_body,
    "/bad-chunk": _bad_chunk,
    "/bad-gzip": _bad_gzip,
    "/double-length": _double_length,
    "/no-colon-header": _no_colon_header,
    "/endless-body": _endless_body,
    "/endless-headers": _endless_headers,
    "/flood-1xx": _flood_1xx,
    "/big-header": _big_header,
    "/head-hangs": _for_head(Talk.hang),
    "/head-empty": _for_head(_nothing),
    "/head-resets": _for_head(Talk.reset),
    "/head-lies-404": _for_head(_answer("404 Not Found")),
    "/redirect-bad": _answer("302 Found", ("Location", "http://[::1")),
    "/redirect-empty": _answer("301 Moved Permanently"),
    "/redirect-file": _answer("302 Found", ("Location", "file:///etc/passwd")),
    "/redirect-gopher": _answer("302 Found", ("Location", "gopher://127.0.0.1/1")),
    "/cookie-loop": _cookie_loop,
    "/status": _status,  # /status/999
    "/retry-after": _retry_after,  # /retry-after/1: 429 once, then 200
    "/retry-after-date": _retry_after_date,  # /retry-after-date/1: 503 once, then 200
    "/flaky": _flaky,  # /flaky/2: 503 twice, then 200
    "/keepalive-closes": _keepalive_closes,
    "/keepalive-drops": _keepalive_drops,
    "/challenge": _challenge,
}
