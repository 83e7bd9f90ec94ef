"""`ronda stats`: how much there is, and how much of it is under way."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from ronda.cli.report.style import Style
from ronda.cli.report.words import counted
from ronda.cli.watch.session import Session, with_store
from ronda.cli.watch.table import Column, facts, lines
from ronda.cli.watch.times import ago, length
from ronda.cli.watch.trees import tree
from ronda.errors import UsageError

if TYPE_CHECKING:
    from ronda.store.sql.numbers import Process, Stats

_PROCESSES = (
    Column("machine"),
    Column("process", right=True),
    Column("since"),
    Column("pool", right=True),
    Column("active", right=True),
    Column("queued", right=True),
)


@click.command(short_help="Show how much is watched, and how much is under way.")
@click.option("--munin", is_flag=True, help="Print name:number lines, for graphers.")
@with_store
def stats(session: Session, munin: bool) -> int:
    """Show how much is watched, in which states, and how busy the daemons are.

    \b
    Examples:
      ronda stats
      ronda stats --json
      ronda stats --munin

    Ends with 0.
    """  # noqa: D301  # click reads \b
    if munin and session.as_json:
        raise UsageError("--munin, --json: one of them at a time")
    with session.opened() as store:
        now = store.database.epoch()
        found = store.numbers.stats(now)
    told = _plain(found) if munin else _told(found, now, session.style)
    session.tell(told, tree(found))
    return 0


def _plain(found: "Stats") -> Iterator[str]:
    """Lines as link-management servers have long given them to Munin."""
    yield f"queue-size:{found.queue}"
    yield f"thread-pool:{found.active}"
    yield f"thread-pool-limit:{found.pool}"
    yield f"thread-pool-available:{found.available}"
    for state, number in found.by_state.items():
        yield f"state-{state.value}:{number}"
    yield f"unconfirmed:{found.unconfirmed}"
    yield f"targets:{found.targets}"
    yield f"owners:{found.owners}"
    yield f"hosts:{found.hosts}"
    yield f"servers:{found.servers}"
    yield f"notices:{found.notices}"
    yield f"checks-hour:{found.checks_hour}"
    yield f"checks-day:{found.checks_day}"
    yield f"late-seconds:{found.late:.0f}"


def _told(found: "Stats", now: float, style: Style) -> Iterator[str]:
    yield from facts(_facts(found), style)
    yield ""
    if found.processes:
        rows = (_cells(process, now) for process in found.processes)
        yield from lines(_PROCESSES, rows, style)
    else:
        yield "No daemon is running: `ronda serve` starts one."


def _facts(found: "Stats") -> Iterator[tuple[str, str]]:
    late = f", the first for {length(found.late)}" if found.queue else ""
    yield "pool", f"{found.pool:,} checks at once, at most"
    yield "active", f"{found.active:,}"
    yield "available", f"{found.available:,}"
    yield "queue", f"{found.queue:,} due now{late}"
    yield (
        "checks",
        f"{found.checks_hour:,} in the last hour, {found.checks_day:,} a day",
    )
    yield "notices", f"{found.notices:,} to be sent"
    yield "targets", _targets(found)
    for state, number in found.by_state.items():
        if number:
            share = 100 * number / found.targets
            yield f"  {state.value}", f"{number:,} ({share:.1f} %)"
    if found.unconfirmed:
        words = "failed, and checked again before their states say so"
        yield "unconfirmed", f"{found.unconfirmed:,} {words}"


def _targets(found: "Stats") -> str:
    hosts, servers = counted(found.hosts, "host"), counted(found.servers, "server")
    return f"{found.targets:,} of {counted(found.owners, 'owner')}; {hosts}, {servers}"


def _cells(process: "Process", now: float) -> tuple[str, ...]:
    return (
        process.machine or "-",
        str(process.pid),
        ago(process.began_at, now),
        f"{process.pool:,}",
        f"{process.active:,}",
        f"{process.queued:,}",
    )
