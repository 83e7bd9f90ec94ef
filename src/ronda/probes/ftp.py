"""ftp, ftps and sftp: a directory is listed, a file begins to transfer."""

from ronda import urls
from ronda.config import Fetch
from ronda.model import Answer, Ask, Done, Request, Target, Visit
from ronda.probes.faults import fault
from ronda.probes.handler import afresh, retry
from ronda.probes.reasons import verdict

FIRST_BYTES = 1  # the transfer has begun: that is all we want to know


class Ftp:
    """Servers that hold files, by name and password or anonymously."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch

    def allow(self, url: str) -> bool:
        """Every URL with a host."""
        return bool(urls.host(url))

    classify = staticmethod(urls.host_key)

    def begin(self, target: Target) -> Request:
        """List what ends in a slash, start to get anything else."""
        listing = target.url.endswith("/")
        return Request(target.url, "GET", body=FIRST_BYTES, listing=listing)

    def advance(self, visit: Visit, answer: Answer, now: float) -> Ask | Done:
        """Listed, begun, or libcurl's reason why not."""
        if answer.error:
            if again := afresh(visit, answer):
                return again
            tries, gap = self._fetch.retries, self._fetch.retry_gap
            return retry(visit, fault(answer, visit.request.url), tries, gap)
        code = "ftp_listed" if visit.request.listing else "ftp_started"
        return Done(verdict(code))
