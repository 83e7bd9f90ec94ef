"""The targets that may have a text in their URLs, by their ids, from the text index."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from sqlalchemy import Connection, func, select

from ronda.store.sql.containing import folded
from ronda.store.sql.many import among
from ronda.store.sql.places import unpack
from ronda.store.sql.schema import target, text_part
from ronda.store.sql.textindex import grams, ranges

ENOUGH = 3  # groups of a text that are looked for, the rarest: more find hardly less
FEW = 50  # candidates that are sooner looked at than looked for by another group
LIKELY = 1.3  # times too many are expected, of which some may not come
AT_ONCE = 5000  # ids that are read at once where there is no index


class _Part(Struct, frozen=True):
    """A range of ids in which all groups of the text stand."""

    first: int
    grams: list[int]  # the rarest of them, the rarest first
    size: int  # bytes of the places of the rarest

    def found(self, places: Mapping[tuple[int, int], bytes]) -> set[int]:
        """The ids in whose URLs the rarest groups stand."""
        rarest, *others = self.grams
        found = set(unpack(places[self.first, rarest]))
        for gram in others:
            if len(found) > FEW:
                found.intersection_update(unpack(places[self.first, gram]))
        return {self.first + place for place in found}


class Search:
    """A text that is looked for."""

    def __init__(self, connection: Connection, text: str) -> None:
        self._connection = connection
        self._grams = grams(folded(text))
        self._ranges = ranges(connection)

    @property
    def is_indexed(self) -> bool:
        """Whether the index is of use: a text may be too short, or stand everywhere."""
        return bool(self._grams)

    def few(self, most: int) -> list[int] | None:
        """The ids of all that may have it; None: these are more than so many."""
        found: list[int] = []
        parts = self._parts(None, descending=False)
        left, seen = sum(part.size for part in parts), 0
        for part, ids in self._loaded(parts):
            found += ids
            left, seen = left - part.size, seen + part.size
            # By so many a byte as until now, how many are still to come?
            if len(found) > most or len(found) * (1 + left / seen) > LIKELY * most:
                return None
        for some in self._rest(None, descending=False):
            found += some
            if len(found) > most:
                return None
        return found

    def after(self, last: int | None, *, descending: bool) -> Iterator[list[int]]:
        """The ids after one, some at a time, in order."""
        if descending:
            yield from self._rest(last, descending=True)
        for _, ids in self._loaded(self._parts(last, descending=descending)):
            found = sorted(ids, reverse=descending)
            if last is not None:
                found = [n for n in found if (n < last if descending else n > last)]
            if found:
                yield found
        if not descending:
            yield from self._rest(last, descending=False)

    def _parts(self, last: int | None, *, descending: bool) -> list[_Part]:
        """Ranges in which all groups stand, in order, from the one that has `last`."""
        firsts = self._ranges.firsts
        if last is not None:
            ends = [*firsts[1:], self._ranges.end]
            both = zip(firsts, ends, strict=False)  # there may be none
            firsts = [a for a, b in both if (a < last if descending else b > last + 1)]
        size = func.length(text_part.c.places).label("size")
        rows = self._connection.execute(
            select(text_part.c.first, text_part.c.gram, size)
            .where(
                among(self._connection, text_part.c.first, firsts),
                among(self._connection, text_part.c.gram, self._grams),
            )
            .order_by(size)
        )
        sizes: dict[int, list[tuple[int, int]]] = {first: [] for first in firsts}
        for first, gram, number in rows:
            sizes[first].append((gram, number))
        return [
            _Part(first, [gram for gram, _ in found[:ENOUGH]], found[0][1])
            for first, found in sorted(sizes.items(), reverse=descending)
            if len(found) == len(self._grams)
        ]

    def _loaded(self, parts: Sequence[_Part]) -> Iterator[tuple[_Part, set[int]]]:
        """The ids of each, read for ever more of them at once."""
        begin, size = 0, 1
        while some := parts[begin : begin + size]:
            wanted = {gram for part in some for gram in part.grams}
            columns = (text_part.c.first, text_part.c.gram, text_part.c.places)
            rows = self._connection.execute(
                select(*columns).where(
                    among(self._connection, text_part.c.first, [p.first for p in some]),
                    among(self._connection, text_part.c.gram, wanted),
                )
            )
            places = {(first, gram): packed for first, gram, packed in rows}
            for part in some:
                yield part, part.found(places)
            begin, size = begin + size, size * 4

    def _rest(self, last: int | None, *, descending: bool) -> Iterator[list[int]]:
        """Ids that are not in the index yet."""
        order = target.c.id.desc() if descending else target.c.id
        while True:
            some = select(target.c.id).where(target.c.id >= self._ranges.end)
            if last is not None:
                later = target.c.id < last if descending else target.c.id > last
                some = some.where(later)
            found = self._connection.scalars(some.order_by(order).limit(AT_ONCE)).all()
            if not found:
                return
            yield list(found)
            last = found[-1]
