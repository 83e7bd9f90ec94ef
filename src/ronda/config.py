"""ronda.toml as one frozen tree, checked once; unknown keys are errors."""

import tomllib
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from ronda import __version__
from ronda.errors import SettingsError

FILE_NAME = "ronda.toml"
IGNORE_NAME = ".rondaignore"

Seconds = Annotated[float, Meta(gt=0)]
Gap = Annotated[float, Meta(ge=0)]
Count = Annotated[int, Meta(ge=1)]
Tries = Annotated[int, Meta(ge=0, le=10)]


class Check(Struct, frozen=True, forbid_unknown_fields=True):
    """What is checked, and what counts as good."""

    method: Annotated[str, Meta(pattern="^(auto|HEAD|GET)$")] = "auto"
    accept: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    base_url: str = ""
    links: bool = True
    fragments: bool = False
    column: str = "url"
    robots: bool = True
    max_redirects: Annotated[int, Meta(ge=0, le=50)] = 10
    certificate_days: Annotated[int, Meta(ge=0)] = 14
    slow: Seconds | None = None
    max_time: Seconds | None = None


class Politeness(Struct, frozen=True, forbid_unknown_fields=True):
    """How fast a host, and the server behind it, may be asked."""

    interval: Gap | None = None
    per_host: Count | None = None
    server_interval: Gap | None = None
    per_server: Count | None = None
    max_wait: Gap = 60.0


class Fetch(Struct, frozen=True, forbid_unknown_fields=True):
    """How requests are made."""

    concurrency: Annotated[int, Meta(ge=1, le=4000)] = 128
    processes: Annotated[int, Meta(ge=1, le=64)] = 1
    timeout: Seconds = 20.0
    connect_timeout: Seconds = 10.0
    retries: Tries = 2
    retry_gap: Gap = 1.0
    user_agent: str = f"ronda/{__version__}"
    contact: str = ""
    headers: dict[str, str] = {}
    insecure: bool = False
    ca_file: str = ""
    http2: bool = True
    body_limit: Annotated[int, Meta(ge=1024)] = 10_000_000
    name_servers: tuple[str, ...] = ()


class Report(Struct, frozen=True, forbid_unknown_fields=True):
    """What is shown and written."""

    format: str = "text"
    output: tuple[str, ...] = ()
    quiet: bool = False
    verbose: bool = False
    progress: bool = True
    colour: bool = True


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that can be set."""

    check: Check = Check()
    politeness: Politeness = Politeness()
    fetch: Fetch = Fetch()
    report: Report = Report()


def load(path: Path | None, options: dict[str, dict[str, Any]]) -> Settings:
    """The settings of a file, with what was given on the command line over them.

    Args:
        path: the file; None looks for ronda.toml in the working directory.
        options: section → key → value; lists are added to the file's lists.

    Raises:
        SettingsError: one line that names the file, the key and what is wrong.
    """
    found = _read(path)
    for section, values in options.items():
        table = found.setdefault(section, {})
        if not isinstance(table, dict):
            continue  # the check below names it
        for key, value in values.items():
            table[key] = _over(table.get(key), value)
    return check(found, path or Path(FILE_NAME))


def _over(old: Any, new: Any) -> Any:
    if isinstance(old, list) and isinstance(new, list):
        return [*old, *new]
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **new}
    return new


def _read(path: Path | None) -> dict[str, Any]:
    if path is None:
        path = Path(FILE_NAME)
        if not path.is_file():
            return {}
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path}: not valid TOML: {error}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path}: not UTF-8") from None
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}") from None


def check(values: dict[str, Any], path: Path) -> Settings:
    """A tree of plain values as settings.

    Raises:
        SettingsError: the first wrong key or value.
    """
    try:
        return msgspec.convert(values, Settings)
    except msgspec.ValidationError as error:
        raise SettingsError(f"{path}: {_words(str(error), values)}") from None


def _words(text: str, values: dict[str, Any]) -> str:
    """What is wrong, with the key first and the known keys at hand."""
    message, _, where = text.partition(" - at `$")
    key = where.rstrip("`").lstrip(".")
    if "unknown field" not in message:
        return f"{key}: {message[0].lower()}{message[1:]}"
    name = message.split("`")[1]
    section = next((f for f in msgspec.structs.fields(Settings) if f.name == key), None)
    known = msgspec.structs.fields(section.type if section else Settings)
    names = ", ".join(f.name for f in known)
    return f"unknown key '{f'{key}.' if key else ''}{name}'; known here: {names}"
