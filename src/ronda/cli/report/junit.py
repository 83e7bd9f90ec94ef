"""The report for build servers: JUnit's XML, a suite a document, a case a link."""

import html
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TextIO

from ronda.cli.report import words
from ronda.cli.report.order import Row, by_place, places
from ronda.cli.report.style import Style
from ronda.model import Result, State, Summary

_RUN = "(the run)"  # the suite of what belongs to no document

# What XML 1.0 cannot hold, not even escaped.
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# What a parser would make a plain space in an attribute.
_SPACE = re.compile("[\t\n\r]")


def write(
    results: Iterable[Result], summary: Summary, out: TextIO, _style: Style
) -> None:
    """Write what went wrong with the run, then every link, also those that work."""
    counts, own = _counts(results), _own_counts(summary)
    sums = _sums(sum(counts.values(), own))
    head = _attributes(name="ronda", **sums, time=f"{summary.seconds:.3f}")
    out.write(f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites{head}>\n')
    if own["tests"]:
        out.write(_suite(_RUN, own))
        out.writelines(_own_cases(summary))
        out.write(" </testsuite>\n")
    rows = by_place(results, ok=True)
    for document, group in groupby(rows, key=lambda row: row.place.document):
        out.write(_suite(words.document_name(document), counts[document]))
        out.writelines(map(_case, group))
        out.write(" </testsuite>\n")
    out.write("</testsuites>\n")


def _counts(results: Iterable[Result]) -> dict[str, Counter[str]]:
    """The sums of each suite, which stand before its cases."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for result in results:
        for place in places(result):
            counts[place.document].update(("tests", _outcome(result.verdict)))
    return counts


def _outcome(state: State) -> str:
    # Only what is dead may fail a build. The rest is healed by waiting, is not ours
    # to judge, or works: a red build for it would teach people to ignore red builds.
    match state:
        case State.OK:
            return "passed"
        case State.BROKEN:
            return "failures"
        case _:
            return "skipped"


def _case(row: Row) -> str:
    result, place = row.result, row.place
    where = words.position(place)
    document = words.document_name(place.document)
    head = _attributes(
        # Two places of one URL need two names: build servers drop doubles.
        name=f"{result.url} ({where})" if where else result.url,
        classname=document,
        time=f"{result.timings.total:.3f}",
    )
    match _outcome(result.verdict):
        case "failures":
            facts = _attributes(type=result.reason, message=result.message)
            at = f"{document}:{where}" if where else document
            text = _escaped(f"{at}: {result.url}: {words.finding(result)}")
            inner = f"<failure{facts}>{text}</failure>"
        case "skipped":
            said = f"{result.verdict}: {words.finding(result)}"
            inner = f"<skipped{_attributes(message=said)}/>"
        case _:
            return f"  <testcase{head}/>\n"
    return f"  <testcase{head}>{inner}</testcase>\n"


def _own_counts(summary: Summary) -> Counter[str]:
    errors, early = len(summary.problems), bool(summary.interrupted or summary.left)
    return Counter(tests=errors + early, errors=errors, skipped=int(early))


def _own_cases(summary: Summary) -> Iterator[str]:
    for problem in summary.problems:
        head = _attributes(name=words.problem_line(problem), classname=_RUN)
        error = _attributes(type="input", message=problem.message)
        yield f"  <testcase{head}><error{error}/></testcase>\n"
    if summary.interrupted or summary.left:
        head = _attributes(name="every link is checked", classname=_RUN)
        skipped = _attributes(message=words.ended_early(summary))
        yield f"  <testcase{head}><skipped{skipped}/></testcase>\n"


def _suite(name: str, counts: Counter[str]) -> str:
    return f" <testsuite{_attributes(name=name, **_sums(counts))}>\n"


def _sums(counts: Counter[str]) -> dict[str, str]:
    names = ("tests", "failures", "errors", "skipped")
    return {name: str(counts[name]) for name in names}


def _attributes(**values: str) -> str:
    return "".join(f' {name}="{_escaped(value)}"' for name, value in values.items())


def _escaped(text: str) -> str:
    # html.escape is XML's too; xml.sax.saxutils would import all of urllib.request.
    legal = html.escape(_ILLEGAL.sub("", text))
    return _SPACE.sub(lambda found: f"&#{ord(found[0])};", legal)
