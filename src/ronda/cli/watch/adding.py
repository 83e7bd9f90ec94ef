"""`ronda target add`: URLs and whole lists, to be watched from now on."""

from typing import TYPE_CHECKING, Any

import click

from ronda.cli.codes import NOTHING, UNUSABLE
from ronda.cli.report.words import counted
from ronda.cli.watch import kinds
from ronda.cli.watch.counting import Counting
from ronda.cli.watch.lists import Named, Reader, named
from ronda.cli.watch.lookup import owner_named, with_owner
from ronda.cli.watch.session import Session, reads_lists, wake, with_store
from ronda.cli.watch.trees import tree

if TYPE_CHECKING:
    from ronda.store.sql.store import Store

UNSERVED = "No daemon is running: `ronda serve` checks them."


def unserved(store: "Store") -> list[str]:
    """That nobody checks what was just made due, if that is so."""
    return [] if store.numbers.processes(store.database.epoch()) else [UNSERVED]


@click.command(short_help="Watch URLs, or all URLs of a list.")
@named
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="NAME",
    callback=kinds.labels,
    help="A word to find them by; may be given several times.",
)
@click.option(
    "--every",
    metavar="TIME",
    callback=kinds.every,
    help="Check them so often while they are ok: 6h. Without it, those that are known "
    "keep what they have, and new ones go by the settings; `rules` gives back to the "
    "settings what nobody else watches.",
)
@with_owner
@reads_lists
@with_store
def add(session: Session, owner: str, **given: Any) -> int:
    """Watch URLs from now on; those that are new are due at once.

    A FILE is any list that `ronda check` reads: a URL a line, CSV, JSON, JSON lines,
    a sitemap. A URL that another owner watches already is not asked twice.

    \b
    Examples:
      ronda target add https://your.site/ https://your.site/shop
      ronda target add --file urls.txt --label shop --every 6h
      ronda target add https://your.site/shop --every rules
      cat urls.txt | ronda target add - --owner newsroom

    Ends with 0, with 1 when a list names no URL, 2 when nothing was given or some of
    it cannot be used; the others are watched all the same.
    """  # noqa: D301  # click reads \b
    reader = Reader(session, Named(**given))
    with session.opened(make=True) as store:
        found = owner_named(store, owner)
        with Counting(session.settings.report, "URLs read") as counting:
            urls = counting.over(reader)
            added = store.adding.add(found.id, urls, store.database.epoch())
        told = unserved(store)
    reader.tell()
    for words in added.problems:
        click.echo(words, err=True)
    known = f"{added.known:,} known already"
    words = f"{counted(added.new, 'new target')}, {known}; {owner} now watches "
    session.tell(
        [f"{words}{added.watched:,} more.", *told] if counting.count else [],
        tree(added) | {"owner": owner, "problems": reader.trees()},
    )
    if added.new:
        wake()
    if reader.failed or added.problems:
        return UNUSABLE
    return 0 if counting.count else NOTHING
