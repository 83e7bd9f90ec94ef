"""mailto: is the address well-formed, and does its domain take mail?"""

import re
from urllib.parse import unquote

from msgspec.structs import replace

from ronda import urls
from ronda.config import Fetch
from ronda.errors import UrlError
from ronda.model import (
    Answer,
    Ask,
    Done,
    Request,
    State,
    Target,
    Verdict,
    Via,
    Visit,
)
from ronda.probes.faults import fault
from ronda.probes.handler import retry
from ronda.probes.reasons import verdict

_LOCAL = re.compile(r"[\w!#$%&'*+/=?^`{|}~.\-]{1,64}")
_DOMAIN = re.compile(
    r"(?=.{3,253}$)(?:[a-z0-9_](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]+"
)


class Mailto:
    """Mail addresses; the mail servers themselves are never asked."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch

    def allow(self, url: str) -> bool:
        """Any."""
        return True

    def classify(self, url: str) -> str:
        """All questions go to our own name server."""
        return "mx:"

    def begin(self, target: Target) -> Request:
        """Ask for the mail servers of the first address's domain."""
        domains = [_domain(address) for address in _addresses(target.url)]
        return Request(domains[0] if domains else "", via=Via.MX)

    def advance(self, visit: Visit, answer: Answer, now: float) -> Ask | Done:
        """Syntax first, then what the name server said."""
        addresses = _addresses(visit.target.url)
        if not addresses and "?" in visit.target.url:
            return Done(Verdict(State.OK, "mail_ok", "the reader chooses to whom"))
        wrong = next((a for a in addresses if not _domain(a)), None)
        if wrong is not None or not addresses:
            return Done(verdict("mail_syntax", urls.shown(wrong or visit.target.url)))
        domain = visit.request.url
        if answer.error:
            tries, gap = self._fetch.retries, self._fetch.retry_gap
            return retry(visit, fault(answer), tries, gap)
        found = _judge(answer, domain)
        following = _after(domain, addresses)
        if found.state is State.OK and following:
            return Ask(replace(visit, request=replace(visit.request, url=following)))
        return Done(found)


def _after(domain: str, addresses: list[str]) -> str:
    """The domain to ask for next: each of a list of addresses has its turn."""
    domains = list(dict.fromkeys(_domain(address) for address in addresses))
    return next(iter(domains[domains.index(domain) + 1 :]), "")


def _judge(answer: Answer, domain: str) -> Verdict:
    if answer.names in {(".",), ("",)}:  # RFC 7505
        return verdict("mail_refused", domain)
    if answer.names:
        return verdict("mail_ok")
    if answer.address:
        return verdict("dns_implicit_mx", domain)
    return verdict("dns_no_mx", domain)


def _addresses(url: str) -> list[str]:
    path, _, query = url.removeprefix("mailto:").partition("#")[0].partition("?")
    fields = (field.partition("=") for field in query.split("&"))
    more = [value for name, _, value in fields if name.lower() == "to"]
    parts = ",".join([path, *more]).split(",")
    return [unquote(part).strip() for part in parts if part.strip()]


def _domain(address: str) -> str:
    """The domain of a well-formed address, in ASCII; "" for any other text."""
    local, at, domain = address.rpartition("@")
    if not at or not _LOCAL.fullmatch(local) or ".." in local:
        return ""
    if local.startswith(".") or local.endswith("."):
        return ""
    try:
        ascii_name = urls.host(urls.normalise(f"http://{domain}/"))
    except UrlError:
        return ""
    return ascii_name if _DOMAIN.fullmatch(ascii_name) else ""
