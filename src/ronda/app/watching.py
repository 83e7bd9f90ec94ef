"""A watch over what a store holds, wired together."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from msgspec.structs import replace

from ronda import networks, urls
from ronda.app.checking import carry_out, scope
from ronda.app.visiting import Visiting, join, plans_of
from ronda.clock import SystemClock
from ronda.config import Crawl, Settings
from ronda.fetch import Asker, Guard, Names
from ronda.fetch.post import Post
from ronda.fetch.programs import Programs
from ronda.frontier import Frontier, Policy
from ronda.frontier.schedule import Schedule
from ronda.frontier.timetable import Timetable
from ronda.probes import Handlers
from ronda.probes.accept import Accept
from ronda.probes.task import Row
from ronda.store import Attic, RequestLog
from ronda.store.sql.store import Store
from ronda.store.sql.values import Entry
from ronda.targets import links_of
from ronda.workers.account import Account
from ronda.workers.book import Book
from ronda.workers.desk import Desk
from ronda.workers.due import DueFeed
from ronda.workers.errands import Errands
from ronda.workers.notifying import Notifier
from ronda.workers.parts import Parts
from ronda.workers.planned import Planned
from ronda.workers.robotshelf import RobotsShelf
from ronda.workers.run import Run
from ronda.workers.watch import Watch
from ronda.workers.watchdog import Watchdog


class StoreClock(SystemClock):
    """The machine's clock, with the date that all who share a store go by."""

    def __init__(self, store: Store) -> None:
        self.epoch = store.database.epoch


class Session:
    """A stretch of a watch with the same settings, from joining to leaving."""

    def __init__(
        self,
        settings: Settings,
        run: Run,
        feed: DueFeed,
        watch: Watch,
        errands: Errands,
        visiting: Visiting,
    ) -> None:
        self._settings = settings
        self._run = run
        self._feed = feed
        self._watch = watch
        self._errands = errands
        self.visiting = visiting
        self._work: asyncio.Task[None] | None = None

    @property
    def account(self) -> Account:
        """The run as people see it."""
        return self._run.account

    @property
    def lost(self) -> bool:
        """Whether another process took this one for dead: it must begin anew."""
        return self._watch.lost and self._watch.failure is None

    def poke(self) -> None:
        """Look at once at what is due: somebody has changed it."""
        self._feed.poke()
        self._errands.poke()

    def stop(self, why: str, grace: float) -> None:
        """Take nothing more; what is under way has some seconds to end."""
        self._feed.stop()
        self.visiting.planned.stopped = True
        self._run.stop(why)
        self._errands.hurry(grace)
        if self._work is not None:
            asyncio.get_running_loop().call_later(grace, self._work.cancel)

    async def carry_out(self) -> None:
        """Watch until stopped, or until nothing is due if that was asked for.

        Raises:
            StoreError: the store cannot be used any more.
        """
        await self._watch.join()
        async with asyncio.TaskGroup() as tasks:
            staying = tasks.create_task(self._stay(), name="signs of life")
            errands = tasks.create_task(self._errands.run(), name="errands")
            self._work = tasks.create_task(self._carry_out(), name="run")
            await asyncio.wait([self._work])
            staying.cancel()
            errands.cancel()
        self._run.cut_off()
        await self._watch.leave()
        if self._watch.failure is not None:
            raise self._watch.failure

    async def _carry_out(self) -> None:
        # Programs have workers of their own: slow ones hold up nobody else.
        workers = self._settings.tasks.workers if self.visiting.has_programs else 0
        await carry_out(self._run, self._settings, more=workers)

    async def _stay(self) -> None:
        await self._watch.stay()
        self.stop("the claims were lost", 0.0)


def require(settings: Settings) -> None:
    """See that the settings can be used, before anything is begun.

    Raises:
        SettingsError: one line that names the key.
    """
    Schedule(settings.schedule)
    Timetable(settings.rounds)
    Policy(settings.politeness)
    Accept(settings.check.accept)
    scope(settings)


