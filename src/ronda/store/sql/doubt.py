"""Claims whose end nobody saw: the connection was lost while they were committed."""

from sqlalchemy import Connection, select, text

from ronda.errors import StoreBusyError
from ronda.store.sql.engines import Database
from ronda.store.sql.schema import process as processes
from ronda.store.sql.values import Claimed

_NUMBER = text("SELECT pg_current_xact_id()::text")
_STATUS = text("SELECT pg_xact_status(cast(:number AS text)::xid8)")


class Doubt:
    """Remembers a claim until it is known to be committed.

    PostgreSQL can be asked later what became of a transaction. Without that, servers
    would be held by a process that does not know of them, for as long as it lives.
    """

    def __init__(self) -> None:
        self._number = ""  # of the transaction
        self._process = 0
        self._claimed: list[Claimed] = []

    def begin(
        self, connection: Connection, process: int, claimed: list[Claimed]
    ) -> None:
        """A claim is about to be committed."""
        if claimed and connection.dialect.name == "postgresql":
            self._number = connection.scalar(_NUMBER) or ""
            self._process, self._claimed = process, claimed

    def end(self) -> None:
        """It was committed."""
        self._number, self._claimed = "", []

    def settled(self, database: Database, process: int) -> list[Claimed] | None:
        """What was claimed though nobody saw it; None: nothing was."""
        if not self._number or process != self._process:
            self.end()
            return None
        with database.reading() as connection:
            status = connection.scalar(_STATUS, {"number": self._number})
            lives = select(processes.c.id).where(processes.c.id == process)
            buried = connection.scalar(lives) is None
        if status == "in progress":  # the server has not seen yet that we are gone
            raise StoreBusyError(f"--db {database.shown}: a claim is still being made")
        found = self._claimed if status == "committed" and not buried else None
        self.end()
        return found
