"""How fast one host, and the server behind it, may be asked: settings to limits."""

import re
from collections.abc import Callable, Iterable
from ipaddress import ip_address
from typing import Any

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from ronda import networks, urls
from ronda.config import EVERYTHING, Politeness
from ronda.errors import SettingsError, UrlError

_HOST = re.compile(r"[\w*\-]+(\.[\w*\-]+)*")
_NUMBERS = re.compile(r"[\d.]+")
CLASS = "class:"  # begins the key that a blocking plug-in gave
_UNBOUNDED = 1 << 30
LATELY = 1000  # hosts whose limits are not worked out again


class Limits(Struct, frozen=True, gc=False):
    """The gaps and the numbers at once for a host and for its server."""

    interval: float = 0.0  # seconds between starts
    per_host: int = _UNBOUNDED
    server_interval: float = 0.0
    per_server: int = _UNBOUNDED
    factor: float = 0.0  # the gap grows with the answer time
    ceiling: float = 30.0  # up to here
    crawl_delay_limit: float = 300.0
    max_wait: float = 60.0  # a longer Retry-After is not waited for
    failures_to_rest: int = _UNBOUNDED
    rest: float = 60.0
    patient: bool = False  # backs off from 429 and 503 even when no time is named
    rule: str = "interval"  # by which `interval` is what it is
    paced: bool = False  # whether any gap is kept at all; made from the others

    def __post_init__(self) -> None:
        paced = self.interval > 0 or self.server_interval > 0 or self.factor > 0
        force_setattr(self, "paced", paced)


# His own disk and name servers take whatever the operator has.
OWN = Limits()
# His own machines (loopback, private) have no gap. But the queue of connections of a
# small server holds five: one more than it takes waits a second or more.
NEAR = Limits(per_host=6)
STRANGERS = Limits(
    interval=0.2,
    per_host=4,
    server_interval=0.1,
    per_server=8,
    factor=1.0,
    failures_to_rest=5,
    patient=True,
)
CLASS_INTERVAL = 1.0  # seconds between two starts of a plug-in's class


class Policy:
    """Settings turned into limits: what is not set depends on whose machine it is."""

    def __init__(self, rows: Iterable[Politeness]) -> None:
        ordered = sorted(rows, key=lambda row: row.match != EVERYTHING)
        self._rows = [(_matcher(row.match), _given(row)) for row in ordered]
        self._delays: dict[str, float] = {}
        # Few differ, so that a host costs no limits of its own.
        self._made: dict[Limits, Limits] = {}
        # A host that has nothing to do for a moment comes back soon.
        self._lately: dict[tuple[str, str], Limits] = {}

    @property
    def longest(self) -> float:
        """The longest gap that any host may have to keep at its server."""
        given = [values.get("server_interval", 0.0) for _, values in self._rows]
        return float(max([STRANGERS.server_interval, *given]))

    def heed(self, host: str, delay: float) -> None:
        """Keep the Crawl-delay of a host's robots.txt from now on; 0: none."""
        if delay:
            self._delays[host] = delay
        else:
            self._delays.pop(host, None)
        self._lately.clear()

    def limits(self, host: str, address: str) -> Limits:
        """The limits for a host, by where it lives ("" when it has no address)."""
        found = self._lately.get((host, address))
        if found is None:
            if len(self._lately) >= LATELY:
                self._lately.clear()
            if len(self._made) >= LATELY:  # each may ask for a delay of its own
                self._made.clear()
            made = self._limits(host, address)
            found = self._made.setdefault(made, made)
            self._lately[host, address] = found
        return found

    def _limits(self, host: str, address: str) -> Limits:
        values: dict[str, Any] = {}
        for matches, given in self._rows:
            if matches(host, address):
                values |= given
        class_interval = values.pop("class_interval", CLASS_INTERVAL)
        limits = STRANGERS
        if is_own(host, address):
            limits = NEAR if address else OWN
        limits = replace(limits, **values)
        if host.startswith(CLASS):
            limits = replace(limits, interval=class_interval, rule="class-interval")
        delay = min(self._delays.get(host, 0.0), limits.crawl_delay_limit)
        if delay > limits.interval:
            limits = replace(limits, interval=delay, rule="crawl-delay")
        return limits


def is_own(host: str, address: str) -> bool:
    """Whether only machines of the operator's own are asked.

    That is: private addresses, his disk, his name servers, and nobody at all for a
    name that has no address. Only a plug-in's classes may be strangers without one.
    """
    if not address:
        return not host.startswith(CLASS)
    return networks.is_own(networks.kind(address))


def _given(row: Politeness) -> dict[str, Any]:
    fields = (f for f in row.__struct_fields__ if f != "match")
    return {f: value for f in fields if (value := getattr(row, f)) is not None}


def _matcher(text: str) -> Callable[[str, str], bool]:
    """Three cases: everything, a network or address, a pattern for names."""
    text = text.removeprefix("[").removesuffix("]")  # as URLs write long addresses
    if text == EVERYTHING:
        return lambda _host, _address: True
    try:
        if "://" not in text and ("/" in text or networks.literal(text)):
            network = networks.network(text)
            return lambda _host, address: (
                bool(address) and (ip_address(address) in network)
            )
        pattern = re.compile(".*".join(map(re.escape, _name(text).split("*"))))
    except ValueError as error:
        words = f"'{urls.shown(text)}': {error}"
        raise SettingsError(f"politeness.match: {words}") from None
    return lambda host, _address: pattern.fullmatch(host) is not None


def _name(text: str) -> str:
    """A host or a pattern of hosts, as hosts are written in normalised URLs.

    Raises:
        ValueError: it can match none.
    """
    text = text.lower().rstrip(".")
    if text.startswith(CLASS):
        return text
    if "://" in text:
        raise ValueError("a URL; write the host alone")
    if ":" in text:
        raise ValueError("write the host without its port: all ports count as one")
    if not _HOST.fullmatch(text) or _NUMBERS.fullmatch(text):
        raise ValueError("no host, pattern, address or network")
    try:
        return ".".join(map(_label, text.split(".")))
    except UrlError:
        raise ValueError("no name that a host can have") from None


def _label(text: str) -> str:
    return text if text.isascii() else urls.host(urls.normalise(f"http://{text}/"))
