"""How fast one host, and the server behind it, may be asked."""

from ipaddress import ip_address

from msgspec import Struct
from msgspec.structs import replace

from ronda.config import Politeness

# For strangers. The operator's own machines (loopback, private) have no gap.
INTERVAL = 0.2  # seconds between starts to one host
PER_HOST = 4
SERVER_INTERVAL = 0.1
PER_SERVER = 8

CLASS = "class:"  # begins the key that a blocking plug-in gave
_UNBOUNDED = 1 << 30


class Limits(Struct, frozen=True, gc=False):
    """The gaps and the numbers at once for a host and for its server."""

    interval: float = 0.0
    per_host: int = _UNBOUNDED
    server_interval: float = 0.0
    per_server: int = _UNBOUNDED


class Policy:
    """Settings turned into limits: what is not set depends on whose machine it is."""

    def __init__(self, settings: Politeness) -> None:
        own = Limits()
        self._own = _over(settings, own)
        self._strangers = _over(
            settings, Limits(INTERVAL, PER_HOST, SERVER_INTERVAL, PER_SERVER)
        )

    def limits(self, host: str, address: str) -> Limits:
        """The limits for a host, by where it lives ("" when it has no address)."""
        return self._own if is_own(host, address) else self._strangers


def is_own(host: str, address: str) -> bool:
    """Whether only machines of the operator's own are asked.

    That is: private addresses, his disk, his name servers, and nobody at all for a
    name that has no address. Only a plug-in's classes may be strangers without one.
    """
    if not address:
        return not host.startswith(CLASS)
    parsed = ip_address(address)
    return parsed.is_loopback or parsed.is_private


def literal_address(host: str) -> str:
    """The address a host key spells out itself, or an empty string."""
    text = host[1:-1] if host[:1] == "[" else host
    if not text or not (text[-1].isdigit() or ":" in text):
        return ""
    try:
        ip_address(text)
    except ValueError:
        return ""
    return text


def _over(settings: Politeness, limits: Limits) -> Limits:
    given = {f: getattr(settings, f) for f in Limits.__struct_fields__}
    return replace(limits, **{k: v for k, v in given.items() if v is not None})
