"""What becomes of a request: the answer of a made-up host, and when it comes."""

from collections.abc import Sequence
from enum import StrEnum
from errno import ECONNREFUSED
from math import exp
from typing import NamedTuple

from ronda import urls
from ronda.model import Answer, Request, Timings
from ronda.simulation import traits
from ronda.simulation.chance import Chance, Draw
from ronda.simulation.homes import DELAYS, SPREAD, Home, Kind, Rules
from ronda.simulation.traits import Traits

CONNECTED = Timings(connect=0.01, total=0.1)
OK = Answer(status=200, timings=CONNECTED)
REFUSED = Answer(error=7, errno=ECONNREFUSED, error_text="refused")
UNTAKEN = Answer(error=28, error_text="not connected", timings=Timings(total=10.0))
UNANSWERED = Answer(
    error=28,
    error_text="not answered",
    timings=Timings(connect=0.01, tls=0.02, total=20.0),
)
RESET = Answer(error=56, error_text="reset", timings=CONNECTED)
_HTML = b"Content-Type: text/html\r\n"
_TEXT = b"Content-Type: text/plain\r\n"
ROBOTS = "/robots.txt"
LATE = "/late"  # a page that comes slowly, with links that nobody else names


class Instead(StrEnum):
    """What happens in the place of an answer."""

    CRASH = "crash"  # as soon as it is asked
    CRASH_LATE = "crash late"  # instead of an answer
    HANG = "hang"  # for ever, unless it is given up
    HANG_HARD = "hang hard"  # for ever, and only its worker can be given up


class Fate(NamedTuple):
    """An answer and the seconds it takes, or what happens in its place."""

    answer: Answer
    seconds: float
    instead: Instead | None = None


