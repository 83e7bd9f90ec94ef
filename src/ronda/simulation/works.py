"""What is done with pages in a made-up web: they are read and saved, with accidents."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator

from ronda.model import Answer, Found, Problem, Visit
from ronda.simulation.chance import Chance
from ronda.simulation.traits import Traits
from ronda.simulation.web import CrashError

SAVING = 0.2  # seconds that it takes to save a page, at most
Links = Iterator[Found | Problem]


class Works:
    """Lets crawlers and workers die of some pages, not so often that one is lost."""

    def __init__(self, traits: Traits) -> None:
        self._chance = Chance(traits.seed)
        self._crashes = traits.crashes
        self._deaths: Counter[str] = Counter()
        self.saved = 0

    def read(
        self,
        links: Callable[[bytes, str, str], Links],
        body: bytes,
        url: str,
        content_type: str,
    ) -> Links:
        """The links of a page; after the first of them, an accident may happen."""
        for number, found in enumerate(links(body, url, content_type)):
            if number == 1:
                self._risk(f"read {url}")
            yield found

    def has(self, url: str) -> bool:
        """Whether what was saved before is there: never, for this is the first time."""
        return False

    async def __call__(self, visit: Visit, answer: Answer) -> None:
        """Save a page, which may take a while."""
        url = visit.request.url
        self._risk(f"save {url}")
        await asyncio.sleep(SAVING * self._chance(f"saving {url}").share())
        self.saved += 1

    def _risk(self, what: str) -> None:
        draw = self._chance(what)
        if draw.share() < self._crashes and self._deaths[what] < 1 + draw.below(2):
            self._deaths[what] += 1
            raise CrashError(f"made up: {what}")
