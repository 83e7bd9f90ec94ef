"""file: what the operator's own disk holds."""

from ronda.config import Check, Fetch
from ronda.model import Answer, Ask, Done, Request, Target, Visit
from ronda.probes.faults import fault
from ronda.probes.reasons import verdict


class File:
    """Files and folders of this machine: nobody to be polite to."""

    def __init__(self, check: Check, fetch: Fetch) -> None:
        self._anchors = check.fragments
        self._fetch = fetch

    def allow(self, url: str) -> bool:
        """Only this machine's own files, not another's share."""
        return url.startswith("file:///")

    def classify(self, url: str) -> str:
        """No host, no gap."""
        return ""

    def begin(self, target: Target) -> Request:
        """Open it; read it only when its links or anchors are wanted."""
        whole = target.reads or self._anchors
        return Request(target.url, "GET", body=self._fetch.body_limit if whole else 0)

    def advance(self, visit: Visit, answer: Answer, now: float) -> Ask | Done:
        """There, or not."""
        if answer.error:
            return Done(fault(answer, visit.request.url))
        return Done(verdict("file_found"))
