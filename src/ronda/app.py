"""The only place that wires concrete parts together."""

import resource
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from ronda import urls
from ronda.clock import SystemClock
from ronda.config import IGNORE_NAME, Settings
from ronda.fetch import Asker, Guard, Names
from ronda.frontier import Frontier, Policy, Scope
from ronda.frontier.robots import SIZE_LIMIT
from ronda.frontier.scope import read_ignore
from ronda.model import Answer, Found, Problem, Request, Target, Verdict, Visit
from ronda.probes import Handlers
from ronda.store import Attic, RequestLog, Shelf, Spool, cache_folder
from ronda.targets import anchors, links_of, media_type
from ronda.workers.alone import Alone
from ronda.workers.book import Book, Listener
from ronda.workers.feed import Feed, ThreadedFeed
from ronda.workers.parts import Parts
from ronda.workers.run import Run
from ronda.workers.worker import work


def scope(settings: Settings) -> Scope:
    """What is checked and what is left out, by settings and ignore file."""
    check = settings.check
    return Scope(check.include, [*check.exclude, *read_ignore(Path(IGNORE_NAME))])


@asynccontextmanager
async def check(
    settings: Settings,
    found: Iterable[Found | Problem],
    spool: Spool,
    *,
    may_block: bool = False,
    keep_ok: bool = True,
    listener: Listener | None = None,
    log: RequestLog | None = None,
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
    """
    clock = SystemClock()
    if log is not None:
        moment = clock.utc().isoformat(timespec="milliseconds")
        moment = moment.replace("+00:00", "Z")
        log.begin(settings.fetch.agent, moment, settings.politeness)
    handlers = Handlers(settings)
    book = Book(
        spool,
        clock,
        _anchors,
        settings,
        keep_ok=keep_ok,
        listener=listener,
    )
    # Nobody reads what is known of a good answer that is only counted.
    evidence = keep_ok or listener is not None or settings.check.slow is not None
    guard = Guard(settings.guard)
    policy = Policy(settings.politeness)
    shelf, attic = Shelf(cache_folder() / "robots"), Attic()
    async with (
        Names(settings.fetch.name_servers, guard, clock) as names,
        Asker(settings.fetch, names, handlers.called, guard, evidence) as asker,
    ):
        parts = Parts(
            settings=settings,
            clock=clock,
            frontier=Frontier(policy.limits, settings.frontier, longest=policy.longest),
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
        )
        run = Run(parts, ThreadedFeed(found) if may_block else Feed(found))
        try:
            yield run
        finally:
            run.close()
            shelf.tidy()
            attic.close()


def _anchors(body: bytes, url: str, content_type: str) -> frozenset[str] | None:
    """The anchors of a page or document; None when it is of another kind."""
    kind = media_type(url, content_type)
    return anchors(body, content_type if content_type.startswith(kind) else kind)


async def carry_out(run: Run, settings: Settings) -> None:
    """Let the workers work until all is over."""
    await run.carry_out(work, min(settings.fetch.concurrency, _descriptors() // 2))


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
