"""The reports for programs: one JSON object, or one JSON line a result."""

from collections.abc import Iterable
from typing import Any, TextIO

import msgspec
from msgspec.structs import asdict

from ronda import __version__
from ronda.cli.report.order import by_url
from ronda.cli.report.style import Style
from ronda.model import Result, Site, State, Summary

_encode = msgspec.json.Encoder().encode


def write(
    results: Iterable[Result], summary: Summary, out: TextIO, _style: Style
) -> None:
    """Write one object, with a line for every result: such reports can be compared."""
    head = {"ronda": __version__, "summary": summary_tree(summary)}
    out.write(_json(head)[:-1] + ',"results":[')
    before = "\n"
    for result in by_url(results):
        out.write(before + line(result))
        before = ",\n"
    out.write("\n]}\n")


def write_lines(
    results: Iterable[Result], _summary: Summary, out: TextIO, _style: Style
) -> None:
    """Write one result a line."""
    out.writelines(f"{line(result)}\n" for result in by_url(results))


def line(result: Result) -> str:
    """A result as one line of JSON."""
    # The model leaves out what is at its default, where results are stored;
    # programs that read a report are spared that: every key is always there.
    certificate = result.certificate
    tree = asdict(result) | {
        "hops": [asdict(hop) for hop in result.hops],
        "certificate": asdict(certificate) if certificate else None,
        "found_in": [asdict(place) for place in result.found_in],
    }
    # A run has no plans: these are for what is watched.
    del tree["task"], tree["tasks"], tree["whole"]
    return _json(tree)


def summary_tree(summary: Summary) -> dict[str, Any]:
    """A summary as plain values, with every verdict counted."""
    return {
        "counts": {state.value: summary.counts.get(state, 0) for state in State},
        "checked": summary.checked,
        "excluded": summary.excluded,
        "seconds": summary.seconds,
        "requests": summary.requests,
        "interrupted": summary.interrupted,
        "left": summary.left,
        "problems": [
            {"place": asdict(problem.place), "message": problem.message}
            for problem in summary.problems
        ],
        "remarks": summary.remarks,
        "left_at": summary.left_at,
        "site": _site_tree(summary.site) if summary.site else None,
    }


def _site_tree(site: Site) -> dict[str, Any]:
    return asdict(site) | {"slowest": [asdict(page) for page in site.slowest]}


def _json(tree: dict[str, Any]) -> str:
    return _encode(tree).decode()
