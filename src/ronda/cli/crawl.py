"""`ronda crawl`: whole sites, page by page, to verdicts."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import click

from ronda import app, urls
from ronda.cli.options import CRAWL, SHARED, as_settings, with_config, with_options
from ronda.cli.outputs import Outputs
from ronda.cli.progress import Rewriting
from ronda.cli.runs import report_on
from ronda.config import Settings, load
from ronda.errors import UrlError, UsageError
from ronda.model import Summary
from ronda.store import RequestLog, Spool
from ronda.workers.run import Run


@click.command(short_help="Check a whole site: follow its pages, check their links.")
@click.argument("pages", nargs=-1, metavar="URL...")
@click.option("--restart", is_flag=True, help="Begin anew what --db remembers.")
@with_config
@with_options(CRAWL + SHARED)
def crawl(
    pages: tuple[str, ...], restart: bool, config_file: Path | None, **given: Any
) -> int:
    """Check a whole site: its pages are followed, all their links are checked.

    It begins at each URL and follows the pages on its host (see --scope). Links that
    lead elsewhere are checked once, and not followed.

    \b
    Examples:
      ronda crawl https://your.site/
      ronda crawl https://your.site/docs/ --scope directory --depth 5
      ronda crawl https://your.site/ --db site.db --output report.html
      ronda crawl https://your.site/ --save copy/ --warc site.warc.gz

    With --db, an interrupted crawl goes on where it was when it is called again, and
    the next one asks only for what has changed.

    Ends with 0 when nothing is broken, 1 when something is, 2 when a URL or a setting
    cannot be used, 130 when interrupted.
    """  # noqa: D301  # click reads \b
    if not pages:
        raise UsageError("nothing to crawl: give the URL of a first page")
    settings = load(config_file, as_settings(given))
    seeds = tuple(dict.fromkeys(map(_seed, pages)))
    scope = app.scope(settings)
    for seed in seeds:
        if seed not in scope:
            words = "left out by --include, --exclude or .rondaignore"
            raise UsageError(f"{urls.shown(seed)}: {words}")
    return asyncio.run(crawl_sites(settings, seeds, restart=restart))


async def crawl_sites(
    settings: Settings, seeds: tuple[str, ...], *, restart: bool = False
) -> int:
    """Crawl from some pages and write the reports; returns the exit code."""
    with app.crawl_extras(settings, seeds, restart=restart) as extras:
        if extras.resumed and not settings.report.quiet:
            sys.stderr.write("going on with the crawl that was interrupted\n")

        def open_run(
            spool: Spool, outputs: Outputs, log: RequestLog | None
        ) -> AbstractAsyncContextManager[Run]:
            listener = outputs.listener(spool)
            keep_ok = outputs.want_all
            return app.crawl(settings, extras, spool, keep_ok, listener, log)

        def end(summary: Summary) -> None:
            extras.end(summary, Rewriting(settings.report))
            if not settings.report.quiet:
                sys.stderr.writelines(
                    f"{line}\n" for line in _advice(settings, summary)
                )

        return await report_on(settings, open_run, end)


def _advice(settings: Settings, summary: Summary) -> Iterator[str]:
    """What to do next."""
    if settings.crawl.save:
        yield f"the pages are in {settings.crawl.save}"
    if summary.interrupted and settings.crawl.db:
        yield "the same command goes on from here"


def _seed(text: str) -> str:
    try:
        url = urls.split_fragment(urls.normalise(text))[0]
    except UrlError:
        url = ""
    if url.startswith(("http:", "https:")):
        return url
    name = urls.shown(text)
    if Path(text).exists():
        raise UsageError(f"'{name}' is a file; see 'ronda check {name}'")
    if "://" in text:
        raise UsageError(f"'{name}': only URLs of http and https can be crawled")
    raise UsageError(
        f"'{name}' is not a URL; write it with its scheme, as http://{name}"
    )
