"""HTTP as a proxy speaks it (RFC 9112): CONNECT, and requests for http URLs."""

import asyncio
import base64
import binascii
import re
from http import HTTPStatus

from ronda.fetch.passage.permit import No, Permit
from ronda.fetch.passage.wish import Wish, place

_LINE = re.compile(rb"([A-Za-z]{1,20}) (\S+) HTTP/1\.[01]")
_HEADER = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[^\r\n\0]*")
_ABSOLUTE = re.compile(r"http://([^/?#]+)([^#]*)", re.IGNORECASE)
# Between us and one side only; the last is ours, and the one before a habit of old.
_HOP = {b"connection", b"keep-alive", b"proxy-connection", b"proxy-authorization"}

Headers = list[tuple[bytes, bytes]]  # names in lower case, and whole lines


async def hear(
    first: bytes, reader: asyncio.StreamReader, permits: dict[str, Permit]
) -> Wish | No:
    """Read a request.

    Raises:
        EOFError: it ends too soon.
        LimitOverrunError: it is too long.
    """
    head = (first + await reader.readuntil(b"\r\n\r\n"))[:-4]
    line, *rest = head.split(b"\r\n")
    found = _LINE.fullmatch(line)
    if found is None or not all(map(_HEADER.fullmatch, rest)):
        return No(400, "not a request for a proxy")
    headers = [(each.partition(b":")[0].lower(), each) for each in rest]
    permit = permits.get(_password(headers))
    if permit is None:
        return No(407, "this is for programs that Ronda runs, while they run")
    method, target = found[1], found[2].decode("latin-1")
    if method == b"CONNECT":
        return _tunnel(permit, target)
    return _request(permit, method, target, headers)


def _tunnel(permit: Permit, authority: str) -> Wish | No:
    where = place(authority) if "@" not in authority else None
    if where is None:
        return No(400, "not a host and a port")
    yes = b"HTTP/1.1 200 Connection established\r\n\r\n"
    return Wish(permit, *where, f"{where[0]}:{where[1]}", yes, no)


def _request(permit: Permit, method: bytes, url: str, headers: Headers) -> Wish | No:
    found = _ABSOLUTE.fullmatch(url)
    where = place(found[1]) if found else None
    if found is None or where is None:
        return No(400, "only http URLs are asked for here; others need CONNECT")
    path = found[2] if found[2].startswith("/") else f"/{found[2]}"
    lines = [b"%b %b HTTP/1.1" % (method, path.encode("latin-1"))]
    lines += [line for name, line in headers if name not in _HOP]
    head = b"\r\n".join([*lines, b"Connection: close", b"", b""])
    body = _body(headers)
    return Wish(permit, *where, url, b"", no, head=head, body=body, answers=True)


def _body(headers: Headers, otherwise: int | None = 0) -> int | None:
    """Bytes of a body; None when only its own chunks tell."""
    names = dict(headers)
    if b"transfer-encoding" in names:
        return None
    if b"content-length" not in names:
        return otherwise
    text = names[b"content-length"].partition(b":")[2].strip()
    return int(text) if text.isdigit() and len(text) < 16 else otherwise


def _password(headers: Headers) -> str:
    line = dict(headers).get(b"proxy-authorization", b"")
    kind, _, text = line.partition(b":")[2].strip().partition(b" ")
    if kind.lower() != b"basic":
        return ""
    try:
        pair = base64.b64decode(text.strip(), validate=True)
    except binascii.Error:
        return ""
    return pair.partition(b":")[2].decode("latin-1")


def no(said: No) -> bytes:
    """An answer of our own: its words are for who reads what the program wrote."""
    text = f"ronda: {said.words}\n".encode()
    lines = [
        f"HTTP/1.1 {said.status} {HTTPStatus(said.status).phrase}",
        "Content-Type: text/plain; charset=utf-8",
        f"Content-Length: {len(text)}",
        "Connection: close",
    ]
    if said.status == 407:
        lines.append('Proxy-Authenticate: Basic realm="ronda"')
    return "\r\n".join([*lines, "", ""]).encode() + text


def length(request: bytes, head: bytes) -> int | None:
    """Bytes that follow the head of an answer; None: all there are."""
    line, *rest = head[:-4].split(b"\r\n")
    if request.startswith(b"HEAD ") or line.split()[1:2] in ([b"204"], [b"304"]):
        return 0
    return _body([(one.partition(b":")[0].lower(), one) for one in rest], None)


def closing(head: bytes) -> bytes:
    """The head of an answer, which now says that nothing follows it."""
    lines = head[:-4].split(b"\r\n")
    kept = [one for one in lines if one.partition(b":")[0].strip().lower() not in _HOP]
    return b"\r\n".join([*kept, b"Connection: close", b"", b""])


def is_interim(head: bytes) -> bool:
    """Whether another head follows this one (100 Continue)."""
    return re.match(rb"HTTP/1\.[01] 1\d\d", head) is not None
