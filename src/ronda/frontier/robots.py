"""robots.txt by RFC 9309: parsed once, asked often."""

import re
from urllib.parse import quote

from msgspec import Struct

from ronda import urls

SIZE_LIMIT = 500 * 1024  # bytes that are parsed (RFC 9309, 2.5)
_LINE = re.compile(rb"[\r\n]+")
_TOKEN = re.compile(r"[A-Za-z_-]+")
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
# Characters a path keeps as they are; anything else is percent-encoded on both sides.
_SAFE = "!#$%&'()*+,/:;=?@[]~"
# Keys, with the misspellings that are common enough to be meant.
_KEYS = {
    "user-agent": "agent",
    "useragent": "agent",
    "user agent": "agent",
    "allow": "allow",
    "disallow": "disallow",
    "dissallow": "disallow",
    "dissalow": "disallow",
    "disalow": "disallow",
    "diasllow": "disallow",
    "disallaw": "disallow",
    "sitemap": "sitemap",
    "site-map": "sitemap",
    "crawl-delay": "delay",
    "crawldelay": "delay",
}


class Rule(Struct, frozen=True):
    """One allow or disallow line."""

    allow: bool
    path: str  # normalised, `*` and `$` still in it
    parts: tuple[str, ...]  # between the stars
    anchored: bool  # the last part must end the path

    def matches(self, path: str) -> bool:
        """Whether a path falls under the rule.

        Each part is looked for once, from where the one before it ended: a regular
        expression would try all ways to place them, and many stars take for ever.
        """
        first, *others = self.parts
        if not path.startswith(first):
            return False
        end = len(first)
        last = others.pop() if self.anchored and others else None
        for part in others:
            found = path.find(part, end)
            if found < 0:
                return False
            end = found + len(part)
        if last is not None:
            return len(path) - len(last) >= end and path.endswith(last)
        return not self.anchored or end == len(path)


class Group:
    """The rules for one user agent, longest first, allow before disallow."""

    def __init__(self) -> None:
        self.rules: list[Rule] = []
        self.delay: float | None = None

    def decide(self, path: str) -> Rule | None:
        """The rule that decides on a path: the longest that matches, allow on a tie."""
        for rule in self.rules:
            if rule.matches(path):
                return rule
        return None


class Robots:
    """What a host asks of robots."""

    def __init__(self) -> None:
        self._groups: dict[str, Group] = {}
        self.sitemaps: list[str] = []

    @classmethod
    def parse(cls, data: bytes) -> "Robots":
        """Read a file; whatever cannot be read in it is passed over."""
        robots = cls()
        agents: list[str] = []
        in_rules = False
        for key, value in _records(data):
            if key == "sitemap":
                robots.sitemaps.append(value)
            elif key == "agent":
                if in_rules:
                    agents, in_rules = [], False
                agents.append(_agent(value))
            else:
                in_rules = True
                robots._add(agents, key, value)
        for group in robots._groups.values():
            group.rules.sort(key=lambda rule: (-len(rule.path), not rule.allow))
        return robots

    def _add(self, agents: list[str], key: str, value: str) -> None:
        for agent in agents:
            group = self._groups.setdefault(agent, Group())
            if key == "delay":
                group.delay = _delay(value, group.delay)
            elif value:  # an empty rule matches nothing
                group.rules.extend(_rules(key == "allow", value))

    def group(self, agent: str) -> Group | None:
        """The group for an agent: its own, or the one for all."""
        # Only the file's side is cut to a token: "bot2" is not the file's "bot".
        return self._groups.get(agent.strip().lower()) or self._groups.get("*")

    def decide(self, agent: str, url: str) -> Rule | None:
        """The rule that decides on a URL; None when nothing speaks of it."""
        path = _path(url)
        group = self.group(agent)
        return group.decide(path) if group else None

    def allows(self, agent: str, url: str) -> bool:
        """Whether an agent may ask for a URL."""
        rule = self.decide(agent, url)
        return rule is None or rule.allow

    def crawl_delay(self, agent: str) -> float | None:
        """The seconds between requests that the host wishes for."""
        group = self.group(agent)
        return group.delay if group else None


def _records(data: bytes) -> list[tuple[str, str]]:
    if len(data) > SIZE_LIMIT:
        data = data[: data.rfind(b"\n", 0, SIZE_LIMIT) + 1 or SIZE_LIMIT]
    data = data.removeprefix(b"\xef\xbb\xbf")
    found = []
    for raw in _LINE.split(data):
        line = raw.partition(b"#")[0].replace(b"\0", b"").strip()
        name, colon, value = line.partition(b":")
        if not colon:  # "allow /path": the separator was forgotten
            name, _, value = line.partition(b" ")
        key = _KEYS.get(name.strip().lower().decode("ascii", "replace"))
        if key is not None:
            found.append((key, value.strip().decode("utf-8", "surrogateescape")))
    return found


def _agent(value: str) -> str:
    """The product token that is compared: letters, `_` and `-`, in lower case."""
    if value.lstrip()[:1] == "*":
        return "*"
    token = _TOKEN.match(value.strip())
    return token[0].lower() if token else value.strip().lower()


def _delay(value: str, old: float | None) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        return old
    return seconds if 0 <= seconds < 1e9 else old


def _rules(allow: bool, value: str) -> list[Rule]:
    path = _normalise(value)
    found = [_rule(allow, path)]
    folder, slash, page = path.rpartition("/")
    if allow and slash and page in {"index.htm", "index.html"}:
        found.append(_rule(allow, f"{folder}/$"))  # the same page by its other name
    return found


def _rule(allow: bool, path: str) -> Rule:
    anchored = path.endswith("$")
    parts = (path[:-1] if anchored else path).split("*")
    return Rule(allow, path, tuple(parts), anchored)


def _normalise(path: str) -> str:
    """Percent-encoding in one spelling: bytes beyond ASCII escaped, in upper case."""
    if not path.isascii():
        path = quote(path.encode("utf-8", "surrogateescape"), safe=_SAFE)
    if "%" in path:
        path = _ESCAPE.sub(lambda found: found[0].upper(), path)
    return path


def _path(url: str) -> str:
    """The path and query of a URL (a bare path is taken as it is)."""
    if not url.startswith("/"):
        _, slashes, rest = url.partition("//")
        rest = rest if slashes and urls.is_absolute(url) else url
        start = min((i for i in (rest.find("/"), rest.find("?")) if i >= 0), default=-1)
        url = rest[start:] if start >= 0 else "/"
        url = url if url.startswith("/") else "/" + url
    # Left as it is: a URL that is really asked for is percent-encoded already.
    return url.partition("#")[0]
