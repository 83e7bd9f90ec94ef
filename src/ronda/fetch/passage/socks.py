"""SOCKS 5 (RFC 1928) with a password (RFC 1929), and names that we resolve."""

import asyncio
from ipaddress import IPv4Address, IPv6Address

from ronda.fetch.passage.permit import No, Permit
from ronda.fetch.passage.wish import Wish, place

VERSION = b"\x05"
_BY_PASSWORD, _NO_METHOD = 2, 0xFF
_CONNECT = 1
_IPV4, _NAME, _IPV6 = 1, 3, 4
_YES, _FAILED, _FORBIDDEN, _UNREACHABLE, _NO_COMMAND, _NO_KIND = 0, 1, 2, 4, 7, 8
_CODES = {400: _NO_KIND, 403: _FORBIDDEN, 405: _NO_COMMAND, 502: _UNREACHABLE}


async def hear(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    permits: dict[str, Permit],
) -> Wish | No | None:
    """Read what follows the first byte: a greeting, a password, a request.

    Raises:
        EOFError: it ends too soon.
    """
    if _BY_PASSWORD not in await _counted(reader):
        writer.write(bytes([5, _NO_METHOD]))
        return None
    writer.write(bytes([5, _BY_PASSWORD]))
    version = await reader.readexactly(1)
    await _counted(reader)  # the user: whoever
    permit = permits.get((await _counted(reader)).decode("latin-1"))
    known = permit is not None and version == b"\x01"
    writer.write(bytes([1, _YES if known else _FAILED]))
    return await _request(reader, permit) if permit and known else None


async def _request(reader: asyncio.StreamReader, permit: Permit) -> Wish | No:
    version, command, _, kind = await reader.readexactly(4)
    if kind == _NAME:
        host = (await _counted(reader)).decode("latin-1")
    elif kind in {_IPV4, _IPV6}:
        host = await _address(reader, kind)
    else:
        return No(400, "no such kind of address")
    port = int.from_bytes(await reader.readexactly(2))
    if version != 5 or command != _CONNECT:
        return No(405, "only connections to others")
    where = place(f"{host}:{port}") if port else None
    if where is None or set(host) & set("@/?#"):
        return No(400, "not a host and a port")
    return Wish(permit, *where, f"{where[0]}:{where[1]}", reply(_YES), no)


async def _address(reader: asyncio.StreamReader, kind: int) -> str:
    if kind == _IPV4:
        return str(IPv4Address(await reader.readexactly(4)))
    return f"[{IPv6Address(await reader.readexactly(16))}]"


async def _counted(reader: asyncio.StreamReader) -> bytes:
    [size] = await reader.readexactly(1)
    return await reader.readexactly(size)


def reply(code: int) -> bytes:
    """An answer; the address in it is of no use to anybody."""
    return bytes([5, code, 0, _IPV4, 0, 0, 0, 0, 0, 0])


def no(said: No) -> bytes:
    """The answer to a wish that is not granted."""
    return reply(_CODES.get(said.status, _FAILED))
