"""The report for a browser: one page with all its data, that sorts and filters."""

import html
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

import msgspec

from ronda import __version__
from ronda.cli.report import words
from ronda.cli.report.order import by_url
from ronda.cli.report.sections import Group, Item, Limits, Section, site_sections
from ronda.cli.report.style import Style
from ronda.model import Result, Summary

_TEMPLATE = Path(__file__).with_name("page.html")
_DATA = "<!--data-->"
# It is folded and scrolls, so it may hold more than a terminal; but not everything.
_LIMITS = Limits(
    chains=1000, orphans=1000, slowest=10, quick=True, groups=200, alike=20
)
_CLICKABLE = re.compile("(?:https?|ftp):|mailto:", re.IGNORECASE)
_REL = "noopener noreferrer nofollow"

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
        "<!--site-->": _site(results, summary),
        "<!--run-->": "crawl" if summary.site else "check",
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


def _site(results: Iterable[Result], summary: Summary) -> str:
    """What a crawl says beside the table, which tells itself where links stand."""
    if not summary.site:
        return ""
    found = site_sections(results, summary.site, _LIMITS)
    return "\n".join(map(_section, found))


def _section(section: Section) -> str:
    items = "\n".join(map(_group, section.groups)) + _more(section.more)
    count = _soft(f"{section.count:,}" if section.count else "")
    head = f"<summary>{html.escape(section.title)} {count}</summary>"
    return f"<details>\n{head}\n<ul>\n{items}\n</ul>\n</details>"


def _group(group: Group) -> str:
    items = "\n".join(f"<li>{_item(item)}</li>" for item in group.items)
    items += _more(group.more)
    return f"<li>{_item(group.head)}\n<ul>{items}</ul></li>" if group.head else items


def _more(count: int) -> str:
    return f'\n<li class="soft">{words.left_out(count)}</li>' if count else ""


def _item(item: Item) -> str:
    arrow = "→" if item.arrow else ""
    cells = (_soft(item.label), arrow, _link(item.text), _soft(item.note))
    return " ".join(filter(None, cells))


def _soft(text: str) -> str:
    return f'<span class="soft">{html.escape(text)}</span>' if text else ""


def _link(url: str) -> str:
    text = html.escape(url)
    if not _CLICKABLE.match(url):
        return text
    return f'<a href="{text}" target="_blank" rel="{_REL}">{text}</a>'


def _data(result: Result) -> str:
    # No `<` at all: `</script` would end the data, `<!--` would change how it ends.
    return _encode(result).decode().replace("<", "\\u003c")
