"""The report for an issue, a pull request or a job summary: GitHub's Markdown."""

import re
from collections.abc import Iterable
from itertools import groupby
from typing import TextIO

from ronda.cli.report import words
from ronda.cli.report.order import Row, by_place
from ronda.cli.report.style import Style
from ronda.model import Result, State, Summary

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&])")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_AUTOLINK = re.compile(r"(?:https?|ftp)://[^\s<>`\\]+|mailto:[^\s<>`\\]+")


def write(
    results: Iterable[Result], summary: Summary, out: TextIO, style: Style
) -> None:
    """Write the conclusion, a table of counts, and a table a document."""
    out.write(f"## {words.conclusion(results, summary)}\n\n")
    _write_counts(summary, out)
    if summary.problems:
        out.write("\n### Problems with the input\n\n")
        lines = map(words.problem_line, summary.problems)
        out.writelines(f"- {_escaped(line)}\n" for line in lines)
    rows = by_place(results, ok=style.verbose)
    for document, group in groupby(rows, key=lambda row: row.place.document):
        out.write(f"\n### {_code(words.document_name(document))}\n\n")
        out.write("| Line | Verdict | Link | What was found |\n")
        out.write("| ---: | --- | --- | --- |\n")
        out.writelines(map(_row, group))


def _write_counts(summary: Summary, out: TextIO) -> None:
    out.write("| Verdict | Links |\n| --- | ---: |\n")
    for state in words.BY_URGENCY:
        count = summary.counts.get(state)
        if count:
            out.write(f"| {_verdict(state)} | {count:,} |\n")
    notes = [f"{words.checked(summary)}.", *words.remarks(summary)]
    out.write(f"\n{_escaped(' '.join(notes))}\n")


def _row(row: Row) -> str:
    result = row.result
    found = _escaped(result.message)
    if words.arrow(result):
        found += f" → {_link(words.moved_to(result))}"
    cells = (words.position(row.place), _verdict(result.verdict), _link(result.url))
    return f"| {' | '.join((*cells, found))} |\n"


def _verdict(state: State) -> str:
    return f"**{state}**" if state is State.BROKEN else str(state)


def _link(url: str) -> str:
    """A URL that can be clicked, if it is of a kind that is safe to click."""
    # Tables take `\|` for a bar before they look for links, so it is right here too.
    return f"<{_in_cell(url)}>" if _AUTOLINK.fullmatch(url) else _code(url)


def _code(text: str) -> str:
    """A text as it is: code is also the one place where GitHub sees no @mentions."""
    text = _UNPRINTABLE.sub(" ", text)
    ticks = max(map(len, re.findall("`+", text)), default=0) + 1
    # CommonMark takes one space off each end, which frees ticks at the ends.
    return _in_cell(f"{'`' * ticks} {text} {'`' * ticks}" if ticks > 1 else f"`{text}`")


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", _UNPRINTABLE.sub(" ", text))


def _in_cell(text: str) -> str:
    return text.replace("|", "\\|")
