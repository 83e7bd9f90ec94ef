"""The list of URLs that a round begins with, in no order of hosts."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import gcd

from ronda.simulation.traits import Traits, sizes, url

_GOLDEN = 0.618034  # steps of this share of a circle come near nothing soon


def listing(traits: Traits, hosts: Sequence[int]) -> Iterator[str]:
    """All URLs of some hosts, each once, well mixed; none of them is kept."""
    counts = sizes(traits)
    ends = list(accumulate(counts[host] for host in hosts))
    total = ends[-1] if ends else 0
    step = _step(total)
    place = 0
    for _ in range(total):
        where = bisect_right(ends, place)
        host = hosts[where]
        yield url(host, place - ends[where] + counts[host])
        place = (place + step) % total


def _step(total: int) -> int:
    """A step that leads round the circle once before it comes back."""
    step = max(1, int(total * _GOLDEN))
    while gcd(step, total) > 1:
        step += 1
    return step
