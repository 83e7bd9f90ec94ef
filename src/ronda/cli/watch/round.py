"""`ronda round`: checks that are started together and followed as one."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from ronda.cli.codes import NOTHING
from ronda.cli.groups import Group
from ronda.cli.report.style import Style
from ronda.cli.report.words import counted
from ronda.cli.watch.filters import filtered, query, with_filters
from ronda.cli.watch.lookup import owner_named
from ronda.cli.watch.session import Session, wake, with_store
from ronda.cli.watch.table import Column, lines
from ronda.cli.watch.times import length, stamp
from ronda.cli.watch.trees import tree
from ronda.config import PlannedRound
from ronda.errors import UsageError

if TYPE_CHECKING:
    from ronda.store.sql.rounds import Round

_COLUMNS = (
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

    \b
    Examples:
      ronda round start spring-cleaning --state broken
      ronda round list
    """  # noqa: D301  # click reads \b


@round_.command("start", short_help="Let many targets be due now, as one round.")
@click.argument("name")
@with_filters
@click.option("--force", is_flag=True, help="Check also what was checked lately.")
@with_store
def start(session: Session, name: str, force: bool, **given: Any) -> int:
    """Let all targets be due now that match, and follow them as one round.

    A round of the settings can be started before its time, by its name alone.

    \b
    Examples:
      ronda round start night
      ronda round start spring-cleaning --state broken --checked-before 7d
      ronda round start shop --label shop --force

    Ends with 0, with 1 when no target matches.
    """  # noqa: D301  # click reads \b
    planned = {row.name: row for row in session.settings.rounds}.get(name)
    if planned and filtered(given):
        raise UsageError(f"'{name}' is a round of the settings: give no filters")
    if not name.strip():
        raise UsageError("a round needs a name")
    if planned:
        given, force = given | _chosen(planned), force or planned.forced
    with session.opened() as store:
        if given["owner"]:
            owner_named(store, given["owner"])
        begun = store.rounds.begin(
            name,
            query(given),
            store.database.epoch(),
            forced=force,
            guard=session.settings.serve.recheck_guard,
        )
    wake()
    session.tell([f"round {name}: {counted(begun.total, 'target')}"], tree(begun))
    return 0 if begun.total else NOTHING


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
            one.name,
            stamp(one.started_at),
            f"{one.done:,}",
            f"{one.total:,}",
            stamp(one.ended_at),
            length((one.ended_at or now) - one.started_at),
        )
        for one in rounds
    )
    return lines(_COLUMNS, rows, style)


def _chosen(planned: PlannedRound) -> dict[str, Any]:
    chosen = {name: getattr(planned, name) for name in ("owner", "label", "host")}
    state = planned.state.value if planned.state else None
    return {name: value or None for name, value in (chosen | {"state": state}).items()}
