"""`ronda why`: what a run under way waits for."""

import asyncio
import sys
from collections.abc import Iterator

import click
import msgspec

from ronda import urls
from ronda.cli.codes import NOTHING
from ronda.cli.crew import busiest, counted, line
from ronda.cli.options import with_format
from ronda.cli.progress import span
from ronda.frontier.wait import words_of
from ronda.server import Reply, ask_all


@click.command(short_help="Say what a run under way waits for.")
@click.argument("asked", default="", metavar="[URL|HOST]")
@with_format
def why(asked: str, form: str) -> int:
    """Say what a URL or a host waits for, in every run of yours that is under way.

    It names the rule (a gap, Crawl-delay, Retry-After, its robots.txt, its turn, ...)
    and the time that is left, where that is known. Without a URL it says what each run
    as a whole waits for: the hosts that hold it up, and what its workers do.

    \b
    Examples:
      ronda why
      ronda why example.org
      ronda why https://example.org/page.html

    Ends with 0 when a run knows of it, 1 when none does.
    """  # noqa: D301  # click reads \b
    replies = asyncio.run(ask_all(asked.strip()))
    if form == "json":
        sys.stdout.buffer.write(msgspec.json.encode(replies) + b"\n")
    elif not replies:
        click.echo("No run is under way.")
    else:
        for reply in replies:
            click.echo("\n".join(_told(asked, reply)))
    return 0 if any(reply.waits or reply.open for reply in replies) else NOTHING


def _told(asked: str, reply: Reply) -> Iterator[str]:
    if reply.silent:
        yield f"process {reply.process} does not answer"
        return
    yield f"process {reply.process}, under way for {span(reply.seconds)}:"
    if asked and not reply.waits:
        yield f"  {urls.shown(asked)}: nothing waits for it"
    for words, number in reply.open:
        yield f"  {words}{f': {number:,}' if number else ''}"
    if reply.crew:
        yield f"  {counted(reply.crew)}"
        yield from (f"    {line(seen)}" for seen in busiest(reply.crew))
    for wait in reply.waits:
        yield f"  {urls.shown(wait.host or 'files')}: {'; '.join(words_of(wait))}"
