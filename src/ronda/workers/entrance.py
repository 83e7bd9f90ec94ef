"""The way into the frontier: past the gate of robots.txt, or turned away at it."""

import logging
from collections.abc import Callable

from msgspec.structs import replace

from ronda import urls
from ronda.frontier import Item, Lease
from ronda.model import Answer, Done, Found, Verdict, Visit
from ronda.probes import verdict
from ronda.workers.balance import Balance
from ronda.workers.foreman import is_grave
from ronda.workers.gate import Gate, Passed, asked_url, has_robots
from ronda.workers.parts import Parts
from ronda.workers.remarks import last_line
from ronda.workers.visits import advance, begin, begin_bare

log = logging.getLogger(__name__)

End = Callable[[Visit, Verdict, Answer], None]


class Entrance:
    """Queues what may be asked, and ends what may not."""

    def __init__(
        self,
        parts: Parts,
        balance: Balance,
        end: End,
        entered: Callable[[], None],
        named: Callable[[Found], None],
    ) -> None:
        self._parts = parts
        self._frontier = parts.frontier
        self._now = parts.clock.now
        self._balance = balance
        self._end = end  # told a visit with its verdict
        self._entered = entered  # told that something was queued
        self.gate: Gate | None = None
        if parts.settings.check.robots:
            agent = parts.settings.fetch.agent
            sitemaps = named if parts.settings.crawl.sitemaps else None
            self.gate = Gate(agent, parts.shelf, self._heed, parts.attic, sitemaps)

    @property
    def room(self) -> int:
        """How many targets may still wait in memory, those at the gate too."""
        held = self.gate.waiting if self.gate is not None else 0
        return self._frontier.room - held

    def put(self, item: Item, delay: float = 0.0) -> None:
        """Let an item in, or let the robots.txt of its host be asked for first."""
        if self.gate is not None and has_robots(item):
            passed = self.gate.check(item, self._now())
            if isinstance(passed, Visit):
                self._balance.begun += 1
                item = passed
            elif passed is False:
                return  # it waits in the gate
            elif passed is not True:
                self._turn_away(item, passed)
                return
        self._frontier.put(item, self._now(), delay)
        self._entered()

    def _turn_away(self, item: Item, passed: Verdict | Answer) -> None:
        """End an item that may not be asked."""
        visit = begin(item, self._parts.handlers)
        if isinstance(passed, Verdict):
            self._end(visit, passed, Answer())
            return
        # As if it had been asked, for the last time, and met the same fault.
        tries = self._parts.settings.fetch.retries
        last = replace(
            visit,
            request=replace(visit.request, method="GET", fresh=True),
            attempts=visit.attempts + tries,
        )
        parts = self._parts
        now = parts.clock.epoch()
        step = advance(last, passed, now, parts.handlers, parts.plans)
        if not isinstance(step, Done):
            self._end(visit, verdict("own_fault"), passed)
        elif visit.progress is None:
            self._end(visit, step.verdict, passed)
        else:
            self._end(step.visit or visit, step.verdict, passed)

    def open_anew(self, now: float) -> None:
        """Let those pass the gate again who are queued by rules that have ended."""
        if self.gate is None or now < self.gate.ends_at:
            return
        for host in self.gate.ended(now):
            for item in self._frontier.recall(host):
                self.put(item)

    # -- a robots.txt has come -------------------------------------------------------

    def learn(
        self, lease: Lease, visit: Visit, answer: Answer, now: float
    ) -> list[tuple[Item, Passed]]:
        """Take in a robots.txt; those of strangers are kept for runs to come."""
        assert self.gate is not None  # noqa: S101  # it asked for the file
        server = lease.server
        public = server is not None and self._parts.is_public(server.address)
        keeps = self._parts.memory is not None or self._parts.grants is not None
        keep = public or keeps
        learnt = self.gate.learn(visit, answer, now, keep=keep, public=public)
        return list(learnt)

    def _heed(self, host: str, delay: float) -> None:
        self._parts.policy.heed(host, delay)
        self._frontier.limit(host, self._now())

    def let_go_on(self, waiting: list[tuple[Item, Passed]]) -> None:
        """Let go on, or end, those who waited for a robots.txt."""
        self._balance.ended += 1
        for item, passed in waiting:
            try:
                self._let_one_go_on(item, passed)
            except Exception as error:  # the others wait, and must not be forgotten
                if is_grave(error):
                    raise
                log.exception("failed at the gate url=%s", urls.shown(asked_url(item)))
                found = verdict("own_fault", last_line(error))
                self._end(begin_bare(item), found, Answer())

    def _let_one_go_on(self, item: Item, passed: Passed) -> None:
        if passed is True:
            self._frontier.put(item, self._now())
        elif passed is False:
            self.put(item)  # the rules were refused to a stranger's link only
        else:
            self._turn_away(item, passed)
