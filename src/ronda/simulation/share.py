"""One process's share of a round that is simulated, and how it tells of it."""

import gc
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace

from ronda.config import Settings
from ronda.model import Found, Place, Visit
from ronda.simulation.chance import Chance
from ronda.simulation.forecast import HOLDING, Forecast, Holder, Progress, Question
from ronda.simulation.homes import BYTES, Home, server_of
from ronda.simulation.listing import listing
from ronda.simulation.processes import Tell
from ronda.simulation.stage import Stage, Trial
from ronda.simulation.traits import Traits, name

MARKS = 1000  # moments at which the progress of a round is noted
EVERY = 20_000  # URLs or requests after which a process tells how far it is


def simulate(share: tuple[Question, int], tell: Tell) -> None:
    """One process's share of a round; tells its progress, and its forecast."""
    question, part = share
    gc.freeze()
    before = _memory("VmRSS")
    hosts = shared_hosts(question.traits, part, question.processes)
    settings = _share(question.settings, question.processes)
    trial = Trial(traits=question.traits, settings=settings)
    scribe = Scribe(tell)
    stage = scribe.stage = Stage(trial, scribe.note, hosts)
    summary = stage.play(
        scribe.reading(listing(question.traits, hosts))
    ).account.summary()
    tell(
        Forecast(
            seconds=stage.clock.seconds,
            urls=summary.checked,
            requests=summary.requests,
            counts=summary.counts,
            holders=_holders(stage),
            marks=scribe.marks(),
            busy=stage.web.seconds,
            workers=settings.fetch.concurrency,
            memory=_memory("VmHWM") - before,
            made_up=BYTES * len(stage.web.homes),
            broken=tuple(stage.umpire.broken),
        )
    )


def _share(settings: Settings, count: int) -> Settings:
    """The settings of one of some processes, which share workers and memory."""
    fetch, frontier = settings.fetch, settings.frontier
    return replace(
        settings,
        fetch=replace(fetch, concurrency=max(1, fetch.concurrency // count)),
        frontier=replace(
            frontier,
            capacity=max(1, frontier.capacity // count),
            queue_count=max(1, frontier.queue_count // count),
        ),
    )


class Scribe:
    """Notes the progress of a round, and tells of it now and then."""

    stage: Stage

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._read = 0
        self._done = 0
        self._noted = 0
        self._marks: list[tuple[float, int]] = []

    def reading(self, urls: Iterable[str]) -> Iterator[Found]:
        """What a list names, counted."""
        place = Place("")
        for url in urls:
            self._read += 1
            if self._read % EVERY == 0:
                self._say()
            yield Found(url, place)

    def note(self, visit: Visit) -> None:
        """A URL has its verdict."""
        home = self.stage.web.homes[visit.target.host]
        home.done += 1
        home.ended_at = self.stage.clock.seconds
        self._done += 1
        if self._done % max(1, self._read // MARKS) == 0:
            self._mark()
        if self._done % EVERY == 0:
            self._say()

    def _mark(self) -> None:
        self._marks.append((self.stage.clock.seconds, self._done - self._noted))
        self._noted = self._done

    def _say(self) -> None:
        self._tell(Progress(self._read, self._done, self.stage.clock.seconds))

    def marks(self) -> tuple[tuple[float, int], ...]:
        """All moments, and how many URLs ended since the one before."""
        self._mark()
        return tuple(self._marks)


def shared_hosts(traits: Traits, part: int, parts: int) -> list[int]:
    """The hosts of one share: all of every server that falls to it."""
    chance = Chance(traits.seed)
    return [
        host
        for host in range(traits.hosts)
        if server_of(chance, name(host), traits) % parts == part
    ]


def _holders(stage: Stage) -> tuple[Holder, ...]:
    homes = stage.web.homes.most(_ended, HOLDING)
    return tuple(
        Holder(
            home.name,
            home.done,
            home.requests,
            round(home.ended_at, 3),
            round(home.seconds / max(home.requests, 1), 3),
            stage.web.fates.delay(home),
        )
        for home in homes
    )


def _ended(home: Home) -> float:
    return home.ended_at


def _memory(key: str) -> int:
    """Bytes of this process: now (VmRSS), or at its peak (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    line = next(line for line in lines if line.startswith(f"{key}:"))
    return int(line.split()[1]) * 1024
