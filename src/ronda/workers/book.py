"""The book of a run: what was found where, and the results that reports need."""

from collections import Counter
from collections.abc import Callable

from ronda.clock import Clock
from ronda.model import Answer, Place, Result, State, Verdict, Visit
from ronda.probes import judge_fragment
from ronda.store import Spool

Listener = Callable[[Result], None]
# The anchors of a body, by its URL and its content type; None for kinds that have none.
Anchors = Callable[[bytes, str, str], "frozenset[str] | None"]


class Book:
    """Counts verdicts, keeps results, judges fragments by the pages they are on."""

    def __init__(
        self,
        spool: Spool,
        clock: Clock,
        anchors: Anchors,
        *,
        fragments: bool,
        keep_ok: bool,
        listener: Listener | None,
    ) -> None:
        self._spool = spool
        self._clock = clock
        self._anchors = anchors
        self._fragments = fragments
        self._keep_ok = keep_ok or listener is not None
        self._listener = listener
        self.counts: Counter[State] = Counter()
        # Only with fragments: which are wanted of a page, and what the page was.
        self._wanted: dict[str, list[str]] = {}
        self._pages: dict[str, tuple[Verdict, Result, frozenset[str] | None]] = {}

    def __len__(self) -> int:
        """How many URLs have a verdict, or will have one."""
        return len(self._spool)

    def note(self, page: str, fragment: str, place: Place) -> bool:
        """Remember where a URL stands; True when its page is to be visited."""
        if not self._fragments or not fragment:
            return self._spool.note(page, place)
        part = f"{page}#{fragment}"
        new = self._spool.note(part, place)
        wanted = self._wanted.setdefault(page, [])
        if not new:
            return False
        if page in self._pages:
            self._judge_part(page, fragment)
            return False
        wanted.append(fragment)
        return len(wanted) == 1 and page not in self._spool

    def record(self, visit: Visit, found: Verdict, answer: Answer) -> None:
        """Count a verdict, and keep it if any report wants it."""
        page = visit.target.url
        if not self._fragments:
            self.counts[found.state] += 1
            if found.state is not State.OK or self._keep_ok:
                self._keep(self._result(visit, found, answer))
            return
        anchors = None
        if answer.body and not answer.cut:
            kind = answer.header("content-type")
            anchors = self._anchors(answer.body, visit.request.url, kind)
        result = self._result(visit, found, answer)
        self._pages[page] = (found, result, anchors)
        if page in self._spool:
            self._count(result)
        for fragment in self._wanted.get(page, ()):
            self._judge_part(page, fragment)

    def _judge_part(self, page: str, fragment: str) -> None:
        whole, result, anchors = self._pages[page]
        found = judge_fragment(whole, anchors, fragment)
        self._count(
            Result(
                url=f"{page}#{fragment}",
                verdict=found.state,
                reason=found.reason,
                message=found.message,
                hops=result.hops,
                status=result.status,
                address=result.address,
                timings=result.timings,
                bytes=result.bytes,
                certificate=result.certificate,
                checked_at=result.checked_at,
                attempts=result.attempts,
            )
        )

    def _count(self, result: Result) -> None:
        self.counts[result.verdict] += 1
        if result.verdict is not State.OK or self._keep_ok:
            self._keep(result)

    def _keep(self, result: Result) -> None:
        self._spool.record(result)
        if self._listener is not None:
            self._listener(result)

    def _result(self, visit: Visit, found: Verdict, answer: Answer) -> Result:
        moment = self._clock.utc().isoformat(timespec="milliseconds")
        return Result(
            url=visit.target.url,
            verdict=found.state,
            reason=found.reason,
            message=found.message,
            hops=visit.hops,
            status=answer.status,
            address=answer.address,
            timings=answer.timings,
            bytes=answer.size,
            certificate=answer.certificate,
            checked_at=moment.replace("+00:00", "Z"),
            attempts=visit.attempts,
        )
