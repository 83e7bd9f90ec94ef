"""The gate of robots.txt: a host is asked for its rules before its first page."""

from collections.abc import Iterator

from ronda import urls
from ronda.frontier.robots import SIZE_LIMIT, Robots
from ronda.model import Answer, Request, Target, Verdict, Visit
from ronda.probes import verdict
from ronda.probes.faults import fault

Item = Target | Visit
ALL_ALLOWED = Robots()


class Gate:
    """Lets items through, turns them away, or keeps them until the rules are known."""

    def __init__(self, agent: str) -> None:
        # The product token, by which a file knows us.
        self._agent = agent.split("/", 1)[0].strip().lower()
        self._rules: dict[str, Robots | Verdict] = {}
        self._waiting: dict[str, list[Item]] = {}

    def check(self, item: Item) -> Verdict | bool | Visit:
        """True: go on. False: wait. A verdict: it ends. A visit: ask this first."""
        url = item.url if isinstance(item, Target) else item.request.url
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

    def _judge(self, rules: Robots | Verdict, url: str) -> Verdict | bool:
        if isinstance(rules, Verdict):
            return rules
        rule = rules.decide(self._agent, url)
        if rule is None or rule.allow:
            return True
        return verdict("robots_disallow", f"Disallow: {urls.shown(rule.path)}")

    def learn(
        self, target: Target, answer: Answer
    ) -> Iterator[tuple[Item, Verdict | bool]]:
        """Take in what came back for robots.txt; yields those who waited for it."""
        authority = target.url.removesuffix("/robots.txt")
        rules = self._rules[authority] = _read(answer)
        for item in self._waiting.pop(authority, ()):
            url = item.url if isinstance(item, Target) else item.request.url
            yield item, self._judge(rules, url)


def _authority(url: str) -> str:
    return url[: url.find("/", url.index("//") + 2)]


def _question(authority: str) -> Visit:
    target = Target(f"{authority}/robots.txt", urls.host(authority + "/"), robots=True)
    request = Request(target.url, "GET", body=SIZE_LIMIT)
    return Visit(target, request, target.host)


def _read(answer: Answer) -> Robots | Verdict:
    """RFC 9309, 2.3.1: found, not there, or not to be had.

    A host that cannot be reached at all is not asked again for each of its pages:
    they share the fault.
    """
    if answer.error:
        return fault(answer)
    if answer.status >= 500 or answer.status == 429:
        return verdict("robots_unreachable", f"status {answer.status}")
    if answer.status != 200:
        return ALL_ALLOWED
    return Robots.parse(answer.body)
