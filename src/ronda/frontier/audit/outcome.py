"""What an audit says: the judgement, and the evidence for it."""

from typing import Literal

from msgspec import Struct

Key = Literal["host", "server"]


class Mention(Struct, frozen=True, gc=False):
    """Where a log tells of a request, and its moment."""

    log: int
    line: int
    at: float  # seconds since 1970


class Violation(Struct, frozen=True, gc=False):
    """One limit, and the two requests that break it.

    Of too many at once, the first is the one that the second had to wait for: of those
    under way, the one that ended first.
    """

    key: Key
    name: str
    limit: str  # interval, per_host, server_interval, per_server, or a host's own rule
    allowed: float  # at least so many seconds, or at most so many at once
    found: float
    first: Mention
    second: Mention


class Tally(Struct, frozen=True, gc=False):
    """What was seen of one host or server."""

    name: str
    requests: int
    shortest: float | None  # seconds between two starts; None: there was but one
    interval: float  # the limit of it
    most: int | None  # at once; None: no end is known
    at_once: int | None  # the limit of it; None: there is none
    violations: int


class Audit(Struct, frozen=True):
    """The judgement, and what it rests on."""

    requests: int
    resolution: float  # seconds to which moments are known
    hosts: tuple[Tally, ...]
    servers: tuple[Tally, ...]
    broken: dict[str, int]  # limit → violations, all of them
    violations: tuple[Violation, ...]  # the first of them, by moment
    unjudged: int = 0  # requests that name neither host nor server

    @property
    def polite(self) -> bool:
        """Whether no limit was broken."""
        return not self.broken

    @property
    def count(self) -> int:
        """How many violations there are, told one by one or not."""
        return sum(self.broken.values())
