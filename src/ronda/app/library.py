"""Ronda for other programs: open a store, add URLs, run until done, read states."""

import asyncio
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Self

from msgspec.structs import replace

from ronda.app.watching import watch
from ronda.config import Intervals, Settings
from ronda.probes import Handlers
from ronda.store.sql.adding import key_of
from ronda.store.sql.catalogue import Query
from ronda.store.sql.schema import OPERATOR
from ronda.store.sql.store import Store
from ronda.store.sql.values import Known
from ronda.workers.desk import Desk
from ronda.workers.enrolment import enrol

PAGE = 1000  # targets read at once


class Ronda:
    """A store, and everything that can be done with it in one process.

    A daemon may serve the same store meanwhile.
    """

    def __init__(self, where: str = "", settings: Settings | None = None) -> None:
        """Open a store; an empty one is set up.

        Args:
            where: a file, or postgresql://…; empty: the file of this user.
            settings: as in ronda.toml; without them, the defaults.
        """
        self.settings = settings or Settings()
        self.store = Store(where)
        self._handlers = Handlers(self.settings)

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
        """Let go of the store; once more does no harm. `with` does it by itself."""
        self.store.close()

    def add(self, urls: Iterable[str], owner: str = "") -> list[Known]:
        """Watch URLs from now on; what is known of each already, in the same order.

        Args:
            urls: absolute URLs.
            owner: who watches them; empty: the operator.

        Raises:
            UrlError: one of them is not a URL; none is added then.
            UsageError: there is no such owner.
        """
        given = [enrol(url, self._handlers) for url in urls]
        now = self.store.database.epoch()
        return self.store.watches.register(self._owner(owner), given, now)

    def remove(self, urls: Iterable[str], owner: str = "") -> int:
        """Watch URLs no longer; how many there were."""
        keys = [key_of(enrol(url, self._handlers).url) for url in urls]
        return self.store.watches.unregister(self._owner(owner), keys)

    def check(self, urls: Iterable[str], *, force: bool = False) -> int:
        """Let URLs be due now; how many are.

        Args:
            urls: that are watched.
            force: even those that were seen less than an hour ago.
        """
        keys = [key_of(enrol(url, self._handlers).url) for url in urls]
        now = self.store.database.epoch()
        guard = self.settings.serve.recheck_guard
        asked = self.store.watches.check_now(keys, now, forced=force, guard=guard)
        return asked.asked

    def run(self, *, confirm: bool = False) -> None:
        """Check all that is due, and return when nothing is.

        Args:
            confirm: let failures be confirmed as a daemon does, a minute later; without
                it, what one check finds is the state.

        Raises:
            StoreError: the store cannot be used.
        """
        asyncio.run(self._run(confirm=confirm))

    async def _run(self, *, confirm: bool) -> None:
        settings = self.settings
        if not confirm:
            once = Intervals(confirm=1)
            settings = replace(settings, schedule=(*settings.schedule, once))
        desk = Desk(_unheard)
        try:
            opened = watch(settings, self.store, desk, _unheard, until_done=True)
            async with opened as session:
                await session.carry_out()
        finally:
            desk.give_up()
            desk.close()

    def state(self, url: str) -> Known | None:
        """What is known of a URL; None: nobody watches it."""
        shown = self.store.catalogue.show(key_of(enrol(url, self._handlers).url))
        return shown.target if shown is not None else None

    def targets(self, query: Query | None = None) -> Iterator[Known]:
        """What is watched, by a query or all of it."""
        query = replace(query or Query(sort="added"), limit=PAGE)
        while True:
            page = self.store.catalogue.find(query)
            yield from page.rows
            if not page.next:
                return
            query = replace(query, after=page.next)

    def _owner(self, name: str) -> int:
        return self.store.owners.find(name).id if name else OPERATOR


def _unheard(_words: str) -> None:
    """Nobody reads it: errors are raised."""