class Fates:
    """Decides by seed, URL and how often it was asked before."""

    def __init__(self, of: Traits, chance: Chance, hosts: Sequence[int]) -> None:
        self._traits = of
        self._chance = chance
        self._hosts = hosts  # that redirects and links lead to
        self._sizes = traits.sizes(of)
        self._tries: dict[str, int] = {}  # only of URLs for which it matters
        trouble = of.crashes + of.hangs + of.errors
        self._ends = (of.crashes, of.crashes + of.hangs, trouble)
        self._troubled = trouble + of.redirects  # share of URLs that are not just good

    def of(self, request: Request, home: Home, now: float) -> Fate:
        """What becomes of a request."""
        if home.kind is not Kind.UP and home.is_down(now):
            return Fate(UNTAKEN, 10.0) if home.kind is Kind.SILENT else _REFUSED
        draw = self._chance(request.url)
        share = draw.share()
        seconds = min(home.pace * exp(SPREAD * draw.bell()), 19.0)
        if request.url.endswith(ROBOTS):
            return self._robots(home, seconds, request.url)
        if request.url.endswith(LATE):
            return Fate(self._page(request), 19.0)
        if share >= self._troubled:
            return Fate(self._page(request) if request.body else OK, seconds)
        return self._trouble(request, draw, share, seconds)

    # -- trouble -------------------------------------------------------------------

    def _trouble(
        self, request: Request, draw: Draw, share: float, seconds: float
    ) -> Fate:
        crashes, hangs, errors = self._ends
        if share >= errors:
            host = self._hosts[draw.below(len(self._hosts))]
            there = traits.url(host, draw.below(self._sizes[host] + 1))
            return Fate(_moved(there, 301 + draw.below(2)), seconds)
        tries = self._tries[request.url] = self._tries.get(request.url, 0) + 1
        if share >= hangs:
            return self._error(draw, request.method, tries, seconds)
        ways = list(Instead)[:2] if share < crashes else list(Instead)[2:]
        # Most do it once; some do it to everybody who asks.
        often = tries == 1 or draw.below(4) == 0
        return Fate(OK, seconds, ways[draw.below(2)] if often else None)

    def _error(self, draw: Draw, method: str, tries: int, seconds: float) -> Fate:
        """An error of a URL: half of them are just not there, some heal."""
        kind, healed = draw.below(20), tries > 1 + draw.below(3)
        if kind < 10:
            return Fate(_status(404 if kind < 9 else 403), seconds)
        if kind < 12:
            return Fate(_status(405) if method == "HEAD" else OK, seconds)
        if kind == 12:
            return Fate(_status(500), seconds)
        if kind == 13:
            return Fate(UNANSWERED, 20.0)
        return Fate(OK, seconds) if healed else self._passing(draw, kind, seconds)

    def _passing(self, draw: Draw, kind: int, seconds: float) -> Fate:
        """An error that heals: a reset, a failure, or a wish that we slow down."""
        if kind == 14:
            return Fate(RESET, seconds)
        if kind == 15:
            return Fate(_status(502), seconds)
        if kind == 16:
            return Fate(_status(503), seconds)
        wait = self._traits.waits[draw.below(len(self._traits.waits))]
        header = f"Retry-After: {wait}\r\n".encode()
        return Fate(_status(429 if kind < 19 else 503, header), seconds)

    # -- pages ---------------------------------------------------------------------

    def _page(self, request: Request) -> Answer:
        links = self.links(request.url)
        if not links:
            return OK
        # Short, for large pages are read in a thread, which has no virtual time.
        here = urls.authority(request.url)
        own = f"{here}/"
        short = (link[len(here) :] if link.startswith(own) else link for link in links)
        body = "".join(f"<a href={link}>\n" for link in short)
        return Answer(
            status=200, headers=(_HTML,), timings=CONNECTED, body=body.encode()
        )

    def links(self, url: str) -> list[str]:
        """The links on a page; a late one has links of its own."""
        if url.endswith(LATE):
            return [f"{url}/{number}" for number in range(3 * self._traits.links)]
        draw = self._chance(f"links {url}")
        if draw.share() >= self._traits.pages:
            return []
        return [self._link(f"{url} {number}") for number in range(self._traits.links)]

    def _link(self, name: str) -> str:
        draw = self._chance(name)
        host = self._hosts[draw.below(len(self._hosts))]
        page = draw.below(2 * self._sizes[host] + 1)  # half of them are on no list
        there = traits.url(host, page)
        kind = draw.below(20)
        if kind == 0:  # by another door of the same host
            return there.replace("https:", "http:")
        if kind == 1:  # at an address that is also the home of hosts
            return f"http://{traits.address(host % self._traits.servers)}/{page}"
        return there

    # -- robots.txt ------------------------------------------------------------------

    def _robots(self, home: Home, seconds: float, url: str) -> Fate:
        match home.rules:
            case Rules.SILENT:
                return Fate(UNANSWERED, 20.0)
            case Rules.FAILING:
                return Fate(_status(500), seconds)
            case Rules.MISSING:
                return Fate(_status(404), seconds)
            case Rules.MOVED if url.startswith("http:"):
                return Fate(_moved(url.replace("http:", "https:"), 301), seconds)
        return Fate(_text(f"User-agent: *\n{self._rules(home)}"), seconds)

    def _rules(self, home: Home) -> str:
        if home.rules is Rules.DELAY:
            return f"Crawl-delay: {self.delay(home):g}\n"
        return "Disallow: /1\n" if home.rules is Rules.DISALLOW else "Disallow:\n"

    def delay(self, home: Home) -> float:
        """The Crawl-delay that a host asks for; 0 when it asks for none."""
        if home.rules is not Rules.DELAY:
            return 0.0
        return DELAYS[self._chance(f"delay {home.name}").below(len(DELAYS))]


_REFUSED = Fate(REFUSED, 0.05)


def _status(status: int, *headers: bytes) -> Answer:
    return Answer(status=status, headers=headers, timings=CONNECTED)


def _moved(to: str, status: int) -> Answer:
    return _status(status, f"Location: {to}\r\n".encode())


def _text(body: str) -> Answer:
    data = body.encode()
    return Answer(status=200, headers=(_TEXT,), timings=CONNECTED, body=data)
