"""The question of whoever plans a round: when will it end, and who holds it up?"""

from msgspec import Struct, field

from ronda.config import Settings
from ronda.model import State
from ronda.simulation.traits import Traits

HOLDING = 10  # hosts that are named


class Question(Struct, frozen=True, kw_only=True):
    """A web, and how it is to be asked."""

    traits: Traits
    settings: Settings
    processes: int = 1


class Holder(Struct, frozen=True):
    """A host that ends late."""

    host: str
    urls: int
    requests: int
    ends_at: float  # seconds from the start of the round
    answer: float  # seconds that one takes, on average
    delay: float = 0.0  # seconds that its robots.txt asks for


class Forecast(Struct, frozen=True, kw_only=True):
    """How a round would go."""

    seconds: float = 0.0
    urls: int = 0
    requests: int = 0
    counts: dict[State, int] = field(default_factory=dict)
    holders: tuple[Holder, ...] = ()
    marks: tuple[tuple[float, int], ...] = ()  # moments, and URLs that ended by then
    busy: float = 0.0  # seconds that all workers spent asking
    workers: int = 0
    memory: int = 0  # bytes at the peak, above a process that has not begun
    made_up: int = 0  # of them, about so many for the web, which a real round spares
    broken: tuple[str, ...] = ()  # rules of politeness; there must be none

    @property
    def utilisation(self) -> float:
        """The share of the round in which workers asked."""
        return self.busy / max(self.seconds * self.workers, 1e-9)

    def ended_by(self, share: float) -> float:
        """The moment at which a share of the URLs has a verdict."""
        wanted, done = share * self.urls, 0
        for moment, count in self.marks:
            done += count
            if done >= wanted:
                return moment
        return self.seconds


class Progress(Struct, frozen=True):
    """How far one process is."""

    read: int  # URLs of the list
    done: int
    seconds: float  # of simulated time


def merged(parts: list[Forecast]) -> Forecast:
    """The forecast of a round from those of its shares."""
    holders = [holder for part in parts for holder in part.holders]
    counts: dict[State, int] = {}
    for part in parts:
        for state, count in part.counts.items():
            counts[state] = counts.get(state, 0) + count
    return Forecast(
        seconds=max(part.seconds for part in parts),
        urls=sum(part.urls for part in parts),
        requests=sum(part.requests for part in parts),
        counts=counts,
        holders=tuple(sorted(holders, key=lambda h: -h.ends_at)[:HOLDING]),
        marks=tuple(sorted(mark for part in parts for mark in part.marks)),
        busy=sum(part.busy for part in parts),
        workers=sum(part.workers for part in parts),
        memory=sum(part.memory for part in parts),
        made_up=sum(part.made_up for part in parts),
        broken=tuple(words for part in parts for words in part.broken),
    )
