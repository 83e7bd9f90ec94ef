"""The report for spreadsheets: CSV, one row for every place a link stands at."""

import csv
from collections.abc import Iterable
from typing import TextIO

from ronda.cli.report import words
from ronda.cli.report.order import by_url, places
from ronda.cli.report.style import Style
from ronda.model import Place, Result, Summary

COLUMNS = (
    "url",
    "verdict",
    "reason",
    "message",
    "status",
    "final_url",
    "address",
    "total_seconds",
    "bytes",
    "document",
    "line",
    "column",
    "text",
    "checked_at",
    "attempts",
    "depth",
    "media_type",
    "tag",
)

# A spreadsheet runs a cell that begins with one of these as a formula, and link
# texts come from anybody (OWASP, CSV injection).
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write(
    results: Iterable[Result], _summary: Summary, out: TextIO, _style: Style
) -> None:
    """Write the head and one row a place."""
    # Quoted throughout: the csv module leaves a lone carriage return bare.
    rows = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    out.write(",".join(COLUMNS) + "\n")
    for result in by_url(results):
        rows.writerows(_row(result, place) for place in places(result))


def _row(result: Result, place: Place) -> list[str | int | float]:
    return [
        _inert(result.url),
        result.verdict.value,
        _inert(result.reason),
        _inert(result.message),
        result.status,
        _inert(words.moved_to(result) or result.url),
        result.address,
        round(result.timings.total, 6),
        result.bytes,
        _inert(place.document),
        place.line,
        place.column,
        _inert(place.text),
        result.checked_at,
        result.attempts,
        result.depth,
        _inert(result.media_type),
        _inert(place.tag),
    ]


def _inert(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text
