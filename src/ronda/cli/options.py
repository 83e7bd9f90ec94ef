"""The options of the command line, each of which is also a setting."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args

import click
from msgspec import Struct

from ronda.cli.report import FORMATS
from ronda.config import Scope, default, described
from ronda.errors import UsageError


class Option(Struct, frozen=True):
    """One option: its spelling, and the setting it stands for."""

    flag: str
    setting: str  # section.key
    kind: Any = str
    value: Any = None  # what a flag without an argument sets
    many: bool = False
    metavar: str | None = None
    words: str = ""  # only where the setting's own do not fit

    @property
    def help(self) -> str:
        """What it is for, and what holds without it."""
        words = self.words or described(self.setting)
        value = default(self.setting)
        if self.value is not None or value is None or value in ("", (), {}):
            return words
        return f"{words}  [default: {value}]"

    @property
    def name(self) -> str:
        """The option as a Python name."""
        return self.flag.split(",")[-1].strip().lstrip("-").replace("-", "_")


# Of `ronda check` only: where links come from.
CHECK: tuple[Option, ...] = (
    Option("--base-url", "check.base_url", metavar="URL"),
    Option(
        "--no-links",
        "check.links",
        value=False,
        words="Check a URL given here only itself, not the links on it.",
    ),
    Option("--column", "check.column", metavar="NAME"),
)
# Of `ronda crawl` only.
CRAWL: tuple[Option, ...] = (
    # how far it goes
    Option("--scope", "crawl.scope", click.Choice(get_args(Scope))),
    Option("--depth", "crawl.depth", int),
    Option("--external-depth", "crawl.external_depth", int),
    Option("--max-pages", "crawl.max_pages", int),
    Option("--max-bytes", "crawl.max_bytes", int),
    Option("--max-page-size", "fetch.body_limit", int, metavar="BYTES"),
    Option("--bandwidth", "crawl.bandwidth", int, metavar="BYTES"),
    Option("--content-type", "crawl.content_types", many=True, metavar="TYPE"),
    Option("--max-queries", "crawl.max_queries", int),
    Option(
        "--no-traps",
        "crawl.traps",
        value=False,
        words="Follow also what looks as if it never ends.",
    ),
    Option(
        "--ignore-nofollow",
        "crawl.nofollow",
        value=False,
        words="Follow links that say nofollow, too.",
    ),
    Option(
        "--no-sitemaps",
        "crawl.sitemaps",
        value=False,
        words="Do not follow the sitemaps that a robots.txt names.",
    ),
    Option("--priority", "crawl.priority", many=True, metavar="PATTERN=+N"),
    # what it keeps
    Option("--db", "crawl.db", metavar="FILE"),
    Option("--save", "crawl.save", metavar="FOLDER"),
    Option("--warc", "crawl.warc", metavar="FILE"),
    Option("--plugin", "crawl.plugins", many=True, metavar="NAME"),
    Option("--watch", "crawl.watch", value=True),
)
# Of both.
SHARED: tuple[Option, ...] = (
    # what is checked, and what counts as good
    Option("--method", "check.method", click.Choice(["auto", "HEAD", "GET"])),
    Option("--accept", "check.accept", many=True, metavar="LIST"),
    Option("--include", "check.include", many=True, metavar="PATTERN"),
    Option("--exclude", "check.exclude", many=True, metavar="PATTERN"),
    Option("--fragments", "check.fragments", value=True),
    Option(
        "--no-robots",
        "check.robots",
        value=False,
        words="Neither ask for robots.txt nor obey it.",
    ),
    Option("--max-redirects", "check.max_redirects", int),
    Option("--certificate-days", "check.certificate_days", int),
    Option("--slow", "check.slow", float, metavar="SECONDS"),
    Option("--max-time", "check.max_time", float, metavar="SECONDS"),
    # politeness
    Option("--interval", "politeness.interval", float, metavar="SECONDS"),
    Option("--per-host", "politeness.per_host", int),
    Option("--server-interval", "politeness.server_interval", float, metavar="SECONDS"),
    Option("--per-server", "politeness.per_server", int),
    Option("--class-interval", "politeness.class_interval", float, metavar="SECONDS"),
    Option("--factor", "politeness.factor", float),
    Option("--max-wait", "politeness.max_wait", float, metavar="SECONDS"),
    # how requests are made
    Option("--concurrency", "fetch.concurrency", int),
    Option("--processes", "fetch.processes", int),
    Option("--timeout", "fetch.timeout", float, metavar="SECONDS"),
    Option("--connect-timeout", "fetch.connect_timeout", float, metavar="SECONDS"),
    Option("--min-rate", "fetch.min_rate", int, metavar="BYTES"),
    Option("--retries", "fetch.retries", int),
    Option("--user-agent", "fetch.user_agent", metavar="TEXT"),
    Option("--contact", "fetch.contact", metavar="TEXT"),
    Option(
        "--header",
        "fetch.headers",
        many=True,
        metavar="HEADER",
        words="A header to send with every request, to every host: 'Name: value'.",
    ),
    Option("--insecure", "fetch.insecure", value=True),
    Option("--ca-file", "fetch.ca_file", metavar="FILE"),
    Option("--ssh-key", "fetch.ssh_key", metavar="FILE"),
    Option("--name-server", "fetch.name_servers", many=True, metavar="ADDRESS"),
    # which addresses may be asked
    Option("--public-only", "guard.public_only", value=True),
    Option("--guard-allow", "guard.allow", many=True, metavar="NETWORK"),
    # what is shown
    Option("--format", "report.format", click.Choice(list(FORMATS))),
    Option("--output, -o", "report.output", many=True, metavar="FILE"),
    Option("--request-log", "report.request_log", metavar="FILE"),
    Option("--quiet, -q", "report.quiet", value=True),
    Option("--verbose, -v", "report.verbose", value=True),
    Option(
        "--no-progress", "report.progress", value=False, words="Do not show progress."
    ),
    Option(
        "--no-colour, --no-color", "report.colour", value=False, words="No colours."
    ),
)


# Of `ronda serve` only.
SERVE: tuple[Option, ...] = (
    Option("--db", "store.db", metavar="FILE|URL"),
    Option("--share", "serve.share", value=True),
    Option("--grace", "serve.grace", float, metavar="SECONDS"),
)

OPTIONS = CHECK + CRAWL + SERVE + SHARED


def with_config(command: Callable[..., Any]) -> Callable[..., Any]:
    """Let a command be told where its settings are."""
    return click.option(
        "--config",
        "config_file",
        type=click.Path(path_type=Path),
        help="Settings; without it, ronda.toml of the working directory.",
    )(command)


def with_format(command: Callable[..., Any]) -> Callable[..., Any]:
    """Let a command print for people or for programs."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(["text", "json"]),
        default="text",
        help="What to print.",
    )(command)


def with_options(
    options: Sequence[Option] = SHARED,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command options that are settings."""

    def with_them(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            flags = [flag.strip() for flag in option.flag.split(",")]
            extra: dict[str, Any] = {"help": option.help}
            if option.value is not None:
                extra |= {"is_flag": True, "flag_value": option.value, "default": None}
            else:
                extra |= {"type": option.kind, "multiple": option.many}
                extra |= {"metavar": option.metavar} if option.metavar else {}
            command = click.option(*flags, _destination(option), **extra)(command)
        return command

    return with_them


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
