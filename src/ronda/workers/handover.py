"""What is queued for a host that another process holds: let that one have it."""

from msgspec.structs import replace

from ronda.model import RESTING, Answer, Visit
from ronda.workers.balance import Balance
from ronda.workers.entrance import Entrance
from ronda.workers.gate import Gate
from ronda.workers.parts import Parts
from ronda.workers.visits import target_of

LEAVE_TRIES = 20  # times that a robots.txt is tried which another process must ask for
NO_LEAVE = 0.5  # seconds after which it is looked whether leave was given again


class Handover:
    """Gives away what is not ours to ask."""

    def __init__(self, parts: Parts, balance: Balance, entrance: Entrance) -> None:
        self._frontier = parts.frontier
        self._grants = parts.grants
        self._now = parts.clock.now
        self._balance = balance
        self._entrance = entrance

    def __call__(self, host: str) -> None:
        """Let another process have all that is queued for a host."""
        assert self._grants is not None  # noqa: S101  # who else would refuse
        gate, now = self._entrance.gate, self._now()
        items = self._frontier.dismiss(host, now)
        for item in [*items, *(gate.dismiss(host) if gate is not None else ())]:
            if not target_of(item).robots:
                self._grants.hand_over(item)
            elif isinstance(item, Visit) and item.hops:  # others wait for it here
                self._wait_for_robots(item, gate, now)
                continue
            self._balance.ended += 1

    def _wait_for_robots(self, visit: Visit, gate: Gate | None, now: float) -> None:
        """A robots.txt was redirected to a server that another process holds.

        It may be free soon. But that process may wait for one of ours, so after some
        tries those who need the file are not asked for now.
        """
        if visit.attempts <= LEAVE_TRIES or gate is None:
            again = replace(visit, attempts=visit.attempts + 1)
            self._frontier.put(again, now, NO_LEAVE)
            return
        words = "its robots.txt is at a server that another process is asking"
        answer = Answer(error=RESTING, error_text=words)
        waiting = gate.learn(replace(visit, hops=()), answer, now)
        self._entrance.let_go_on(list(waiting))
