"""One client of the demo's web: reads what it asks, sends what the table says."""

import asyncio
import re
import socket
import ssl
import struct
from collections.abc import Callable
from contextlib import suppress

from ronda.cli.demo.behaviours import Ending

# Method, path and body to what is sent, and what becomes of the connection then.
Choose = Callable[[str, str, bytes], tuple[bytes, Ending]]

_LONGEST_HEAD = 16 * 1024  # bytes of a request
_LENGTH = re.compile(r"^content-length: *(\d{1,6})\r$", re.IGNORECASE | re.MULTILINE)
_IDLE = 30.0  # seconds a connection may say nothing
_SILENCE = 60.0  # seconds a path that never answers keeps its client waiting
_CLOSING = 1.0  # seconds for what is sent to leave, and for TLS to part
_RESET = struct.pack("ii", 1, 0)  # SO_LINGER: on, for 0 seconds


async def serve(
    accepted: socket.socket, context: ssl.SSLContext | None, choose: Choose
) -> None:
    """Answers one client until either side ends it; never raises for its faults."""
    # OSError: reset, time-out, or a certificate refused. EOFError: it left.
    with suppress(OSError, EOFError, asyncio.LimitOverrunError):
        reader, writer = await _open(accepted, context)
        try:
            while await _exchange(reader, writer, choose):
                pass
        except asyncio.CancelledError:
            writer.transport.abort()
            raise
        finally:
            await _close(writer)


async def _open(
    accepted: socket.socket, context: ssl.SSLContext | None
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    # Not asyncio.start_server: its handshakes are nobody's task, and outlive it.
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=_LONGEST_HEAD)
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await loop.connect_accepted_socket(
        lambda: protocol,
        accepted,
        ssl=context,
        ssl_handshake_timeout=_IDLE if context else None,
        ssl_shutdown_timeout=_CLOSING if context else None,
    )
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


async def _exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, choose: Choose
) -> bool:
    """One request and its answer; whether another one may follow."""
    async with asyncio.timeout(_IDLE):
        head = await reader.readuntil(b"\r\n\r\n")
        body = await reader.readexactly(_length(head))
    method, path, stays = _parse(head)
    reply, ending = choose(method, path, body)
    writer.write(reply)
    await writer.drain()
    if ending is Ending.SILENCE:
        await asyncio.wait_for(reader.read(), _SILENCE)  # until the client gives up
    elif ending is Ending.RESET:
        _reset(writer)
    return stays and ending is Ending.KEEP


def _length(head: bytes) -> int:
    """The length of the body that follows; 0 when it is not told, or too long."""
    told = _LENGTH.search(head.decode("latin-1"))
    return int(told[1]) if told else 0


def _parse(head: bytes) -> tuple[str, str, bool]:
    """Method, path without its query, and whether the client wants to stay."""
    line, _, headers = head.decode("latin-1").partition("\r\n")
    method, _, rest = line.partition(" ")
    target, _, version = rest.partition(" ")
    stays = version == "HTTP/1.1" and "connection: close" not in headers.lower()
    return method, target.partition("?")[0], stays


def _reset(writer: asyncio.StreamWriter) -> None:
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    writer.transport.abort()


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    try:
        async with asyncio.timeout(_CLOSING):
            await writer.wait_closed()
    finally:
        writer.transport.abort()
