"""A run as people see it: how far it is, what it waits for, and what came of it."""

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from ronda import urls
from ronda.frontier import Wait
from ronda.model import Site, State, Summary
from ronda.workers.balance import READING, Balance
from ronda.workers.crew import Crew, Glimpse
from ronda.workers.hangs import Hangs
from ronda.workers.intake import Intake
from ronda.workers.parts import Parts
from ronda.workers.remarks import remarks
from ronda.workers.why import Why

MOST_LEFT = 10  # hosts that are told of with what was not checked there


class Account:
    """Looks into the parts of a run, and changes nothing."""

    def __init__(
        self,
        parts: Parts,
        crew: Crew,
        balance: Balance,
        intake: Intake,
        hangs: Hangs,
        why: Why,
    ) -> None:
        self._parts = parts
        self._crew = crew
        self._balance = balance
        self._intake = intake
        self._hangs = hangs
        self._why = why
        self._now = parts.clock.now
        self._started_at = self._now()
        self.requests = 0  # told by the run
        self.interrupted = ""  # why it ends early, if it does
        # What the input waits for, and how many; told by who reads it.
        self.reading: Callable[[], tuple[str, int]] = lambda: READING

    @property
    def fed(self) -> bool:
        """Whether all input was read."""
        return self._balance.fed

    @property
    def counts(self) -> Mapping[State, int]:
        """Verdicts so far."""
        return self._parts.book.counts

    @property
    def done(self) -> int:
        """How many URLs have a verdict."""
        return self._parts.book.counts.total()

    @property
    def total(self) -> int:
        """How many URLs are known to need one."""
        return len(self._parts.book)

    @property
    def seconds(self) -> float:
        """How long the run has taken."""
        return self._now() - self._started_at

    def glimpses(self) -> tuple[Glimpse, ...]:
        """What each worker is doing."""
        return self._crew.glimpses(self._now(), urls.shown)

    def open(self) -> list[tuple[str, int]]:
        """What the end of the run waits for."""
        return list(self._balance.open(self.reading()))

    def waiting(self, count: int) -> list[Wait]:
        """The hosts with the longest queues, and what they wait for."""
        now, frontier = self._now(), self._parts.frontier
        names = [name for name, _ in frontier.waiting(count)]
        return [found for name in names if (found := frontier.why(name, now))]

    def why(self, text: str) -> list[Wait]:
        """What a URL or a host waits for; without one, the hosts that hold it up."""
        return self._why(text, self._now()) if text else self.waiting(MOST_LEFT)

    def summary(self) -> Summary:
        """The run so far in numbers."""
        left = self.total - self.done
        hosts = self._parts.frontier.waiting(MOST_LEFT) if left else ()
        return Summary(
            counts=dict(self.counts),
            excluded=len(self._intake.excluded),
            problems=tuple(self._intake.problems),
            requests=self.requests,
            seconds=self.seconds,
            interrupted=self.interrupted,
            left=left,
            left_at=dict(hosts),
            site=self._site(),
            remarks=tuple(remarks(self._crew, self._hangs, self._parts)),
        )

    def _site(self) -> Site | None:
        survey = self._parts.survey
        if survey is None:
            return None
        beyond = self._intake.beyond
        site = survey.site(self._parts.book.places, beyond)
        # Of a site that was not read whole, nobody knows what is linked from nowhere.
        cut = self.interrupted or beyond.keys() & {"depth", "max_pages"}
        reach = self._parts.reach
        orphans = () if cut or reach is None else filter(reach.covers, site.orphans)
        return replace(site, orphans=tuple(orphans))
