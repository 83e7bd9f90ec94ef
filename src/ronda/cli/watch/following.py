"""`ronda round show`, `watch` and `stop`: rounds that are under way, or have ended."""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from ronda.cli.codes import BROKEN
from ronda.cli.report.words import counted
from ronda.cli.watch.session import Session, wake, with_store
from ronda.cli.watch.table import Column, facts, lines
from ronda.cli.watch.times import length, stamp
from ronda.cli.watch.trees import tree
from ronda.errors import NotFoundError, UsageError
from ronda.model import State
from ronda.urls import shown, without_credentials

if TYPE_CHECKING:
    from ronda.store.sql.rounds import Round, RoundResult
    from ronda.store.sql.store import Store

LOOK = 1.0  # seconds between two looks at a store that is another program's
_GOOD = (State.OK, State.WARNING)
_RESULTS = (
    Column("id", right=True),
    Column("state"),
    Column("task"),
    Column("reason"),
    Column("url"),
)


@click.command("show", short_help="Show how far a round is, and what it found.")
@click.argument("named", metavar="ID|NAME")
@click.option("--all", "every", is_flag=True, help="Show good results too.")
@click.option(
    "--limit",
    type=click.IntRange(1, 1_000_000),
    default=100,
    show_default=True,
    help="Show so many results at most.",
)
@with_store
def show(session: Session, named: str, every: bool, limit: int) -> int:
    """Show a round: who started it, how far it is, and what it found.

    A NAME means the newest round that is called so.

    \b
    Examples:
      ronda round show night
      ronda round show 12 --all --json

    Ends with 0, with 1 when something it found is broken or there is no such round.
    """  # noqa: D301  # click reads \b
    with session.opened() as store:
        found = round_named(store, named)
        counts = store.rounds.counts(found.id)
        results = list(_results(store, found.id, limit, every=every))
        now = store.database.epoch()
    told = [*facts(_facts(found, counts, now), session.style)]
    if results:
        rows = (
            (
                str(one.target_id),
                one.state.value,
                one.task,
                one.reason,
                without_credentials(one.url),
            )
            for one in results
        )
        told += ["", *lines(_RESULTS, rows, session.style)]
    session.tell(told, _tree(found, counts, now) | {"results": tree(results)})
    return BROKEN if counts[State.BROKEN] else 0


@click.command("watch", short_help="Follow a round until it ends.")
@click.argument("named", metavar="ID|NAME")
@with_store
def watch(session: Session, named: str) -> int:
    """Follow a round until it ends, with a line whenever something has changed.

    \b
    Examples:
      ronda round watch night

    Ends with 0, with 1 when something it found is broken or there is no such round.
    """  # noqa: D301  # click reads \b
    last: object = None
    with session.opened() as store:
        number = round_named(store, named).id
        while True:
            found = store.rounds.show(number)
            counts = store.rounds.counts(number)
            now = store.database.epoch()
            if (found, counts) != last:
                words = _progress(found, counts, now)
                session.tell([words], _tree(found, counts, now))
                last = found, counts
            if found.ended_at is not None:
                return BROKEN if counts[State.BROKEN] else 0
            # The store has no way to tell us: it may be another machine's.
            time.sleep(LOOK)


@click.command("stop", short_help="Stop a round, or all of them.")
@click.argument("named", metavar="ID|NAME", required=False)
@click.option("--all", "every", is_flag=True, help="Stop all that are under way.")
@with_store
def stop(session: Session, named: str | None, every: bool) -> int:
    """Begin no more visits of a round; those under way end by themselves.

    What it had not begun is due as it was before the round.

    \b
    Examples:
      ronda round stop night
      ronda round stop --all

    Ends with 0, with 1 when there is no such round.
    """  # noqa: D301  # click reads \b
    if bool(named) == every:
        raise UsageError("name one round, or give --all")
    with session.opened() as store:
        now = store.database.epoch()
        if every:
            stopped = store.rounds.stop_all(now)
        else:
            stopped = [store.rounds.stop(round_named(store, str(named)).id, now)]
    wake()
    told = [
        f"round {one.name}: {_ended(one)}"
        if one.ended_at == now
        else f"round {one.name} had ended before: {stamp(one.ended_at)}"
        for one in stopped
    ]
    session.tell(told or ["No round is under way."], {"rounds": tree(stopped)})
    return 0


def round_named(store: "Store", named: str) -> "Round":
    """A round by its number, or the newest of a name.

    Raises:
        NotFoundError: there is none.
    """
    for one in store.rounds.list(100_000):
        if one.name == named or str(one.id) == named:
            return one
    words = "`ronda round list` shows the newest"
    raise NotFoundError(f"there is no round {shown(named)}: {words}")


def _results(
    store: "Store", number: int, limit: int, *, every: bool
) -> Iterator["RoundResult"]:
    after = told = 0
    while some := store.rounds.results(number, 1000, after):
        after = some[-1].target_id
        for one in some:
            if every or one.state not in _GOOD:
                yield one
                told += 1
                if told >= limit:
                    return


def _facts(
    one: "Round", counts: dict[State, int], now: float
) -> Iterator[tuple[str, str]]:
    yield "round", f"{one.name} ({one.id})"
    yield "targets", one.words
    yield "started by", one.starter
    yield "started", stamp(one.started_at)
    yield "spread over", length(one.window) if one.window else ""
    yield "done", f"{one.done:,} of {one.total:,}"
    yield "found", _counted(counts)
    if one.ended_at is None:
        left = _eta(one, now)
        yield "ends", f"in about {length(left)}" if left is not None else ""
    else:
        yield "stopped" if one.stopped_at else "ended", stamp(one.ended_at)
        yield "took", length(one.ended_at - one.started_at)


def _progress(one: "Round", counts: dict[State, int], now: float) -> str:
    words = f"round {one.name}: {one.done:,} of {one.total:,} done"
    found = _counted(counts)
    words = f"{words}: {found}" if found else words
    if one.ended_at is not None:
        return f"{words}; {_ended(one)}"
    left = _eta(one, now)
    return words if left is None else f"{words}; about {length(left)} left"


def _ended(one: "Round") -> str:
    left = one.total - one.done
    if one.stopped_at:
        return f"stopped; {counted(left, 'target')} not checked"
    took = length((one.ended_at or one.started_at) - one.started_at)
    return f"ended after {took}"


def _counted(counts: dict[State, int]) -> str:
    return ", ".join(
        f"{number:,} {state}" for state, number in counts.items() if number
    )


def _eta(one: "Round", now: float) -> float | None:
    from ronda.store.sql.rounds import eta  # noqa: PLC0415  # see Session.opened

    return eta(one, now)


def _tree(one: "Round", counts: dict[State, int], now: float) -> dict[str, Any]:
    found = {state.value: number for state, number in counts.items() if number}
    return {"round": tree(one), "counts": found, "seconds_left": _eta(one, now)}
