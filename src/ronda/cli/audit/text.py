"""The audit for a terminal: the judgement, the tightest keys, the violations."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from heapq import nsmallest
from math import inf
from typing import TextIO

from ronda.cli.audit.findings import Findings
from ronda.cli.audit.remarks import conclusion, remarks, seconds
from ronda.cli.report.safe import safe_text
from ronda.cli.report.style import BOLD, COLOURS, GREY, YELLOW, Style
from ronda.cli.report.words import document_name, problem_line
from ronda.frontier.audit import Audit, Mention, Tally, Violation
from ronda.model import State
from ronda.urls import shown

ROWS = 10  # of each table
_NAME = 50  # characters of a name that a table shows
_GAP = "  "
_NONE = "-"


def write(found: Findings, out: TextIO, style: Style) -> None:
    """Write it all; of violations, as many as were kept."""
    audit = found.audit
    state = State.OK if found.proven else State.WARNING
    colour = COLOURS[state if audit.polite else State.BROKEN]
    out.write(style.paint(conclusion(found), colour) + "\n")
    out.writelines(f"{line}\n" for line in remarks(found))
    problems = (_safe(problem_line(problem)) for problem in found.problems)
    out.writelines(style.paint(problem, YELLOW) + "\n" for problem in problems)
    _write_table("host", audit.hosts, audit, out, style)
    _write_table("server", audit.servers, audit, out, style)
    for violation in audit.violations:
        out.writelines(f"{line}\n" for line in _lines(violation, found, style))
    more = audit.count - len(audit.violations)
    if more:
        out.write(f"\n{more:,} more: --all shows them.\n")


def _write_table(
    key: str, tallies: Sequence[Tally], audit: Audit, out: TextIO, style: Style
) -> None:
    if not tallies:
        return
    prefix = "" if key == "host" else "server_"
    limits = f"{prefix}interval", f"per_{key}"
    head = (key, "requests", "shortest gap", limits[0], "most at once", limits[1])
    rows = [_cells(t, audit) for t in nsmallest(ROWS, tallies, _looseness)]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    out.write("\n" + style.paint(_row(head, widths), BOLD) + "\n")
    out.writelines(f"{_row(row, widths)}\n" for row in rows)
    if len(tallies) > ROWS:
        rest = f"{len(tallies) - ROWS:,} more, none of them tighter"
        out.write(style.paint(rest, GREY) + "\n")


def _looseness(tally: Tally) -> tuple[float, ...]:
    """The tightest first: those that break limits, then by how near they came."""
    paced = tally.shortest is not None and tally.interval > 0
    near = (tally.shortest or 0.0) / tally.interval if paced else inf
    full = (tally.most or 0) / tally.at_once if tally.at_once else 0.0
    return -tally.violations, near, -full, -tally.requests


def _cells(tally: Tally, audit: Audit) -> tuple[str, ...]:
    shortest = tally.shortest
    return (
        _safe(tally.name, _NAME),
        f"{tally.requests:,}",
        _NONE if shortest is None else seconds(shortest, audit.resolution),
        seconds(tally.interval) if tally.interval else _NONE,
        _NONE if tally.most is None else f"{tally.most:,}",
        _NONE if tally.at_once is None else f"{tally.at_once:,}",
    )


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    name, *rest = (*cells,)
    numbers = (c.rjust(w) for c, w in zip(rest, widths[1:], strict=True))
    return _GAP.join((name.ljust(widths[0]), *numbers))


def _lines(violation: Violation, found: Findings, style: Style) -> Iterator[str]:
    yield ""
    yield style.paint(_sentence(violation, found.audit.resolution), BOLD)
    pair = (violation.first, violation.second)
    places = [f"{document_name(found.logs[m.log])}:{m.line}" for m in pair]
    width = max(map(len, places))
    for place, mention in zip(places, pair, strict=True):
        when = style.paint(_moment(mention, found.audit.resolution), GREY)
        request = _safe(found.request(mention), style.width)
        yield _GAP.join(("", _safe(place).ljust(width), when, request)).rstrip()


def _sentence(violation: Violation, resolution: float) -> str:
    who = f"{violation.key} {_safe(violation.name)}"
    if violation.limit.startswith("per_"):
        limits = f"{violation.found:,.0f} at once, {violation.allowed:,.0f} allowed"
    else:
        gap = seconds(violation.found, resolution)
        limits = f"asked again after {gap}, not {seconds(violation.allowed)}"
    return f"{_safe(violation.limit)} broken, {who}: {limits}"


def _moment(mention: Mention, resolution: float) -> str:
    fraction = {1.0: "seconds", 0.001: "milliseconds"}.get(resolution, "microseconds")
    at = datetime.fromtimestamp(mention.at, UTC).isoformat(timespec=fraction)
    return at.replace("+00:00", "Z")


def _safe(text: str, length: int = 100) -> str:
    return shown(safe_text(text), length)
