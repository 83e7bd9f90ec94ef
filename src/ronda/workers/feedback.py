"""What an answer teaches the frontier, and how that changes the next step."""

from collections.abc import Callable

from msgspec.structs import replace

from ronda.clock import Clock
from ronda.frontier import Frontier, Lease
from ronda.model import GUARDED, Answer, Ask, Done, Verdict, Visit
from ronda.probes.http import THROTTLES
from ronda.workers.addresses import Addresses, unreached
from ronda.workers.parts import Log


class Feedback:
    """Tells the frontier of throttles and failures, and the log of every request."""

    def __init__(
        self,
        frontier: Frontier,
        addresses: Addresses,
        is_public: Callable[[str], bool],
        clock: Clock,
        log: Log | None,
    ) -> None:
        self._frontier = frontier
        self._addresses = addresses
        self._is_public = is_public
        self._log = log
        # Moments are logged as epoch seconds, but gaps between them as they were kept.
        self._epoch = clock.utc().timestamp() - clock.now()

    def heed(
        self, trans: int, lease: Lease, visit: Visit, answer: Answer, step: Ask | Done
    ) -> Ask | Done:
        """The step that follows, once the frontier knows what came of a lease."""
        good = isinstance(step, Done) and not answer.error and step.hold is None
        if good and self._log is None and not self._frontier.troubled:
            return step  # nearly always: there is nothing to tell
        now = lease.ended_at
        if lease.host.name and answer.error != GUARDED:  # else nobody was asked
            self._write(lease, visit, answer, now - lease.started_at)
        if answer.error and self._addresses.move_on(lease, answer, now):
            return Ask(visit)
        rests = self._tell(trans, lease, answer, step)
        if isinstance(step, Done):
            return step
        if rests and step.otherwise is not None:
            return Done(step.otherwise)
        return self._bounded(lease, step)

    def _tell(self, trans: int, lease: Lease, answer: Answer, step: Ask | Done) -> bool:
        """Whether the host rests from now on."""
        name, now = lease.host.name, lease.ended_at
        if step.hold is not None:
            self._frontier.reached(name, now, throttled=True)
            return self._frontier.throttled(trans, step.hold, now)
        if unreached(answer):
            found = step.otherwise if isinstance(step, Ask) else step.verdict
            words = found.message if isinstance(found, Verdict) else answer.error_text
            return self._frontier.failed(trans, f"the last: {words}", now)
        if answer.error != GUARDED:  # else nobody was asked
            throttled = answer.status in THROTTLES
            self._frontier.reached(name, now, throttled=throttled)
        return False

    def _bounded(self, lease: Lease, step: Ask) -> Ask:
        """A visit that has been to a public address never moves to a private one."""
        visit, server = step.visit, lease.server
        been = server is not None and self._is_public(server.address)
        if not been or visit.request.public:
            return step
        request = replace(visit.request, public=True)
        return replace(step, visit=replace(visit, request=request))

    def _write(
        self, lease: Lease, visit: Visit, answer: Answer, seconds: float | None
    ) -> None:
        if self._log is None:
            return
        self._log.add(
            at=round(self._epoch + lease.started_at, 6),
            seconds=None if seconds is None else round(seconds, 6),
            host=lease.host.name,
            server=lease.server.address if lease.server is not None else "",
            method=visit.request.method,
            url=visit.request.url,
            kind=_kind(visit),
            status=answer.status,
            error=answer.error,
            gap=round(lease.gap, 6),
            rule=lease.rule,
        )

    def came_late(self, lease: Lease, visit: Visit, answer: Answer) -> None:
        """An answer came after its lease was taken back; it was asked all the same."""
        if lease.asked:
            seconds = lease.ended_at - lease.started_at
            self._write(lease, visit, answer, seconds)

    def cut_off(self, lease: Lease, visit: Visit) -> None:
        """A request was given up before its answer came."""
        self._write(lease, visit, Answer(), None)


def _kind(visit: Visit) -> str:
    """What a request was for."""
    if visit.target.robots:
        return "robots"
    if visit.attempts > 1:
        return "retry"
    if visit.request.partial:
        return "get"
    return "hop" if visit.hops else "page"
