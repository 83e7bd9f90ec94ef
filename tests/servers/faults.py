"""What the rude server does to those who ask: one function a path, and the table."""

import contextlib
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from urllib.parse import unquote

from servers.talk import BODY, Talk

READ_SECONDS = 0.1  # enough to read what was sent
# Looks like an answer, and is the body of another.
STRAY = b"HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n"


# The connection


def _nothing(_: Talk) -> None:
    """Close without a byte: so does whoever calls us."""


def _keepalive_closes(talk: Talk) -> None:
    talk.answer(keep=True)


def _keepalive_drops(talk: Talk) -> None:
    if talk.served:
        raise ConnectionAbortedError("the next request gets no answer")
    talk.answer(keep=True)


def _late(talk: Talk) -> None:
    talk.stopping.wait(float(talk.argument))
    talk.answer()


# What is no HTTP, or bad HTTP


def _binary_status(talk: Talk) -> None:
    talk.send(b"HTTP/1.1 \xff\x00\x80 \x1b[2J\r\nContent-Length: 0\r\n\r\n")


def _garbage(talk: Talk) -> None:
    talk.send(b"\x00\xff\x16" + random.Random(3).randbytes(2000))


def _double_length(talk: Talk) -> None:
    talk.begin(
        "HTTP/1.1 200 OK", "Content-Length: 10", "Content-Length: 20", body=bytes(20)
    )


def _no_colon_header(talk: Talk) -> None:
    talk.answer("200 OK\r\nthis line has no colon")


def _slow_headers(talk: Talk) -> None:
    talk.drip(b"HTTP/1.1 200 OK\r\n" + b"X-Slow: and slow\r\n" * 1000)


# The body


def _slow_body(talk: Talk) -> None:
    talk.answer(body=b"", length=10_000)
    if talk.method != "HEAD":
        talk.drip(b"s" * 10_000)


def _short_body(talk: Talk) -> None:
    talk.answer(length=len(BODY) + 1000)


def _long_body(talk: Talk) -> None:
    talk.answer(body=BODY + STRAY, length=len(BODY), keep=True)


def _cut_chunk(talk: Talk) -> None:
    talk.begin("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", body=b"ff\r\nhello")


def _reset_body(talk: Talk) -> None:
    talk.answer(length=len(BODY) + 1000)
    talk.connection.settimeout(READ_SECONDS)
    with contextlib.suppress(TimeoutError):
        talk.connection.recv(1)  # it has read all, or takes its time
    talk.reset()


def _bad_chunk(talk: Talk) -> None:
    talk.begin(
        "HTTP/1.1 200 OK",
        "Transfer-Encoding: chunked",
        body=b"5\r\nhello\r\nthis is no length\r\nhello\r\n0\r\n\r\n",
    )


def _bad_gzip(talk: Talk) -> None:
    talk.answer("200 OK", ("Content-Encoding", "gzip"), body=b"this is no gzip " * 50)


# HEAD is not GET


def _head_body(talk: Talk) -> None:
    replace(talk, method="GET").answer(body=STRAY, keep=True)


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


def _redirect_on(talk: Talk) -> None:
    there = f"/redirect-on/{int(talk.argument) + 1}"
    talk.answer("302 Found", ("Location", there))


def _cookie_loop(talk: Talk) -> None:
    if "seen=1" in talk.headers.get("cookie", ""):
        talk.answer()
    else:
        talk.answer("302 Found", ("Location", talk.path), ("Set-Cookie", "seen=1"))


def _retry_after(talk: Talk) -> None:
    if talk.earlier:
        talk.answer()
    else:
        wish = ("Retry-After", unquote(talk.argument))
        talk.answer("429 Too Many Requests", wish)


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
    "/kept": lambda talk: talk.answer(keep=True),
    "/empty-reply": _nothing,
    "/reset": Talk.reset,
    "/garbage": _garbage,
    "/binary-status": _binary_status,
    "/http09": lambda talk: talk.send(BODY),
    "/hang": Talk.hang,
    "/late": _late,  # /late/1: silent for a second
    "/slow-headers": _slow_headers,
    "/slow-body": _slow_body,
    "/short-body": _short_body,
    "/long-body": _long_body,
    "/cut-body": lambda talk: talk.answer(body=b"", length=1000),
    "/cut-chunk": _cut_chunk,
    "/reset-body": _reset_body,
    "/bad-chunk": _bad_chunk,
    "/bad-gzip": _bad_gzip,
    "/odd-encoding": _answer("200 OK", ("Content-Encoding", "rot13")),
    "/double-length": _double_length,
    "/no-colon-header": _no_colon_header,
    "/head-hangs": _for_head(Talk.hang),
    "/head-empty": _for_head(_nothing),
    "/head-resets": _for_head(Talk.reset),
    "/head-body": _head_body,
    "/head-lies-404": _for_head(_answer("404 Not Found")),
    "/redirect-bad": _answer("302 Found", ("Location", "http://[::1")),
    "/redirect-empty": _answer("301 Moved Permanently"),
    "/redirect-file": _answer("302 Found", ("Location", "file:///etc/passwd")),
    "/redirect-gopher": _answer("302 Found", ("Location", "gopher://127.0.0.1/1")),
    "/redirect-script": _answer("302 Found", ("Location", "javascript:alert(1)")),
    "/redirect-data": _answer("302 Found", ("Location", "data:text/html,fine")),
    "/redirect-on": _redirect_on,  # /redirect-on/1 to 2, to 3, without end
    "/cookie-loop": _cookie_loop,
    "/status": _status,  # /status/999
    "/retry-after": _retry_after,  # /retry-after/1: 429 once, then 200
    "/retry-after-date": _retry_after_date,  # /retry-after-date/1: 503 once, then 200
    "/flaky": _flaky,  # /flaky/2: 503 twice, then 200
    "/keepalive-closes": _keepalive_closes,
    "/keepalive-drops": _keepalive_drops,
    "/challenge": _challenge,
}

# Whose connections really are kept for the next request.
KEPT = frozenset({"/kept", "/long-body", "/head-body", "/keepalive-drops"})
