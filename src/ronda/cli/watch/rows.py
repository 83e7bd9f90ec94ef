"""Targets as rows of a table."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ronda.cli.report.style import Style
from ronda.cli.watch.table import Column, lines
from ronda.cli.watch.times import ago
from ronda.cli.watch.trees import tree
from ronda.frontier.schedule import FAILING

if TYPE_CHECKING:
    from ronda.store.sql.values import Known


def told(targets: Iterable["Known"], now: float, style: Style) -> Iterator[str]:
    """A table: what is found, since when, and when it is looked at again."""
    columns = (
        Column("state"),
        # One long message must not push every URL off the screen.
        Column("message", most=style.width * 2 // 5),
        Column("changed"),
        Column("checked"),
        Column("next"),
        Column("url"),
    )
    return lines(columns, (_cells(target, now) for target in targets), style)


def trees(
    targets: Iterable["Known"], every: Mapping[int, float]
) -> list[dict[str, Any]]:
    """The same for programs.

    Args:
        targets: the rows.
        every: seconds between checks, by number, where somebody has said it.
    """
    return [
        tree(one) | {"every": every.get(one.id), "unconfirmed": is_unconfirmed(one)}
        for one in targets
    ]


def is_unconfirmed(target: "Known") -> bool:
    """Whether it failed, and is checked again before its state says so."""
    return target.failures > 0 and target.state not in FAILING


def _cells(target: "Known", now: float) -> tuple[str, ...]:
    return (
        target.state.value,
        "; ".join(filter(None, (*marks(target), target.message))),
        ago(target.last_change_at, now),
        ago(target.last_check_at, now),
        due(target, now),
        target.spelling or target.url,
    )


def marks(target: "Known") -> Iterator[str]:
    """What else is to be known of a target, in a word each."""
    if not target.enabled:
        why = target.why_disabled
        yield f"disabled: {why}" if why else "disabled"
    if is_unconfirmed(target):
        times = "once" if target.failures == 1 else f"{target.failures:,} times"
        yield f"failed {times}"
    if target.flapping:
        yield "flapping"
    if target.acknowledged:
        yield "acknowledged"


def due(target: "Known", now: float) -> str:
    """When it is checked next: `in 3 h`, `now`, `never`."""
    if target.next_due is None:
        return "never"
    return "now" if target.next_due <= now else ago(target.next_due, now)
