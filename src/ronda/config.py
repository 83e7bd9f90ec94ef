"""ronda.toml as one frozen tree, checked once; unknown keys are errors."""

from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import fields

from ronda import __version__, urls
from ronda.errors import SettingsError, UrlError

FILE_NAME = "ronda.toml"
IGNORE_NAME = ".rondaignore"


Seconds = Annotated[float, Meta(ge=0.001, le=10_000_000)]  # a millisecond to months
Gap = Annotated[float, Meta(ge=0, le=10_000_000)]
Count = Annotated[int, Meta(ge=1)]
Tries = Annotated[int, Meta(ge=0, le=10)]

# The description of a setting stands at its field, and nowhere else: docs/reference/
# and ronda.example.toml are made from here. None is "no limit" or "it depends", and
# such a setting has an example of what may stand in its place.


class Check(Struct, frozen=True, forbid_unknown_fields=True):
    """What is checked, and what counts as good."""

    method: Annotated[
        Literal["auto", "HEAD", "GET"],
        Meta(description="How to ask: HEAD, then GET where HEAD fails (auto); or one."),
    ] = "auto"
    accept: Annotated[
        tuple[str, ...],
        Meta(description="What to take for good: 403, 500-599 or a code: tls_expired."),
    ] = ()
    include: Annotated[
        tuple[str, ...],
        Meta(
            description="Check only URLs that match: a host, the beginning of a URL, "
            "a text with *, or re:REGEX."
        ),
    ] = ()
    exclude: Annotated[
        tuple[str, ...],
        Meta(
            description="Leave out URLs that match; also one pattern a line in "
            ".rondaignore."
        ),
    ] = ()
    base_url: Annotated[
        str, Meta(description="Where relative links are seen from; empty: their file.")
    ] = ""
    links: Annotated[
        bool,
        Meta(description="Check the links on a URL that is given as an input too."),
    ] = True
    fragments: Annotated[
        bool, Meta(description="Check that the anchors that links point to exist.")
    ] = False
    column: Annotated[
        str, Meta(description="The column of a CSV file that holds the URLs.")
    ] = "url"
    robots: Annotated[
        bool, Meta(description="Ask each host for its robots.txt first, and obey it.")
    ] = True
    max_redirects: Annotated[
        int, Meta(ge=0, le=50, description="Redirects that are followed for one URL.")
    ] = 10
    certificate_days: Annotated[
        int, Meta(ge=0, description="Warn of certificates that end within these days.")
    ] = 14
    slow: Annotated[
        Seconds | None,
        Meta(
            description="Warn of answers that take more seconds; not set: never.",
            examples=[5.0],
        ),
    ] = None
    max_time: Annotated[
        Seconds | None,
        Meta(
            description="Seconds after which the run ends; not set: no limit.",
            examples=[600.0],
        ),
    ] = None


class Politeness(Struct, frozen=True, forbid_unknown_fields=True):
    """How fast a host, and the server behind it, may be asked."""

    interval: Annotated[
        Gap | None,
        Meta(
            description="Seconds between two requests to one host; "
            "not set: 0.2, and 0 for your own machines (loopback, private).",
            examples=[0.2],
        ),
    ] = None
    per_host: Annotated[
        Count | None,
        Meta(
            description="Requests to one host at once; "
            "not set: 4, and no limit for your own machines.",
            examples=[4],
        ),
    ] = None
    server_interval: Annotated[
        Gap | None,
        Meta(
            description="Seconds between two requests to one address, whatever its "
            "names; not set: 0.1, and 0 for your own machines.",
            examples=[0.1],
        ),
    ] = None
    per_server: Annotated[
        Count | None,
        Meta(
            description="Requests to one address at once; "
            "not set: 8, and no limit for your own machines.",
            examples=[8],
        ),
    ] = None
    max_wait: Annotated[
        Gap,
        Meta(description="Longest Retry-After, in seconds, that is waited for."),
    ] = 60.0


