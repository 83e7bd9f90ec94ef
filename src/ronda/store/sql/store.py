"""The store as a whole: opened once, its parts by name."""

from functools import cached_property
from types import TracebackType
from typing import Self

from ronda.store.sql.adding import Adding
from ronda.store.sql.catalogue import Catalogue
from ronda.store.sql.claims import Claims
from ronda.store.sql.engines import Database
from ronda.store.sql.ledger import Ledger
from ronda.store.sql.migrating import ensure
from ronda.store.sql.numbers import Numbers
from ronda.store.sql.outbox import Outbox
from ronda.store.sql.owners import Owners
from ronda.store.sql.past import Past
from ronda.store.sql.robots import RobotsFiles
from ronda.store.sql.rounds import Rounds
from ronda.store.sql.services import Services
from ronda.store.sql.transfer import Transfer
from ronda.store.sql.upkeep import Upkeep
from ronda.store.sql.watching import Watches


class Store:
    """Everything that is remembered of what is watched."""

    def __init__(self, where: str = "", *, as_it_is: bool = False) -> None:
        """Open it; an empty one is set up.

        Args:
            where: a file, or postgresql://…; empty: the file of this user.
            as_it_is: whatever its version: to be migrated.
        """
        self.database = Database(where)
        try:
            if not as_it_is:
                ensure(self.database)
                self.database.set_clock()
        except BaseException:
            self.database.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of it."""
        self.database.close()

    @cached_property
    def adding(self) -> Adding:
        """New targets."""
        return Adding(self.database)

    @cached_property
    def catalogue(self) -> Catalogue:
        """What is watched, by what is known of it."""
        return Catalogue(self.database)

    @cached_property
    def claims(self) -> Claims:
        """Who may ask which server."""
        return Claims(self.database)

    @cached_property
    def ledger(self) -> Ledger:
        """Where results are written."""
        return Ledger(self.database)

    @cached_property
    def numbers(self) -> Numbers:
        """How much there is of everything."""
        return Numbers(self.database)

    @cached_property
    def outbox(self) -> Outbox:
        """What owners are still to be told."""
        return Outbox(self.database)

    @cached_property
    def owners(self) -> Owners:
        """Who answers for targets."""
        return Owners(self.database)

    @cached_property
    def past(self) -> Past:
        """What was found before."""
        return Past(self.database)

    @cached_property
    def robots(self) -> RobotsFiles:
        """The robots.txt files that are known."""
        return RobotsFiles(self.database)

    @cached_property
    def rounds(self) -> Rounds:
        """Visits that were started together."""
        return Rounds(self.database)

    @cached_property
    def services(self) -> Services:
        """Targets that have a plan, and what their tasks found."""
        return Services(self.database)

    @cached_property
    def transfer(self) -> Transfer:
        """All of it as lines of JSON."""
        return Transfer(self.database)

    @cached_property
    def upkeep(self) -> Upkeep:
        """Keeping it in order."""
        return Upkeep(self.database)

    @cached_property
    def watches(self) -> Watches:
        """Who watches what."""
        return Watches(self.database)
