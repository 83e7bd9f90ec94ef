"""`ronda target history`: what was found before, and what it says together."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from ronda.cli.codes import NOTHING
from ronda.cli.report.style import Style
from ronda.cli.watch import kinds
from ronda.cli.watch.lookup import target_named
from ronda.cli.watch.session import Session, with_store
from ronda.cli.watch.table import Column, facts, lines, safe
from ronda.cli.watch.times import iso, length, stamp
from ronda.cli.watch.trees import tree
from ronda.errors import UsageError

if TYPE_CHECKING:
    from ronda.store.sql.summary import Change, Latency, Seen, Uptime

_RESULTS = (
    Column("checked"),
    Column("found"),
    Column("state"),
    Column("status", right=True),
    Column("took", right=True),
    Column("message"),
)
_CHANGES = (Column("changed"), Column("was"), Column("state"), Column("reason"))


@click.command(short_help="Show what was found before: results, uptime, latency.")
@click.argument("url")
@click.option(
    "--since",
    metavar="MOMENT",
    default="7d",
    show_default=True,
    callback=kinds.moment,
    help="From when on: 2026-01-31, or 30d ago.",
)
@click.option(
    "--until", metavar="MOMENT", callback=kinds.moment, help="Up to when; else to now."
)
@click.option(
    "--limit",
    type=click.IntRange(1, 100_000),
    default=20,
    show_default=True,
    help="Show so many results at most, the newest first.",
)
@with_store
def history(
    session: Session, url: str, since: float, until: float | None, limit: int
) -> int:
    """Show what was found of a target before, and what it says together.

    Uptime is the share of the time in which it worked, of the time in which somebody
    knew. What a check found is taken to hold until the next one, but no longer than
    twice the time planned until then: after that the time is unobserved, and counts
    neither way. So does a fault of our own.

    \b
    Examples:
      ronda target history https://your.site/shop
      ronda target history https://your.site/shop --since 2026-01-01 --until 2026-02-01
      ronda target history https://your.site/shop --since 30d --limit 1000 --json

    Ends with 0, with 1 when nobody watches it or nothing was found in that time.
    """  # noqa: D301  # click reads \b
    with session.opened() as store:
        shown = target_named(session, store, url)
        now = store.database.epoch()
        end = now if until is None else until
        _require_past(since, end, now)
        number = shown.target.id
        uptime = store.past.uptime(number, since, end, now)
        latency = store.past.latency(number, since, end)
        changes = store.past.changes(number, since, end)
        results = store.past.results(number, since, end, limit + 1)
    told = [
        *facts(_facts(shown.target.url, since, end, uptime, latency), session.style),
        *_changes(changes, session.style),
        *_results(results, limit, session.style),
    ]
    window = {"url": safe(shown.target.url), "since": iso(since), "until": iso(end)}
    parts = {"uptime": uptime, "latency": latency, "changes": changes}
    session.tell(told, window | tree(parts) | {"results": tree(results[:limit])})
    return 0 if results else NOTHING


def _require_past(since: float, until: float, now: float) -> None:
    if since >= now:
        raise UsageError(f"--since: {stamp(since)} is still to come")
    if until <= since:
        raise UsageError(f"--until: {stamp(until)} is not after --since")


def _facts(
    url: str, since: float, until: float, uptime: "Uptime", latency: "Latency | None"
) -> Iterator[tuple[str, str]]:
    percent = uptime.percent
    yield "url", url
    yield "from", stamp(since)
    yield "to", stamp(until)
    yield "uptime", "not known" if percent is None else f"{percent:.2f} %"
    spans = (("down", uptime.down), ("unjudged", uptime.unjudged))
    for name, span in (*spans, ("unobserved", uptime.unobserved)):
        yield name, length(span) if span >= 1 else ""
    if latency is not None:
        shares = ((50, latency.p50), (90, latency.p90), (95, latency.p95))
        told = [f"{n} %: {_ms(seconds)}" for n, seconds in (*shares, (99, latency.p99))]
        yield "took at most", ", ".join(told)


def _changes(changes: Sequence["Change"], style: Style) -> Iterator[str]:
    if changes:
        rows = ((stamp(c.at), c.was.value, c.state.value, c.reason) for c in changes)
        yield ""
        yield from lines(_CHANGES, rows, style)


def _results(results: Sequence["Seen"], limit: int, style: Style) -> Iterator[str]:
    yield ""
    if not results:
        yield "No result in that time."
        return
    yield from lines(_RESULTS, map(_cells, results[:limit]), style)
    if len(results) > limit:
        yield "There are more: --limit shows them."


def _cells(seen: "Seen") -> tuple[str, ...]:
    return (
        stamp(seen.at),
        seen.state.value,
        seen.standing.value,
        str(seen.status or ""),
        _ms(seen.seconds) if seen.seconds else "",
        seen.message or seen.reason,
    )


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms"
