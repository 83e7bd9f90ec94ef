"""Who may ask which server: processes claim servers, for as long as they live.

A process is a row that it renews. One that does not is buried: its row goes, and its
servers are free for others, who know that it may have asked them until that moment. Its
number is never used again, so whatever it still writes is refused.
"""

from collections.abc import Collection, Mapping

from sqlalchemy import select

from ronda.store.sql import claiming, dues, granting, processes
from ronda.store.sql.doubt import Doubt
from ronda.store.sql.engines import Database
from ronda.store.sql.handing import queued
from ronda.store.sql.homes import MovedError
from ronda.store.sql.schema import server
from ronda.store.sql.values import Claimed, Due, Queued

LEASE = 30.0  # seconds
AHEAD = 100  # free servers among which the first is sought that may be asked


class Claims:
    """Processes, and the servers that they hold."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._doubt = Doubt()

    # -- processes -----------------------------------------------------------------

    def join(self, pool: int, now: float, seconds: float = LEASE) -> int:
        """Become a process that may claim; its number.

        Args:
            pool: how many requests it makes at once, at most.
            now: epoch seconds.
            seconds: after which it is taken for dead, unless it renews.
        """
        with self._database.writing() as connection:
            return processes.join(connection, pool, now, seconds)

    def renew(
        self, process: int, now: float, seconds: float, active: int, queued: int
    ) -> bool:
        """Give a sign of life; False: the process was buried, and must join anew."""
        values = {"until": now + seconds, "active": active, "queued": queued}
        with self._database.writing() as connection:
            return processes.renew(connection, process, **values)

    def signs(self) -> dict[int, float]:
        """The last sign of life of each process: to when it holds what it claimed."""
        with self._database.reading() as connection:
            return processes.signs(connection)

    def bury(self, silent: Mapping[int, float] | None = None) -> int:
        """Free what processes held that are dead, or silent too long; how many.

        No date says who is silent, for dates may be set: only who has watched for long
        enough that a process gave no sign of life.

        Args:
            silent: processes that are, each with its last sign of life.
        """
        silent = silent or {}
        with self._database.reading() as connection:
            dead = processes.dead(connection, silent)
        gone = 0
        for number in dead:
            with self._database.writing() as connection:
                gone += processes.bury(connection, number, silent)
        return gone

    def leave(self, process: int) -> None:
        """Let go of everything, and be a process no more."""
        with self._database.writing() as connection:
            processes.leave(connection, process)

    # -- servers -------------------------------------------------------------------

    def claim(
        self,
        process: int,
        now: float,
        *,
        count: int,
        length: int,
        details: bool = False,
        spare: int | None = None,
        plain: bool = False,
    ) -> list[Claimed]:
        """Hold servers that are due, may be asked, and that nobody holds.

        Args:
            process: who claims.
            now: epoch seconds.
            count: servers, at most.
            length: targets of each that come with it, at most.
            details: with the owners and labels of targets.
            spare: targets in all, at most.
            plain: only targets that have no plan.
        """
        if spare is not None:
            count = min(count, spare)
            length = min(length, spare // max(1, count))
        found = self._doubt.settled(self._database, process)
        more = {"details": details, "plain": plain}
        if found is None:
            found = self._claim(process, now, count, length, **more)
        if len(found) < count and self.bury():
            left = count - len(found)
            found += self._claim(process, now, left, length, **more)
        return found

    def _claim(
        self,
        process: int,
        now: float,
        count: int,
        length: int,
        *,
        details: bool,
        plain: bool,
    ) -> list[Claimed]:
        with self._database.writing() as connection:
            if count <= 0 or not processes.is_alive(connection, process):
                return []
            rows = claiming.take(connection, process, now, count, plain=plain)
            found = claiming.described(
                connection, rows, now, length, details=details, plain=plain
            )
            self._doubt.begin(connection, process, found)
        self._doubt.end()
        return found

    def more(
        self,
        process: int,
        server_id: int,
        now: float,
        *,
        count: int,
        held: Collection[int],
        details: bool = False,
        plain: bool = False,
    ) -> list[Due]:
        """Further targets that are due of a server that the process holds.

        Args:
            process: who holds it.
            server_id: the server.
            now: epoch seconds.
            count: targets, at most.
            held: those under way, which are due until their results are written.
            details: with their owners and labels.
            plain: only those that have no plan.
        """
        with self._database.reading() as connection:
            holder = select(server.c.holder).where(server.c.id == server_id)
            if connection.scalar(holder) != process:
                return []
            most = count + len(held)
            found = dues.at(connection, [server_id], now, most, plain=plain)
            under_way = set(held)
            new = [due for due in found if due.id not in under_way][:count]
            return dues.with_details(connection, new) if details else new

    def requests(self, process: int) -> list[Queued]:
        """The visits that others handed over to servers that the process holds."""
        with self._database.reading() as connection:
            return queued(connection, process)

    def grant(
        self, process: int, host: str, address: str, now: float
    ) -> Claimed | None:
        """Hold the server at which a host was found, and let it live there.

        What is due there comes with `more`. None: another process holds that server, or
        the one at which the host lives so far; see `granting`.

        Args:
            process: who found it.
            host: its name.
            address: where it answers.
            now: epoch seconds.
        """
        while True:
            try:
                with self._database.writing() as connection:
                    if not processes.is_alive(connection, process):
                        return None
                    home = granting.grant(connection, process, host, address, now)
                    rows = [] if home is None else [home]
                    found = claiming.described(connection, rows, now, 0, details=False)
                    return found[0] if found else None
            except MovedError:
                continue

    def next_due(self, now: float) -> float | None:
        """When the first server is to be claimed that nobody holds; None: none is."""
        with self._database.reading() as connection:
            return claiming.next_due(connection, now, AHEAD)
