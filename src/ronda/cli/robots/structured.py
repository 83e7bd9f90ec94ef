"""Rules for programs: one JSON object."""

from collections.abc import Iterable
from typing import Any, TextIO

import msgspec

from ronda import __version__
from ronda.cli.report.safe import safe_text
from ronda.cli.robots.judged import Judged, Source, rule_line
from ronda.model import Hop

_encode = msgspec.json.Encoder().encode


def write(source: Source, agent: str, judged: Iterable[Judged], out: TextIO) -> None:
    """Write everything, with a line for every path."""
    out.write(_encode(_head(source, agent)).decode()[:-1] + ',"paths":[')
    before = "\n"
    for one in judged:
        out.write(before + _encode(_path(one)).decode())
        before = ",\n"
    out.write("\n]}\n")


def _head(source: Source, agent: str) -> dict[str, Any]:
    group = source.robots.group(agent)
    return {
        "ronda": __version__,
        "robots": safe_text(source.name),
        "found_at": safe_text(source.found_at),
        "access": source.access,
        "status": source.status,
        "message": safe_text(source.message),
        "hops": [_hop(hop) for hop in source.hops],
        "cut": source.cut,
        "agent": safe_text(agent),
        "user_agents": [safe_text(name) for name in group.agents] if group else None,
        "crawl_delay": group.delay if group else None,
        "sitemaps": [safe_text(url) for url in source.robots.sitemaps],
    }


def _hop(hop: Hop) -> dict[str, Any]:
    return {"url": safe_text(hop.url), "status": hop.status, "to": safe_text(hop.to)}


def _path(one: Judged) -> dict[str, Any]:
    rule = one.rule
    return {
        "path": one.path,
        "allowed": one.allowed,
        "why": one.why,
        "rule": safe_text(rule_line(rule)) if rule else None,
        "line": rule.line if rule else None,
        "user_agents": [safe_text(name) for name in rule.agents] if rule else None,
    }
