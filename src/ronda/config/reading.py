"""Reads ronda.toml, lays options over it, and says in one line what is wrong."""

import re
from ipaddress import ip_address
from pathlib import Path
from typing import Any, get_args, get_origin

import msgspec
from msgspec import Meta
from msgspec.structs import fields

from ronda import networks, urls
from ronda.config import serving, watching
from ronda.config.sections import Settings
from ronda.errors import SettingsError, UrlError

FILE_NAME = "ronda.toml"
_KINDS = {
    "float": "number",
    "float | null": "number",
    "int": "whole number",
    "int | null": "whole number",
    "str": "text",
    "bool": "true or false",
    "array": "list",
    "object": "table",
}
_ROW = re.compile(r"\[\d+\]$")  # of a row: politeness[2]
_ROWS = {f.name for f in fields(Settings) if get_origin(f.type) is tuple}


def described(setting: str) -> str:
    """What a setting, named `section.key`, is for."""
    found: Any = Settings
    for name in setting.split("."):
        found = section(next(f.type for f in fields(found) if f.name == name))
    metas: tuple[Meta, ...] = found.__metadata__
    return next((meta.description for meta in metas if meta.description), "")


def default(setting: str) -> Any:
    """What a setting is when nobody sets it; None where that depends."""
    table, _, key = setting.partition(".")
    found = getattr(Settings(), table)
    return getattr(found[0] if isinstance(found, tuple) else found, key)


def section(kind: Any) -> Any:
    """The struct behind a section: its own type, or that of its rows."""
    return get_args(kind)[0] if get_origin(kind) is tuple else kind


def load(path: Path | None, options: dict[str, dict[str, Any]]) -> Settings:
    """The settings of a file, with what was given on the command line over them.

    Args:
        path: the file; None looks for ronda.toml in the working directory.
        options: section → key → value; lists are added to the file's lists.

    Raises:
        SettingsError: one line that names the file or option, the key, what is wrong.
    """
    found = _read(path)
    for name, values in options.items():
        table = found.setdefault(name, {})
        if name in _ROWS:
            found[name] = _with_row(table, values)
        elif isinstance(table, dict):  # if not, the conversion below names it
            for key, value in values.items():
                table[key] = _over(table.get(key), value)
    try:
        settings = msgspec.convert(found, Settings)
    except msgspec.ValidationError as error:
        words, tables = _words(str(error)), _tables(found, options)
        raise SettingsError(_where(words, path or Path(FILE_NAME), tables)) from None
    _require(settings)
    watching.require(settings.rounds)
    serving.require(settings.plans)
    return settings


def _tables(
    found: dict[str, Any], options: dict[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """The options by the table they stand in; of rows that is the last."""
    return {
        f"{name}[{len(found[name]) - 1}]"
        if name in _ROWS and isinstance(found[name], list)
        else name: values
        for name, values in options.items()
    }


def _where(words: str, path: Path, options: dict[str, dict[str, Any]]) -> str:
    """Name the option that was given, or else the file."""
    key = words.partition(":")[0]
    table, _, name = key.partition(".")
    if name in options.get(table, {}):
        return f"--{name.replace('_', '-')}{words.removeprefix(key)}"
    return f"{path}: {words}"


def _require(settings: Settings) -> None:
    """What no type can say."""
    base, trusted = settings.check.base_url, settings.fetch.ca_file
    try:
        urls.normalise(base or "http://a/")
    except UrlError as error:
        raise SettingsError(f"check.base_url: {error}") from None
    if settings.crawl.db and settings.check.fragments:
        # Of a page that is not read again, no anchors are known.
        raise SettingsError("crawl.db: cannot be used together with check.fragments")
    for name, path in (("ca_file", trusted), ("ssh_key", settings.fetch.ssh_key)):
        if path and not Path(path).is_file():
            raise SettingsError(f"fetch.{name}: no such file: {path}")
    for server in settings.fetch.name_servers:
        if not _is_server(server):
            words = f"'{server}' is neither an address nor address:port"
            raise SettingsError(f"fetch.name_servers: {words}")
    for network in settings.guard.allow:
        try:
            networks.network(network)
        except ValueError as error:
            words = f"'{urls.shown(network)}': {error}"
            raise SettingsError(f"guard.allow: {words}") from None
    headers = [*settings.fetch.headers.items(), ("user_agent", settings.fetch.agent)]
    for name, value in headers:
        if not (name + value).isascii() or not (name + value).isprintable():
            raise SettingsError(f"fetch: '{name}: {value}' is not plain ASCII text")


def _is_server(text: str) -> bool:
    host, _, port = text.rpartition(":")
    if not host or (":" in host and not host.startswith("[")):
        host, port = text, "53"  # an address alone
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return port.isdecimal() and 0 < int(port) < 65536


def _with_row(rows: Any, values: dict[str, Any]) -> Any:
    """The rows of a file, and after them the one that options make."""
    if not rows:
        return [values]
    return [*rows, values] if isinstance(rows, list) else rows


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
    import tomllib  # noqa: PLC0415  # most runs have no file to read

    try:
        return tomllib.loads(path.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path}: not valid TOML: {error}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path}: not UTF-8") from None
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}") from None


def _plain(message: str) -> str:
    """A message in the words of the settings' page, not of programmers."""
    for theirs, ours in _KINDS.items():
        message = message.replace(f"`{theirs}`", ours)
    return message


def _words(text: str) -> str:
    """What is wrong, with the key first and the known keys at hand."""
    message, _, where = text.partition(" - at `$")
    key = where.rstrip("`").lstrip(".")
    if key in _ROWS and "`array`" in message:
        return f"{key}: write it as rows, each under [[{key}]]"
    if "missing required field" in message:
        return f"{key}.{message.split('`')[1]}: must be set"
    if "unknown field" not in message:
        return f"{key}: {_plain(message[0].lower() + message[1:])}"
    name = message.split("`")[1]
    table = next((f for f in fields(Settings) if f.name == _ROW.sub("", key)), None)
    known = fields(section(table.type) if table else Settings)
    names = ", ".join(f.name for f in known)
    return f"unknown key '{f'{key}.' if key else ''}{name}'; known here: {names}"
