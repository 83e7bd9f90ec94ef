"""The robots.txt files that outlive a process; the ledger writes them."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.dialects import postgresql, sqlite

from ronda.store.sql.engines import Database
from ronda.store.sql.schema import robots

AT_ONCE = 500  # authorities asked for in one statement


class RobotsFiles:
    """Files by authority, with their age."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def load(
        self, authorities: Iterable[str], now: float
    ) -> dict[str, tuple[bytes, float]]:
        """The files that are known, and how many seconds ago they came."""
        wanted = sorted(authorities)
        found: dict[str, tuple[bytes, float]] = {}
        if not wanted:
            return found
        with self._database.reading() as connection:
            for start in range(0, len(wanted), AT_ONCE):
                some = wanted[start : start + AT_ONCE]
                sql = select(robots).where(robots.c.authority.in_(some))
                for row in connection.execute(sql):
                    # One from the future came before the clock was set.
                    found[row.authority] = row.body, max(0.0, now - row.at)
        return found


def keep(connection: Connection, files: Mapping[str, bytes], now: float) -> None:
    """Write files, by authority, in the place of older ones."""
    postgres = connection.dialect.name == "postgresql"
    new: Any = (postgresql if postgres else sqlite).insert(robots)
    again = {"body": new.excluded.body, "at": new.excluded.at}
    sql = new.on_conflict_do_update(index_elements=["authority"], set_=again)
    rows = [
        {"authority": authority, "body": body, "at": now}
        for authority, body in sorted(files.items())
    ]
    if rows:
        connection.execute(sql, rows)
