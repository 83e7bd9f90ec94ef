"""`ronda owner notices`: whether an owner is told, and what the operator was told."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from ronda.cli.watch.lookup import OPERATOR, owner_named
from ronda.cli.watch.session import Session, wake, with_store
from ronda.cli.watch.table import Column, lines, safe
from ronda.cli.watch.trees import tree

if TYPE_CHECKING:
    from ronda.store.sql.batches import Notice
    from ronda.store.sql.values import Owner

_COLUMNS = (
    Column("at"),
    Column("kind"),
    Column("state"),
    Column("message", most=60),
    Column("url"),
)


@click.command(short_help="Switch notices on or off, or show the operator's.")
@click.argument("name", default=OPERATOR)
@click.option("--on/--off", "switch", default=None, help="Tell of changes, or do not.")
@click.option(
    "--limit",
    type=click.IntRange(1, 1000),
    default=20,
    show_default=True,
    help="Of the operator's, show so many at most, the newest first.",
)
@with_store
def notices(session: Session, name: str, switch: bool | None, limit: int) -> int:
    """Say whether an owner is told of changes, or switch that on or off.

    Who is switched on again is told all states anew. What the operator himself is told
    is listed: owners whose callbacks failed for too long and, if he has a callback, the
    changes of his targets.

    \b
    Examples:
      ronda owner notices
      ronda owner notices newsroom
      ronda owner notices newsroom --on

    Ends with 0, with 1 when there is no such owner.
    """  # noqa: D301  # click reads \b
    with session.opened() as store:
        found = owner_named(store, name)
        if switch is not None:
            found = store.owners.change(name, notices_on=switch)
        kept = store.outbox.kept(limit) if name == OPERATOR else []
    if switch:
        wake()
    told = [_switched(found), *(_told(session, kept) if kept else ())]
    session.tell(told, tree(found) | {"notices": tree(kept)})
    return 0


def _switched(one: "Owner") -> str:
    name = safe(one.name)
    if not one.notices_on:
        return f"{name} is not told of changes: notices are off."
    if not one.callback:
        return (
            f"{name} has no callback; `ronda owner set {name} --callback URL` sets it."
        )
    failed = f", the last {one.failures:,} times in vain" if one.failures else ""
    return f"{name} is told of changes at {safe(one.callback)}{failed}."


def _told(session: Session, kept: list["Notice"]) -> Iterator[str]:
    rows = ((n.at, n.kind, n.state, n.message, n.url) for n in kept)
    return lines(_COLUMNS, rows, session.style)
