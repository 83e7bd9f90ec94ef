"""Rules for a terminal: the file and how it was come by, then a line for each path."""

from collections.abc import Iterator, Sequence
from typing import TextIO

from ronda.cli.report.safe import safe_text
from ronda.cli.report.style import COLOURS, GREY, YELLOW, Style
from ronda.cli.robots.judged import Judged, Source, rule_line
from ronda.frontier.robots import SIZE_LIMIT, Access
from ronda.model import State
from ronda.urls import shown

SITEMAPS = 10  # that are shown
LONGEST = 300  # characters of one thing that are shown
_GAP = "  "
_MEANS = {
    Access.FOUND: "its rules apply",
    Access.UNAVAILABLE: "there are no rules, so all is allowed (RFC 9309, 2.3.1.3)",
    Access.UNREACHABLE: "nothing is allowed until it can be had (RFC 9309, 2.3.1.4)",
}


def write(
    source: Source, agent: str, judged: Sequence[Judged], out: TextIO, style: Style
) -> None:
    """Write what is known of the file, and what it says of each path."""
    facts = list(_facts(source, agent))
    width = max(len(label) for label, _ in facts)
    labels = (style.paint(label.ljust(width), GREY) for label, _ in facts)
    rows = zip(labels, facts, strict=True)
    out.writelines(f"{label}{_GAP}{_safe(words)}\n" for label, (_, words) in rows)
    if source.cut:
        words = f"It is longer than {SIZE_LIMIT:,} bytes; what follows is not read."
        out.write(style.paint(words, YELLOW) + "\n")
    out.write("\n")
    out.writelines(f"{line}\n" for line in _lines(judged, style))


def _facts(source: Source, agent: str) -> Iterator[tuple[str, str]]:
    yield "robots.txt", source.name
    for hop in source.hops:
        yield "redirect", f"{hop.status} -> {hop.to}"
    if source.message:
        yield "answer", f"{source.message}; {_MEANS[source.access]}"
    yield "agent", agent
    if source.access is not Access.FOUND:
        return
    group = source.robots.group(agent)
    yield "group", _agents(group.agents) if group else "none, so all is allowed"
    if group and group.delay is not None:
        yield "crawl-delay", f"{group.delay:g} s"
    for sitemap in source.robots.sitemaps[:SITEMAPS]:
        yield "sitemap", sitemap
    more = len(source.robots.sitemaps) - SITEMAPS
    if more > 0:
        yield "sitemap", f"and {more:,} more"


def _agents(names: Sequence[str]) -> str:
    return f"User-agent: {', '.join(dict.fromkeys(names))}"


def _lines(judged: Sequence[Judged], style: Style) -> Iterator[str]:
    rows = [_cells(one) for one in judged]
    # One long path must not push every rule off the screen.
    most = style.width * 2 // 5
    widths = [min(max(map(len, column)), most) for column in zip(*rows, strict=True)]
    for one, row in zip(judged, rows, strict=True):
        state, *cells = (
            cell.ljust(width) for cell, width in zip(row, widths, strict=True)
        )
        colour = COLOURS[State.OK if one.allowed else State.BLOCKED]
        yield _GAP.join([style.paint(state, colour), *cells]).rstrip()


def _cells(one: Judged) -> tuple[str, str, str, str, str]:
    state = "allowed" if one.allowed else "disallowed"
    rule = one.rule
    if rule is None:
        return state, _safe(one.path), one.why, "", ""
    place = f"line {rule.line}"
    return state, _safe(one.path), _safe(rule_line(rule)), place, _group(rule.agents)


def _group(agents: Sequence[str]) -> str:
    return _safe(_agents(agents))


def _safe(text: str) -> str:
    """A text from outside, on one line, that cannot steer the terminal."""
    return shown(safe_text(text), LONGEST)
