"""The report for an issue, a pull request or a job summary: GitHub's Markdown."""

import re
from collections.abc import Iterable
from itertools import groupby
from typing import TextIO

from ronda.cli.report import words
from ronda.cli.report.order import Row, by_place
from ronda.cli.report.sections import LONG, SHORT, Item, Section, sections
from ronda.cli.report.style import Style
from ronda.model import Result, State, Summary

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&])")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_AUTOLINK = re.compile(r"(?:https?|ftp)://[^\s<>`\\]+|mailto:[^\s<>`\\]+")


def write(
    results: Iterable[Result], summary: Summary, out: TextIO, style: Style
) -> None:
    """Write the conclusion, a table of counts, a table a document, and sections."""
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
    if summary.site:
        limits = LONG if style.verbose else SHORT
        for section in sections(results, summary.site, limits):
            _write_section(section, out)


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
        found += f" → {_in_cell(_link(words.moved_to(result)))}"
    link = _in_cell(_link(result.url))
    cells = (words.position(row.place), _verdict(result.verdict), link, found)
    return f"| {' | '.join(cells)} |\n"


def _write_section(section: Section, out: TextIO) -> None:
    """A list, and under each head a list of its own."""
    out.write(f"\n### {section.title}\n\n")
    for group in section.groups:
        margin = ""
        if group.head:
            out.write(f"- {_item(group.head, group.state)}\n")
            margin = "  "
        out.writelines(f"{margin}- {_item(item)}\n" for item in group.items)
        if group.more:
            out.write(f"{margin}- {words.left_out(group.more)}\n")
    if section.more:
        out.write(f"- {words.left_out(section.more)}\n")


def _item(item: Item, state: State | None = None) -> str:
    cells = (
        _verdict(state) if state else "",
        _escaped(item.label),
        "→" if item.arrow else "",
        _link(item.text) if item.text else "",
        _escaped(item.note),
    )
    return " ".join(filter(None, cells))


def _verdict(state: State) -> str:
    return f"**{state}**" if state is State.BROKEN else str(state)


def _link(url: str) -> str:
    """A URL that can be clicked, if it is of a kind that is safe to click."""
    return f"<{url}>" if _AUTOLINK.fullmatch(url) else _code(url)


def _code(text: str) -> str:
    """A text as it is: code is also the one place where GitHub sees no @mentions."""
    text = _UNPRINTABLE.sub(" ", text)
    ticks = max(map(len, re.findall("`+", text)), default=0) + 1
    # CommonMark takes one space off each end, which frees ticks at the ends.
    return f"{'`' * ticks} {text} {'`' * ticks}" if ticks > 1 else f"`{text}`"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", _UNPRINTABLE.sub(" ", text))


def _in_cell(text: str) -> str:
    # Tables take `\|` for a bar before they look for links and code; nothing else does.
    return text.replace("|", "\\|")
