"""Ronda for other programs: open a store, add URLs, run until done, read states."""

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from types import TracebackType
from typing import Self

from msgspec.structs import replace

from ronda.app.watching import watch
from ronda.config import Intervals, Settings
from ronda.errors import StoreError, UsageError
from ronda.probes import Handlers
from ronda.store.sql.adding import Given, key_of
from ronda.store.sql.catalogue import Query
from ronda.store.sql.schema import OPERATOR
from ronda.store.sql.store import Store
from ronda.store.sql.values import Known
from ronda.workers.desk import Desk
from ronda.workers.enrolment import enrol

PAGE = 1000  # targets read at once


@contextmanager
def _without_options() -> Iterator[None]:
    """Say what is wrong with a store to one who has no command line."""
    try:
        yield
    except StoreError as error:
        raise type(error)(str(error).removeprefix("--db ")) from error


class Ronda:
    """A store, and everything that can be done with it in one process.

    A daemon may serve the same store meanwhile.
    """

    def __init__(
        self,
        where: str | PathLike[str] | None = None,
        settings: Settings | None = None,
    ) -> None:
        """Open a store; an empty one is set up.

        Args:
            where: a file, or postgresql://…; None or empty: the file of this user,
                which is that of the commands, too.
            settings: as in ronda.toml; without them, the defaults.

        Raises:
            StoreError: it cannot be opened.
        """
        self.settings = settings or Settings()
        with _without_options():
            self._store = Store(fspath(where or ""))
        self._is_open = True
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
        self._is_open = False
        self._store.close()

    @property
    def store(self) -> Store:
        """All of the store.

        Raises:
            UsageError: it was closed.
        """
        if not self._is_open:
            shown = self._store.database.shown
            raise UsageError(f"{shown}: this was closed; ronda.open opens it again")
        return self._store

    @_without_options()
    def add(self, urls: str | Iterable[str], owner: str = "") -> list[Known]:
        """Watch URLs from now on; what is known of each already, in the same order.

        Args:
            urls: absolute URLs, or one of them.
            owner: who watches them; empty: the operator.

        Raises:
            UrlError: one of them is not a URL; none is added then.
            UsageError: there is no such owner.
        """
        given = self._given(urls)
        now = self.store.database.epoch()
        return self.store.watches.register(self._owner(owner), given, now)

    @_without_options()
    def remove(self, urls: str | Iterable[str], owner: str = "") -> int:
        """Watch URLs, or one of them, no longer; how many there were."""
        keys = [key_of(one.url) for one in self._given(urls)]
        return self.store.watches.unregister(self._owner(owner), keys)

    @_without_options()
    def check(self, urls: str | Iterable[str], *, force: bool = False) -> int:
        """Let URLs be due now; how many are.

        Args:
            urls: that are watched, or one of them.
            force: even those that were seen less than an hour ago.
        """
        keys = [key_of(one.url) for one in self._given(urls)]
        now = self.store.database.epoch()
        guard = self.settings.serve.recheck_guard
        asked = self.store.watches.check_now(keys, now, forced=force, guard=guard)
        return asked.asked

    @_without_options()
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

    @_without_options()
    def state(self, url: str) -> Known | None:
        """What is known of a URL; None: nobody watches it."""
        [given] = self._given(url)
        shown = self.store.catalogue.show(key_of(given.url))
        return shown.target if shown is not None else None

    def targets(self, query: Query | None = None) -> Iterator[Known]:
        """What is watched, by a query or all of it."""
        query = replace(query or Query(sort="added"), limit=PAGE)
        while True:
            with _without_options():
                page = self.store.catalogue.find(query)
            yield from page.rows
            if not page.next:
                return
            query = replace(query, after=page.next)

    def _given(self, urls: str | Iterable[str]) -> list[Given]:
        """URLs as the store wants them; a single text is one URL, not its letters."""
        several = [urls] if isinstance(urls, str) else urls
        return [enrol(url, self._handlers) for url in several]

    def _owner(self, name: str) -> int:
        return self.store.owners.find(name).id if name else OPERATOR


def _unheard(_words: str) -> None:
    """Nobody reads it: errors are raised."""
