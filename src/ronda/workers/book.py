"""The book of a run: what was found where, and the results that reports need."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Protocol

from msgspec.structs import replace

from ronda.clock import Clock
from ronda.config import Settings
from ronda.model import (
    RESTING,
    Answer,
    Place,
    Result,
    State,
    TaskResult,
    Verdict,
    Visit,
)
from ronda.probes import judge_fragment
from ronda.probes.accept import Accept
from ronda.probes.directives import directives
from ronda.probes.plans import STOPPED, conclude, summed_up

Listener = Callable[[Result], None]
# The anchors of a body, by its URL and its content type; None for kinds that have none.
Anchors = Callable[[bytes, str, str], "frozenset[str] | None"]


class Pages(Protocol):
    """What a book needs of where it keeps URLs, places and results."""

    def __len__(self) -> int:
        """How many URLs there are."""

    def __contains__(self, url: str, /) -> bool:
        """Whether a URL is one of them."""

    def know(self, url: str) -> bool:
        """Remember a URL; whether it is new."""

    def note(self, url: str, place: Place, /) -> bool:
        """Remember where a URL stands; whether it is new."""

    def places(self, url: str, /) -> tuple[Place, ...]:
        """Where a URL stands."""

    def record(self, result: Result) -> None:
        """Keep a result."""


class Book:
    """Counts verdicts, keeps results, judges fragments by the pages they are on."""

    def __init__(
        self,
        spool: Pages,
        clock: Clock,
        anchors: Anchors,
        settings: Settings,
        *,
        keep_ok: bool,
        remember: bool = False,
        listener: Listener | None,
    ) -> None:
        self._spool = spool
        self._clock = clock
        self._anchors = anchors
        self._accept = Accept(settings.check.accept)
        self._agent = settings.fetch.agent
        self._fragments = settings.check.fragments
        self._keep_ok = keep_ok or listener is not None
        self._remember = remember  # whoever records is told the result
        self._listener = listener
        self.counts: Counter[State] = Counter()
        # Only with fragments: which are wanted of a page ("" is the page itself), and
        # what the page was.
        self._wanted: dict[str, list[str]] = {}
        self._pages: dict[str, tuple[Verdict, Result, frozenset[str] | None]] = {}

    def __len__(self) -> int:
        """How many URLs have a verdict, or will have one."""
        return len(self._spool)

    def __contains__(self, url: str) -> bool:
        """Whether a URL, without its fragment, was found."""
        return url in self._wanted if self._fragments else url in self._spool

    def note(self, page: str, fragment: str, place: Place) -> bool:
        """Remember where a URL stands; True when its page is to be visited."""
        if not self._fragments:
            return self._spool.note(page, place)
        if not self._spool.note(_url(page, fragment), place):
            return False
        known = page in self._wanted  # its visit is under way, or has ended
        self._wanted.setdefault(page, []).append(fragment)
        if page in self._pages:
            self._judge_part(page, fragment)
        return not known

    def places(self, url: str) -> tuple[Place, ...]:
        """Where a URL stands."""
        if not self._fragments:
            return self._spool.places(url)
        parts = self._wanted.get(url, ())
        return tuple(p for part in parts for p in self._spool.places(_url(url, part)))

    def restore(self, result: Result) -> None:
        """Take in what was recorded before the run was interrupted."""
        self._count(result)

    def know(self, url: str) -> None:
        """Remember a URL that is on its way; where it stands may be told later."""
        self._spool.know(url)

    def record(
        self,
        visit: Visit,
        found: Verdict,
        answer: Answer,
        digest: str = "",
        kind: str = "",
    ) -> Result | None:
        """Count a verdict, and keep it if any report wants it.

        Args:
            visit: whose it is.
            found: the verdict.
            answer: the evidence.
            digest: of the body, if anybody wants to know.
            kind: the Content-Type, if it is not that of the answer.
        """
        if visit.progress is not None:
            return self._record_plan(visit, found, answer)
        if found.state is not State.OK:
            found = self._accept(found, answer.status)
        if not self._fragments:
            self.counts[found.state] += 1
            wanted = found.state is not State.OK or self._keep_ok or bool(visit.hops)
            if not wanted and not self._remember:
                return None
            result = self._result(visit, found, answer, digest, kind)
            if wanted:
                self._keep(result)
            return result
        page = visit.target.url
        anchors = None
        if answer.body and not answer.cut:
            kind = answer.header("content-type")
            anchors = self._anchors(answer.body, visit.request.url, kind)
        result = self._result(visit, found, answer, digest, kind)
        self._pages[page] = (found, result, anchors)
        for fragment in self._wanted.get(page, ()):
            self._judge_part(page, fragment)
        return result

    def _record_plan(self, visit: Visit, found: Verdict, answer: Answer) -> Result:
        """Count the worst that the tasks of a visit have found, and keep them all."""
        whole = visit.progress is not None and visit.progress.over
        tasks, task = conclude(visit, found, answer).results, ""
        if found.reason == STOPPED:
            whole = False
        else:
            found, task = summed_up(tasks)
        result = self._result(visit, found, answer, "", "")
        timings = replace(result.timings, total=sum(one.seconds for one in tasks))
        result = replace(
            result,
            status=result.status or _status(tasks),
            task=task,
            tasks=tasks,
            timings=timings,
            whole=whole,
        )
        self._count(result)
        return result

    def _judge_part(self, page: str, fragment: str) -> None:
        """The verdict on a part of a page, or with no fragment on the page itself."""
        whole, result, anchors = self._pages[page]
        found = judge_fragment(whole, anchors, fragment)
        found = self._accept(found, result.status)
        self._count(
            replace(
                result,
                url=_url(page, fragment),
                verdict=found.state,
                reason=found.reason,
                message=found.message,
            )
        )

    def _count(self, result: Result) -> None:
        self.counts[result.verdict] += 1
        if result.verdict is not State.OK or self._keep_ok or result.hops:
            self._keep(result)

    def _keep(self, result: Result) -> None:
        self._spool.record(result)
        if self._listener is not None:
            self._listener(result)

    def _result(
        self, visit: Visit, found: Verdict, answer: Answer, digest: str, kind: str
    ) -> Result:
        kind = kind or answer.header("content-type")
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
            attempts=visit.attempts - (answer.error == RESTING),  # not asked
            directives=tuple(sorted(directives(answer, self._agent))),
            depth=visit.target.depth,
            media_type=kind.partition(";")[0].strip().lower(),
            digest=digest,
            evidence=answer.error_text if found.reason == "worker_died" else "",
        )


def _status(tasks: Iterable[TaskResult]) -> int:
    """The status that a service answered with, whatever was asked after that."""
    for one in tasks:
        if one.task == "url_status_codes" and one.data.isdecimal():
            return int(one.data)
    return 0


def _url(page: str, fragment: str) -> str:
    return f"{page}#{fragment}" if fragment else page
