"""http and https: HEAD first, GET where HEAD is refused or lies, each hop a request."""

import re

from msgspec.structs import replace

from ronda import urls
from ronda.config import Settings
from ronda.errors import UrlError
from ronda.model import Answer, Ask, Done, Hop, Request, State, Target, Verdict, Visit
from ronda.probes.accept import Accept
from ronda.probes.certificate import ends_soon
from ronda.probes.faults import fault
from ronda.probes.handler import afresh, retry
from ronda.probes.reasons import http_verdict, verdict

PERMANENT = frozenset({301, 308})
REDIRECTS = frozenset({301, 302, 303, 307, 308})
ROBOTS_REDIRECTS = 5  # at least, whatever is set (RFC 9309, 2.3.1.2)
THROTTLES = frozenset({429, 503})  # with which a host asks us to slow down
# HEAD is taken at its word for these; any other failure is asked again by GET.
_HEAD_BELIEVED = frozenset({401, 407, 429})
# Faults in which the server may only have disliked HEAD.
_HEAD_FAULTS = frozenset({1, 8, 18, 28, 52, 55, 56, 92})
_VERDICT_200 = Done(http_verdict(200))
_DELAY = re.compile(r"\d+")
_FOREVER = 1e10  # seconds; more is no different


class Http:
    """The two schemes of the web."""

    def __init__(self, settings: Settings, accept: Accept) -> None:
        check = settings.check
        self._check = check
        self._fetch = settings.fetch
        self._saves = bool(settings.crawl.save or settings.crawl.warc)
        self._accept = accept
        # The common case needs no further thought.
        self._plain = not check.accept and check.slow is None

    def allow(self, url: str) -> bool:
        """Every one: a normalised URL of the web has a host."""
        return True

    classify = staticmethod(urls.host_key)

    def begin(self, target: Target) -> Request:
        """GET when the page itself is wanted, HEAD when only its answer is."""
        saved = self._saves and (target.reads or target.is_part)
        if saved or target.reads or self._check.fragments:
            limit = self._fetch.body_limit
            return Request(target.url, "GET", body=limit, raw=saved)
        method = "HEAD" if self._check.method == "auto" else self._check.method
        return Request(target.url, method)

    def advance(self, visit: Visit, answer: Answer, now: float) -> Ask | Done:
        """Judge, follow, ask again by GET, or try once more."""
        status = answer.status
        if status == 200 and not answer.error and self._plain and not visit.hops:
            if answer.certificate is None:
                return _VERDICT_200
        elif answer.error and (again := afresh(visit, answer)):
            return again
        elif self._distrust_head(visit, answer):
            hold = 0.0 if status in THROTTLES else None
            return Ask(self._by_get(visit, fresh=bool(answer.error)), hold=hold)
        elif status in REDIRECTS and not answer.error:
            return self._follow(visit, answer)
        return self._conclude(visit, answer, now)

    def _distrust_head(self, visit: Visit, answer: Answer) -> bool:
        if visit.request.method != "HEAD" or self._check.method == "HEAD":
            return False
        if answer.error:
            return answer.error in _HEAD_FAULTS and answer.reached
        if answer.status == 503 and answer.header("retry-after"):
            return False
        return answer.status >= 400 and answer.status not in _HEAD_BELIEVED

    def _by_get(self, visit: Visit, fresh: bool) -> Visit:
        asked = replace(visit.request, method="GET", partial=True, fresh=fresh)
        return replace(visit, request=asked)

    # -- redirects -----------------------------------------------------------

    def _follow(self, visit: Visit, answer: Answer) -> Ask | Done:
        here = visit.request.url
        # Header bytes are UTF-8 in practice where they are not ASCII.
        text = answer.header("location").encode("latin-1").decode("utf-8", "replace")
        if not text:
            return Done(verdict("redirect_no_location"))
        raw = urls.masked(text)
        met = replace(visit, hops=(*visit.hops, Hop(here, answer.status, raw)))
        try:
            there = urls.split_fragment(urls.join(here, text))[0]
        except UrlError:
            return Done(verdict("redirect_bad_location", urls.shown(raw)), visit=met)
        if urls.scheme(there) not in {"http", "https"}:
            return Done(verdict("redirect_scheme", urls.scheme(there)), visit=met)
        hop = Hop(here, answer.status, there, answer.address)
        hops = (*visit.hops, hop)
        request = replace(visit.request, url=there, etag="", since="")
        host = self.classify(there)
        on = replace(visit, request=request, host=host, hops=hops)
        if there == here or any(there == passed.url for passed in visit.hops):
            return Done(verdict("redirect_loop", f"to {_shown(there)}"), visit=on)
        if len(hops) > self._most_redirects(visit.target):
            return Done(verdict("redirect_too_many", f"to {_shown(there)}"), visit=on)
        return Ask(on)

    def _most_redirects(self, target: Target) -> int:
        most = self._check.max_redirects
        return max(most, ROBOTS_REDIRECTS) if target.robots else most

    # -- verdicts --------------------------------------------------------------

    def _conclude(self, visit: Visit, answer: Answer, now: float) -> Ask | Done:
        found = self._judge(visit, answer, now)
        hold = retry_after(answer, now) if answer.status in THROTTLES else None
        if self._accept.takes(answer.status, found.reason):
            return Done(found, hold=hold)
        if hold:
            words = f"{found.message}; asks us to wait {hold:,.0f} s"
            found = Verdict(found.state, found.reason, words)
        step = retry(visit, found, self._fetch.retries, self._fetch.retry_gap)
        return step if hold is None else replace(step, hold=hold)

    def _judge(self, visit: Visit, answer: Answer, now: float) -> Verdict:
        if answer.error:
            return fault(answer, visit.request.url)
        if is_bot_wall(answer):
            return verdict("bot_wall", f"status {answer.status}")
        found = http_verdict(answer.status)
        if answer.status == 416 and visit.request.partial:
            found = http_verdict(200)  # it exists, but is empty
        if answer.status == 304 and (visit.request.etag or visit.request.since):
            found = verdict("not_modified")
        if found.state is not State.OK:
            if visit.hops:
                words = f"{found.message}, after {_redirects(len(visit.hops))}"
                return Verdict(found.state, found.reason, words)
            return found
        return self._good(visit, answer, now) or found

    def _good(self, visit: Visit, answer: Answer, now: float) -> Verdict | None:
        """What is still to be said of a target that works, the gravest first."""
        days = self._check.certificate_days
        if self._fetch.insecure:
            days = 0
        if days and answer.certificate and ends_soon(answer.certificate, now, days):
            return verdict("tls_ends_soon", answer.certificate.ends_at[:10])
        if any(hop.status in PERMANENT for hop in visit.hops):
            return verdict("moved_permanently", _new_address(visit))
        slow = self._check.slow
        if slow is not None and answer.timings.total > slow:
            return verdict("slow", f"{answer.timings.total:.1f} s")
        if visit.hops:
            return verdict("redirected", f"to {_shown(visit.request.url)}")
        return None


