"""The report for code scanning: SARIF 2.1.0, a result for every bad link."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, TextIO
from urllib.parse import quote

import msgspec

from ronda import __version__
from ronda.cli.report import words
from ronda.cli.report.order import Row, by_place
from ronda.cli.report.style import Style
from ronda.model import Place, Problem, Result, State, Summary

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_URI = ":/?#[]@!$&'()*+,;=%"  # what a URI may hold beside letters (RFC 3986)
_LONE_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")  # right in a WHATWG URL only

_LEVELS = {
    State.BROKEN: "error",
    State.TEMPORARY: "warning",
    State.WARNING: "warning",
    State.BLOCKED: "note",
    State.UNSUPPORTED: "note",
    State.UNKNOWN: "note",
}

_encode = msgspec.json.Encoder().encode


def write(
    results: Iterable[Result], summary: Summary, out: TextIO, _style: Style
) -> None:
    """Write one run; its results are streamed, a line each."""
    bad = {result.reason for result in results if result.verdict in _LEVELS}
    rules = {reason: index for index, reason in enumerate(sorted(bad))}
    run = {
        "tool": {"driver": _driver(rules)},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(summary)],
    }
    head = f'{{"$schema":"{_SCHEMA}","version":"2.1.0","runs":[\n'
    out.write(f'{head}{_json(run)[:-1]},"results":[')
    before = "\n"
    for row in by_place(results, ok=False):
        out.write(before + _json(_result(row, rules)))
        before = ",\n"
    out.write("\n]}\n]}\n")


def _driver(rules: Iterable[str]) -> dict[str, Any]:
    return {
        "name": "ronda",
        "version": __version__,
        "rules": [
            {"id": rule, "shortDescription": {"text": rule.replace("_", " ")}}
            for rule in rules
        ],
    }


def _invocation(summary: Summary) -> dict[str, Any]:
    notices = [_notice(problem) for problem in summary.problems]
    early = bool(summary.interrupted or summary.left)
    if early:
        notices.append(
            {"level": "warning", "message": {"text": words.ended_early(summary)}}
        )
    return {"executionSuccessful": not early, "toolExecutionNotifications": notices}


def _notice(problem: Problem) -> dict[str, Any]:
    notice: dict[str, Any] = {"level": "error", "message": {"text": problem.message}}
    if problem.place.document not in ("", "-"):
        notice["locations"] = [_location(problem.place, "")]
    return notice


def _result(row: Row, rules: dict[str, int]) -> dict[str, Any]:
    result = row.result
    # One result a place, not one with many locations: that would mean that only a
    # change at all of them helps, and code scanning shows the first alone.
    return {
        "ruleId": result.reason,
        "ruleIndex": rules[result.reason],
        "level": _LEVELS[result.verdict],
        "message": {"text": f"{result.url}: {words.finding(result)}"},
        "locations": [_location(row.place, result.url)],
        "properties": dict(_properties(result)),
    }


def _properties(result: Result) -> Iterator[tuple[str, Any]]:
    yield "url", result.url
    yield "verdict", result.verdict
    if result.status:
        yield "status", result.status
    if result.hops:
        yield "moved_to", words.moved_to(result)


def _location(place: Place, url: str) -> dict[str, Any]:
    """Where a link stands; a URL that was given by hand stands for itself."""
    by_hand = place.document in ("", "-")
    uri = _uri(url) if by_hand else _document_uri(place.document)
    physical: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if place.line and not by_hand:
        physical["region"] = {"startLine": place.line}
        if place.column:
            physical["region"]["startColumn"] = place.column
    return {"physicalLocation": physical}


def _document_uri(document: str) -> str:
    if "://" in document:
        return _uri(document)
    path, here = PurePosixPath(document), Path.cwd()
    if path.is_relative_to(here):
        path = path.relative_to(here)
    # A colon is quoted in a path: `a:b.md` would be a URL of the scheme `a`.
    return ("file://" if path.is_absolute() else "") + quote(str(path))


def _uri(url: str) -> str:
    return quote(_LONE_PERCENT.sub("%25", url), safe=_URI)


def _json(tree: dict[str, Any]) -> str:
    return _encode(tree).decode()
