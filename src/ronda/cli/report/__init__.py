"""Reports: results and their summary come in, one written document goes out.

A new format is one module with `write`, one row below, and one test.
"""

from collections.abc import Callable, Iterable
from typing import TextIO

from msgspec import Struct

from ronda.cli.report import junit, markdown, page, sarif, structured, table, text
from ronda.cli.report.safe import SafeResults, safe_result, safe_summary
from ronda.cli.report.style import Style
from ronda.errors import UsageError
from ronda.model import Result, Summary

__all__ = ["FORMATS", "Format", "Style", "format_for"]

Write = Callable[[Iterable[Result], Summary, TextIO, Style], None]
Line = Callable[[Result], str]


class Format(Struct, frozen=True):
    """One way to write a report."""

    name: str
    suffixes: tuple[str, ...]  # how the name of an output file picks it
    write: Write  # the whole report, at the end
    line: Line | None = None  # one result while running, without its newline
    good_too: bool = True  # it tells of good results even when not asked to


def _safe_write(write: Write) -> Write:
    def written(
        results: Iterable[Result], summary: Summary, out: TextIO, style: Style
    ) -> None:
        write(SafeResults(results), safe_summary(summary), out, style)

    return written


def _safe_line(line: Line) -> Line:
    return lambda result: line(safe_result(result))


def _format(
    name: str,
    suffixes: tuple[str, ...],
    write: Write,
    line: Line | None = None,
    *,
    good_too: bool = True,
) -> Format:
    """A format that is only ever given what may be shown."""
    safe = _safe_line(line) if line else None
    return Format(name, suffixes, _safe_write(write), safe, good_too)


FORMATS: dict[str, Format] = {
    row.name: row
    for row in (
        _format("text", (".txt",), text.write, good_too=False),
        _format("json", (".json",), structured.write),
        _format("jsonl", (".jsonl",), structured.write_lines, structured.line),
        _format("csv", (".csv",), table.write),
        _format("markdown", (".md",), markdown.write, good_too=False),
        _format("html", (".html",), page.write),
        _format("junit", (".xml",), junit.write),
        _format("sarif", (".sarif", ".sarif.json"), sarif.write),
    )
}


def format_for(path: str) -> Format:
    """The format that the name of an output file asks for.

    Raises:
        UsageError: no format has such an ending.
    """
    endings = {suffix: row for row in FORMATS.values() for suffix in row.suffixes}
    # The longest first: ".sarif.json" also ends in ".json".
    for suffix in sorted(endings, key=len, reverse=True):
        if path.lower().endswith(suffix):
            return endings[suffix]
    raise UsageError(f"no report format for '{path}'; known: {', '.join(endings)}")
