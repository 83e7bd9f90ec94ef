"""What is done to targets by name: remove, enable, disable, check, ack."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from ronda.cli.codes import NOTHING, UNUSABLE
from ronda.cli.watch.adding import unserved
from ronda.cli.watch.lists import Named, Reader, named
from ronda.cli.watch.lookup import not_watched, owner_named, with_owner
from ronda.cli.watch.session import Session, reads_lists, wake, with_store
from ronda.cli.watch.table import safe
from ronda.cli.watch.times import length

if TYPE_CHECKING:
    from ronda.store.sql.adding import Given
    from ronda.store.sql.store import Store

FEW = 20  # targets that are looked for one by one, to say which are not watched


class Done(Struct, frozen=True):
    """What was done to targets."""

    number: int  # of those to which it was done
    already: int | None = None  # for how many it was so before; None: not counted


class Deed(Struct, frozen=True):
    """What is done to targets, and how it is told."""

    word: str
    owner: str = ""  # for whom only it is done, if it is
    others: str = ""  # what lets it be done for others
    makes_due: bool = False


Act = Callable[["Store", list[int]], Done]


@click.command(short_help="Watch URLs no longer.")
@named
@with_owner
@click.option("--everybody", is_flag=True, help="For all owners, whoever watches them.")
@reads_lists
@with_store
def remove(session: Session, owner: str, everybody: bool, **given: Any) -> int:
    """Watch URLs no longer; what nobody watches any more is forgotten.

    \b
    Examples:
      ronda target remove https://your.site/old
      ronda target remove --file gone.txt --owner newsroom
      ronda target remove https://your.site/spam --everybody

    Ends with 0 when some of them were watched, with 1 when none was, 2 when nothing
    was given or some of it cannot be used.
    """  # noqa: D301  # click reads \b

    def act(store: "Store", keys: list[int]) -> Done:
        whom = store.owners.list() if everybody else [owner_named(store, owner)]
        return Done(sum(store.watches.unregister(one.id, keys) for one in whom))

    whose = "" if everybody else owner
    deed = Deed("removed", whose, "--owner and --everybody")
    return _done(session, Named(**given), act, deed)


@click.command(short_help="Check disabled targets again.")
@named
@reads_lists
@with_store
def enable(session: Session, **given: Any) -> int:
    """Check targets again that were disabled; they are due at once.

    \b
    Examples:
      ronda target list --disabled
      ronda target enable https://your.site/shop

    Ends with 0 when some of them are watched, with 1 when none is, 2 when nothing was
    given or some of it cannot be used.
    """  # noqa: D301  # click reads \b

    def act(store: "Store", keys: list[int]) -> Done:
        return Done(store.watches.enable(keys, store.database.epoch()))

    return _done(session, Named(**given), act, Deed("enabled", makes_due=True))


@click.command(short_help="Check targets no longer, but keep them.")
@named
@click.option("--why", default="", metavar="TEXT", help="What to show as the reason.")
@reads_lists
@with_store
def disable(session: Session, why: str, **given: Any) -> int:
    """Check targets no longer, until they are enabled; what is known of them stays.

    Of those that are disabled already, the reason stays unless another is given.

    \b
    Examples:
      ronda target disable https://your.site/shop --why "rebuilt until June"
      ronda target disable --file parked.txt

    Ends with 0 when some of them are watched, with 1 when none is, 2 when nothing was
    given or some of it cannot be used.
    """  # noqa: D301  # click reads \b

    def act(store: "Store", keys: list[int]) -> Done:
        already = store.watches.disabled(keys)
        return Done(store.watches.disable(keys, why.strip()), already)

    return _done(session, Named(**given), act, Deed("disabled"))


@click.command(short_help="Do not tell of targets until they change.")
@named
@with_owner
@reads_lists
@with_store
def ack(session: Session, owner: str, **given: Any) -> int:
    """Acknowledge states: they are known, stop telling me until they change.

    \b
    Examples:
      ronda target ack https://a.example/gone
      ronda target ack --file known.txt --owner newsroom
      ronda target list --state broken --unacknowledged --owner newsroom

    Ends with 0 when the owner watches some of them, with 1 when none, 2 when nothing
    was given or some of it cannot be used.
    """  # noqa: D301  # click reads \b

    def act(store: "Store", keys: list[int]) -> Done:
        return Done(store.watches.acknowledge(owner_named(store, owner).id, keys))

    deed = Deed("acknowledged", owner, "--owner")
    return _done(session, Named(**given), act, deed)


@click.command(short_help="Check targets now.")
@named
@click.option(
    "--force",
    is_flag=True,
    help="Check also what was checked lately, or is disabled.",
)
@reads_lists
@with_store
def check(session: Session, force: bool, **given: Any) -> int:
    """Let targets be due now: a daemon that runs checks them as soon as it may.

    What was checked lately is left alone, unless forced: in the last hour, or in the
    time that serve.recheck_guard says.

    \b
    Examples:
      ronda target check https://your.site/shop
      ronda target check --file urls.txt --force
      ronda round start night --state broken

    Ends with 0 when some of them are due now, with 1 when none is, 2 when nothing was
    given or some of it cannot be used.
    """  # noqa: D301  # click reads \b

    def act(store: "Store", keys: list[int]) -> Done:
        now = store.database.epoch()
        guard = session.settings.serve.recheck_guard
        asked = store.watches.check_now(keys, now, forced=force, guard=guard)
        for url in asked.fresh:
            words = f"checked less than {length(guard)} ago; see --force"
            click.echo(f"{safe(url)}: {words}", err=True)
        for url in asked.disabled:
            click.echo(f"{safe(url)}: disabled; see --force", err=True)
        return Done(asked.asked)

    return _done(session, Named(**given), act, Deed("due now", makes_due=True))


def _done(session: Session, names: Named, act: Act, deed: Deed) -> int:
    """Do something to all targets that are named; returns the exit code."""
    from ronda.store.sql.adding import key_of  # noqa: PLC0415  # see Session.opened

    reader = Reader(session, names)
    with session.opened() as store:
        given = {key_of(one.url): one for one in reader}
        missing = _missing(store, given)
        done = act(store, [*given]) if given else Done(0)
        for one in missing:
            click.echo(str(not_watched(store, one.url, one.host)), err=True)
        told = unserved(store) if done.number and deed.makes_due else []
    reader.tell()
    tree = {"done": done.number, "named": len(given), "problems": reader.trees()}
    if done.already is not None:
        tree["already"] = done.already
    words = _words(deed, done, len(given), len(missing))
    session.tell([words, *told] if len(given) > len(missing) else [], tree)
    wake()
    if reader.failed:
        return UNUSABLE
    return 0 if done.number else NOTHING


def _words(deed: Deed, done: Done, named: int, missing: int) -> str:
    words = f"{done.number:,} of {named:,} {deed.word}"
    if done.already:
        words = f"{words}, {done.already:,} of them already"
    if deed.owner and done.number + missing < named:
        what = "it" if named == 1 else "the others"
        whose = f"{safe(deed.owner)} does not watch {what}"
        words = f"{words}: {whose}; see {deed.others}"
    return f"{words}."


def _missing(store: "Store", given: dict[int, "Given"]) -> list["Given"]:
    """Who is not watched by anybody; of many, nobody is looked for."""
    if len(given) > FEW:
        return []
    return [one for key, one in given.items() if store.catalogue.show(key) is None]
