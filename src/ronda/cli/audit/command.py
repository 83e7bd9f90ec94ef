"""`ronda audit`: was a run polite?"""

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from ronda.cli.audit import structured, text
from ronda.cli.audit.findings import Findings
from ronda.cli.audit.intake import Picked, asked, collect
from ronda.cli.audit.limits import limits_for, own_rows
from ronda.cli.audit.sources import Source
from ronda.cli.codes import BROKEN, UNUSABLE
from ronda.cli.options import (
    OPTIONS,
    as_settings,
    with_config,
    with_format,
    with_options,
)
from ronda.cli.outputs import terminal_style
from ronda.config import Politeness, load
from ronda.errors import UsageError
from ronda.frontier.audit import KNOWN, Log, LogFormat, judge

SHOWN = 20  # violations that are shown one by one
LIMITS = ("interval", "per_host", "server_interval", "per_server")
_SETTINGS = {*(f"politeness.{name}" for name in LIMITS), "report.colour"}


def _with_limits(command: Callable[..., Any]) -> Callable[..., Any]:
    return with_options([o for o in OPTIONS if o.setting in _SETTINGS])(command)


@click.command(short_help="Prove from a log that a run was polite.")
@click.argument("names", nargs=-1, metavar="LOG...")
@with_config
@click.option(
    "--log-format",
    default="",
    metavar="FORMAT",
    help="How an access log is written, in nginx's notation. combined, "
    "vhost_combined, common and JSON lines are recognised without it.",
)
@click.option(
    "--agent",
    default="",
    metavar="TEXT",
    help="Judge only requests whose user agent contains this text.",
)
@click.option(
    "--client",
    default="",
    metavar="ADDRESS",
    help="Judge only requests that came from this address.",
)
@click.option(
    "--host",
    default="",
    metavar="NAME",
    help="The host that was asked, where an access log does not say.",
)
@_with_limits
@with_format
@click.option("--all", "show_all", is_flag=True, help="Show every violation.")
def audit(names: tuple[str, ...], config_file: Path | None, **given: Any) -> int:
    """Prove from logs that a run was polite, or name the requests that were not.

    A LOG is what `ronda check --request-log` wrote, or the access log of a server; -
    is standard input, and .gz is unpacked. Several are judged as one. The limits are
    those of the run, where its log tells them, or else of the settings; an option
    goes over both, and holds for every host.

    \b
    Examples:
      ronda audit run.jsonl
      ronda audit access.log --agent ronda --host www.your.site --interval 5
      ronda audit access.log.1.gz access.log --log-format \\
        '$msec $host $server_addr "$request" $request_time "$http_user_agent"'

    Ends with 0 when no limit was broken, 1 when one was, 2 when a log holds no
    request, or lines that cannot be read: then nothing is proven.
    """  # noqa: D301  # click reads \b
    if not names:
        raise UsageError("nothing to audit: give a log, or -")
    options = as_settings(given)
    settings = load(config_file, options)
    over = options.get("politeness", {})
    picked = Picked(given["agent"], given["client"], given["host"])
    every = given["show_all"] or given["form"] == "json"
    logs = _logs(names, given["log_format"])
    found = _findings(logs, picked, settings.politeness, over, None if every else SHOWN)
    if given["form"] == "json":
        structured.write(found, sys.stdout)
    else:
        text.write(found, sys.stdout, terminal_style(sys.stdout, settings.report))
    if not found.audit.polite:
        return BROKEN
    return 0 if found.proven else UNUSABLE


def _logs(names: Sequence[str], form: str) -> list[Log]:
    """Each log once: named twice, every request would seem to be two at once."""
    read = KNOWN.get(form) or LogFormat.parse(form) if form else None
    unique = {name if name == "-" else Path(name).resolve(): name for name in names}
    return [Log(name, n, form=read) for n, name in enumerate(unique.values())]


def _findings(
    logs: Sequence[Log],
    picked: Picked,
    rows: Sequence[Politeness],
    over: dict[str, Any],
    keep: int | None,
) -> Findings:
    with ExitStack() as files:
        sources = [Source(log.name, files) for log in logs]
        requests = collect(logs, sources, picked)
        resolution = max(log.resolution for log in logs)
        limits = limits_for(logs, rows, over)
        judged = judge(requests, limits, resolution=resolution, keep=keep)
        told = asked(judged, logs, sources)
    return Findings(
        audit=judged,
        kind=next(log.kind for log in logs if log.kind),
        logs=tuple(log.name for log in logs),
        limits="settings" if own_rows(logs) is None else "run",
        options=tuple(over),
        asked=told,
        agents=len(picked.agents),
        left_out=picked.left_out,
        unreadable=sum(log.unreadable for log in logs),
        problems=tuple(problem for log in logs for problem in log.problems),
    )
