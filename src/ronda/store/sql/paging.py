"""Pages of the catalogue, and the key by which the next one begins."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import NamedTuple

import msgspec
from msgspec import Struct

from ronda.errors import UsageError
from ronda.store.sql.query import Query
from ronda.store.sql.values import Known


class Page(Struct, frozen=True):
    """Some of what was found.

    A page may be short, and even empty, while there is a next one: no page looks
    through more than so many targets.
    """

    rows: list[Known]
    next: str = ""  # what to give as `after`; empty: there are no more


class Place(NamedTuple):
    """A target's place in an order: what it is sorted by, then its id."""

    value: float  # 0 in the order in which they were added
    id: int


class _Key(Struct, frozen=True, array_like=True):
    """What a key says: a place, and in which order."""

    sort: str
    descending: bool
    value: float
    id: int


_decode = msgspec.json.Decoder(_Key).decode


def key(query: Query, place: Place) -> str:
    """What a page says of where it ended."""
    found = _Key(query.sort, query.descending, *place)
    return urlsafe_b64encode(msgspec.json.encode(found)).decode().rstrip("=")


def place(query: Query) -> Place | None:
    """Where a page begins; None: at the beginning.

    Raises:
        UsageError: the key is not one of this order.
    """
    if not query.after:
        return None
    padded = query.after + "=" * (-len(query.after) % 4)
    try:
        found = _decode(urlsafe_b64decode(padded.encode()))
    except (ValueError, msgspec.DecodeError):
        raise UsageError(f"not the key of a page: {query.after[:80]!r}") from None
    if (found.sort, found.descending) != (query.sort, query.descending):
        raise UsageError("the key of a page is of another order than the one asked for")
    return Place(found.value, found.id)
