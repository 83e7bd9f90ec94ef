"""`ronda round`: checks that are started together and followed as one."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from ronda.cli.codes import NOTHING
from ronda.cli.groups import Group
from ronda.cli.report.style import Style
from ronda.cli.report.words import counted
from ronda.cli.watch import kinds
from ronda.cli.watch.adding import unserved
from ronda.cli.watch.filters import filtered, is_moment, query, with_filters
from ronda.cli.watch.following import show, stop, watch
from ronda.cli.watch.lists import Named, Reader
from ronda.cli.watch.lookup import OPERATOR, owner_named
from ronda.cli.watch.session import Session, wake, with_store
from ronda.cli.watch.table import Column, lines
from ronda.cli.watch.times import length, stamp
from ronda.cli.watch.trees import tree
from ronda.errors import UsageError
from ronda.urls import shown

if TYPE_CHECKING:
    from ronda.store.sql.rounds import Order, Round
    from ronda.store.sql.store import Store

_COLUMNS = (
    Column("id", right=True),
    Column("round"),
    Column("started"),
    Column("done", right=True),
    Column("total", right=True),
    Column("ended"),
    Column("took"),
)


@click.group("round", cls=Group, short_help="Check many targets as one round.")
def round_() -> None:
    """Check many targets as one: started together, followed as one.

    A round may be stopped, and rounds that go on at the same time take turns.

    \b
    Examples:
      ronda round start spring-cleaning --state broken
      ronda round watch spring-cleaning
      ronda round list
    """  # noqa: D301  # click reads \b


@round_.command("start", short_help="Let many targets be due now, as one round.")
@click.argument("name")
@with_filters
@click.option(
    "--id",
    "ids",
    type=click.IntRange(1),
    multiple=True,
    help="Exactly this target; may be given several times.",
)
@click.option(
    "--file",
    metavar="FILE",
    help="Exactly the targets of this list, in its order; - is standard input.",
)
@click.option(
    "--order",
    type=click.Choice(["due", "biggest", "smallest", "name"]),
    default="due",
    show_default=True,
    help="Who comes first: what is due longest; the owners with the most targets, or "
    "the fewest; or owners by name.",
)
@click.option(
    "--over",
    metavar="TIME",
    callback=kinds.span,
    help="Spread the visits over so long: 3h.",
)
@click.option("--force", is_flag=True, help="Check also what was checked lately.")
@with_store
def start(
    session: Session,
    name: str,
    ids: tuple[int, ...],
    file: str | None,
    order: "Order",
    over: float | None,
    force: bool,
    **given: Any,
) -> int:
    """Let all targets be due now that match, and follow them as one round.

    A round of the settings can be started before its time, by its name alone.

    \b
    Examples:
      ronda round start night
      ronda round start spring-cleaning --state broken --checked-before 7d
      ronda round start shop --label shop --force
      ronda round start slowly --kind service --order biggest --over 3h
      ronda round start again --choose failed --checked-before 2h

    Ends with 0, with 1 when no target matches, or all were checked lately.
    """  # noqa: D301  # click reads \b
    planned = {row.name: row for row in session.settings.rounds}.get(name)
    if (ids or file) and filtered(given):
        raise UsageError("--id and --file name the targets: give no filters with them")
    if planned and (ids or file or filtered(given)):
        raise UsageError(f"'{name}' is a round of the settings: give no filters")
    if not name.strip():
        raise UsageError("a round needs a name")
    from ronda.workers.choosing import chosen, words_of  # noqa: PLC0415  # see Session.opened

    guard = session.settings.serve.recheck_guard
    with session.opened() as store:
        now = store.database.epoch()
        wanted = query(given)
        words = _words(given, ids, file)
        if planned:
            words = words_of(planned)
            wanted, force = chosen(planned, now), force or planned.forced
            order, over = planned.order, planned.over
        if wanted.owner:
            owner_named(store, wanted.owner)
        begun = store.rounds.begin(
            name,
            wanted,
            now,
            forced=force,
            guard=guard,
            starter=OPERATOR,
            words=words,
            order=order,
            over=over or 0.0,
            ids=_ids(session, store, ids, file),
        )
        alone = unserved(store)
    wake()
    told = [f"round {name}: {counted(begun.total, 'target')}"]
    if not begun.total and not force:
        lately = f"all were checked less than {length(guard)} ago; see --force"
        told = [f"round {name}: no target matches, or {lately}"]
    session.tell([*told, *alone] if begun.total else told, tree(begun))
    return 0 if begun.total else NOTHING


def _ids(
    session: Session, store: "Store", ids: tuple[int, ...], file: str | None
) -> list[int] | None:
    """The targets that were named one by one; None: none were."""
    if not ids and not file:
        return None
    found = list(ids)
    if file:
        from ronda.store.sql.adding import key_of  # noqa: PLC0415  # see Session.opened

        reader = Reader(session, Named((), (file,)))
        keys = [key_of(given.url) for given in reader]
        reader.tell()
        if not keys:
            raise UsageError(f"--file {shown(file)}: no URL in it can be used")
        found += store.watches.numbers(keys)
    return list(dict.fromkeys(found))


def _words(given: dict[str, Any], ids: tuple[int, ...], file: str | None) -> str:
    """Which targets, in words for people."""
    named = [f"{len(ids):,} by id"] if ids else []
    named += [f"those of {shown(file)}"] if file else []
    filters = [
        f"{key.replace('_', ' ')} {stamp(value) if is_moment(key) else value}"
        for key, value in given.items()
        if value is not None and value != ""
    ]
    return ", ".join(named + filters) or "all"


@round_.command("list", short_help="Show how far rounds are.")
@click.option(
    "--limit",
    type=click.IntRange(1, 100_000),
    default=20,
    show_default=True,
    help="Show so many at most, the newest first.",
)
@with_store
def list_(session: Session, limit: int) -> int:
    """Show the newest rounds, and how far they are.

    \b
    Examples:
      ronda round list
      ronda round list --json

    Ends with 0, with 1 when there was none.
    """  # noqa: D301  # click reads \b
    with session.opened() as store:
        rounds = store.rounds.list(limit)
        now = store.database.epoch()
    told = [*_told(rounds, now, session.style)] if rounds else ["No round yet."]
    session.tell(told, {"rounds": tree(rounds)})
    return 0 if rounds else NOTHING


def _told(rounds: Iterable["Round"], now: float, style: Style) -> Iterator[str]:
    rows = (
        (
            str(one.id),
            one.name,
            stamp(one.started_at),
            f"{one.done:,}",
            f"{one.total:,}",
            f"{stamp(one.ended_at)}{' (stopped)' if one.stopped_at else ''}",
            length((one.ended_at or now) - one.started_at),
        )
        for one in rounds
    )
    return lines(_COLUMNS, rows, style)


for _command in (show, watch, stop):
    round_.add_command(_command)
