"""A scheme handler: may we ask, whom do we charge, what to ask, what does it mean."""

from typing import Protocol

from msgspec.structs import replace

from ronda.model import Answer, Ask, Done, Request, State, Target, Verdict, Via, Visit
from ronda.probes.faults import died
from ronda.probes.reasons import verdict


class Handler(Protocol):
    """Built-in or third-party, all the same. Every method is pure."""

    def allow(self, url: str) -> bool:
        """Whether a URL may be asked at all; if not, it ends `blocked`."""

    def classify(self, url: str) -> str:
        """The politeness key of a URL."""

    def begin(self, target: Target) -> Request:
        """The first request of a visit."""

    def advance(self, visit: Visit, answer: Answer, now: float) -> Ask | Done:
        """What an answer means: the verdict, or the next request (now: epoch)."""


class BlockingCheck(Protocol):
    """The simplest plug-in: a class with a blocking `check`, run in a thread."""

    def allow(self, url: str) -> bool:
        """Whether a URL may be asked at all."""

    def classify(self, url: str) -> str:
        """The politeness key of a URL."""

    def check(self, url: str) -> tuple[str, str]:
        """The state and the reason in words."""


class Called:
    """A blocking `check(url) -> (state, reason)` in the shape of a handler."""

    def __init__(self, plugin: BlockingCheck) -> None:
        self.plugin = plugin

    def allow(self, url: str) -> bool:
        """The plug-in's own answer."""
        return self.plugin.allow(url)

    def classify(self, url: str) -> str:
        """The plug-in's class, marked so that it is not taken for a host name."""
        return f"class:{self.plugin.classify(url)}"

    def begin(self, target: Target) -> Request:
        """Ask the plug-in."""
        return Request(target.url, via=Via.CALL)

    def advance(self, visit: Visit, answer: Answer, now: float) -> Ask | Done:
        """What the plug-in said, or that it failed."""
        if answer.called is None:
            return Done(verdict("plugin_failed", answer.error_text))
        said, words = answer.called
        # The states of the link-management server this shape descends from.
        state = _SAID.get(said)
        if state is None:
            return Done(verdict("plugin_failed", f"it returned the state {said!r}"))
        return Done(Verdict(state, "plugin", words))


_SAID: dict[str | None, State] = {
    **{state.value: state for state in State},
    "temporary unavailable": State.TEMPORARY,
    "unavailable": State.BROKEN,
    "unsupported protocol": State.UNSUPPORTED,
    None: State.UNKNOWN,
}


def afresh(visit: Visit, answer: Answer) -> Ask | None:
    """Ask again, on a new connection, what died on a kept one: nobody's fault."""
    if not died(answer) or visit.request.fresh:
        return None
    return Ask(replace(visit, request=replace(visit.request, fresh=True)))


def retry(visit: Visit, found: Verdict, tries: int, gap: float) -> Ask | Done:
    """Ask once more after a growing gap, while a temporary fault has tries left."""
    if found.state is not State.TEMPORARY or visit.attempts > tries:
        return Done(found)
    request = replace(visit.request, fresh=True)
    again = replace(visit, request=request, attempts=visit.attempts + 1)
    return Ask(again, delay=gap * 2 ** (visit.attempts - 1), otherwise=found)
