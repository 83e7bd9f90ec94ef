"""Messages between two processes: lists of values, batched by the turn of the loop."""

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import msgspec

_SIZE = 4  # bytes that hold a message's length
_CHUNK = 1 << 18  # bytes read at once


class Wire:
    """One end of a socket pair; what is sent in one turn travels as one message."""

    def __init__(
        self,
        end: socket.socket,
        kind: type,
        receive: Callable[[list[Any]], None],
        closed: Callable[[], None],
    ) -> None:
        end.setblocking(False)
        self._socket = end
        self._loop = asyncio.get_running_loop()
        self._receive = receive
        self._closed = closed
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgspec.msgpack.Decoder(list[kind]).decode  # type: ignore[valid-type]
        self._batch: list[Any] = []
        self._out = bytearray()
        self._in = bytearray()
        self._loop.add_reader(end, self._read)

    def close(self) -> None:
        """Stop listening, and let the other end know."""
        self._loop.remove_reader(self._socket)
        self._loop.remove_writer(self._socket)
        self._socket.close()

    def send(self, value: Any) -> None:
        """Send a value with all the others of this turn."""
        if not self._batch:
            self._loop.call_soon(self._flush)
        self._batch.append(value)

    def _flush(self) -> None:
        data = self._encode(self._batch)
        self._batch = []
        waiting = bool(self._out)
        self._out += len(data).to_bytes(_SIZE) + data
        if not waiting:
            self._write()

    def _write(self) -> None:
        try:
            del self._out[: self._socket.send(self._out)]
        except BlockingIOError:
            pass
        except OSError:
            self._end()
            return
        if self._out:
            self._loop.add_writer(self._socket, self._write)
        else:
            self._loop.remove_writer(self._socket)

    def _read(self) -> None:
        try:
            data = self._socket.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._end()
            return
        self._in += data
        while len(self._in) >= _SIZE:
            end = _SIZE + int.from_bytes(self._in[:_SIZE])
            if len(self._in) < end:
                return
            values = self._decode(memoryview(self._in)[_SIZE:end])
            del self._in[:end]
            self._receive(values)

    def _end(self) -> None:
        self._out.clear()
        self._loop.remove_reader(self._socket)
        self._loop.remove_writer(self._socket)
        self._closed()
