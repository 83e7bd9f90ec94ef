"""What a made-up web is like: how large, how slow, how often something goes wrong."""

from itertools import accumulate, pairwise

from msgspec import Struct


class Traits(Struct, frozen=True, kw_only=True):
    """Everything that a web is made from; the same traits, the same web."""

    seed: int = 0
    hosts: int = 100_000
    servers: int = 50_000  # addresses; hosts share them by chance
    urls: int = 10_000_000  # that are on the list, over all hosts
    skew: float = 0.8  # 0: all hosts are of one size; 1: the second is half the first
    latency: float = 0.3  # seconds of the median answer
    errors: float = 0.05  # share of the URLs; some of the hosts have faults too
    redirects: float = 0.05  # share of the URLs
    restless: float = 0.0  # share of the hosts that have several or changing addresses
    waits: tuple[int, ...] = (0, 1, 5, 30)  # seconds of Retry-After that are asked for
    pages: float = 0.0  # share of the URLs that have links, which are wanted
    links: int = 0  # on such a page
    crashes: float = 0.0  # share of the URLs that kill who asks for them
    hangs: float = 0.0  # share of the URLs that are never answered


def sizes(traits: Traits) -> list[int]:
    """How many URLs each host has, by Zipf's law; together as many as there are."""
    weights = [(number + 1) ** -traits.skew for number in range(traits.hosts)]
    scale = traits.urls / sum(weights)
    ends = [round(end * scale) for end in accumulate(weights)]
    ends[-1] = traits.urls
    return [end - start for start, end in pairwise([0, *ends])]


def name(host: int) -> str:
    """The name of a host."""
    return f"h{host}.example"


def address(server: int) -> str:
    """The address of a server: of strangers, though nobody ever dials it."""
    high, low = divmod(server, 256)
    return f"23.{high // 256}.{high % 256}.{low}"


def url(host: int, page: int) -> str:
    """The URL of a page; some hosts are still on plain http."""
    scheme = "http" if host % 8 == 5 else "https"
    return f"{scheme}://{name(host)}/{page}"
