"""The report for a terminal: bad links by document, a site's sections, the run."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TextIO

from msgspec import Struct

from ronda.cli.report import words
from ronda.cli.report.order import Row, by_place, places
from ronda.cli.report.sections import LONG, SHORT, Group, Item, Section, sections
from ronda.cli.report.style import BOLD, COLOURS, GREY, YELLOW, Style
from ronda.model import Result, State, Summary
from ronda.urls import shown

_VERDICT = max(map(len, State))
_BAD = len(State.TEMPORARY)  # the longest verdict that a section shows
_GAP = "  "


class _Columns(Struct, frozen=True):
    """How wide the columns are: the same under every document."""

    position: int
    message: int

    @property
    def before_url(self) -> int:
        widths = (self.position, _VERDICT, self.message)
        return len(_GAP) + sum(width + len(_GAP) for width in widths if width)


def write(
    results: Iterable[Result], summary: Summary, out: TextIO, style: Style
) -> None:
    """Write problems with the input, links by document, and what the run says."""
    for problem in summary.problems:
        line = _printable(words.problem_line(problem))
        out.write(style.paint(line, YELLOW) + "\n")
    if summary.problems:
        out.write("\n")
    columns = _columns(results, style)
    rows = by_place(results, ok=style.verbose)
    for document, group in groupby(rows, key=lambda row: row.place.document):
        name = _printable(words.document_name(document))
        out.write(style.paint(name, BOLD) + "\n")
        for row in group:
            out.writelines(f"{line}\n" for line in _lines(row, columns, style))
        out.write("\n")
    if summary.site:
        limits = LONG if style.verbose else SHORT
        for section in sections(results, summary.site, limits):
            _write_section(section, out, style)
    _write_summary(results, summary, out, style)


def _columns(results: Iterable[Result], style: Style) -> _Columns:
    """Measure in a pass of its own, so that rows need not be held to be aligned."""
    position = message = 0
    for result in results:
        if style.verbose or result.verdict is not State.OK:
            message = max(message, len(_split(result)[0]))
            for place in places(result):
                position = max(position, len(words.position(place)))
    # One long message must not push every URL off the screen.
    return _Columns(position, min(message, style.width * 2 // 5))


def _lines(row: Row, columns: _Columns, style: Style) -> Iterator[str]:
    result = row.result
    message, detail = _split(result)
    cells = [
        "",
        style.paint(words.position(row.place).rjust(columns.position), GREY),
        style.paint(result.verdict.ljust(_VERDICT), COLOURS[result.verdict]),
        _printable(message).ljust(columns.message),
        style.link(_printable(result.url)),
    ]
    if not columns.position:
        del cells[1]
    extra = detail or words.arrow(result)
    if style.verbose:
        extra = _GAP.join(filter(None, (detail, _facts(result))))
    if extra:
        cells.append(style.paint(_printable(extra), GREY))
    yield _GAP.join(cells)
    for line in _evidence(result) if style.verbose else ():
        yield " " * columns.before_url + style.paint(_printable(line), GREY)


def _evidence(result: Result) -> Iterator[str]:
    """The way a link took, and what our own fault was."""
    yield from (f"{hop.status} -> {hop.to}" for hop in result.hops)
    yield from result.evidence.splitlines()


def _split(result: Result) -> tuple[str, str]:
    """The few words that say what it is, and the detail that follows the URL."""
    message, _, detail = result.message.partition(": ")
    return message, "" if detail in result.url else detail


def _facts(result: Result) -> str:
    """What is known of the last answer: `(200, 127.0.0.1, 12 ms)`."""
    facts = [
        str(result.status or ""),
        result.address,
        f"{result.timings.total * 1000:,.0f} ms" if result.timings.total else "",
    ]
    known = ", ".join(filter(None, facts))
    return f"({known})" if known else ""


def _write_section(section: Section, out: TextIO, style: Style) -> None:
    out.write(style.paint(section.title, BOLD) + "\n")
    for group in section.groups:
        out.writelines(f"{line}\n" for line in _group_lines(group, style))
    if section.more:
        out.write(style.paint(f"{_GAP}{words.left_out(section.more)}\n", GREY))
    out.write("\n")


def _group_lines(group: Group, style: Style) -> Iterator[str]:
    margin = _GAP
    if group.head:
        state = group.state
        verdict = style.paint(state.ljust(_BAD), COLOURS[state]) if state else ""
        yield margin + _item_line(group.head, verdict, style)
        margin += _GAP
    width = max(len(item.label) for item in group.items)
    for item in group.items:
        label = style.paint(item.label.rjust(width), GREY)
        yield margin + _item_line(item, label, style)
    if group.more:
        margin += " " * width + _GAP if width else ""
        yield margin + style.paint(words.left_out(group.more), GREY)


def _item_line(item: Item, before: str, style: Style) -> str:
    note = style.paint(_printable(item.note), GREY)
    link = style.link(_printable(item.text))
    cells = (before, f"-> {link}" if item.arrow else link, note)
    return _GAP.join(filter(None, cells))


def _write_summary(
    results: Iterable[Result], summary: Summary, out: TextIO, style: Style
) -> None:
    counts = [
        style.paint(words.state_words(state, summary.counts[state]), COLOURS[state])
        for state in State
        if summary.counts.get(state)
    ]
    out.write(words.checked(summary))
    out.write(f": {', '.join(counts)}\n" if counts else "\n")
    out.writelines(f"{_printable(remark)}\n" for remark in words.remarks(summary))
    broken = summary.counts.get(State.BROKEN)
    colour = COLOURS[State.BROKEN if broken else State.OK]
    out.write(style.paint(words.conclusion(results, summary), colour) + "\n")


def _printable(text: str) -> str:
    """A text from outside that cannot steer the terminal."""
    return text if text.isprintable() else shown(text, len(text))
