"""Targets that have a plan: described, listed by owners, found by patterns."""

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import ColumnElement, or_, select

from ronda.model import Service
from ronda.store.sql import details
from ronda.store.sql.describing import describe
from ronda.store.sql.details import Detail, Entity, Found, Record
from ronda.store.sql.engines import Database
from ronda.store.sql.locking import insist
from ronda.store.sql.many import among, chunks
from ronda.store.sql.patterns import Pattern
from ronda.store.sql.schema import service, target, watch
from ronda.store.sql.tallies import sizes
from ronda.store.sql.values import URL_KIND

__all__ = ["Detail", "Entity", "Found", "Record", "Services"]

MOST = 1000  # services that are found at once
LARGEST = 2**63 - 1  # number that a target can have


class Services:
    """Targets with what only those have that have a plan."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def describe(self, rows: Mapping[str, Service]) -> int:
        """Say what targets are, by their normalised URLs; how many there are."""
        return sum(
            insist(self._database, describe, dict(some))
            for some in chunks(rows.items())
        )

    def facts(self, ids: Iterable[int]) -> dict[int, Service]:
        """What is known of those targets among these that have a plan."""
        found = {}
        with self._database.reading() as connection:
            for some in chunks(ids):
                these = among(connection, target.c.id, some)
                rows = connection.execute(
                    details.described().where(these, target.c.kind != URL_KIND)
                ).all()
                owners = details.owners(connection, [row.id for row in rows])
                for row in rows:
                    found[row.id] = details.service_of(row, owners[row.id])
        return found

    def entities(self, pattern: str = "", *, alphabetic: bool = False) -> list[Entity]:
        """Owners whose names are like a pattern: the biggest first, or by name."""
        like = Pattern(pattern)
        with self._database.reading() as connection:
            owners = [one for one in sizes(connection) if like.fits(one.name)]
        if alphabetic:
            owners.sort(key=lambda one: one.name.casefold())
        else:
            owners.sort(key=lambda one: -one.number)
        return [Entity(one.owner_id, one.name, one.number) for one in owners]

    def of_owner(
        self, eid: int | None, offset: int = 0, limit: int = 100
    ) -> list[Record]:
        """Some targets that an owner watches, or of all services, by their numbers."""
        rows = details.of_owner(eid).offset(offset).limit(limit)
        with self._database.reading() as connection:
            return [details.record(row) for row in connection.execute(rows)]

    def find(
        self, gids: Sequence[int] = (), patterns: Sequence[str] = ()
    ) -> list[Detail]:
        """Targets of these numbers, and those whose description or URL is like one.

        By their numbers, and at most a thousand.
        """
        with self._database.reading() as connection:
            these = among(connection, target.c.id, _possible(gids))
            wanted = or_(these, *(_is_like(one) for one in patterns if one))
            found = details.described().where(wanted).order_by(target.c.id).limit(MOST)
            rows = connection.execute(found).all()
            numbers = [row.id for row in rows]
            owners = details.owners(connection, numbers)
            tasks = details.tasks(connection, numbers)
        return [
            details.detail(row, owners[row.id], tasks.get(row.id, [])) for row in rows
        ]

    def tasks(self, gid: int) -> list[Found]:
        """What the tasks of a target found last, in the order of its plan."""
        with self._database.reading() as connection:
            return details.tasks(connection, _possible([gid])).get(gid, [])

    def existing(self, gids: Iterable[int], eid: int | None = None) -> set[int]:
        """Those of these numbers that are of targets, or of those of an owner."""
        number = target.c.id if eid is None else watch.c.target_id
        wanted = select(number)
        if eid is not None:
            wanted = wanted.where(watch.c.owner_id == eid)
        found: set[int] = set()
        with self._database.reading() as connection:
            for some in chunks(_possible(gids)):
                these = wanted.where(among(connection, number, some))
                found.update(connection.scalars(these))
        return found


def _possible(gids: Iterable[int]) -> list[int]:
    """Those of which there can be one: people may ask for any number."""
    return [number for number in gids if 0 < number <= LARGEST]


def _is_like(words: str) -> ColumnElement[bool]:
    like = Pattern(words)
    return or_(like.of(target.c.url), like.of(service.c.description))
