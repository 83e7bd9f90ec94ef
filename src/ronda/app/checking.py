"""A run over what was found, or over the pages of sites, wired together."""

import os
import resource
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from ronda import urls
from ronda.clock import Clock, SystemClock
from ronda.config import IGNORE_NAME, Crawl, Settings
from ronda.errors import UsageError
from ronda.fetch import Asker, Guard, Names
from ronda.frontier import Frontier, Policy, Scope
from ronda.frontier.priority import Priorities
from ronda.frontier.reach import Reach
from ronda.frontier.robots import SIZE_LIMIT
from ronda.frontier.scope import read_ignore
from ronda.model import (
    Answer,
    Found,
    Place,
    Problem,
    Request,
    Summary,
    Target,
    Verdict,
    Visit,
)
from ronda.probes import Handlers
from ronda.store import Attic, RequestLog, Shelf, Spool, cache_folder
from ronda.store.overflow import Overflow
from ronda.targets import anchors, links_of, media_type
from ronda.workers.alone import Alone
from ronda.workers.book import Book, Listener
from ronda.workers.events import load as load_events
from ronda.workers.feed import Feed, ThreadedFeed
from ronda.workers.keeping import Keeping
from ronda.workers.parts import Parts
from ronda.workers.run import Run
from ronda.workers.survey import Survey
from ronda.workers.watchdog import Watchdog
from ronda.workers.worker import LOOPS

# Loaded where they are used: most runs need none of them.
if TYPE_CHECKING:
    from ronda.store.crawls import CrawlStore
    from ronda.store.mirror import Mirror
    from ronda.store.warc import WarcFile
    from ronda.workers.memory import Memory


def scope(settings: Settings) -> Scope:
    """What is checked and what is left out, by settings and ignore file."""
    check = settings.check
    return Scope(check.include, [*check.exclude, *read_ignore(Path(IGNORE_NAME))])


class Extras(Struct, frozen=True):
    """What a crawl has beyond a check."""

    seeds: tuple[str, ...]
    reach: Reach
    priorities: Priorities
    store: "CrawlStore | None" = None
    mirror: "Mirror | None" = None
    warc: "WarcFile | None" = None
    resumed: bool = False  # the store has a crawl that was interrupted

    def end(self, summary: Summary, told: Callable[[int, int], None]) -> None:
        """All is reported: the next crawl is another one, if this was not cut short.

        Args:
            summary: what was reported.
            told: how many of the saved pages have their links rewritten, and of how
                many.
        """
        if self.mirror is not None:
            self.mirror.finish(told)
        if self.store is not None and not summary.interrupted:
            self.store.end_round()


def _other(seeds: Iterable[str]) -> str:
    names = ", ".join(map(urls.shown, seeds))
    return (
        f"a crawl of {names} was interrupted; call that again to go on, or use "
        "--restart to forget it"
    )


@contextmanager
def crawl_extras(
    settings: Settings, seeds: tuple[str, ...], *, restart: bool = False
) -> Iterator[Extras]:
    """Open what a crawl writes to; what cannot be opened is told at once."""
    wanted, year = settings.crawl, SystemClock().utc().year
    reach, priorities = Reach(wanted, seeds, year), Priorities(wanted.priority)
    with ExitStack() as stack:
        store = mirror = warc = None
        resumed = False
        if wanted.db:
            from ronda.store.crawls import CrawlStore  # noqa: PLC0415

            store = stack.enter_context(CrawlStore(Path(wanted.db)))
            resumed = not restart and store.resumable(seeds)
            if not resumed:
                begun = store.round
                if not restart and begun is not None and not begun.finished:
                    raise UsageError(f"--db {wanted.db}: {_other(begun.seeds)}")
                store.begin_round(seeds, SystemClock().epoch())
        if wanted.save:
            from ronda.store.mirror import Mirror  # noqa: PLC0415
            from ronda.targets.rewrite import rewritten  # noqa: PLC0415

            try:
                mirror = stack.enter_context(Mirror(Path(wanted.save), rewritten))
            except OSError as error:
                is_file = isinstance(error, FileExistsError | NotADirectoryError)
                words = "a file, not a folder" if is_file else error.strerror or error
                raise UsageError(f"--save {wanted.save}: {words}") from None
        if wanted.warc:
            from ronda.store.warc import WarcFile  # noqa: PLC0415

            fetch = settings.fetch
            warc = WarcFile(Path(wanted.warc), fetch.agent, fetch.headers)
            stack.enter_context(warc)
        yield Extras(seeds, reach, priorities, store, mirror, warc, resumed)


@asynccontextmanager
async def crawl(
    settings: Settings,
    extras: Extras,
    spool: Spool,
    keep_ok: bool,
    listener: Listener | None,
    log: RequestLog | None,
) -> AsyncIterator[Run]:
    """A run that follows the pages of sites."""
    found = [Found(url, Place(""), reads=True) for url in extras.seeds]
    opened = check(
        settings,
        found,
        spool,
        keep_ok=keep_ok,
        listener=listener,
        log=log,
        extras=extras,
    )
    async with opened as run:
        yield run


