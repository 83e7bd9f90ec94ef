"""The demo's own name server: names fail and mail is found without a network."""

import asyncio
import struct
from enum import IntEnum
from typing import Any, cast

from msgspec import Struct

_LONGEST = 512  # bytes of a question that is read
_TTL = 60  # seconds
_INTERNET = 1


class Kind(IntEnum):
    """The kinds of record that are asked for."""

    A = 1
    MX = 15


class Code(IntEnum):
    """What a name server says of a question."""

    FINE = 0
    FAILED = 2
    NO_SUCH_NAME = 3


class Zone(Struct, frozen=True):
    """What is known of a name."""

    address: bytes = b""
    mail: str = ""
    code: Code = Code.FINE


ZONES = {
    "harbour-museum.test": Zone(address=b"\x7f\0\0\1", mail="mail.harbour-museum.test"),
    "mail.harbour-museum.test": Zone(address=b"\x7f\0\0\1"),
    "no-mail.test": Zone(),
    "silted-up.test": Zone(code=Code.FAILED),
}
_UNKNOWN = Zone(code=Code.NO_SUCH_NAME)


class NameServer(asyncio.DatagramProtocol):
    """Answers every question at once, from the table above."""

    _transport: asyncio.DatagramTransport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keeps the socket to answer on."""
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[Any, ...]) -> None:
        """Answers one question; what is not one is left alone."""
        reply = answer(data)
        if reply:
            self._transport.sendto(reply, addr)


def answer(query: bytes) -> bytes:
    """The answer to a DNS query, or nothing when it is not one (RFC 1035, 4.1)."""
    if not 16 < len(query) <= _LONGEST or query[2] & 0x80:
        return b""
    name, end = _name(query, 12)
    question = query[12 : end + 4]
    if len(question) < end - 8:
        return b""
    kind = int.from_bytes(query[end : end + 2])
    zone = ZONES.get(name, _UNKNOWN)
    record = _record(zone, kind)
    flags = 0x8580 | zone.code  # an answer, with authority, recursion as asked
    head = struct.pack("!2s5H", query[:2], flags, 1, 1 if record else 0, 0, 0)
    return head + question + record


def _name(query: bytes, at: int) -> tuple[str, int]:
    """A name as its labels stand from a place on, and where it ends."""
    labels = []
    while at < len(query) and (size := query[at]):
        labels.append(query[at + 1 : at + 1 + size].decode("latin-1").lower())
        at += 1 + size
    return ".".join(labels), at + 1


def _record(zone: Zone, kind: int) -> bytes:
    if kind == Kind.A and zone.address:
        data = zone.address
    elif kind == Kind.MX and zone.mail:
        data = struct.pack("!H", 10) + _labels(zone.mail)
    else:
        return b""
    # 0xC00C: the name of the question, by its place
    return struct.pack("!HHHIH", 0xC00C, kind, _INTERNET, _TTL, len(data)) + data


def _labels(name: str) -> bytes:
    parts = (bytes([len(part)]) + part.encode() for part in name.split("."))
    return b"".join(parts) + b"\0"