@asynccontextmanager
async def watch(  # noqa: PLR0913  # all that a watch may be told
    settings: Settings,
    store: Store,
    desk: Desk,
    tell: Callable[[str], None],
    *,
    until_done: bool = False,
    log: RequestLog | None = None,
    heard: Callable[[Entry], None] | None = None,
    tasks: Iterable[Row] = (),
) -> AsyncIterator[Session]:
    """A watch over what a store holds, ready to be carried out.

    Args:
        settings: everything that can be set.
        store: what is watched, and where results go.
        desk: the thread in which the store is used.
        tell: hears one line for people, now and then.
        until_done: end when nothing is due, instead of waiting for what will be.
        log: told each request.
        heard: told each result.
        tasks: beside those that are known.
    """
    clock = SystemClock()
    # Pages are not read: what is watched is the URL itself.
    settings = replace(
        settings, crawl=Crawl(), check=replace(settings.check, fragments=False)
    )
    if log is not None:
        moment = clock.utc().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        log.begin(settings.fetch.agent, moment, settings.politeness)
    handlers, guard = Handlers(settings), Guard(settings.guard)
    policy = Policy(settings.politeness)
    frontier = Frontier(
        policy.limits, settings.frontier, longest=policy.longest, asks_leave=True
    )
    watched = Watch(settings, store, desk, frontier, clock, store.database.epoch)
    if heard is not None:
        watched.heard = heard
    shelf = RobotsShelf(watched.keep_robots, clock)
    length = settings.frontier.queue_length
    feed = DueFeed(watched, store, desk, clock, length, shelf.fill)
    feed.until_done = until_done
    book = Book(
        watched.holdings,
        clock,
        _no_anchors,
        settings,
        keep_ok=True,
        listener=watched.ended,
    )
    async with AsyncExitStack() as stack:
        names = await stack.enter_async_context(
            Names(settings.fetch.name_servers, guard, clock)
        )
        programs = await stack.enter_async_context(
            Programs(settings.tasks, names, guard, gap=partial(_gap, policy))
        )
        plans = await plans_of(settings, handlers, programs, tell, tasks)
        planned = Planned(
            settings.tasks.workers,
            settings.tasks.batch,
            watched.wall,
            partial(_at_once, policy),
        )
        asker = await stack.enter_async_context(
            Asker(settings.fetch, names, handlers.called, guard, programs=programs)
        )
        watchdog = await stack.enter_async_context(Watchdog())
        attic = Attic()
        stack.callback(attic.close)
        parts = Parts(
            settings=settings,
            clock=clock,
            frontier=frontier,
            handlers=handlers,
            scope=scope(settings),
            fetch=asker,
            names=names,
            read=partial(
                links_of, check=settings.check, limit=settings.fetch.body_limit
            ),
            book=book,
            policy=policy,
            is_public=guard.is_public,
            shelf=shelf,
            attic=attic,
            log=log,
            watchdog=watchdog,
            grants=watched,
            plans=plans,
            strict=bool(os.environ.get("RONDA_STRICT")),
        )
        run = Run(parts, feed)
        feed.visits = run.carry_on
        visiting = Visiting(planned, plans, programs)
        join(visiting, run, feed, watched, handlers)
        run.account.reading = feed.waits
        told = settings.notices
        post = await stack.enter_async_context(
            Post(settings.fetch, told.timeout, names, guard)
        )
        notifier = Notifier(
            store.outbox,
            desk.call,
            post.send,
            StoreClock(store),
            told,
            holder=lambda: watched.process,
            tell=tell,
        )
        errands = Errands(settings, store, notifier, tell, feed.poke)
        watched.noticed = errands.poke
        stack.callback(run.close)
        yield Session(settings, run, feed, watched, errands, visiting)


def _gap(policy: Policy, host: str, address: str) -> float:
    """Seconds between two requests of programs to a host, at an address."""
    limits = policy.limits(host, address)
    return max(limits.interval, limits.server_interval)


def _at_once(policy: Policy, url: str) -> int:
    """Visits of a host with a plan that may be under way.

    Where there is a gap, one: what programs ask is spaced by themselves, and those of
    two visits would not know of each other.
    """
    host = urls.host_key(url)
    limits = policy.limits(host, networks.literal(urls.host(url)) or "")
    return 1 if limits.paced else limits.per_host


def _no_anchors(_body: bytes, _url: str, _kind: str) -> None:
    """Fragments are not looked at."""
