"""What kind of address a text is: everybody's, the operator's own, or nobody's."""

from enum import StrEnum
from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

Address = IPv4Address | IPv6Address
MANY = 8192  # addresses that are remembered


class Kind(StrEnum):
    """Whom an address belongs to."""

    PUBLIC = "public"
    LOOPBACK = "loopback"
    PRIVATE = "private"
    LINK_LOCAL = "link_local"
    SHARED = "shared"  # between a provider and its customers (CGNAT)
    UNSPECIFIED = "unspecified"  # "this host": many systems take it for loopback
    METADATA = "metadata"  # where a cloud hands out its machines' secrets
    MULTICAST = "multicast"
    RESERVED = "reserved"  # documentation, benchmarks, and what nobody was given


OWN = frozenset(
    {Kind.LOOPBACK, Kind.PRIVATE, Kind.LINK_LOCAL, Kind.SHARED, Kind.UNSPECIFIED}
)

# By IANA's two registries of special addresses and its list of IPv6 unicast space,
# written out: what Python calls private differs from version to version. The first
# that holds an address decides.
_SHORT = (
    ("169.254.169.254/32", Kind.METADATA),  # nearly every cloud
    ("169.254.170.2/32", Kind.METADATA),  # containers at Amazon
    ("169.254.170.23/32", Kind.METADATA),
    ("169.254.0.23/32", Kind.METADATA),  # Tencent
    ("169.254.42.42/32", Kind.METADATA),  # Scaleway
    ("100.100.100.200/32", Kind.METADATA),  # Alibaba
    ("168.63.129.16/32", Kind.METADATA),  # Azure: amid the public addresses
    ("192.0.0.192/32", Kind.METADATA),  # Oracle
    ("0.0.0.0/8", Kind.UNSPECIFIED),
    ("10.0.0.0/8", Kind.PRIVATE),
    ("100.64.0.0/10", Kind.SHARED),
    ("127.0.0.0/8", Kind.LOOPBACK),
    ("169.254.0.0/16", Kind.LINK_LOCAL),
    ("172.16.0.0/12", Kind.PRIVATE),
    ("192.0.0.0/24", Kind.RESERVED),  # protocol assignments
    ("192.0.2.0/24", Kind.RESERVED),  # documentation
    ("192.88.99.0/24", Kind.RESERVED),  # once the way to 6to4
    ("192.168.0.0/16", Kind.PRIVATE),
    ("198.18.0.0/15", Kind.RESERVED),  # benchmarks
    ("198.51.100.0/24", Kind.RESERVED),  # documentation
    ("203.0.113.0/24", Kind.RESERVED),  # documentation
    ("224.0.0.0/4", Kind.MULTICAST),
    ("240.0.0.0/4", Kind.RESERVED),  # the broadcast address too
    ("0.0.0.0/0", Kind.PUBLIC),
)
_LONG = (
    ("fd00:ec2::254/128", Kind.METADATA),  # Amazon
    ("fd00:ec2::23/128", Kind.METADATA),
    ("fd20:ce::254/128", Kind.METADATA),  # Google
    ("fd00:42::42/128", Kind.METADATA),  # Scaleway
    ("fe80::a9fe:a9fe/128", Kind.METADATA),  # OpenStack
    ("::/128", Kind.UNSPECIFIED),
    ("::1/128", Kind.LOOPBACK),
    ("64:ff9b:1::/48", Kind.PRIVATE),  # a network's own NAT64
    ("fc00::/7", Kind.PRIVATE),
    ("fe80::/10", Kind.LINK_LOCAL),
    ("fec0::/10", Kind.PRIVATE),  # a site's own, in old networks
    ("ff00::/8", Kind.MULTICAST),
    ("2001::/23", Kind.RESERVED),  # protocol assignments
    ("2001:db8::/32", Kind.RESERVED),  # documentation
    ("3fff::/20", Kind.RESERVED),  # documentation
    ("2000::/3", Kind.PUBLIC),  # all that IANA has ever given out
    ("::/0", Kind.RESERVED),
)
_ALL = 0xFFFF_FFFF
# Forms that carry a short address: where it stands, in bits from the end, and the bits
# of it that are turned over.
_CARRIERS = (
    ("::ffff:0:0/96", 0, 0),  # mapped
    ("::ffff:0:0:0/96", 0, 0),  # translated
    ("::/96", 0, 0),  # compatible
    ("64:ff9b::/96", 0, 0),  # NAT64
    ("64:ff9b:1::/96", 0, 0),  # a network's own NAT64, as it is mostly laid out
    ("2002::/16", 80, 0),  # 6to4
    ("2001::/32", 0, _ALL),  # Teredo: the one asked,
    ("2001::/32", 64, 0),  # and the server on the way there
)


def _mask(network: str) -> tuple[int, int]:
    """The mask to lay on an address, and what comes of it within the network."""
    found = ip_network(network)
    return int(found.netmask), int(found.network_address)


_KINDS = {
    version: [(*_mask(network), found) for network, found in rows]
    for version, rows in ((4, _SHORT), (6, _LONG))
}
_FORMS = [(*_mask(network), shift, turned) for network, shift, turned in _CARRIERS]


@lru_cache(MANY)
def kind(address: str) -> Kind:
    """What kind an address is; of one within another form, that of the inner one.

    Raises:
        ValueError: the text is not an address.
    """
    found = parse(address)
    inner = [_of(one) for one in inside(found)] or [_of(found)]
    # Where a form carries two, both are on the way there.
    return next((one for one in inner if one is not Kind.PUBLIC), Kind.PUBLIC)


def is_own(found: Kind) -> bool:
    """Whether such addresses are the operator's own machines and networks."""
    return found in OWN


def parse(address: str) -> Address:
    """An address as a value, without the interface (`%eth0`) it may name.

    Raises:
        ValueError: the text is not an address.
    """
    return ip_address(address.partition("%")[0])


def network(text: str) -> IPv4Network | IPv6Network:
    """A network, or an address as a network of one.

    Raises:
        ValueError: the text is neither, in words for who wrote it.
    """
    try:
        return ip_network(text)
    except ValueError:
        pass
    try:
        meant = ip_network(text, strict=False)
    except ValueError:
        raise ValueError("no network such as 10.1.0.0/16, and no address") from None
    raise ValueError(f"not the first address of a network; write {meant}")


def inside(address: Address) -> list[IPv4Address]:
    """The short addresses that a long one carries: none, one, or two (Teredo)."""
    number = int(address)
    if address.version == 4 or number < 2:  # :: and ::1 are not compatible addresses
        return []
    return [
        IPv4Address((number >> shift & _ALL) ^ turned)
        for mask, first, shift, turned in _FORMS
        if number & mask == first
    ]


@lru_cache(MANY)
def short(address: str) -> str:
    """An address, or the short one that it maps: they are the same server."""
    if not address.startswith("::ffff:"):
        return address
    inner = inside(parse(address))
    return str(inner[0]) if inner else address


@lru_cache(MANY)
def literal(host: str) -> str:
    """The address that the host of a normalised URL spells out; "" for a name."""
    text = host[1:-1] if host[:1] == "[" else host
    if not text or not (text[-1].isdigit() or ":" in text):
        return ""
    try:
        parse(text)
    except ValueError:
        return ""
    return text


def _of(address: Address) -> Kind:
    number = int(address)
    rows = _KINDS[address.version]
    return next(found for mask, first, found in rows if number & mask == first)
