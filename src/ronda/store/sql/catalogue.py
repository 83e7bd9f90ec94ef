"""What is watched, by what is known of it."""

from datetime import UTC, datetime
from functools import cache, partial

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection, select

from ronda.errors import UsageError
from ronda.model import Result, State
from ronda.store.sql import evidence
from ronda.store.sql.asking import asking
from ronda.store.sql.effort import Effort
from ronda.store.sql.engines import Database
from ronda.store.sql.finding import Finding
from ronda.store.sql.inorder import keep_order
from ronda.store.sql.known import by_key
from ronda.store.sql.paging import Page
from ronda.store.sql.query import Query, chosen
from ronda.store.sql.schema import (
    EVERYBODY,
    history,
    host,
    label,
    owner,
    schedule,
    server,
    target,
    watch,
)
from ronda.store.sql.sides import counts
from ronda.store.sql.stale import Stale, newest_hour, stale
from ronda.store.sql.states import STATES
from ronda.store.sql.values import URL_TASK, Known, Pace

__all__ = ["Catalogue", "Page", "Query", "Shown", "chosen"]

DAY = 24  # hours after which the list of what is stale is made anew
MOST = 10_000  # targets a page


class Shown(Struct, frozen=True):
    """All that is known of one target."""

    target: Known
    key: int
    host: str
    server: str  # its address, or that it is not known
    host_pace: Pace
    server_pace: Pace
    owners: list[str]  # who watch it
    labels: list[str]
    result: Result | None  # of the last check, with its evidence


class Catalogue:
    """Answers questions; one object may be asked by several threads."""

    def __init__(self, database: Database, effort: Effort | None = None) -> None:
        self._database = database
        self._effort = effort or Effort.of(database)
        self._stale: Stale | None = None

    def find(self, query: Query, owner_id: int | None = None) -> Page:
        """A page of targets.

        Sorted by `added`, pages that follow each other show each target exactly once,
        whatever happens meanwhile. By `changed` or `checked`, they show each exactly
        once that does not move; one that moves to the end of the order while the pages
        are read is shown again there, or, the newest first, may be missed.

        Args:
            query: which targets, and in which order.
            owner_id: who asks: only what he watches, as he spells it.

        Raises:
            UsageError: the page cannot be one.
        """
        if not 0 < query.limit <= MOST:
            raise UsageError(f"a page has from 1 to {MOST:,} targets")
        with self._database.reading() as connection:
            keep_order(connection)
            asked = asking(connection, query, owner_id)
            if asked is None:
                return Page([])
            listed = cache(partial(self._listed, connection))
            return Finding(connection, asked, listed, self._effort).page()

    def counts(self, owner_id: int = EVERYBODY) -> dict[State, int]:
        """How many targets are in each state: of an owner, or of everybody."""
        with self._database.reading() as connection:
            found = counts(connection, owner_id)
        return {state: found.get(state, 0) for state in State}

    def show(self, key: int, owner_id: int | None = None) -> Shown | None:
        """All that is known of a target; None: nobody watches it."""
        with self._database.reading() as connection:
            found = list(by_key(connection, [key], owner_id).values())
            return _shown(connection, found[0], key) if found else None

    def _listed(self, connection: Connection) -> Stale:
        """What was not checked for long, as it was when somebody last looked."""
        newest = newest_hour(connection)
        if self._stale is None or newest >= self._stale.hour + DAY:
            self._stale = stale(self._database, self._effort)
        return self._stale


def _shown(connection: Connection, known: Known, key: int) -> Shown:
    home = connection.execute(
        select(
            host,
            server.c.address,
            server.c.asked_at.label("server_asked_at"),
            server.c.next_at.label("server_next_at"),
        )
        .join(target, target.c.host_id == host.c.id)
        .join(server, server.c.id == host.c.server_id)
        .where(target.c.id == known.id)
    ).one()
    owners = (
        select(owner.c.name)
        .join(watch, watch.c.owner_id == owner.c.id)
        .where(watch.c.target_id == known.id)
        .order_by(owner.c.id)
    )
    labels = select(label.c.name).where(label.c.target_id == known.id)
    return Shown(
        target=known,
        key=key,
        host=home.name,
        server=home.address,
        host_pace=Pace(home.asked_at, home.next_at, home.gap, home.rests_until),
        server_pace=Pace(home.server_asked_at, home.server_next_at),
        owners=list(connection.scalars(owners)),
        labels=sorted(connection.scalars(labels)),
        result=_result(connection, known),
    )


def _result(connection: Connection, known: Known) -> Result | None:
    row = connection.execute(
        select(history)
        .join(schedule, schedule.c.last_result == history.c.id)
        .where(schedule.c.target_id == known.id)
    ).one_or_none()
    if row is None:
        return None
    found = evidence.unpack(
        row.evidence,
        url=known.url,
        state=STATES[row.state],
        reason=row.reason,
        message=row.message,
        task="" if row.task == URL_TASK else row.task,
    )
    at = datetime.fromtimestamp(row.at, UTC).isoformat(timespec="milliseconds")
    return replace(found, checked_at=at.replace("+00:00", "Z"))
