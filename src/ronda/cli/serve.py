"""`ronda serve`: the daemon that watches what the store holds."""

import asyncio
import os
import sys
import time
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack, nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from ronda import urls
from ronda.cli.demo.watched import MENDED, demo_settings, demo_urls, in_words
from ronda.cli.options import SERVE, SHARED, as_settings, with_config, with_options
from ronda.cli.outputs import terminal_style
from ronda.cli.reading import Reading
from ronda.cli.report.style import COLOURS
from ronda.config import Settings
from ronda.store import RequestLog

# Loaded where they are used: SQLAlchemy takes longer than --help.
if TYPE_CHECKING:
    from ronda.store.sql.store import Store
    from ronda.store.sql.values import Entry

_SECTIONS = {"politeness", "fetch", "guard"}
_OTHERS = {
    "check.method",
    "check.accept",
    "check.exclude",
    "check.robots",
    "check.max_redirects",
    "check.certificate_days",
    "check.slow",
    "report.request_log",
    "report.quiet",
    "report.verbose",
    "report.colour",
}
# What the settings say of a report fits no daemon.
_WORDS = {
    "report.quiet": "Print no changes of states, only what happens to the daemon.",
    "report.verbose": "Print every result, not only changes of states.",
}
OPTIONS = (
    *SERVE,
    *(
        replace(option, words=_WORDS.get(option.setting, option.words))
        for option in SHARED
        if option.setting in _OTHERS or option.setting.partition(".")[0] in _SECTIONS
    ),
)


@click.command(short_help="Watch what the store holds, for as long as it runs.")
@click.option("--demo", is_flag=True, help="Watch a small local web with known faults.")
@with_config
@with_options(OPTIONS)
def serve(demo: bool, config_file: Path | None, **given: Any) -> int:
    """Watch what the store holds: check each target when it is due.

    Targets are added by `ronda target add` and `ronda register`, while it runs too.
    Several daemons, on several machines, may serve one PostgreSQL.

    \b
    Examples:
      ronda serve --demo
      ronda serve
      ronda serve --config /etc/ronda.toml --db postgresql://ronda@db.example.org/ronda

    SIGTERM and Ctrl-C end it once what is under way has ended, or at the end of the
    grace time; SIGHUP reads the settings again. Each change of a state is one line on
    standard output; with --verbose, each result.
    """  # noqa: D301  # click reads \b
    read = Reading(config_file, as_settings(given))
    return asyncio.run(_demo(read()) if demo else _serve(read(), read))


async def _serve(settings: Settings, read_again: Callable[[], Settings]) -> int:
    from ronda.server.daemon import Daemon  # noqa: PLC0415
    from ronda.store.sql.sole import sole  # noqa: PLC0415
    from ronda.store.sql.store import Store  # noqa: PLC0415

    with ExitStack() as stack:
        store = stack.enter_context(Store(settings.store.db))
        stack.enter_context(sole(store.database, share=settings.serve.share))
        log = stack.enter_context(_request_log(settings))
        told = Told(settings)
        count = sum(store.catalogue.counts().values())
        daemon = Daemon(
            settings, store, told, read_again=read_again, log=log, heard=told.result
        )
        await daemon.serve(f"serving {store.database.shown}: {_targets(count)}")
        told("stopped; nothing is lost")
    return 0


async def _demo(given: Settings) -> int:
    """Watch a web of our own, in a store that is gone with it."""
    from ronda.cli.demo.web import DemoWeb  # noqa: PLC0415
    from ronda.server.daemon import Daemon  # noqa: PLC0415
    from ronda.store.sql.store import Store  # noqa: PLC0415

    async with AsyncExitStack() as stack:
        web = await stack.enter_async_context(DemoWeb(MENDED))
        settings = demo_settings(given, web)
        folder = stack.enter_context(TemporaryDirectory(prefix="ronda-demo-"))
        where = str(Path(folder) / "demo.db")
        store = stack.enter_context(Store(where))
        count = demo_urls(settings, web, store)
        told = Told(settings)
        told(f"a small web at {web.front} is being watched: {_targets(count)}")
        told(f"in another terminal: ronda target list --db {where}")
        web.told = partial(_say_told, told)
        await Daemon(settings, store, told, heard=told.result).serve("Ctrl-C ends it")
        _sum_up(store)
    return 0


def _say_told(told: "Told", body: bytes) -> None:
    if words := in_words(body):
        told(words)


def _sum_up(store: "Store") -> None:
    counts = store.catalogue.counts()
    told = ", ".join(f"{number} {state}" for state, number in counts.items() if number)
    click.echo(f"At the end: {told}.", err=True)


class Told:
    """Lines for people: what happens on standard error, results on standard output."""

    def __init__(self, settings: Settings) -> None:
        self._style = terminal_style(sys.stdout, settings.report)
        self._quiet = settings.report.quiet
        self._verbose = settings.report.verbose
        # systemd puts the time before each line itself.
        self._dated = "JOURNAL_STREAM" not in os.environ

    def __call__(self, words: str) -> None:
        """What happens to the daemon itself."""
        click.echo(f"{self._moment()}ronda: {words}", err=True)

    def result(self, entry: "Entry") -> None:
        """A result, if it changes a state or all are wanted."""
        changed = entry.standing.state is not entry.due.standing.state
        if self._quiet or not (changed or self._verbose):
            return
        result, state = entry.result, entry.standing.state
        colour = COLOURS[state]
        was = entry.due.standing.state
        shown = self._style.paint(f"{state:<11}", colour)
        arrow = f"(was {was}) " if changed else ""
        url = urls.shown(urls.without_credentials(result.url), 200)
        words = urls.shown(f"{arrow}{result.reason}: {result.message}", 300)
        click.echo(f"{self._moment()}{shown} {url} {words}")
        sys.stdout.flush()

    def _moment(self) -> str:
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ ", time.gmtime())
        return moment if self._dated else ""


def _targets(count: int) -> str:
    return f"{count:,} target{'s' if count != 1 else ''}"


def _request_log(settings: Settings) -> Any:
    name = settings.report.request_log
    return RequestLog(Path(name)) if name else nullcontext()