def _new_address(visit: Visit) -> str:
    """Where the permanent part of the way ends: what to write instead."""
    there = visit.target.url
    for hop in visit.hops:
        if hop.status not in PERMANENT:
            break
        there = hop.to
    return f"now at {_shown(there if there != visit.target.url else visit.request.url)}"


def _shown(url: str) -> str:
    return urls.shown(urls.without_credentials(url), 300)


def _redirects(count: int) -> str:
    return "1 redirect" if count == 1 else f"{count} redirects"


def retry_after(answer: Answer, now: float) -> float:
    """The seconds a server asks us to wait; 0 when it does not say."""
    text = answer.header("retry-after")
    if _DELAY.fullmatch(text):
        return min(float(text), _FOREVER)
    if not text:
        return 0.0
    # Not at the top: it brings along half of the mail library, and is hardly needed.
    from email.utils import parsedate_to_datetime  # noqa: PLC0415

    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return 0.0


def is_bot_wall(answer: Answer) -> bool:
    """Whether a challenge for browsers answers instead of the page."""
    status = answer.status
    if status == 999:
        return True
    if status not in {202, 403, 405, 429, 503}:
        return False
    if answer.header("cf-mitigated") or answer.header("x-amzn-waf-action"):
        return True
    if status != 403:
        return False
    return bool(answer.header("x-datadome")) or "akamaighost" in (
        answer.header("server").lower()
    )
