"""The report for a terminal: bad links by document, then the run in three lines."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TextIO

from msgspec import Struct

from ronda.cli.report import words
from ronda.cli.report.order import Row, by_place, places
from ronda.cli.report.style import BOLD, COLOURS, GREY, YELLOW, Style
from ronda.model import Result, State, Summary
from ronda.urls import shown

_VERDICT = max(map(len, State))
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
    """Write problems with the input, links by document, and the summary."""
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
    for hop in result.hops if style.verbose else ():
        line = _printable(f"{hop.status} -> {hop.to}")
        yield " " * columns.before_url + style.paint(line, GREY)


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
