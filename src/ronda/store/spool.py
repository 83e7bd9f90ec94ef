"""The memory of one run: URLs in RAM, places and results in temporary files.

A run of a million URLs keeps one dictionary entry and one offset a URL; what reports
need is written away as it comes and read back once.
"""

from array import array
from collections.abc import Iterator
from contextlib import ExitStack
from struct import Struct
from tempfile import TemporaryFile
from types import TracebackType
from typing import IO, Self

import msgspec
from msgspec.structs import replace

from ronda.model import Place, Result

BUFFER = 64 * 1024  # bytes written at once
MOST = 10_000  # places of one URL that are kept: a page may name it a million times
_NONE = 0  # no place yet: real offsets are stored plus one
_SIZE = 4  # bytes that hold a record's length
_HEAD = Struct("<QI")  # a place's own: where the one before it is, and its length


class Spool:
    """Numbers each URL once, and keeps its places and its results."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._files = ExitStack()
        self._places = self._open()
        self._results = self._open()
        self._last = array("Q")  # number → where its newest place is, chained back
        self._counts = array("H")  # number → places that are kept
        self._end = 0
        self._encode = msgspec.msgpack.Encoder().encode
        self._place = msgspec.msgpack.Decoder(Place)
        self._result = msgspec.msgpack.Decoder(Result)

    def _open(self) -> IO[bytes]:
        return self._files.enter_context(TemporaryFile(buffering=BUFFER))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._files.close()

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, url: str) -> bool:
        return url in self._numbers

    def note(self, url: str, place: Place) -> bool:
        """Remember that a URL stands at a place; True when the URL is new."""
        number = self._numbers.setdefault(url, len(self._last))
        new = number == len(self._last)
        if new:
            self._last.append(_NONE)
            self._counts.append(0)
        if self._counts[number] >= MOST:
            return new
        self._counts[number] += 1
        record = self._encode(place)
        head = _HEAD.pack(self._last[number], len(record))
        self._last[number] = self._end + 1
        self._end += self._places.write(head + record)
        return new

    def record(self, result: Result) -> None:
        """Keep a result."""
        data = self._encode(result)
        self._results.write(len(data).to_bytes(_SIZE) + data)

    def places(self, url: str) -> tuple[Place, ...]:
        """Where a URL stands, in the order it was found."""
        number = self._numbers.get(url)
        offset = self._last[number] if number is not None else _NONE
        found = []
        while offset != _NONE:
            self._places.seek(offset - 1)
            offset, size = _HEAD.unpack(self._places.read(_HEAD.size))
            found.append(self._place.decode(self._places.read(size)))
        self._places.seek(self._end)
        return tuple(reversed(found))

    def __iter__(self) -> Iterator[Result]:
        """The results that were kept, each with its places; may be repeated."""
        self._results.seek(0)
        while head := self._results.read(_SIZE):
            data = self._results.read(int.from_bytes(head))
            result = self._result.decode(data)
            yield replace(result, found_in=self.places(result.url))
