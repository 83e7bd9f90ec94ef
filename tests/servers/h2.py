"""HTTP/2 servers that storm: one function a server, and the table.

Frames are written by hand (RFC 9113); what the client says is read only as far as it
takes to know that a request came.
"""

import itertools
import socket
import ssl
import struct
from collections.abc import Callable, Iterator

from servers.talk import ENDLESS_BYTES

PREFACE = len(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, CONTINUATION = 0, 1, 3, 4, 6, 7, 9
END_HEADERS = 4
INTERNAL_ERROR, REFUSED_STREAM = 2, 7
STATUS_200 = b"\x88"  # as HPACK writes it
FIELD = b"\x00\x06x-more\x7f\x81\x01" + b"y" * 256  # a header not to be remembered
# A header of 4,000 bytes to be remembered, and then called to mind by one byte each.
HPACK_BOMB = b"\x40\x01x\x7f\xa1\x1e" + b"y" * 4000 + b"\xbe" * 12_000

Heard = Callable[[], None]  # told of each request


def _frame(kind: int, stream: int = 0, payload: bytes = b"", flags: int = 0) -> bytes:
    size = struct.pack(">I", len(payload))[1:]
    return size + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def _requests(connection: socket.socket, heard: Heard) -> Iterator[int]:
    """The streams on which something is asked, as they come."""
    connection.sendall(_frame(SETTINGS))
    stream = connection.makefile("rb")
    stream.read(PREFACE)
    while head := stream.read(9):
        size, kind = int.from_bytes(head[:3]), head[3]
        stream.read(size)
        if kind == HEADERS:
            heard()
            yield int.from_bytes(head[5:])


def _flood(connection: socket.socket, block: bytes) -> None:
    block *= 100
    for _ in range(ENDLESS_BYTES // len(block)):
        connection.sendall(block)


def resets(connection: socket.socket, heard: Heard) -> None:
    """Take back every stream with an internal error."""
    for stream in _requests(connection, heard):
        connection.sendall(
            _frame(RST_STREAM, stream, struct.pack(">I", INTERNAL_ERROR))
        )


def _refuses(connection: socket.socket, heard: Heard) -> None:
    """Say of every stream that it was never begun, and may be asked again."""
    for stream in _requests(connection, heard):
        connection.sendall(
            _frame(RST_STREAM, stream, struct.pack(">I", REFUSED_STREAM))
        )


def _goes(connection: socket.socket, heard: Heard) -> None:
    """Say goodbye to the first request: no stream was served, none will be."""
    asked = _requests(connection, heard)
    next(asked, None)
    connection.sendall(_frame(GOAWAY, 0, struct.pack(">II", 0, 0)))
    next(asked, None)


def _goes_at_once(connection: socket.socket, heard: Heard) -> None:
    """Say goodbye before anything was asked."""
    connection.sendall(_frame(SETTINGS) + _frame(GOAWAY, 0, struct.pack(">II", 0, 0)))
    for _ in _requests(connection, heard):
        pass  # it leaves by itself


def _resets_while_answering(connection: socket.socket, heard: Heard) -> None:
    """Begin every answer, then take it back."""
    for stream in _requests(connection, heard):
        head = _frame(HEADERS, stream, STATUS_200, END_HEADERS)
        code = struct.pack(">I", INTERNAL_ERROR)
        connection.sendall(head + _frame(RST_STREAM, stream, code))


def _sets(connection: socket.socket, heard: Heard) -> None:
    """Change the settings again and again."""
    next(_requests(connection, heard), None)
    _flood(connection, _frame(SETTINGS, payload=struct.pack(">HI", 3, 100)))


def _pings(connection: socket.socket, heard: Heard) -> None:
    """Ask for a sign of life again and again."""
    next(_requests(connection, heard), None)
    _flood(connection, _frame(PING, payload=bytes(8)))


def _continues(connection: socket.socket, heard: Heard) -> None:
    """Headers that go on for ever."""
    for stream in itertools.islice(_requests(connection, heard), 1):
        connection.sendall(_frame(HEADERS, stream, STATUS_200))
        _flood(connection, _frame(CONTINUATION, stream, FIELD))


def _swells(connection: socket.socket, heard: Heard) -> None:
    """Headers of 16 KB that unpack to 48 MB."""
    for stream in itertools.islice(_requests(connection, heard), 1):
        block = STATUS_200 + HPACK_BOMB
        connection.sendall(_frame(HEADERS, stream, block, END_HEADERS))
        connection.recv(1)


def _says_nothing(connection: socket.socket, heard: Heard) -> None:
    """A body of frames without a byte in them."""
    for stream in itertools.islice(_requests(connection, heard), 1):
        connection.sendall(_frame(HEADERS, stream, STATUS_200, END_HEADERS))
        _flood(connection, _frame(DATA, stream))


def _speaks_http1(connection: socket.socket, heard: Heard) -> None:
    """Agree on HTTP/2, and speak HTTP/1.1."""
    connection.recv(65_536)
    heard()
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    connection.recv(65_536)


def serve(name: str, connection: ssl.SSLSocket, heard: Heard) -> None:
    """Storm at those who speak HTTP/2; others are heard, and get no answer."""
    if connection.selected_alpn_protocol() == "h2":
        STORMS[name](connection, heard)
    else:
        connection.recv(65_536)


# By the name of the rude server's port.
STORMS: dict[str, Callable[[socket.socket, Heard], None]] = {
    "h2-resets": resets,
    "h2-refuses": _refuses,
    "h2-goes": _goes,
    "h2-goes-at-once": _goes_at_once,
    "h2-resets-late": _resets_while_answering,
    "h2-sets": _sets,
    "h2-pings": _pings,
    "h2-continues": _continues,
    "h2-swells": _swells,
    "h2-empty": _says_nothing,
    "h2-http1": _speaks_http1,
}
