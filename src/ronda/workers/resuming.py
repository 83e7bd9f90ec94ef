"""Goes on where a crawl was interrupted: everything it knew is known again."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from typing import TypeVar

from ronda.model import Found, Result, Target
from ronda.store.crawls import CrawlStore
from ronda.workers.intake import Intake
from ronda.workers.memory import BEYOND, unpacked
from ronda.workers.parts import Parts
from ronda.workers.pushing import Pushing

T = TypeVar("T")

SLICE = 200  # rows between which others have a turn


class Resuming:
    """Reads what an earlier process left, and hands it to the parts of a run."""

    def __init__(
        self,
        store: CrawlStore,
        parts: Parts,
        intake: Intake,
        pushing: Pushing,
        put: Callable[[Target], None],
    ) -> None:
        self._store = store
        self._parts = parts
        self._intake = intake
        self._pushing = pushing
        self._put = put  # told every target that has no verdict yet

    async def carry_out(self) -> None:
        """Let everything be known, and only then put what is left to do.

        What is put may name others, as a robots.txt does sitemaps.
        """
        self._intake.beyond.update(self._store.recall(BEYOND))
        if self._parts.reach is not None:
            self._parts.reach.granted = 0  # the first pages are counted again
        async for result in _in_turns(self._store.results()):
            self._end(result)
        async for url, links in _in_turns(self._store.pages_of_round()):
            self._read(url, links)
        async for target, _ in _in_turns(self._store.visits()):
            self._let_in(target)
        async for target in _in_turns(self._store.unfinished()):
            self._put(target)

    def _end(self, result: Result) -> None:
        """A target has its verdict."""
        self._parts.book.know(result.url)
        self._parts.book.restore(result)
        if self._parts.survey is not None:
            self._parts.survey.restore(result)
        if result.hops and result.digest:
            self._pushing.led_to(result.hops[-1].to)
        if result.hops and self._parts.reach is not None:
            self._parts.reach.moved(result.url, result.hops[-1].to)

    def _read(self, url: str, links: Iterable[Found]) -> None:
        """A page was read."""
        for link in links:
            self._intake.note(unpacked(link))
        known, survey = self._store.known(url), self._parts.survey
        if survey is not None and known is not None and known.is_sitemap:
            survey.named(link.url for link in links if link.url and not link.reads)

    def _let_in(self, target: Target) -> None:
        """A target was taken in."""
        self._parts.book.know(target.url)
        if target.reads and self._parts.reach is not None:
            self._parts.reach.recall(target.url)
        elif not target.reads and not target.outside and not target.is_part:
            self._intake.unfollowed.add(target.url)


async def _in_turns(items: Iterable[T]) -> AsyncIterator[T]:
    for number, item in enumerate(items):
        if number % SLICE == 0:
            await asyncio.sleep(0)
        yield item
