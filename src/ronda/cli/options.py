"""The options of the command line, each of which is also a setting."""

from collections.abc import Callable
from typing import Any

import click
from msgspec import Struct

from ronda.cli.report import FORMATS
from ronda.errors import UsageError


class Option(Struct, frozen=True):
    """One option: its spelling, the setting it stands for, and what it says."""

    flag: str
    setting: str  # section.key
    words: str
    kind: Any = str
    value: Any = None  # what a flag without an argument sets
    many: bool = False
    metavar: str | None = None

    @property
    def name(self) -> str:
        """The option as a Python name."""
        return self.flag.split(",")[-1].strip().lstrip("-").replace("-", "_")


OPTIONS: tuple[Option, ...] = (
    # what is checked, and what counts as good
    Option(
        "--method",
        "check.method",
        "How to ask: HEAD and then GET where HEAD fails (auto), or only one of them.",
        click.Choice(["auto", "HEAD", "GET"]),
    ),
    Option(
        "--accept",
        "check.accept",
        "Statuses, ranges or reason codes to take for good: 403,500-599,tls_expired.",
        many=True,
        metavar="LIST",
    ),
    Option(
        "--include",
        "check.include",
        "Check only URLs that match: a host, the beginning of a URL, a text with *, "
        "or re:REGEX.",
        many=True,
        metavar="PATTERN",
    ),
    Option(
        "--exclude",
        "check.exclude",
        "Leave out URLs that match (also one pattern a line in .rondaignore).",
        many=True,
        metavar="PATTERN",
    ),
    Option(
        "--base-url",
        "check.base_url",
        "Where relative links in documents are seen from.",
        metavar="URL",
    ),
    Option(
        "--no-links",
        "check.links",
        "Check a URL given here only itself, not the links on it.",
        value=False,
    ),
    Option(
        "--fragments",
        "check.fragments",
        "Check that the anchors links point to exist.",
        value=True,
    ),
    Option(
        "--column",
        "check.column",
        "The column of a CSV file that holds URLs.",
        metavar="NAME",
    ),
    Option(
        "--no-robots", "check.robots", "Do not ask for robots.txt first.", value=False
    ),
    Option(
        "--max-redirects", "check.max_redirects", "Redirects that are followed.", int
    ),
    Option(
        "--slow",
        "check.slow",
        "Warn of answers that take longer.",
        float,
        metavar="SECONDS",
    ),
    Option(
        "--max-time",
        "check.max_time",
        "End the run after this time, with a report of what was done.",
        float,
        metavar="SECONDS",
    ),
    # politeness
    Option(
        "--interval",
        "politeness.interval",
        "Least time between two requests to one host. [0.2; own machines 0]",
        float,
        metavar="SECONDS",
    ),
    Option(
        "--per-host",
        "politeness.per_host",
        "Requests to one host at once. [4; own machines unlimited]",
        int,
    ),
    Option(
        "--server-interval",
        "politeness.server_interval",
        "The same for one address, whatever its names. [0.1; own machines 0]",
        float,
        metavar="SECONDS",
    ),
    Option(
        "--per-server",
        "politeness.per_server",
        "Requests to one address at once. [8; own machines unlimited]",
        int,
    ),
    # how requests are made
    Option("--concurrency", "fetch.concurrency", "Requests under way at once.", int),
    Option(
        "--processes",
        "fetch.processes",
        "Processes that ask; more than one helps long lists of https hosts.",
        int,
    ),
    Option(
        "--timeout",
        "fetch.timeout",
        "Time for one request.",
        float,
        metavar="SECONDS",
    ),
    Option(
        "--connect-timeout",
        "fetch.connect_timeout",
        "Time to connect.",
        float,
        metavar="SECONDS",
    ),
    Option("--retries", "fetch.retries", "Further tries after a temporary fault.", int),
    Option("--user-agent", "fetch.user_agent", "Who we say we are.", metavar="TEXT"),
    Option(
        "--contact",
        "fetch.contact",
        "A URL or mail address for those we ask, added to the user agent.",
        metavar="TEXT",
    ),
    Option(
        "--header",
        "fetch.headers",
        "A header to send with every request: 'Name: value'.",
        many=True,
        metavar="HEADER",
    ),
    Option("--insecure", "fetch.insecure", "Do not verify certificates.", value=True),
    Option("--ca-file", "fetch.ca_file", "Trusted certificates (PEM).", metavar="FILE"),
    Option(
        "--name-server",
        "fetch.name_servers",
        "A name server to ask, address or address:port.",
        many=True,
        metavar="ADDRESS",
    ),
    # what is shown
    Option(
        "--format",
        "report.format",
        "What to print.",
        click.Choice(list(FORMATS)),
    ),
    Option(
        "--output, -o",
        "report.output",
        "Write a report to a file too; its ending picks the format. May be repeated.",
        many=True,
        metavar="FILE",
    ),
    Option("--quiet, -q", "report.quiet", "Print nothing but mistakes.", value=True),
    Option("--verbose, -v", "report.verbose", "Print good results too.", value=True),
    Option("--no-progress", "report.progress", "Show no progress.", value=False),
    Option("--no-colour, --no-color", "report.colour", "No colours.", value=False),
)


def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command all the options that are settings."""
    for option in reversed(OPTIONS):
        flags = [flag.strip() for flag in option.flag.split(",")]
        extra: dict[str, Any] = {"help": option.words}
        if option.value is not None:
            extra |= {"is_flag": True, "flag_value": option.value, "default": None}
        else:
            extra |= {"type": option.kind, "multiple": option.many}
            extra |= {"metavar": option.metavar} if option.metavar else {}
        command = click.option(*flags, _destination(option), **extra)(command)
    return command


def _destination(option: Option) -> str:
    return option.setting.replace(".", "__")


def as_settings(given: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What was given, as section → key → value."""
    found: dict[str, dict[str, Any]] = {}
    for option in OPTIONS:
        value = given.get(_destination(option))
        if value is None or value == ():
            continue
        section, _, key = option.setting.partition(".")
        found.setdefault(section, {})[key] = _shaped(option, value)
    return found


def _shaped(option: Option, value: Any) -> Any:
    if option.setting == "fetch.headers":
        return dict(_header(text) for text in value)
    return list(value) if option.many else value


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip() or "\n" in text or "\r" in text:
        raise UsageError(f"--header '{text}': write it as 'Name: value'")
    return name.strip(), value.strip()
