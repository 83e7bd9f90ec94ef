"""Several processes that share one store and one made-up web, and die now and then."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from random import Random
from typing import ParamSpec, TypeVar

from ronda.config import Settings
from ronda.errors import StoreError
from ronda.frontier import Frontier, Policy, Scope
from ronda.model import Result
from ronda.probes import Handlers
from ronda.simulation.loop import VirtualClock
from ronda.simulation.names import NameServers
from ronda.simulation.traits import Traits
from ronda.simulation.umpire import Umpire
from ronda.simulation.web import Web
from ronda.store import Attic
from ronda.store.sql.store import Store
from ronda.targets import links_of
from ronda.workers.book import Book
from ronda.workers.desk import Desk
from ronda.workers.due import DueFeed
from ronda.workers.parts import Parts
from ronda.workers.robotshelf import RobotsShelf
from ronda.workers.run import Run
from ronda.workers.watch import Watch
from ronda.workers.worker import LOOPS

P = ParamSpec("P")
T = TypeVar("T")


class Inline(Desk):
    """A desk without a thread: a virtual loop hears of none."""

    dead = False  # its process was killed

    async def call(
        self, function: Callable[P, T], *args: P.args, **named: P.kwargs
    ) -> T:
        """Do it at once, in no time."""
        if self.dead:
            raise StoreError("who was killed writes nothing")
        return function(*args, **named)


class Scene:
    """What all of them share."""

    def __init__(self, traits: Traits, settings: Settings, store: Store) -> None:
        self.settings = settings
        self.store = store
        self.clock = VirtualClock()
        self.random = Random(traits.seed)  # noqa: S311  # the same seed, the same play
        self.umpire = Umpire(Policy(settings.politeness).limits)
        self.web = Web(
            traits, self.clock, self.umpire, hosts=range(traits.hosts), ledger=None
        )
        self.results = 0  # that were found by those who lived to write them, or not


class Watcher:
    """One process: it joins, works, and leaves or dies."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        settings, clock = scene.settings, scene.clock
        policy = Policy(settings.politeness)
        frontier = Frontier(
            policy.limits,
            settings.frontier,
            longest=policy.longest,
            random=scene.random,
            asks_leave=True,
        )
        self._desk = desk = Inline(_unheard)
        self.watch = Watch(
            settings,
            scene.store,
            desk,
            frontier,
            clock,
            clock.epoch,
            scene.random,
        )
        shelf = RobotsShelf(self.watch.keep_robots, clock)
        self.feed = DueFeed(
            self.watch,
            scene.store,
            desk,
            clock,
            settings.frontier.queue_length,
            shelf.fill,
        )
        self._attic = Attic()
        self._run = Run(self._parts(frontier, policy, shelf), self.feed)
        self.feed.visits = self._run.carry_on
        self._task: asyncio.Task[None] | None = None

    def _parts(self, frontier: Frontier, policy: Policy, shelf: RobotsShelf) -> Parts:
        scene = self._scene
        return Parts(
            settings=scene.settings,
            clock=scene.clock,
            frontier=frontier,
            handlers=Handlers(scene.settings),
            scope=Scope([], []),
            fetch=scene.web,
            names=NameServers(scene.web.homes, scene.clock),
            read=partial(links_of, check=scene.settings.check),
            book=Book(
                self.watch.holdings,
                scene.clock,
                lambda *_: None,
                scene.settings,
                keep_ok=True,
                listener=self._heard,
            ),
            policy=policy,
            is_public=lambda _: True,
            shelf=shelf,
            attic=self._attic,
            grants=self.watch,
            strict=True,
        )

    def _heard(self, result: Result) -> None:
        self._scene.results += 1
        self.watch.ended(result)

    async def live(self, *, until_done: bool = False) -> None:
        """Work until killed, stopped, or done."""
        self.feed.until_done = until_done
        await self.watch.join()
        async with asyncio.TaskGroup() as tasks:
            staying = tasks.create_task(self.watch.stay())
            self._task = tasks.create_task(
                self._run.carry_out(LOOPS, self._scene.settings.fetch.concurrency)
            )
            await asyncio.wait([self._task])
            staying.cancel()
        await self.watch.leave()
        self._attic.close()

    async def die(self, life: "asyncio.Task[None]") -> None:
        """End at this very moment: nothing more is written or let go."""
        self._desk.dead = True
        life.cancel()
        with suppress(asyncio.CancelledError, StoreError, ExceptionGroup):
            await life
        self._attic.close()

    def stop(self) -> None:
        """Let it end in order."""
        self.feed.stop()
        self._run.stop("stopped")


def enrolled(urls: Iterable[str], store: Store, settings: Settings, now: float) -> int:
    """Let a store hold URLs; how many."""
    from ronda.store.sql.schema import OPERATOR  # noqa: PLC0415
    from ronda.workers.enrolment import enrol  # noqa: PLC0415

    handlers = Handlers(settings)
    given = (enrol(url, handlers) for url in urls)
    return store.adding.add(OPERATOR, given, now).new


def _unheard(_words: str) -> None:
    """Nobody reads it."""
