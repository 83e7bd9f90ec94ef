"""The task `url_status_codes`: does the URL answer, and straight away?"""

from msgspec.structs import replace

from ronda import urls
from ronda.model import Answer, Ask, Done, Service, State, Verdict, Visit
from ronda.probes.reasons import verdict
from ronda.probes.registry import Handlers
from ronda.probes.task import Asked, Begun, Row


class _StatusCodes:
    """What the handler of the URL's scheme finds; a redirect needs a hand."""

    def __init__(self, handlers: Handlers) -> None:
        self._handlers = handlers

    def ask(self, visit: Visit, _service: Service) -> Begun:
        """As a URL that is no service is asked."""
        url = visit.target.url
        handler = self._handlers.of(url)
        if not handler.allow(url):
            return verdict("scheme_unsupported", urls.scheme(url))
        return handler.begin(visit.target)

    def judge(self, visit: Visit, answer: Answer, now: float) -> Ask | Done:
        """A record that leads elsewhere should name the place it leads to."""
        step = self._handlers.of(visit.target.url).advance(visit, answer, now)
        if isinstance(step, Ask):
            return step
        found = self._handlers.accept(step.verdict, answer.status)
        last = step.visit or visit
        if found.state is State.OK and last.hops:
            found = _redirected(last)
        return replace(step, verdict=found)


def _redirected(visit: Visit) -> Verdict:
    there = urls.shown(urls.without_credentials(visit.hops[-1].to), 200)
    return verdict("success_after_redirect", f"now at {there}")


def row(handlers: Handlers) -> Row:
    """The task as it is registered."""
    codes = _StatusCodes(handlers)
    return Row(
        name="url_status_codes",
        description="Check URL Status Codes",
        task=Asked(codes.ask, codes.judge),
        function="ronda.probes.statuscodes",
        script="statuscodes.py",
    )
