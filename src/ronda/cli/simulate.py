"""`ronda simulate`: a round tried out on a made-up web, in no time."""

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from math import isfinite
from typing import Any

import click
import msgspec

from ronda.cli.codes import BROKEN
from ronda.cli.options import (
    OPTIONS,
    as_settings,
    with_config,
    with_format,
    with_options,
)
from ronda.cli.progress import span
from ronda.config import Settings, load
from ronda.errors import UsageError
from ronda.model import State
from ronda.simulation import (
    Checked,
    Forecast,
    Holder,
    Progress,
    Question,
    Traits,
    check,
    foretell,
)

SMALL = 500_000  # URLs up to which one process is enough
EVERY = 2.0  # seconds between two lines of progress
SHARES = (0.5, 0.9, 0.99)  # of the URLs, whose moment is told
_MOST = 1 << 24  # hosts, or addresses for them
_SETTINGS = {
    *(f"politeness.{name}" for name in ("interval", "per_host", "factor", "max_wait")),
    *("politeness.server_interval", "politeness.per_server"),
    *("fetch.concurrency", "fetch.retries", "check.robots", "report.progress"),
}


def _with_settings(command: Callable[..., Any]) -> Callable[..., Any]:
    return with_options([o for o in OPTIONS if o.setting in _SETTINGS])(command)


@click.command(short_help="Try out a round on a made-up web.")
@click.option(
    "--seed",
    type=click.IntRange(0, 1 << 64),
    default=0,
    help="Makes the web: the same seed, the same web and round.",
)
@click.option(
    "--hosts",
    type=click.IntRange(1, _MOST),
    default=1000,
    show_default=True,
    help="Hosts of the web.",
)
@click.option(
    "--servers",
    type=click.IntRange(1, _MOST),
    help="Addresses that they share; without it, half as many as hosts.",
)
@click.option(
    "--urls",
    type=click.IntRange(1, 1_000_000_000),
    default=100_000,
    show_default=True,
    help="URLs of the round, over all hosts.",
)
@click.option(
    "--skew",
    type=click.FloatRange(0, 3),
    default=0.8,
    show_default=True,
    help="How much larger large hosts are: 0 all alike, 1 the second half the first.",
)
@click.option(
    "--latency",
    type=click.FloatRange(0.001, 10),
    default=0.3,
    show_default=True,
    metavar="SECONDS",
    help="Seconds of the median answer.",
)
@click.option(
    "--errors",
    type=click.FloatRange(0, 0.9),
    default=0.05,
    show_default=True,
    help="Share of the URLs that are broken, and of the hosts that have faults.",
)
@click.option(
    "--processes",
    type=click.IntRange(1, 64),
    help="Processes that simulate; without it, one, and for large rounds one a core.",
)
@click.option(
    "--check",
    "trials",
    type=click.IntRange(1),
    metavar="COUNT",
    help="Look for broken rules in so many small random webs, from the seed on.",
)
@with_config
@_with_settings
@with_format
def simulate(seed: int, trials: int | None, form: str, **given: Any) -> int:
    """Try out a round on a made-up web: when would it end, and who would hold it up?

    The real engine runs under a clock that leaps, against hosts, addresses, answers and
    faults made from a seed. Nobody is asked, and nothing leaves this machine.

    \b
    Examples:
      ronda simulate --hosts 1000 --urls 100000 --interval 1
      ronda simulate --hosts 100000 --urls 10000000 --interval 1 --concurrency 1000
      ronda simulate --check 1000 --seed 1

    Ends with 0; with 1 when a rule was broken, such as a gap not kept.
    """  # noqa: D301  # click reads \b
    settings = load(given.pop("config_file"), as_settings(given))
    if trials is not None:
        processes = min(given["processes"] or os.cpu_count() or 1, trials)
        return _check(seed, trials, processes, form)
    question = _question(seed, given, settings)
    found = _watched(question, settings.report.progress)
    if form == "json":
        sys.stdout.buffer.write(msgspec.json.encode(_structured(question, found)))
        sys.stdout.buffer.write(b"\n")
    else:
        click.echo("\n".join(_told(question, found)))
    return BROKEN if found.broken else 0


