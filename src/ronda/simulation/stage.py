"""One round of the real engine in a made-up web: the parts wired, and carried out."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from math import inf
from random import Random

from msgspec import Struct

from ronda.config import Settings
from ronda.frontier import Frontier, Policy, Scope
from ronda.frontier.reach import Reach
from ronda.model import Found, Visit
from ronda.probes import Handlers
from ronda.simulation.diary import Diary
from ronda.simulation.ledger import Ledger
from ronda.simulation.loop import VirtualClock, carry_out
from ronda.simulation.names import NameServers
from ronda.simulation.traits import Traits
from ronda.simulation.umpire import Umpire
from ronda.simulation.web import Web
from ronda.simulation.works import Works
from ronda.store import Attic, Spool
from ronda.store.overflow import Overflow
from ronda.targets import links_of
from ronda.workers.feed import Feed
from ronda.workers.parts import Parts
from ronda.workers.run import Run
from ronda.workers.survey import Survey
from ronda.workers.worker import LOOPS


class Trial(Struct, frozen=True, kw_only=True):
    """What is tried: a web, the settings of a round, and what goes wrong meanwhile."""

    traits: Traits
    settings: Settings
    seeds: tuple[str, ...] = ()  # the first pages, if the round is a crawl
    saves: bool = False  # pages are given to workers, to be saved
    jumps: tuple[tuple[float, float], ...] = ()  # when the date is set, by how much
    seconds: float = inf  # of simulated time that it may take
    steps: float = inf  # turns of the loop that it may take


class Stage:
    """The parts of a round, all real but for the web, its names and the clock."""

    def __init__(
        self,
        trial: Trial,
        watch: Callable[[Visit], None],
        hosts: Sequence[int] = (),
        ledger: Ledger | None = None,
    ) -> None:
        traits, settings = trial.traits, trial.settings
        self._trial = trial
        self._watch = watch  # told every verdict
        self.clock = VirtualClock()
        self.policy = Policy(settings.politeness)
        # Rules of its own: what the frontier's have learnt is not to be believed here.
        self.umpire = Umpire(Policy(settings.politeness).limits)
        hosts = hosts or range(traits.hosts)
        self.web = Web(traits, self.clock, self.umpire, hosts=hosts, ledger=ledger)
        self.works = Works(traits)
        self.frontier = Frontier(
            self.policy.limits,
            settings.frontier,
            longest=self.policy.longest,
            random=Random(traits.seed),  # noqa: S311  # jitter
        )

    def play(self, found: Iterable[Found]) -> Run:
        """Carry out the round in no time.

        Raises:
            StuckError: it would never end.
        """
        with self._parts() as parts:
            return carry_out(
                self._play(parts, found),
                self.clock,
                seconds=self._trial.seconds,
                steps=self._trial.steps,
            )

    async def _play(self, parts: Parts, found: Iterable[Found]) -> Run:
        loop = self.web.loop = asyncio.get_running_loop()
        for moment, seconds in self._trial.jumps:
            loop.call_later(moment, self.clock.jump, seconds)
        run = Run(parts, Feed(found))
        try:
            await run.carry_out(LOOPS, self._trial.settings.fetch.concurrency)
        finally:
            run.close()
        return run

    @contextmanager
    def _parts(self) -> Iterator[Parts]:
        """As `app` wires them."""
        trial, settings = self._trial, self._trial.settings
        links = partial(links_of, check=settings.check, limit=settings.fetch.body_limit)
        with (
            Spool() as spool,
            closing(Attic()) as attic,
            closing(Overflow()) as overflow,
        ):
            yield Parts(
                settings=settings,
                clock=self.clock,
                frontier=self.frontier,
                handlers=Handlers(settings),
                scope=Scope([], []),
                fetch=self.web,
                names=NameServers(self.web.homes, self.clock),
                read=partial(self.works.read, links),
                book=self._book(spool),
                policy=self.policy,
                is_public=lambda _: True,
                attic=attic,
                overflow=overflow,
                strict=True,
                reach=self._reach(),
                survey=Survey() if trial.seeds else None,
                keep=self.works if trial.saves else None,
            )

    def _book(self, spool: Spool) -> Diary:
        return Diary(
            spool,
            self.clock,
            lambda *_: None,
            self._trial.settings,
            keep_ok=False,
            listener=None,
            watch=self._watch,
        )

    def _reach(self) -> Reach | None:
        if not self._trial.seeds:
            return None
        year = self.clock.utc().year
        return Reach(self._trial.settings.crawl, self._trial.seeds, year)
