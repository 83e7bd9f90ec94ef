"""The memory of one run: URLs in RAM, places and results in temporary files.

A run of a million URLs keeps a hash, two numbers and an offset a URL, in at most 48
bytes; what reports need is written away as it comes and read back once.
"""

from array import array
from collections.abc import Iterator
from struct import Struct
from types import TracebackType
from typing import Self

import msgspec
from msgspec.structs import replace

from ronda.model import Place, Result
from ronda.store.scratch import Records, Scratch
from ronda.store.seen import Seen

MOST = 10_000  # places of one URL that are kept: a page may name it a million times
TAGS = 1000  # names of elements that are told apart; HTML has a tenth of them
_NONE = 0  # no place yet: real offsets are stored plus one
# A place: where the one before it is, where its document's name is, line, column, tag,
# and the length of its text, which follows.
_PLACE = Struct("<QQIIHI")
_AT_ONCE = 256  # bytes that hold most places and names, to read them in one piece


class Spool:
    """Numbers each URL once, and keeps its places and its results."""

    def __init__(self) -> None:
        self._seen = Seen()
        self._last = array("Q")  # number → where its newest place is, chained back
        self._counts = array("H")  # number → places that are kept
        self._places = Scratch()  # and the names of their documents
        self._results = Scratch()
        # Documents come in runs: the name is written once, before their first place.
        self._document: str | None = None
        self._document_at = 0
        self._read: tuple[int, str] = -1, ""  # the name that was read last
        self._tags: dict[str, int] = {"": 0}
        self._encode = msgspec.msgpack.Encoder().encode
        self._result = msgspec.msgpack.Decoder(Result)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._places.close()
        self._results.close()

    def __len__(self) -> int:
        return len(self._last)

    def __contains__(self, url: str) -> bool:
        return self._seen.number(url) >= 0

    def know(self, url: str) -> bool:
        """Remember a URL, wherever it stands; True when it is new."""
        new = self._seen.add(url) == len(self._last)
        if new:
            self._last.append(_NONE)
            self._counts.append(0)
        return new

    def note(self, url: str, place: Place) -> bool:
        """Remember that a URL stands at a place; True when the URL is new."""
        number = self._seen.add(url)
        new = number == len(self._last)
        if new:
            self._last.append(_NONE)
            self._counts.append(0)
        count = self._counts[number]
        if count < MOST:
            self._counts[number] = count + 1
            record = self._packed(place, self._last[number])
            self._last[number] = self._places.append(record) + 1
        return new

    def _packed(self, place: Place, before: int) -> bytes:
        if place.document != self._document:
            self._turn_to(place.document)
        tag = self._tags.get(place.tag)
        if tag is None:
            tag = self._new_tag(place.tag)
        text = place.text.encode("utf-8", "surrogatepass")
        at = self._document_at
        return _PLACE.pack(before, at, place.line, place.column, tag, len(text)) + text

    def _turn_to(self, document: str) -> None:
        name = document.encode(
            "utf-8", "surrogatepass"
        )  # of a file, it may be anything
        self._document = document
        self._document_at = self._places.append_record(name)

    def _new_tag(self, tag: str) -> int:
        if len(self._tags) >= TAGS:  # pages may make up names for ever
            return 0
        return self._tags.setdefault(tag, len(self._tags))

    def record(self, result: Result) -> None:
        """Keep a result."""
        self._results.append_record(self._encode(result))

    def places(self, url: str) -> tuple[Place, ...]:
        """Where a URL stands, in the order it was found."""
        number = self._seen.number(url)
        offset = self._last[number] if number >= 0 else _NONE
        tags = list(self._tags)
        found = []
        while offset != _NONE:
            data, start = self._places.read(offset - 1, _AT_ONCE), offset - 1
            offset, document, line, column, tag, length = _PLACE.unpack_from(data)
            end = _PLACE.size + length
            if len(data) < end:
                data = self._places.read(start, end)
            text = data[_PLACE.size : end].decode("utf-8", "surrogatepass")
            found.append(Place(self._name(document), line, column, text, tags[tag]))
        return tuple(reversed(found))

    def _name(self, offset: int) -> str:
        """The name of a document; most often, that of the one asked for before."""
        if offset != self._read[0]:
            name = next(Records(self._places, offset, _AT_ONCE))
            self._read = offset, name.decode("utf-8", "surrogatepass")
        return self._read[1]

    def __iter__(self) -> Iterator[Result]:
        """The results that were kept, each with its places; may be repeated."""
        for data in Records(self._results):
            result = self._result.decode(data)
            yield replace(result, found_in=self.places(result.url))
