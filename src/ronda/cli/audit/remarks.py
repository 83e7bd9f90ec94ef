"""The sentences of an audit: what was found, by what, and what could not be judged."""

from collections.abc import Iterator, Sequence

from ronda.cli.audit.findings import Findings
from ronda.cli.report.safe import safe_text
from ronda.cli.report.words import counted
from ronda.frontier.audit import Audit, Kind, Tally
from ronda.urls import shown

_UNITS = {1.0: "1 s", 0.001: "1 ms", 1e-6: "1 µs"}


def conclusion(found: Findings) -> str:
    """The line a reader came for."""
    audit = found.audit
    what = counted(audit.requests, "request")
    if audit.hosts:
        what += f" to {counted(len(audit.hosts), 'host')}"
    if audit.servers:
        what += f" on {counted(len(audit.servers), 'server')}"
    if audit.polite and found.unreadable:
        lines = counted(found.unreadable, "line")
        return f"not proven: {lines} cannot be read; no violation in {what}"
    if audit.polite and audit.unjudged:
        nameless = counted(audit.unjudged, "request")
        return f"not proven: {nameless} without host and server; no violation in {what}"
    tallies = (*audit.hosts, *audit.servers)
    if audit.polite and _free(tallies) == len(tallies):
        return f"nothing to judge: no limit holds for {what}"
    if audit.polite:
        return f"polite: {what}, no violation"
    broken = ", ".join(f"{shown(safe_text(k))} {v:,}" for k, v in audit.broken.items())
    return f"NOT polite: {counted(audit.count, 'violation')} ({broken}) in {what}"


def remarks(found: Findings) -> Iterator[str]:
    """What should be known beside it, a line each."""
    audit = found.audit
    yield f"Judged {_keys(audit)} by {_limits(found)}; {_moments(audit)}."
    tallies = (*audit.hosts, *audit.servers)
    if all(tally.most is None for tally in tallies):
        yield (
            "It is not known when requests ended: a moment is taken for a start, and "
            "how many were at once is not judged."
        )
    yield from _unproven(audit)
    if found.kind is Kind.ACCESS and found.agents:
        picks = "; --agent picks one" if found.agents > 1 else ""
        yield f"{counted(found.agents, 'user agent')}{picks}."
    if found.left_out:
        yield f"{counted(found.left_out, 'request')} left out: another agent or client."
    if found.unreadable:
        several = "; the first:" if found.unreadable > len(found.problems) else ":"
        yield f"{counted(found.unreadable, 'line')} cannot be read{several}"


def seconds(value: float, resolution: float = 1e-6) -> str:
    """Seconds as exactly as they are known, limits without needless zeros."""
    digits = {1.0: 0, 0.001: 3}.get(resolution, 6)
    text = f"{value:,.{digits}f}"
    return f"{text.rstrip('0').rstrip('.') if digits else text} s"


def _keys(audit: Audit) -> str:
    if audit.hosts and audit.servers:
        return "per host and per server"
    if audit.hosts:
        return "per host only (no server is named)"
    return "per server only (no host is named)" if audit.servers else "by no key"


def _limits(found: Findings) -> str:
    own = "the limits of the run" if found.limits == "run" else "the settings"
    flags = [f"--{name.replace('_', '-')}" for name in found.options]
    return f"{own} and {', '.join(flags)}" if flags else own


def _moments(audit: Audit) -> str:
    return f"moments are known to {_UNITS.get(audit.resolution, '1 µs')}"


def _unproven(audit: Audit) -> Iterator[str]:
    """What a clean judgement does not say, so that nobody takes it for more."""
    free = [_free(audit.hosts), _free(audit.servers)]
    if any(free):
        nouns = zip(free, ("host", "server"), strict=True)
        who = " and ".join(counted(count, noun) for count, noun in nouns if count)
        yield f"No limit holds for {who}: nothing is proven there."
    tallies = (*audit.hosts, *audit.servers)
    if any(0 < tally.interval <= audit.resolution for tally in tallies):
        limit = seconds(audit.resolution)
        yield f"Intervals of {limit} or less cannot be judged by such moments."


def _free(tallies: Sequence[Tally]) -> int:
    return sum(tally.interval == 0 and tally.at_once is None for tally in tallies)
