"""What becomes of the work of those who hang or die: nothing is lost, nothing twice."""

import asyncio
import traceback
from collections.abc import Callable

from ronda.frontier import Frontier
from ronda.model import Answer
from ronda.probes import verdict
from ronda.workers.crew import Fate, Member
from ronda.workers.entrance import End, Entrance
from ronda.workers.hangs import Held
from ronda.workers.pages import Page
from ronda.workers.parts import Parts
from ronda.workers.reading import Reading, Room
from ronda.workers.remarks import last_line
from ronda.workers.visits import begin_bare


class Heirs:
    """Takes what was in the hands of a worker, and hands it on."""

    def __init__(
        self,
        parts: Parts,
        reading: Reading,
        entrance: Entrance,
        end: End,
        release: Callable[[Held], None],
    ) -> None:
        self._frontier: Frontier = parts.frontier
        self._fetch = parts.fetch
        self._now = parts.clock.now
        self._reading = reading
        self._entrance = entrance
        self._end = end
        self._release = release  # told that a request is not waited for any more

    def give_up(self, held: Held) -> bool:
        """Answer in the place of somebody who does not: the soft way."""
        asking = held.asking
        if not isinstance(asking, asyncio.Future) or asking.done():
            return False
        self._fetch.drop(asking)
        words = "nothing was heard of it, long after its time was over"
        asking.set_result(Answer(error=28, error_text=words))
        return True

    def inherit(self, member: Member, fate: Fate, error: BaseException) -> None:
        """Let nothing be lost of what a worker that died had in its hands."""
        hands, words = member.hands, last_line(error)
        if isinstance(hands, Held):
            self._take_over(hands, fate, error)
        elif isinstance(hands, Page):
            self._reading.take_over(hands, member.role, fate, words)
        elif isinstance(hands, Room):
            target = self._reading.refill_again(fate)
            if target is not None:
                found = verdict("worker_died", words)
                self._end(begin_bare(target), found, Answer())

    def _take_over(self, held: Held, fate: Fate, error: BaseException) -> None:
        now = held.lease.ended_at = self._now()
        self._release(held)
        if fate is not Fate.GIVEN_UP:
            # If it is neither held nor ended, it was taken back: another has it.
            if not self._frontier.give_back(held.trans, now) and held.ended:
                self._frontier.put(held.lease.item, now)
            return
        if not self._frontier.done(held.trans, now) and not held.ended:
            return  # taken back: another has it, and may fare better
        visit = held.visit
        if visit.target.robots:
            answer = Answer(error=2, error_text=last_line(error))
            waiting = self._entrance.learn(held.lease, visit, answer, now)
            self._entrance.let_go_on(waiting)
        else:
            words = "".join(traceback.format_exception(error))
            found = verdict("worker_died", last_line(error))
            self._end(visit, found, Answer(error_text=words))
