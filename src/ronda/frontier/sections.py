"""A robots.txt taken apart: who is spoken to, and where the rules for them stand.

The rules themselves are read when they are first asked for: most of a file is for
others.
"""

import re
from collections.abc import Iterable, Iterator

SIZE_LIMIT = 500 * 1024  # bytes that are parsed (RFC 9309, 2.5)
ALL = "*"  # the agent whose group is for those who have none
# A byte order mark, also one cut short, and those of files that should be UTF-8.
_MARK = re.compile(rb"\xef(?:\xbb\xbf?)?|\xff\xfe|\xfe\xff")
# Keys, with the misspellings that are common enough to be meant.
_RULES = {
    "allow": True,
    "disallow": False,
    "dissallow": False,
    "dissalow": False,
    "disalow": False,
    "diasllow": False,
    "disallaw": False,
}
_OTHERS = {
    "user-agent": "agent",
    "useragent": "agent",
    "user agent": "agent",
    "sitemap": "sitemap",
    "site-map": "sitemap",
    "crawl-delay": "delay",
    "crawldelay": "delay",
}


def _lines(keys: Iterable[str]) -> re.Pattern[str]:
    """Lines that begin with one of some keys.

    Where the colon was forgotten, one word must follow. Possessive, so that no line is
    read twice, however long.
    """
    return re.compile(
        rf"\n(?!\n)[ \t\v\f]*+({'|'.join(keys)})"
        r"(?:[ \t\v\f]*+:([^\n#]*+)|[ \t\v\f]++([^\s:#]++)[ \t\v\f]*+(?=[\n#]|\Z))",
        re.IGNORECASE | re.ASCII,
    )


_RULE, _OTHER = _lines(_RULES), _lines(_OTHERS)
_TOKEN = re.compile(r"[A-Za-z_-]+")
_SECONDS = re.compile(r"\d{1,9}(?:\.\d*)?|\.\d+", re.ASCII)


class Span:
    """A part of the file."""

    __slots__ = ("end", "line", "start", "text")

    def __init__(self, text: str, start: int = 0, line: int = 1) -> None:
        self.text = text
        self.start, self.end = start, len(text)
        self.line = line  # its first

    def has_rules(self, end: int) -> bool:
        """Whether there is a rule before a place in the text."""
        return _RULE.search(self.text, self.start, end) is not None

    def rules(self) -> Iterator[tuple[bool, str, int]]:
        """Its rules: whether they allow, the path as written, the line."""
        for key, path, line, _ in _records(_RULE, self):
            if path:  # an empty rule matches nothing
                yield _RULES[key], path, line


class Section:
    """User agents, and what is said to them."""

    __slots__ = ("agents", "delay", "span")

    def __init__(self, span: Span) -> None:
        self.agents: list[str] = []  # as written
        self.span = span
        self.delay: float | None = None


def take_apart(data: bytes) -> tuple[list[tuple[str, Section]], list[str]]:
    """The sections by the product token of each agent they name, and the sitemaps.

    Whatever cannot be read is passed over.
    """
    found: list[tuple[str, Section]] = []
    sitemaps: list[str] = []
    section: Section | None = None
    text = _text(data)
    for key, value, line, start in _records(_OTHER, Span(text)):
        kind = _OTHERS[key]
        if kind == "sitemap":
            sitemaps.append(value)
        elif kind == "agent":
            section = _section(section, text, start, line)
            section.agents.append(value)
            found.append((_token(value), section))
        elif section is not None:
            section.delay = _delay(value, section.delay)
    return found, sitemaps


def _section(before: Section | None, text: str, start: int, line: int) -> Section:
    """The section that a line with a user agent begins, or belongs to."""
    if before is None:
        return Section(Span(text, start, line))
    span = before.span
    if span.has_rules(start):
        span.end = start
        return Section(Span(text, start, line))
    span.start, span.line = start, line
    # Only rules end a group (RFC 9309, 2.2.4): those to come are for both.
    return before if before.delay is None else Section(span)


def _records(keys: re.Pattern[str], span: Span) -> Iterator[tuple[str, str, int, int]]:
    """Key, value, line and place of every line that begins with such a key."""
    text, line, at = span.text, span.line, span.start
    for found in keys.finditer(text, span.start, span.end):
        start = found.start()
        line += text.count("\n", at, start)
        at = start
        key, value, word = found.groups()
        yield key.lower(), (word or value).strip(" \t\v\f"), line, start


def _text(data: bytes) -> str:
    """The text of a file, with an end of line before every line."""
    data = _cut(data)
    if mark := _MARK.match(data):
        data = data[mark.end() :]
    text = data.replace(b"\0", b"").decode("utf-8", "surrogateescape")
    return "\n" + text.replace("\r\n", "\n").replace("\r", "\n")


def _cut(data: bytes) -> bytes:
    """As much as is read: whole lines."""
    if len(data) <= SIZE_LIMIT:
        return data
    ends = (data.rfind(end, 0, SIZE_LIMIT + 1) for end in (b"\n", b"\r"))
    return data[: max(0, *ends)]


def _token(agent: str) -> str:
    """The product token that is compared: letters, `_` and `-`, in lower case."""
    if agent.split(maxsplit=1)[:1] == [ALL]:
        return ALL
    token = _TOKEN.match(agent)
    return token[0].lower() if token else agent.lower()


def _delay(value: str, old: float | None) -> float | None:
    """The longest that is asked for."""
    return max(float(value), old or 0.0) if _SECONDS.fullmatch(value) else old
