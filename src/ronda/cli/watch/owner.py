"""`ronda owner`: who answers for targets, and is told of them."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from ronda.cli.groups import Group
from ronda.cli.report.words import counted
from ronda.cli.watch.lookup import OPERATOR, owner_named
from ronda.cli.watch.notices import notices
from ronda.cli.watch.session import Session, with_store
from ronda.cli.watch.table import Column, facts, lines, safe
from ronda.cli.watch.times import stamp
from ronda.cli.watch.trees import tree
from ronda.errors import UsageError
from ronda.model import State

if TYPE_CHECKING:
    from ronda.store.sql.values import Owner

_COLUMNS = (
    Column("owner"),
    Column("targets", right=True),
    Column("broken", right=True),
    Column("notices"),
    Column("contact"),
    Column("callback"),
)
_CONTACT = click.option(
    "--contact", metavar="TEXT", help="Whom to ask: a mail address."
)
_CALLBACK = click.option(
    "--callback", metavar="URL", help="Where changes are told to, by POST; empty: none."
)


@click.group("owner", cls=Group, short_help="Owners: who watches, and is told.")
def owner() -> None:
    """Owners: who answers for targets, has a token, and is told of changes.

    The operator, who runs Ronda, is always there.

    \b
    Examples:
      ronda owner add newsroom --callback https://cms.your.site/links
      ronda owner list
      ronda owner token newsroom
    """  # noqa: D301  # click reads \b


@owner.command(short_help="Make an owner, and print the token.")
@click.argument("name")
@_CONTACT
@_CALLBACK
@with_store
def add(session: Session, name: str, contact: str | None, callback: str | None) -> int:
    """Make an owner. The token is printed once, and kept only as a hash.

    With it the owner proves who he is; the hash of it signs what he is told.

    \b
    Examples:
      ronda owner add newsroom
      ronda owner add shop --contact shop@your.site --callback https://your.site/links

    Ends with 0, with 2 when the name or the callback cannot be used.
    """  # noqa: D301  # click reads \b
    with session.opened(make=True) as store:
        now = store.database.epoch()
        made, token = store.owners.add(name, contact or "", callback or "", now)
    _tell_once(session, name)
    session.tell([token], tree(made) | {"token": token})
    return 0


@owner.command("list", short_help="Show all owners.")
@with_store
def list_(session: Session) -> int:
    """Show all owners, with how many targets they watch.

    \b
    Examples:
      ronda owner list
      ronda owner list --json

    Ends with 0.
    """  # noqa: D301  # click reads \b
    with session.opened() as store:
        owners = store.owners.list()
        counts = {one.id: store.catalogue.counts(one.id) for one in owners}
    rows = (_row(one, counts[one.id]) for one in owners)
    trees = [_tree(one, counts[one.id]) for one in owners]
    session.tell(lines(_COLUMNS, rows, session.style), {"owners": trees})
    return 0


@owner.command(short_help="Show one owner.")
@click.argument("name")
@with_store
def show(session: Session, name: str) -> int:
    """Show an owner, and how many of the targets are in which state.

    \b
    Examples:
      ronda owner show newsroom
      ronda owner show newsroom --json

    Ends with 0, with 1 when there is no such owner.
    """  # noqa: D301  # click reads \b
    with session.opened() as store:
        found = owner_named(store, name)
        counts = store.catalogue.counts(found.id)
    told = facts(_facts(found, counts), session.style)
    session.tell(told, _tree(found, counts))
    return 0


@owner.command("set", short_help="Change an owner.")
@click.argument("name")
@click.option("--name", "rename", metavar="NAME", help="A new name.")
@_CONTACT
@_CALLBACK
@with_store
def set_(session: Session, name: str, **given: Any) -> int:
    """Change the name, the contact or the callback of an owner.

    Who is told elsewhere from now on is told all states anew.

    \b
    Examples:
      ronda owner set newsroom --callback https://cms.your.site/links
      ronda owner set newsroom --name desk --contact desk@your.site

    Ends with 0, with 1 when there is no such owner, 2 when a value cannot be used.
    """  # noqa: D301  # click reads \b
    if all(value is None for value in given.values()):
        raise UsageError("nothing to change: give --name, --contact or --callback")
    with session.opened() as store:
        owner_named(store, name)
        changed = store.owners.change(name, **given)
        counts = store.catalogue.counts(changed.id)
    told = facts(_facts(changed, counts), session.style)
    session.tell(told, _tree(changed, counts))
    return 0


@owner.command(short_help="Forget an owner.")
@click.argument("name")
@click.option("--force", is_flag=True, help="Even one that watches targets.")
@with_store
def remove(session: Session, name: str, force: bool) -> int:
    """Forget an owner; what nobody else watches is watched no longer.

    \b
    Examples:
      ronda owner remove newsroom
      ronda owner remove newsroom --force

    Ends with 0, with 1 when there is no such owner, 2 when targets are watched and it
    is not forced, or when it is the operator, who stays.
    """  # noqa: D301  # click reads \b
    with session.opened() as store:
        found = owner_named(store, name)
        number = sum(store.catalogue.counts(found.id).values())
        if number and not force and name != OPERATOR:
            words = f"watches {counted(number, 'target')}"
            raise UsageError(f"{safe(name)} {words}; --force forgets them too")
        dropped = store.owners.remove(name)
    words = f"{safe(name)} is forgotten, with {counted(dropped, 'target')}."
    session.tell([words], {"owner": name, "dropped": dropped})
    return 0


@owner.command(short_help="Make a new token for an owner.")
@click.argument("name")
@with_store
def token(session: Session, name: str) -> int:
    """Make a new token for an owner; the old one is good for nothing from now on.

    \b
    Examples:
      ronda owner token newsroom
      ronda owner token newsroom --json

    Ends with 0, with 1 when there is no such owner.
    """  # noqa: D301  # click reads \b
    with session.opened() as store:
        owner_named(store, name)
        made = store.owners.new_token(name)
    _tell_once(session, name)
    session.tell([made], {"name": name, "token": made})
    return 0


def _tell_once(session: Session, name: str) -> None:
    """Not where the token goes: a script takes it as it is."""
    if not session.as_json:
        words = f"The token of {safe(name)}: keep it, it is not shown again."
        click.echo(words, err=True)


def _row(one: "Owner", counts: Mapping[State, int]) -> tuple[str, ...]:
    number = f"{sum(counts.values()):,}"
    broken = f"{counts.get(State.BROKEN, 0):,}"
    return one.name, number, broken, _notices(one), one.contact, one.callback


def _facts(one: "Owner", counts: Mapping[State, int]) -> Iterator[tuple[str, str]]:
    yield "owner", one.name
    yield "contact", one.contact
    yield "callback", one.callback
    yield "notices", _notices(one)
    yield "since", stamp(one.added_at)
    yield "targets", f"{sum(counts.values()):,}"
    for state in State:
        if number := counts.get(state):
            yield f"  {state}", f"{number:,}"


def _notices(one: "Owner") -> str:
    if not one.notices_on:
        return "off"
    if not one.callback:
        return "-"
    return f"failing ({one.failures:,} in a row)" if one.failures else "on"


def _tree(one: "Owner", counts: Mapping[State, int]) -> dict[str, Any]:
    states = {state.value: counts.get(state, 0) for state in State}
    found: dict[str, Any] = tree(one)
    return found | {"targets": states}


owner.add_command(notices)
