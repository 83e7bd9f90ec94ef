"""`ronda check`: lists, documents and pages to verdicts."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import click

from ronda import app
from ronda.cli.options import CHECK, SHARED, as_settings, with_config, with_options
from ronda.cli.outputs import Outputs
from ronda.cli.runs import report_on
from ronda.config import Settings, load
from ronda.errors import UsageError
from ronda.store import RequestLog, Spool
from ronda.targets import gather, may_block
from ronda.workers.run import Run


@click.command()
@click.argument("inputs", nargs=-1, metavar="INPUT...")
@with_config
@with_options(CHECK + SHARED)
def check(inputs: tuple[str, ...], config_file: Path | None, **given: Any) -> int:
    """Check links: in lists, documents, folders, sitemaps and pages.

    An INPUT is a URL, a file, a folder, a glob, or - for standard input. A URL given
    here is a document too: it is checked, and so are the links on it. Lists may be
    text, CSV, JSON, JSON lines and sitemaps; documents Markdown, HTML,
    reStructuredText, OPML and bookmarks.

    \b
    Examples:
      ronda check https://your.site/page.html
      ronda check README.md docs/
      ronda check urls.txt --output report.html --output results.sarif
      cat urls.txt | ronda check - --format jsonl

    Ends with 0 when nothing is broken, 1 when something is, 2 when an input or a
    setting cannot be used, 130 when interrupted.
    """  # noqa: D301  # click reads \b
    if not inputs:
        raise UsageError("nothing to check: give a URL, a file, a folder, or -")
    settings = load(config_file, as_settings(given))
    _spare(inputs, settings)
    return asyncio.run(check_inputs(settings, inputs))


async def check_inputs(settings: Settings, inputs: Sequence[str]) -> int:
    """Check inputs and write the reports; returns the exit code."""
    # Not sys.stdin: a thread that waits on that one keeps Python from ending.
    # Unbuffered: a slow writer's lines are checked as they come.
    with os.fdopen(os.dup(0), "rb", buffering=0) as stdin:

        def open_run(
            spool: Spool, outputs: Outputs, log: RequestLog | None
        ) -> AbstractAsyncContextManager[Run]:
            return app.check(
                settings,
                gather(inputs, settings.check, stdin),
                spool,
                may_block=may_block(inputs),
                keep_ok=outputs.want_all,
                listener=outputs.listener(spool),
                log=log,
            )

        return await report_on(settings, open_run)


def _spare(inputs: Sequence[str], settings: Settings) -> None:
    """Do not write over what is to be read."""
    named = {os.path.realpath(name) for name in inputs}
    for name in (*settings.report.output, settings.report.request_log):
        if name and os.path.realpath(name) in named:
            raise UsageError(f"{name}: an input, which would be written over")
