"""robots.txt by RFC 9309: parsed once, asked often."""

import re
from collections.abc import Iterator
from enum import StrEnum

from ronda.frontier import spelling
from ronda.frontier.rules import Index, Rule, heavier, weight
from ronda.frontier.sections import ALL, SIZE_LIMIT, Section, take_apart
from ronda.model import Answer

__all__ = ["SIZE_LIMIT", "Access", "Group", "Robots", "Rule", "access", "product_token"]

INDEX = "/index.htm"  # or .html: a folder by another name
# A whole user agent: the token, then a version or a comment.
_PRODUCT = re.compile(r"([^\s/()]+)\s*[/(]")


class Access(StrEnum):
    """What came of asking for a robots.txt (RFC 9309, 2.3.1)."""

    FOUND = "found"  # its rules apply
    UNAVAILABLE = "unavailable"  # there is none: all is allowed
    UNREACHABLE = "unreachable"  # it cannot be had now: nothing is allowed


def access(answer: Answer) -> Access:
    """What an answer to the question for robots.txt means."""
    # 429 is no word on the file, but on us: come back later.
    if answer.error or answer.status >= 500 or answer.status == 429:
        return Access.UNREACHABLE
    return Access.FOUND if answer.status == 200 else Access.UNAVAILABLE


class Group:
    """All that a file says to one user agent."""

    __slots__ = ("_disallowing", "_index", "_sections")

    def __init__(self) -> None:
        self._sections: list[Section] = []
        self._index: Index | None = None  # both made when first asked
        self._disallowing: Index | None = None

    def add(self, section: Section) -> None:
        """Take in a section, once."""
        if not self._sections or self._sections[-1] is not section:
            self._sections.append(section)

    @property
    def agents(self) -> list[str]:
        """As the file names them."""
        return [agent for section in self._sections for agent in section.agents]

    @property
    def delay(self) -> float | None:
        """The longest that is asked for, in seconds."""
        delays = (section.delay for section in self._sections)
        return max((delay for delay in delays if delay is not None), default=None)

    def rules(self) -> Iterator[Rule]:
        """All rules, as they are compared."""
        # Sections may share their rules: these are read once.
        for section in {id(one.span): one for one in self._sections}.values():
            agents = tuple(section.agents)
            for allow, text, line in section.span.rules():
                # The usual case first: there may be thousands.
                if spelling.is_simple_rule(text) and not (allow and INDEX in text):
                    heavy = weight(len(text), allow, line)
                    yield Rule(allow, text, line, text, agents, heavy)
                else:
                    yield from _spelled(allow, text, line, agents)

    def decide(self, path: str) -> Rule | None:
        """The rule that decides on a path: the longest that matches, allow on a tie."""
        if self._index is None:
            self._index = Index(self.rules())
        if spelling.is_simple(path):
            return self._index.find(path)
        written = spelling.written(path)
        plain = spelling.plain_url(written)
        if path.isascii():
            return heavier(self._index.find(written), self._index.find(plain))
        # No URL yet: allowed by nothing but what is written just so.
        return heavier(self._index.find(path), self._disallows(plain))

    def _disallows(self, path: str) -> Rule | None:
        if self._disallowing is None:
            self._disallowing = Index(rule for rule in self.rules() if not rule.allow)
        return self._disallowing.find(path)


class Robots:
    """What a host asks of robots."""

    __slots__ = ("_groups", "sitemaps")

    def __init__(self) -> None:
        self._groups: dict[str, Group] = {}
        self.sitemaps: list[str] = []

    @classmethod
    def parse(cls, data: bytes) -> "Robots":
        """Read a file; whatever cannot be read in it is passed over."""
        robots = cls()
        sections, robots.sitemaps = take_apart(data)
        for token, section in sections:
            if token not in robots._groups:
                robots._groups[token] = Group()
            robots._groups[token].add(section)
        return robots

    def group(self, agent: str) -> Group | None:
        """The group for an agent, its token or its whole name; or the one for all."""
        found = self._groups.get(product_token(agent).lower())
        return found or self._groups.get(ALL)

    def decide(self, agent: str, url: str) -> Rule | None:
        """The rule that decides on a URL; None when nothing speaks of it."""
        group = self.group(agent)
        return group.decide(spelling.path_of(url)) if group else None

    def allows(self, agent: str, url: str) -> bool:
        """Whether an agent may ask for a URL."""
        rule = self.decide(agent, url)
        return rule is None or rule.allow

    def crawl_delay(self, agent: str) -> float | None:
        """The seconds between requests that the host wishes for."""
        group = self.group(agent)
        return group.delay if group else None


def product_token(agent: str) -> str:
    """The name by which a file knows an agent, of which all may be given."""
    agent = agent.strip()
    product = _PRODUCT.match(agent)
    # Only the file's side is cut to letters: "bot2" is not the file's "bot".
    return product[1] if product else agent


def _spelled(
    allow: bool, text: str, line: int, agents: tuple[str, ...]
) -> Iterator[Rule]:
    """A line as one rule, or as several that together mean the same."""
    path = spelling.written(text)
    heavy = weight(len(spelling.plain(path)), allow, line)
    yield Rule(allow, path, line, text, agents, heavy)
    if not allow:
        # In doubt we stay away: an escape that need not be one covers the letter too.
        plain = spelling.plain_rule(path)
        if plain != path:
            yield Rule(False, plain, line, text, agents, heavy)
        return
    folder, slash, page = path.rpartition("/")
    if (slash + page).startswith(INDEX):
        # The same page by its other name, as Google has it.
        path = f"{folder}/$"
        yield Rule(True, path, line, text, agents, weight(len(path), True, line))
