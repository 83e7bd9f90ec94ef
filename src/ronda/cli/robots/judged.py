"""A robots.txt with the way it came to us, and what it says of a path."""

from msgspec import Struct

from ronda.frontier.robots import Access, Robots
from ronda.frontier.rules import Rule
from ronda.model import Hop

ITSELF = "/robots.txt"


class Source(Struct, frozen=True, kw_only=True):
    """A robots.txt, and how we came by it."""

    name: str  # its URL, or the name of a file
    robots: Robots
    cut: bool = False  # there is more of it than is read
    access: Access = Access.FOUND
    status: int = 0  # 0: a file of this machine, or no answer
    message: str = ""  # what came back, in words; empty for a file
    hops: tuple[Hop, ...] = ()

    @property
    def found_at(self) -> str:
        """Where it really was, after all redirects."""
        return self.hops[-1].to if self.hops else self.name


class Judged(Struct, frozen=True):
    """What a robots.txt says of one path."""

    path: str
    allowed: bool
    rule: Rule | None = None  # that decides
    why: str = ""  # where no rule does


def judge(source: Source, agent: str, path: str) -> Judged:
    """What is said of a path, to an agent."""
    if path == ITSELF:
        return Judged(path, True, why="always allowed (RFC 9309, 2.2.2)")
    if source.access is Access.UNAVAILABLE:
        return Judged(path, True, why="there is no robots.txt")
    if source.access is Access.UNREACHABLE:
        return Judged(path, False, why="the robots.txt cannot be had")
    rule = source.robots.decide(agent, path)
    if rule is None:
        return Judged(path, True, why="no rule speaks of it")
    return Judged(path, rule.allow, rule)


def rule_line(rule: Rule) -> str:
    """A rule as the file writes it."""
    return f"{'Allow' if rule.allow else 'Disallow'}: {rule.text}"