def _question(seed: int, given: dict[str, Any], settings: Settings) -> Question:
    for name in ("skew", "latency", "errors"):
        if not isfinite(given[name]):  # which no range refuses
            raise UsageError(f"--{name} {given[name]}: not a number")
    hosts, urls = given["hosts"], given["urls"]
    cores = 1 if urls <= SMALL else os.cpu_count() or 1
    return Question(
        traits=Traits(
            seed=seed,
            hosts=hosts,
            servers=given["servers"] or max(1, hosts // 2),
            urls=urls,
            skew=given["skew"],
            latency=given["latency"],
            errors=given["errors"],
        ),
        settings=settings,
        processes=min(given["processes"] or cores, settings.fetch.concurrency, hosts),
    )


def _watched(question: Question, wanted: bool) -> Forecast:
    """The forecast, with lines on standard error while it is made."""
    said = time.monotonic()
    for told in foretell(question):
        late = time.monotonic() - said >= EVERY
        if wanted and late and isinstance(told, Progress):
            said = time.monotonic()
            click.echo(_line(told, question.traits.urls), err=True)
    assert isinstance(told, Forecast)  # noqa: S101  # it is always the last
    return told


def _line(told: Progress, urls: int) -> str:
    if told.read < urls:
        return f"{told.read:,}/{urls:,} URLs read"
    return f"{told.done:,}/{urls:,} URLs checked, {span(told.seconds)} simulated"


# -- what is told ------------------------------------------------------------------


def _told(question: Question, found: Forecast) -> Iterator[str]:
    traits = question.traits
    yield (
        f"Seed {traits.seed}: {traits.urls:,} URLs of {traits.hosts:,} hosts "
        f"on {traits.servers:,} addresses."
    )
    yield f"The round would end after {_long(found.seconds)}."
    moments = (f"{share:.0%} after {_long(found.ended_by(share))}" for share in SHARES)
    yield f"  URLs done   {', '.join(moments)}"
    rate = found.requests / max(found.seconds, 1e-9)
    yield f"  requests    {found.requests:,}, {rate:,.1f} a second"
    yield f"  workers     {found.workers:,}, asking {found.utilisation:.1%} of the time"
    yield f"  memory      {_memory(found)}"
    yield f"  verdicts    {', '.join(_counts(found))}"
    yield "Hosts that hold it up:"
    yield from _table(found.holders)
    yield from (f"Broken: {words}" for words in found.broken)


def _memory(found: Forecast) -> str:
    each = found.memory / max(found.urls, 1)
    return (
        f"{found.memory / 1e6:,.0f} MB at the peak, {each:,.0f} bytes a URL; some "
        f"{found.made_up / 1e6:,.0f} MB of it are the made-up web, and connections "
        "and pages come on top"
    )


def _counts(found: Forecast) -> Iterator[str]:
    return (f"{found.counts[s]:,} {s}" for s in State if found.counts.get(s))


def _table(holders: Iterable[Holder]) -> Iterator[str]:
    yield f"  {'host':16} {'URLs':>10} {'requests':>10} {'ends after':>12}  because"
    for one in holders:
        yield (
            f"  {one.host:16} {one.urls:>10,} {one.requests:>10,} "
            f"{_long(one.ends_at):>12}  {_because(one)}"
        )


def _because(one: Holder) -> str:
    """What sets the pace of a host, as far as its own figures tell."""
    pace = one.ends_at / max(one.requests, 1)
    words = f"a request every {pace:.2f} s, an answer takes {one.answer:.2f} s"
    return f"{words}, Crawl-delay {one.delay:g} s" if one.delay else words


def _long(seconds: float) -> str:
    """A time in words; of a day and more, in days."""
    if seconds < 48 * 3600:
        return span(seconds)
    return f"{seconds / 86_400:.1f} days"


def _structured(question: Question, found: Forecast) -> dict[str, Any]:
    return {
        "traits": question.traits,
        "processes": question.processes,
        "seconds": round(found.seconds, 3),
        "done": {f"{s:g}": round(found.ended_by(s), 3) for s in SHARES},
        "urls": found.urls,
        "requests": found.requests,
        "workers": found.workers,
        "utilisation": round(found.utilisation, 4),
        "memory_bytes": found.memory,
        "made_up_bytes": found.made_up,
        "counts": found.counts,
        "holders": found.holders,
        "broken": found.broken,
    }


# -- many small webs ------------------------------------------------------------------


def _check(first: int, count: int, processes: int, form: str) -> int:
    failed: list[Checked] = []
    said = time.monotonic()
    for number, checked in enumerate(check(first, count, processes), 1):
        if checked.broken:
            failed.append(checked)
            if form == "text":
                click.echo("\n".join(_failure(checked)))
        if time.monotonic() - said >= EVERY:
            said = time.monotonic()
            click.echo(f"{number:,}/{count:,} webs", err=True)
    if form == "json":
        sys.stdout.buffer.write(msgspec.json.encode(failed) + b"\n")
    else:
        click.echo(f"{count:,} webs, {len(failed):,} of them with broken rules")
    return BROKEN if failed else 0


def _failure(checked: Checked) -> Iterator[str]:
    yield f"seed {checked.seed}: ronda simulate --check 1 --seed {checked.seed}"
    yield from (f"  {words}" for words in checked.broken)
