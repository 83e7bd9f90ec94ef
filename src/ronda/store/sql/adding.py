"""New targets: added in chunks, each of them a transaction."""

from collections.abc import Iterable

from msgspec.structs import replace

from ronda.store.sql import textindex
from ronda.store.sql.engines import Database
from ronda.store.sql.entering import Added, Given, enter, key_of
from ronda.store.sql.homes import settle
from ronda.store.sql.locking import insist
from ronda.store.sql.many import chunks
from ronda.store.sql.texts import legible

__all__ = ["Added", "Adding", "Given", "key_of"]


class Adding:
    """Adds targets."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, owner_id: int, given: Iterable[Given], now: float) -> Added:
        """Let an owner watch URLs; what is new is unknown, and due at once.

        What was added before an error stays: to add it once more does no harm.
        """
        total = Added()
        for some in chunks(map(_legible, given)):
            settle(self._database, {one.host for one in some})
            total += insist(self._database, enter, owner_id, some, now)
        textindex.catch_up(self._database)
        return total


def _legible(one: Given) -> Given:
    """The same, in words that can be stored; its URL has no others."""
    words = (one.host, one.spelling or "", *one.labels)
    clean = tuple(map(legible, words))
    if clean == words:
        return one
    host, spelling, *labels = clean
    return replace(one, host=host, spelling=spelling or None, labels=tuple(labels))
