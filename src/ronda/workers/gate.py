"""The gate of robots.txt: a host is asked for its rules before its first page."""

from collections.abc import Iterator

from ronda import urls
from ronda.frontier import Item
from ronda.frontier.robots import SIZE_LIMIT, Robots
from ronda.model import Answer, Request, Target, Verdict, Visit
from ronda.probes import verdict

WEB = ("http:", "https:")  # the schemes that have a robots.txt
ALL_ALLOWED = Robots()

# libcurl's errors that any page of the host would meet too: names, connections, TLS.
_HOST_FAULTS = frozenset({5, 6, 7, 28, 35, 52, 55, 56, 60, 83, 90, 91, 97})

# True: go on. False: wait. A verdict: it ends here. An answer: the host's own fault,
# which its pages share.
Passed = bool | Verdict | Answer


class Gate:
    """Lets items through, turns them away, or keeps them until the rules are known."""

    def __init__(self, agent: str) -> None:
        # The product token, by which a file knows us.
        self._agent = agent.split("/", 1)[0].strip().lower()
        self._rules: dict[str, Robots | Verdict | Answer] = {}
        self._waiting: dict[str, list[Item]] = {}

    def check(self, item: Item) -> Passed | Visit:
        """Whether an item may be asked; a visit is to be asked first."""
        url = asked_url(item)
        authority = _authority(url)
        rules = self._rules.get(authority)
        if rules is not None:
            return self._judge(rules, url)
        waiting = self._waiting.get(authority)
        if waiting is not None:
            waiting.append(item)
            return False
        self._waiting[authority] = [item]
        return _question(authority)

    def _judge(self, rules: Robots | Verdict | Answer, url: str) -> Passed:
        if not isinstance(rules, Robots):
            return rules
        rule = rules.decide(self._agent, url)
        if rule is None or rule.allow:
            return True
        return verdict("robots_disallow", f"Disallow: {urls.shown(rule.path)}")

    def learn(self, target: Target, answer: Answer) -> Iterator[tuple[Item, Passed]]:
        """Take in what came back for robots.txt; yields those who waited for it."""
        authority = target.url.removesuffix("/robots.txt")
        rules = self._rules[authority] = _read(answer)
        for item in self._waiting.pop(authority, ()):
            yield item, self._judge(rules, asked_url(item))


def asked_url(item: Item) -> str:
    """The URL that an item will ask for next."""
    return item.url if isinstance(item, Target) else item.request.url


def has_robots(item: Item) -> bool:
    """Whether an item is of the web, and not robots.txt itself."""
    target = item if isinstance(item, Target) else item.target
    return not target.robots and asked_url(item).startswith(WEB)


def _authority(url: str) -> str:
    return url[: url.find("/", url.index("//") + 2)]


def _question(authority: str) -> Visit:
    target = Target(f"{authority}/robots.txt", urls.host(authority + "/"), robots=True)
    request = Request(target.url, "GET", body=SIZE_LIMIT, raw=True)
    return Visit(target, request, target.host)


def _read(answer: Answer) -> Robots | Verdict | Answer:
    """RFC 9309, 2.3.1: found, not there, or not to be had."""
    if answer.error in _HOST_FAULTS:
        return answer
    if answer.error:
        return verdict("robots_unreachable", answer.error_text)
    if answer.status >= 500 or answer.status == 429:
        return verdict("robots_unreachable", f"status {answer.status}")
    if answer.status != 200:
        return ALL_ALLOWED
    return Robots.parse(answer.body)
