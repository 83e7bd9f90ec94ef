"""`ronda robots`: which rule of a robots.txt decides."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ronda import app, urls
from ronda.cli.codes import BROKEN
from ronda.cli.options import (
    OPTIONS,
    as_settings,
    with_config,
    with_format,
    with_options,
)
from ronda.cli.outputs import terminal_style
from ronda.cli.robots import structured, text
from ronda.cli.robots.judged import Source, judge
from ronda.config import Settings, load
from ronda.errors import UrlError, UsageError
from ronda.frontier.robots import SIZE_LIMIT, Access, Robots, access, product_token
from ronda.probes import http_verdict

_FILE = "http://localhost/"  # from where the paths are seen that a file is asked for
_SETTINGS = {
    *(f"fetch.{name}" for name in ("timeout", "connect_timeout", "name_servers")),
    *("fetch.insecure", "fetch.ca_file", "report.colour"),
}


def _with_settings(command: Callable[..., Any]) -> Callable[..., Any]:
    return with_options([o for o in OPTIONS if o.setting in _SETTINGS])(command)


@click.command(short_help="Show which line of a robots.txt decides.")
@click.argument("source", default="", metavar="URL")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--agent",
    default="",
    metavar="NAME",
    help="Whose rules to show; without it, those for the user agent of the settings.",
)
@with_config
@_with_settings
@with_format
def robots(source: str, paths: tuple[str, ...], **given: Any) -> int:
    """Show which rule of a robots.txt decides on a URL, and on paths of its host.

    The host is asked for its robots.txt; redirects are followed. For the URL and for
    every PATH you see the rule that decides, its line and its group. A file may stand
    in place of the URL: then each PATH is judged by it, or / if none is given.

    \b
    Examples:
      ronda robots https://your.site/page.html
      ronda robots https://your.site/ /private/ '/search?q=x' --agent Googlebot
      ronda robots ./robots.txt /private/ --format json

    Ends with 0 when all of them are allowed, 1 when one is disallowed, 2 when the
    URL, the file or a setting cannot be used.
    """  # noqa: D301  # click reads \b
    if not source:
        raise UsageError("nothing to show: give a URL, or a file")
    settings = load(given.pop("config_file"), as_settings(given))
    agent = product_token(given["agent"] or settings.fetch.agent)
    url = _url(source)
    asked = _asked(url, paths)
    read = asyncio.run(_from_host(settings, url)) if url else _from_file(source)
    judged = [judge(read, agent, path) for path in asked]
    if given["form"] == "json":
        structured.write(read, agent, judged, sys.stdout)
    else:
        style = terminal_style(sys.stdout, settings.report)
        text.write(read, agent, judged, sys.stdout, style)
    return 0 if all(one.allowed for one in judged) else BROKEN


def _url(source: str) -> str:
    """The URL that is given; "" when it is a file."""
    if "://" not in source:
        return ""
    url = _resolved(source, source)
    if urls.scheme(url) not in {"http", "https"}:
        raise UsageError(f"{urls.shown(source)}: only http and https have a robots.txt")
    return url


def _asked(url: str, paths: tuple[str, ...]) -> list[str]:
    """The paths that are asked about, each with its query."""
    found = [_resolved(url or _FILE, path) for path in paths]
    for other, path in zip(found, paths, strict=True):
        if url and urls.authority(other) != urls.authority(url):
            words = (
                f"not on {urls.shown(urls.authority(url))}, whose robots.txt this is"
            )
            raise UsageError(f"{urls.shown(path)}: {words}")
    if url or not found:
        found.insert(0, url or _FILE)
    return ["/" + one.split("/", 3)[3] for one in found]


def _resolved(base: str, reference: str) -> str:
    try:
        return urls.split_fragment(urls.join(base, reference))[0]
    except UrlError as error:
        raise UsageError(str(error)) from None


def _from_file(name: str) -> Source:
    try:
        with Path(name).open("rb") as file:
            data = file.read(SIZE_LIMIT + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        words = error.strerror if isinstance(error, OSError) else str(error)
        hint = "" if "/" in name else "; a URL begins with https:// or http://"
        raise UsageError(f"{urls.shown(name)}: {words}{hint}") from None
    return Source(name=name, robots=Robots.parse(data), cut=len(data) > SIZE_LIMIT)


async def _from_host(settings: Settings, url: str) -> Source:
    visit, answer, verdict = await app.robots_of(settings, url)
    means = access(answer)
    body = b""
    if means is Access.FOUND:
        body, verdict = answer.body, http_verdict(answer.status)  # not of its redirects
    return Source(
        name=visit.target.url,
        robots=Robots.parse(body),
        cut=len(body) > SIZE_LIMIT,
        access=means,
        status=answer.status,
        message=verdict.message,
        hops=visit.hops,
    )
