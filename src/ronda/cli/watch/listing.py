"""`ronda target list`: what is watched, by what is known of it."""

from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from ronda.cli.codes import NOTHING
from ronda.cli.watch import rows
from ronda.cli.watch.filters import filtered, query, with_filters
from ronda.cli.watch.lookup import owner_named
from ronda.cli.watch.session import Session, with_store

if TYPE_CHECKING:
    from ronda.store.sql.catalogue import Query
    from ronda.store.sql.store import Store
    from ronda.store.sql.values import Known

MOST = 10_000  # rows a page


@click.command("list", short_help="Show which targets are watched, and their states.")
@with_filters
@click.option(
    "--sort",
    type=click.Choice(["added", "changed", "checked"]),
    default="added",
    show_default=True,
    help="By which moment they are sorted, the oldest first.",
)
@click.option("--descending", is_flag=True, help="The newest first.")
@click.option(
    "--limit",
    type=click.IntRange(1, MOST),
    default=100,
    show_default=True,
    help="Show so many at most.",
)
@click.option("--after", metavar="KEY", help="Go on after a page, by the key it tells.")
@with_store
def list_(session: Session, **given: Any) -> int:
    """Show targets and their states, all or some of them, page by page.

    \b
    Examples:
      ronda target list --state broken --sort changed --descending
      ronda target list --host www.your.site --label shop --text /news/
      ronda target list --changed-after 7d --owner newsroom --json

    Ends with 0, with 1 when there is no such target.
    """  # noqa: D301  # click reads \b
    with session.opened() as store:
        owner = owner_named(store, given["owner"]) if given["owner"] else None
        targets, after = _page(store, query(given), owner.id if owner else None)
        every = store.watches.every(one.id for one in targets)
        now = store.database.epoch()
    lines = [*rows.told(targets, now, session.style)] if targets else []
    if after:
        lines.append(f"There are more: --after {after}")
    found = {"targets": rows.trees(targets, every), "next": after or None}
    wanted = filtered(given) or given["after"]
    none = "No such target." if wanted else "None yet: `ronda target add URL` adds one."
    session.tell(lines or [none], found)
    return 0 if targets else NOTHING


def _page(
    store: "Store", asked: "Query", owner_id: int | None
) -> tuple[list["Known"], str]:
    """As many as were asked for: pages of the store may be short."""
    targets: list[Known] = []
    while True:
        page = store.catalogue.find(asked, owner_id)
        targets += page.rows
        left = asked.limit - len(page.rows)
        if not page.next or not left:
            return targets, page.next
        asked = replace(asked, after=page.next, limit=left)