@asynccontextmanager
async def check(  # noqa: PLR0913  # two commands, and what each can want
    settings: Settings,
    found: Iterable[Found | Problem],
    spool: Spool,
    *,
    may_block: bool = False,
    keep_ok: bool = True,
    listener: Listener | None = None,
    log: RequestLog | None = None,
    extras: Extras | None = None,
) -> AsyncIterator[Run]:
    """A run over what was found, ready to be carried out by `carry_out`.

    Args:
        settings: everything that can be set.
        found: references, read as the frontier has room for them.
        spool: receives the results, and outlives the run.
        may_block: reading them may take its time (standard input, large files).
        keep_ok: keep good results too; without it they are only counted.
        listener: told each result as it comes.
        log: told each request.
        extras: what makes it a crawl.
    """
    clock = SystemClock()
    if log is not None:
        moment = clock.utc().isoformat(timespec="milliseconds")
        moment = moment.replace("+00:00", "Z")
        log.begin(settings.fetch.agent, moment, settings.politeness)
    if extras is None:  # its settings are for crawls only
        settings = replace(settings, crawl=Crawl())
    handlers = Handlers(settings)
    store = extras.store if extras is not None else None
    book = Book(
        spool,
        clock,
        _anchors,
        settings,
        keep_ok=keep_ok,
        remember=store is not None,
        listener=listener,
    )
    # Nobody reads what is known of a good answer that is only counted.
    told = keep_ok or listener is not None or store is not None
    evidence = told or settings.check.slow is not None
    guard = Guard(settings.guard)
    policy = Policy(settings.politeness)
    attic, overflow = Attic(), Overflow()
    shelf = Shelf(cache_folder() / "robots")
    frontier = Frontier(policy.limits, settings.frontier, longest=policy.longest)
    async with (
        Names(settings.fetch.name_servers, guard, clock) as names,
        Asker(settings.fetch, names, handlers.called, guard, evidence) as asker,
        Watchdog() as watchdog,
    ):
        memory = _memory(store, clock)
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
            shelf=shelf if store is None else store.shelf,
            attic=attic,
            log=log,
            overflow=overflow,
            watchdog=watchdog,
            events=load_events(settings.crawl.plugins),
            strict=bool(os.environ.get("RONDA_STRICT")),
            reach=extras.reach if extras else None,
            priorities=extras.priorities if extras else Priorities(()),
            survey=Survey() if extras else None,
            memory=memory,
            keep=_keeping(extras, clock),
        )
        run = Run(parts, ThreadedFeed(found) if may_block else Feed(found))
        if memory is not None and store is not None:
            memory.recall_hosts(frontier)
            if extras is not None and extras.resumed:
                run.resume(store)
        try:
            yield run
        finally:
            run.close()
            shelf.tidy()
            attic.close()
            overflow.close()


def _memory(store: "CrawlStore | None", clock: Clock) -> "Memory | None":
    if store is None:
        return None
    from ronda.workers.memory import Memory  # noqa: PLC0415

    return Memory(store, clock)


def _keeping(extras: Extras | None, clock: Clock) -> Keeping | None:
    if extras is None or (extras.mirror is None and extras.warc is None):
        return None
    return Keeping(extras.mirror, extras.warc, media_type, clock)


def _anchors(body: bytes, url: str, content_type: str) -> frozenset[str] | None:
    """The anchors of a page or document; None when it is of another kind."""
    kind = media_type(url, content_type)
    return anchors(body, content_type if content_type.startswith(kind) else kind)


async def carry_out(run: Run, settings: Settings, more: int = 0) -> None:
    """Let the workers work until all is over.

    Args:
        run: what they work on.
        settings: how many requests are made at once.
        more: workers beside these, for what takes long and is no request of ours.
    """
    count = min(settings.fetch.concurrency + more, _descriptors() // 2)
    await run.carry_out(LOOPS, count)


def _descriptors() -> int:
    """How many descriptors we may have, after asking for as many as there are."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return most if most != resource.RLIM_INFINITY else sys.maxsize


async def robots_of(settings: Settings, url: str) -> tuple[Visit, Answer, Verdict]:
    """Ask for the robots.txt that speaks for a URL, and follow its redirects."""
    once = replace(settings, fetch=replace(settings.fetch, retries=0, processes=1))
    handlers, guard, clock = Handlers(once), Guard(once.guard), SystemClock()
    where = urls.without_credentials(urls.join(url, "/robots.txt"))
    target = Target(where, urls.host_key(where), robots=True)
    request = Request(where, "GET", body=SIZE_LIMIT + 1, raw=True)
    visit = Visit(target, request, target.host)
    async with (
        Names(once.fetch.name_servers, guard, clock) as names,
        Asker(once.fetch, names, handlers.called, guard) as asker,
    ):
        policy = Policy(once.politeness)
        alone = Alone(asker, names, policy, guard.is_public, clock)
        return await alone.carry_out(visit, handlers.of(where))
