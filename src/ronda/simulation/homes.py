"""The hosts of a made-up web: where each lives, how it behaves, what it has seen."""

from collections.abc import Callable
from enum import StrEnum
from math import exp

from ronda.simulation.chance import Chance, Draw
from ronda.simulation.traits import Traits, address
from ronda.simulation.umpire import Asked

DELAYS = (2.0, 5.0, 10.0)  # seconds of Crawl-delay that are asked for
LIVES = (300.0, 3600.0, 86_400.0)  # seconds that an address holds
SHORT_LIVES = (2.0, 20.0, 300.0)  # of hosts that move
BYTES = 800  # of memory that one host takes here, with its server and its name
SPREAD = 0.7  # of the pace of hosts, and of the answers of one host (log-normal)


class Kind(StrEnum):
    """How a host behaves as a whole."""

    UP = "up"
    DOWN = "down"  # connections are refused
    SILENT = "silent"  # connections are not taken
    FLAPPING = "flapping"  # down every now and then
    NAMELESS = "nameless"  # no such name
    UNNAMED = "unnamed"  # its name server fails


class Rules(StrEnum):
    """What comes of asking for a robots.txt."""

    MISSING = "missing"
    PLAIN = "plain"
    DISALLOW = "disallow"
    DELAY = "delay"
    MOVED = "moved"
    FAILING = "failing"
    SILENT = "silent"


class Home:
    """One host."""

    __slots__ = (
        "asked",
        "done",
        "ended_at",
        "kind",
        "lookups",
        "name",
        "pace",
        "requests",
        "restless",
        "rules",
        "seconds",
        "told",
    )

    def __init__(self, name: str, draw: Draw, of: Traits) -> None:
        self.name = name
        self.kind = _kind(draw, of.errors)
        self.rules = _rules(draw, of.errors)
        self.pace = of.latency * exp(SPREAD * draw.bell())  # seconds, median
        self.restless = draw.share() < of.restless
        self.asked = Asked()
        self.lookups = 0
        # Addresses that the name servers have told; or it has none but an address.
        self.told: tuple[str, ...] = () if name[0] == "h" else (name,)
        # What came of it, for those who ask who held up a round.
        self.done = 0  # URLs of its own that have their verdict
        self.requests = 0
        self.seconds = 0.0  # of answering
        self.ended_at = 0.0  # when the last of its own URLs had its verdict

    def is_down(self, now: float) -> bool:
        """Whether connections fail at a moment."""
        if self.kind is Kind.FLAPPING:
            return int(now / 20) % 3 == 0
        return self.kind in {Kind.DOWN, Kind.SILENT}


def _kind(draw: Draw, errors: float) -> Kind:
    """A tenth of the share of errors for each fault, for hosts are rarely down."""
    faults = (Kind.DOWN, Kind.SILENT, Kind.FLAPPING, Kind.NAMELESS, Kind.UNNAMED)
    place = int(draw.share() * 10 / errors) if errors else len(faults)
    return faults[place] if place < len(faults) else Kind.UP


def _rules(draw: Draw, errors: float) -> Rules:
    share = draw.share()
    bad = errors / 10
    if share < 2 * bad:
        return Rules.SILENT if share < bad else Rules.FAILING
    table = ((0.5, Rules.MISSING), (0.82, Rules.PLAIN), (0.93, Rules.DISALLOW))
    for end, rules in (*table, (0.96, Rules.DELAY)):
        if share < end:
            return rules
    return Rules.MOVED


def server_of(chance: Chance, place: str, of: Traits) -> int:
    """The number of the server at a place: a host, or one of its several addresses."""
    return chance(f"at {place}").below(of.servers)


class Homes:
    """All hosts, each made when somebody first asks for it."""

    def __init__(self, of: Traits, chance: Chance) -> None:
        self._traits = of
        self._chance = chance
        self._made: dict[str, Home] = {}

    def __getitem__(self, name: str) -> Home:
        home = self._made.get(name)
        if home is None:
            draw = self._chance(f"host {name}")
            home = self._made[name] = Home(name, draw, self._traits)
        return home

    def __len__(self) -> int:
        return len(self._made)

    def most(self, key: Callable[[Home], float], count: int) -> list[Home]:
        """The hosts of which something is the most."""
        return sorted(self._made.values(), key=key, reverse=True)[:count]

    def addresses(self, home: Home) -> tuple[str, ...]:
        """Where a host lives at its next lookup."""
        home.lookups += 1
        if not home.restless:
            return (self._address(home.name),)
        places = [f"{home.name} {home.lookups} {one}" for one in range(3)]
        count = 1 + self._chance(places[0]).below(3)
        return tuple(dict.fromkeys(map(self._address, places[:count])))

    def _address(self, place: str) -> str:
        return address(server_of(self._chance, place, self._traits))

    def life(self, home: Home) -> float:
        """For how many seconds its address holds."""
        lives = SHORT_LIVES if home.restless else LIVES
        return lives[self._chance(f"life {home.name}").below(len(lives))]
