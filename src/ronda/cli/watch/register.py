"""`ronda register`: an owner's list of URLs, and what is known of them at once."""

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

import click

from ronda.cli.codes import NOTHING, UNUSABLE
from ronda.cli.watch import rows
from ronda.cli.watch.adding import unserved
from ronda.cli.watch.counting import Counting
from ronda.cli.watch.lists import Named, Reader
from ronda.cli.watch.lookup import owner_named
from ronda.cli.watch.session import Session, reads_lists, wake, with_store
from ronda.cli.watch.table import safe
from ronda.errors import UsageError

if TYPE_CHECKING:
    from ronda.store.sql.adding import Given
    from ronda.store.sql.store import Store
    from ronda.store.sql.values import Known

AT_ONCE = 10_000  # URLs that are registered in one go


@click.command(short_help="Register an owner's URLs; answers with the states known.")
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option("--owner", required=True, metavar="NAME", help="Whose URLs they are.")
@click.option(
    "--sync",
    is_flag=True,
    help="These are all of the owner's URLs: no longer watch others for him.",
)
@click.option(
    "--remove", is_flag=True, help="Watch these no longer for him: unregister them."
)
@reads_lists
@with_store
def register(
    session: Session, files: tuple[str, ...], owner: str, sync: bool, remove: bool
) -> int:
    """Register the URLs of lists for an owner, and tell at once what is known of them.

    A FILE is any list that `ronda check` reads; - is standard input. What another owner
    watches already has its state; what is new is unknown, and due at once.

    \b
    Examples:
      ronda register links.txt --owner newsroom
      ronda register all-links.csv --owner newsroom --sync --json
      cat gone.txt | ronda register - --owner newsroom --remove

    Ends with 0, with 1 when the lists name no URL, or none to --remove that the owner
    watches, 2 when something cannot be used; the others are registered all the same.
    A list with such lines is never synced, nor one that names no URL: both end with 2.
    """  # noqa: D301  # click reads \b
    if sync and remove:
        raise UsageError("--sync, --remove: one of them at a time")
    if not files:
        raise UsageError("no list named: give a FILE, or - for standard input")
    reader = Reader(session, Named((), files))
    with session.opened() as store:
        task = _Task(store, owner_named(store, owner).id)
        with Counting(session.settings.report, "URLs read") as counting:
            given = counting.over(reader)
            if remove:
                task.remove(given)
            elif sync:
                task.sync(given, reader)
            else:
                task.register(given)
        now = store.database.epoch()
        every = store.watches.every(one.id for one in task.states)
        told = unserved(store) if task.changes.get("new") else []
    reader.tell()
    states, changes = task.states, task.changes
    table = [*rows.told(states, now, session.style)] if states else []
    words = ", ".join(f"{number:,} {name}" for name, number in changes.items())
    trees = {"states": rows.trees(states, every), "problems": reader.trees()}
    session.tell([*table, f"{safe(owner)}: {words}.", *told], changes | trees)
    wake()
    if reader.failed:
        return UNUSABLE
    return NOTHING if not counting.count or changes.get("removed") == 0 else 0


class _Task:
    """What is done for one owner, and what came of it."""

    def __init__(self, store: "Store", owner_id: int) -> None:
        self._store = store
        self._owner = owner_id
        self._now = store.database.epoch()
        self.states: list[Known] = []
        self.changes: dict[str, int] = {}

    def register(self, given: Iterable["Given"]) -> None:
        before = self._number()
        urls = iter(given)
        while some := list(islice(urls, AT_ONCE)):
            self.states += self._store.watches.register(self._owner, some, self._now)
        self.changes = {"new": self._number() - before}

    def sync(self, given: Iterable["Given"], reader: Reader) -> None:
        wanted = list(given)
        if reader.failed or not wanted:
            # A slip in the list must not make the owner lose what he watches.
            reader.tell()
            words = "has lines that cannot be used" if wanted else "names no URL"
            raise UsageError(f"the list {words}: nothing was synced")
        synced = self._store.watches.sync(self._owner, wanted, self._now)
        self.states = synced.states
        self.changes = {"new": synced.new, "dropped": synced.dropped}

    def remove(self, given: Iterable["Given"]) -> None:
        from ronda.store.sql.adding import key_of  # noqa: PLC0415

        keys = [key_of(one.url) for one in given]
        self.changes = {"removed": self._store.watches.unregister(self._owner, keys)}

    def _number(self) -> int:
        return sum(self._store.catalogue.counts(self._owner).values())
