"""The report for a browser: one page with all its data, that sorts and filters."""

import html
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

import msgspec

from ronda import __version__
from ronda.cli.report import words
from ronda.cli.report.order import by_url
from ronda.cli.report.style import Style
from ronda.model import Result, Summary

_TEMPLATE = Path(__file__).with_name("page.html")
_DATA = "<!--data-->"

_encode = msgspec.json.Encoder().encode


def write(
    results: Iterable[Result], summary: Summary, out: TextIO, _style: Style
) -> None:
    """Write the page; its script makes the table out of the data."""
    page = _TEMPLATE.read_text("utf-8")
    # What is put in is escaped, so it can hold no further mark.
    for mark, text in {
        "<!--conclusion-->": html.escape(words.conclusion(results, summary)),
        "<!--summary-->": html.escape(_sentences(summary)),
        "<!--problems-->": _problems(summary),
        "<!--version-->": html.escape(__version__),
    }.items():
        page = page.replace(mark, text)
    before, after = page.split(_DATA)
    out.write(f"{before}[")
    comma = "\n"
    for result in by_url(results):
        out.write(comma + _data(result))
        comma = ",\n"
    out.write(f"\n]{after}")


def _sentences(summary: Summary) -> str:
    return " ".join([f"{words.checked(summary)}.", *words.remarks(summary)])


def _problems(summary: Summary) -> str:
    if not summary.problems:
        return ""
    lines = (html.escape(words.problem_line(problem)) for problem in summary.problems)
    items = "\n".join(f"<li>{line}</li>" for line in lines)
    return f"<h2>Problems with the input</h2>\n<ul>\n{items}\n</ul>"


def _data(result: Result) -> str:
    # No `<` at all: `</script` would end the data, `<!--` would change how it ends.
    return _encode(result).decode().replace("<", "\\u003c")