class Fetch(Struct, frozen=True, forbid_unknown_fields=True):
    """How requests are made."""

    concurrency: Annotated[
        int, Meta(ge=1, le=4000, description="Requests under way at once, in all.")
    ] = 128
    processes: Annotated[
        int,
        Meta(
            ge=1,
            le=64,
            description="Processes that ask; more help with many https hosts.",
        ),
    ] = 1
    timeout: Annotated[
        Seconds, Meta(description="Seconds that one request may take.")
    ] = 20.0
    connect_timeout: Annotated[
        Seconds, Meta(description="Seconds of that time to connect, TLS included.")
    ] = 10.0
    retries: Annotated[
        Tries, Meta(description="Further tries after a temporary fault.")
    ] = 2
    retry_gap: Annotated[
        Gap,
        Meta(
            description="Seconds before the first further try; each next one doubles."
        ),
    ] = 1.0
    user_agent: Annotated[
        str,
        Meta(
            description="Who we say we are, also to robots.txt (up to the slash); "
            "empty: ronda and its version."
        ),
    ] = ""
    contact: Annotated[
        str, Meta(description="A URL or mail address, added to the user agent.")
    ] = ""
    headers: Annotated[
        dict[str, str],
        Meta(description="Headers to send with every request, to every host."),
    ] = {}
    insecure: Annotated[bool, Meta(description="Do not verify certificates.")] = False
    ca_file: Annotated[
        str,
        Meta(description="Trusted certificates, a PEM file; empty: the system's."),
    ] = ""
    ssh_key: Annotated[
        str,
        Meta(description="A private key for sftp; empty: only passwords are offered."),
    ] = ""
    http2: Annotated[
        bool, Meta(description="Speak HTTP/2 with https servers that offer it.")
    ] = True
    body_limit: Annotated[
        int, Meta(ge=1024, description="Bytes of a page that are read for its links.")
    ] = 10_000_000
    name_servers: Annotated[
        tuple[str, ...],
        Meta(description="Name servers, address or address:port; empty: the system's."),
    ] = ()

    @property
    def agent(self) -> str:
        """The user agent as it is sent."""
        name = self.user_agent or f"ronda/{__version__}"
        return f"{name} (+{self.contact})" if self.contact else name


class Report(Struct, frozen=True, forbid_unknown_fields=True):
    """What is shown and written."""

    format: Annotated[
        str, Meta(description="What to print: the name of a report format.")
    ] = "text"
    output: Annotated[
        tuple[str, ...],
        Meta(description="Files to write too; the ending of each picks its format."),
    ] = ()
    quiet: Annotated[
        bool, Meta(description="Print nothing but mistakes in the input.")
    ] = False
    verbose: Annotated[bool, Meta(description="Print good results too.")] = False
    progress: Annotated[
        bool, Meta(description="Show on standard error how far the run is.")
    ] = True
    colour: Annotated[bool, Meta(description="Use colours in a terminal.")] = True


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that can be set."""

    check: Check = Check()
    politeness: Politeness = Politeness()
    fetch: Fetch = Fetch()
    report: Report = Report()


def described(setting: str) -> str:
    """What a setting, named `section.key`, is for."""
    found: Any = Settings
    for name in setting.split("."):
        found = next(f.type for f in fields(found) if f.name == name)
    meta: Meta = found.__metadata__[0]
    return meta.description or ""


def load(path: Path | None, options: dict[str, dict[str, Any]]) -> Settings:
    """The settings of a file, with what was given on the command line over them.

    Args:
        path: the file; None looks for ronda.toml in the working directory.
        options: section → key → value; lists are added to the file's lists.

    Raises:
        SettingsError: one line that names the file or option, the key, what is wrong.
    """
    found = _read(path)
    for section, values in options.items():
        table = found.setdefault(section, {})
        if not isinstance(table, dict):
            continue  # the conversion below names it
        for key, value in values.items():
            table[key] = _over(table.get(key), value)
    try:
        settings = msgspec.convert(found, Settings)
    except msgspec.ValidationError as error:
        words = _words(str(error))
        raise SettingsError(_where(words, path or Path(FILE_NAME), options)) from None
    _require(settings)
    return settings


def _where(words: str, path: Path, options: dict[str, dict[str, Any]]) -> str:
    """Name the option that was given, or else the file."""
    key = words.partition(":")[0]
    section, _, name = key.partition(".")
    if name in options.get(section, {}):
        return f"--{name.replace('_', '-')}{words.removeprefix(key)}"
    return f"{path}: {words}"


def _require(settings: Settings) -> None:
    """What no type can say."""
    base, trusted = settings.check.base_url, settings.fetch.ca_file
    try:
        urls.normalise(base or "http://a/")
    except UrlError as error:
        raise SettingsError(f"check.base_url: {error}") from None
    for name, path in (("ca_file", trusted), ("ssh_key", settings.fetch.ssh_key)):
        if path and not Path(path).is_file():
            raise SettingsError(f"fetch.{name}: no such file: {path}")
    for server in settings.fetch.name_servers:
        if not _is_server(server):
            words = f"'{server}' is neither an address nor address:port"
            raise SettingsError(f"fetch.name_servers: {words}")
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


def _words(text: str) -> str:
    """What is wrong, with the key first and the known keys at hand."""
    message, _, where = text.partition(" - at `$")
    key = where.rstrip("`").lstrip(".")
    if "unknown field" not in message:
        return f"{key}: {message[0].lower()}{message[1:]}"
    name = message.split("`")[1]
    section = next((f for f in fields(Settings) if f.name == key), None)
    known = fields(section.type if section else Settings)
    names = ", ".join(f.name for f in known)
    return f"unknown key '{f'{key}.' if key else ''}{name}'; known here: {names}"
