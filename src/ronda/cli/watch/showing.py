"""`ronda target show`: all that is known of one target."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from ronda.cli.report.safe import safe_result
from ronda.cli.watch import rows
from ronda.cli.watch.lookup import target_named
from ronda.cli.watch.session import Session, with_store
from ronda.cli.watch.table import facts
from ronda.cli.watch.times import ago, exact, stamp
from ronda.cli.watch.trees import tree

if TYPE_CHECKING:
    from ronda.model import Result
    from ronda.store.sql.catalogue import Shown
    from ronda.store.sql.values import Pace


@click.command(short_help="Show all that is known of one target.")
@click.argument("url")
@with_store
def show(session: Session, url: str) -> int:
    """Show a target: its state, who watches it, and the evidence of its last check.

    \b
    Examples:
      ronda target show https://your.site/shop
      ronda target show https://your.site/shop --json

    Ends with 0, with 1 when nobody watches it, 2 when it is no URL.
    """  # noqa: D301  # click reads \b
    with session.opened() as store:
        shown = target_named(session, store, url)
        every = store.watches.every([shown.target.id])
        now = store.database.epoch()
    told = facts(_facts(shown, every.get(shown.target.id), now), session.style)
    session.tell(told, _tree(shown, every))
    return 0


def _facts(
    shown: "Shown", every: float | None, now: float
) -> Iterator[tuple[str, str]]:
    target = shown.target
    yield "url", target.url
    yield "state", target.state.value
    yield "reason", target.reason
    yield "message", target.message
    yield "remarks", "; ".join(rows.marks(target))
    yield "owners", ", ".join(shown.owners)
    yield "labels", ", ".join(shown.labels)
    yield "added", _moment(target.added_at, now)
    yield "changed", _moment(target.last_change_at, now)
    yield "checked", _moment(target.last_check_at, now)
    confirms = ", to confirm that it fails" if rows.is_unconfirmed(target) else ""
    yield "next check", f"{rows.due(target, now)}{confirms}"
    yield "every", f"{exact(every)}, while it is ok" if every else ""
    yield "failures", f"{target.failures:,} in a row" if target.failures else ""
    if shown.result is not None:
        yield from _evidence(shown.result)
    yield "host", f"{shown.host}{_pace(shown.host_pace, now)}"
    server = _address(shown) or "not resolved yet"
    yield "server", f"{server}{_pace(shown.server_pace, now)}"


def _address(shown: "Shown") -> str | None:
    """Where its server is; None: nobody has looked yet."""
    from ronda.store.sql.schema import UNRESOLVED  # noqa: PLC0415  # see Session.opened

    return None if shown.server.startswith(UNRESOLVED) else shown.server


def _evidence(result: "Result") -> Iterator[tuple[str, str]]:
    """What the last verdict rests on."""
    yield "status", str(result.status or "")
    for hop in result.hops:
        yield "redirect", f"{hop.status} -> {hop.to}"
    yield "address", result.address
    taken = result.timings.total
    yield "took", f"{taken * 1000:,.0f} ms" if taken else ""
    if result.certificate is not None:
        yield "certificate", f"until {result.certificate.ends_at}"
    for line in result.evidence.splitlines():
        yield "evidence", line


def _pace(pace: "Pace", now: float) -> str:
    """When a host or a server may be asked again, if that is not now."""
    until = max(pace.next_at, pace.rests_until)
    rests = "rests, " if pace.rests_until > now else ""
    return f" ({rests}may be asked {ago(until, now)})" if until > now else ""


def _moment(at: float, now: float) -> str:
    return f"{stamp(at)} ({ago(at, now)})" if at else "never"


def _tree(shown: "Shown", every: Mapping[int, float]) -> dict[str, Any]:
    found: dict[str, Any] = tree(shown) | {"server": _address(shown)}
    [found["target"]] = rows.trees([shown.target], every)
    result = safe_result(shown.result) if shown.result is not None else None
    return found | {"key": str(shown.key), "result": tree(result)}
