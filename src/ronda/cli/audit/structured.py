"""The audit for programs: one JSON object."""

from collections.abc import Iterable
from typing import Any, TextIO

import msgspec
from msgspec.structs import asdict

from ronda import __version__
from ronda.cli.audit.findings import Findings
from ronda.cli.report.safe import safe_text
from ronda.frontier.audit import Mention, Tally, Violation

_encode = msgspec.json.Encoder().encode


def write(found: Findings, out: TextIO) -> None:
    """Write everything, with a line for every host, server and violation."""
    audit = found.audit
    parts = {
        "hosts": map(_tally, audit.hosts),
        "servers": map(_tally, audit.servers),
        "violations": (_violation(found, one) for one in audit.violations),
    }
    out.write(_json(_head(found))[:-1])
    for name, rows in parts.items():
        out.write(f',"{name}":[')
        _write_rows(rows, out)
        out.write("\n]")
    out.write("}\n")


def _head(found: Findings) -> dict[str, Any]:
    audit = found.audit
    return {
        "ronda": __version__,
        "polite": audit.polite,
        "proven": found.proven,
        "requests": audit.requests,
        "resolution": audit.resolution,
        "kind": found.kind,
        "logs": [safe_text(name) for name in found.logs],
        "limits": found.limits,
        "options": found.options,
        "agents": found.agents,
        "left_out": found.left_out,
        "broken": {safe_text(limit): count for limit, count in audit.broken.items()},
        "unreadable": found.unreadable,
        "unjudged": audit.unjudged,
        "problems": [
            {
                "log": safe_text(problem.place.document),
                "line": problem.place.line,
                "message": safe_text(problem.message),
            }
            for problem in found.problems
        ],
    }


def _write_rows(rows: Iterable[dict[str, Any]], out: TextIO) -> None:
    before = "\n"
    for row in rows:
        out.write(before + _json(row))
        before = ",\n"


def _tally(tally: Tally) -> dict[str, Any]:
    return asdict(tally) | {"name": safe_text(tally.name)}


def _violation(found: Findings, violation: Violation) -> dict[str, Any]:
    return asdict(violation) | {
        "name": safe_text(violation.name),
        "limit": safe_text(violation.limit),
        "first": _mention(found, violation.first),
        "second": _mention(found, violation.second),
    }


def _mention(found: Findings, mention: Mention) -> dict[str, Any]:
    return {
        "log": safe_text(found.logs[mention.log]),
        "line": mention.line,
        "at": mention.at,
        "request": safe_text(found.request(mention)),
    }


def _json(tree: object) -> str:
    return _encode(tree).decode()
