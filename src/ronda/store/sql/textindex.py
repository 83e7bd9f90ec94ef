"""In which URLs a text stands: found by its groups of three characters.

For a range of ids there is a row for each group that stands in one of their URLs, and
in the row the places of those URLs. A URL never changes and its id is never used again,
so rows are only ever added: small ranges as soon as they are full, made anew as one
large range once that is full. Ids after the last full range are few: they are looked
through. What is found may have the groups elsewhere, or be gone: it is looked at, too.

Both engines have something of the kind. PostgreSQL's took 50 s for a million URLs and
117 bytes each, and knows no order; SQLite's took 70 bytes. This takes 30 to 50.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from sqlalchemy import Connection, delete, func, select

from ronda.store.sql import facts, loading
from ronda.store.sql.engines import Database
from ronda.store.sql.locking import alone
from ronda.store.sql.places import pack
from ronda.store.sql.schema import target, text_part

GRAM = 3  # characters
LARGE = 1 << 16  # ids in a range
SMALL = 1 << 12
# What nearly all URLs begin with is not in the index: so many characters are left out.
_BEGINNINGS = {"https:": 6, "http:/": 5}
_EVERYWHERE = {"htt", "ttp", "tp:", "tps", "ps:", "p:/", "s:/", "://"}
FACT = "text_index"  # the fact: from and up to which ids there are ranges


class Ranges(Struct, frozen=True):
    """Which ids are in the index."""

    begin: int = 0  # from here
    large: int = 0  # up to here, in large ranges
    end: int = 0  # up to here at all

    @property
    def firsts(self) -> list[int]:
        """The first ids of all ranges."""
        large = range(self.begin, self.large, LARGE)
        return [*large, *range(self.large, self.end, SMALL)]


def grams(text: str) -> set[int]:
    """The groups of a text in small letters, as numbers; some are not looked for."""
    found = {text[at : at + GRAM] for at in range(len(text) - GRAM + 1)}
    return {_number(gram) for gram in found - _EVERYWHERE}


def ranges(connection: Connection) -> Ranges:
    """How far the index has come."""
    words = facts.read(connection, FACT)
    return Ranges(*map(int, words.split())) if words else Ranges()


def catch_up(database: Database) -> None:
    """Add what is full by now, a range a transaction."""
    with database.reading() as connection:
        behind = _next(connection) is not None
    while behind:
        with database.writing() as connection:
            alone(connection)
            behind = _step(connection)


def rebuild(database: Database) -> None:
    """Make all of it anew."""
    with database.writing() as connection:
        alone(connection)
        connection.execute(delete(text_part))
        _note(connection, Ranges())
    catch_up(database)


def _next(connection: Connection) -> Ranges | None:
    """How far the index could come with one more range."""
    now = ranges(connection)
    last: int = connection.scalar(select(func.max(target.c.id))) or 0
    if now.begin == now.end:  # numbers may begin with any one
        first: int = connection.scalar(select(func.min(target.c.id))) or 0
        begin = first // LARGE * LARGE
        now = Ranges(begin, begin, begin)
    if last + 1 >= now.large + LARGE:
        return Ranges(now.begin, now.large + LARGE, now.large + LARGE)
    if last + 1 >= now.end + SMALL:
        return Ranges(now.begin, now.large, now.end + SMALL)
    return None


def _step(connection: Connection) -> bool:
    """Add one range; whether there may be another."""
    then = _next(connection)
    if then is None:
        return False
    is_large = then.large == then.end
    first = then.end - (LARGE if is_large else SMALL)
    these = text_part.c.first >= first
    connection.execute(delete(text_part).where(these, text_part.c.first < then.end))
    urls = select(target.c.id, target.c.url).order_by(target.c.id)
    urls = urls.where(target.c.id >= first, target.c.id < then.end)
    places = _places((number - first, url) for number, url in connection.execute(urls))
    loading.append(connection, text_part, _rows(first, places))
    _note(connection, then)
    return True


def _places(urls: Iterable[tuple[int, str]]) -> Mapping[str, list[int]]:
    # The innermost loop of an import: sixty turns a URL. A group that stands in it
    # twice is noted twice, for to look whether it is there takes longer.
    found: defaultdict[str, list[int]] = defaultdict(list)
    for place, url in urls:
        text = url.lower()
        if not text.isascii():  # as no URL is; whatever it is, it has a number
            text = text.encode("ascii", "replace").decode()
        for at in range(_BEGINNINGS.get(text[:6], 0), len(text) - GRAM + 1):
            found[text[at : at + GRAM]].append(place)
    return found


def _rows(
    first: int, places: Mapping[str, list[int]]
) -> Iterator[tuple[int, int, bytes]]:
    numbered = sorted((_number(gram), gram) for gram in places)
    for number, gram in numbered:
        yield first, number, pack(places[gram])


def _number(gram: str) -> int:
    return int.from_bytes(gram.encode("ascii"), "big")


def _note(connection: Connection, then: Ranges) -> None:
    facts.write(connection, FACT, f"{then.begin} {then.large} {then.end}")
