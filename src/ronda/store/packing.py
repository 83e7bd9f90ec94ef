"""Values as bytes, for files that hold millions of them: no names of fields."""

import zlib
from collections.abc import Iterable
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import astuple, fields

from ronda.model import Found, Place

T = TypeVar("T", bound=Struct)

_encode = msgspec.msgpack.Encoder().encode


class Packing(Generic[T]):
    """One kind of value; what is packed can be read with the same `shape` only."""

    def __init__(self, kind: type[T]) -> None:
        self._kind = kind
        self._names = kind.__struct_fields__
        kinds: Any = tuple([field.type for field in fields(kind)])
        self._decode = msgspec.msgpack.Decoder(tuple[kinds]).decode

    def pack(self, value: T) -> bytes:
        """The value as bytes."""
        return _encode(astuple(value))

    def unpack(self, data: bytes) -> T:
        """The value that was packed."""
        return self._kind(**dict(zip(self._names, self._decode(data), strict=True)))

    @property
    def shape(self) -> str:
        """The fields and their order, on which both sides have to agree."""
        return f"{self._kind.__name__}({', '.join(self._names)})"


class _Link(Struct, frozen=True, gc=False, array_like=True):
    """A Found of a page; a new field goes to the end, and has a default."""

    url: str
    line: int
    column: int
    text: str
    tag: str
    rel: str
    reads: bool
    public: bool
    document: str | None = None  # None: the page's own


_links = msgspec.msgpack.Decoder(list[_Link]).decode


def pack_links(page: str, links: Iterable[Found]) -> bytes:
    """The links of a page as bytes, a seventh of what they are as msgpack."""
    rows = []
    for link in links:
        place = link.place
        document = None if place.document == page else place.document
        words = (place.text, place.tag, link.rel, link.reads, link.public)
        rows.append((link.url, place.line, place.column, *words, document))
    # Level 1 makes a third of it, in 20 µs for 20 links; level 6 hardly less.
    return zlib.compress(_encode(rows), 1)


def unpack_links(page: str, data: bytes) -> list[Found]:
    """The links that were packed."""
    found = []
    for row in _links(zlib.decompress(data)):
        document = page if row.document is None else row.document
        place = Place(document, row.line, row.column, row.text, row.tag)
        found.append(Found(row.url, place, row.reads, row.public, row.rel))
    return found
