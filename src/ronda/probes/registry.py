"""The table of scheme handlers: built-in ones, then third parties by entry point."""

from collections.abc import Callable
from functools import cache
from typing import Any

from ronda import urls
from ronda.config import Settings
from ronda.model import Answer, Ask, Done, Request, Target, Visit
from ronda.probes.accept import Accept
from ronda.probes.file import File
from ronda.probes.ftp import Ftp
from ronda.probes.handler import Called, Handler
from ronda.probes.http import Http
from ronda.probes.mailto import Mailto
from ronda.probes.reasons import verdict

ENTRY_POINTS = "ronda.schemes"

# A new scheme is one file and one row.
SCHEMES: dict[str, Callable[[Settings, Accept], Handler]] = {
    "http": Http,
    "https": Http,
    "ftp": lambda s, _: Ftp(s.fetch),
    "ftps": lambda s, _: Ftp(s.fetch),
    "sftp": lambda s, _: Ftp(s.fetch),
    "file": lambda s, _: File(s.check, s.fetch),
    "mailto": lambda s, _: Mailto(s.fetch),
}


_WEB = ("http:", "https:")


class Unsupported:
    """Stands in for the handler a scheme does not have."""

    def allow(self, url: str) -> bool:
        """It ends at once, with no worker used."""
        return False

    def classify(self, url: str) -> str:
        """Nobody is asked."""
        return ""

    def begin(self, target: Target) -> Request:
        """Never called: nothing is allowed."""
        return Request(target.url)

    def advance(self, visit: Visit, answer: Answer, now: float) -> Ask | Done:
        """There is nobody to ask."""
        return Done(verdict("scheme_unsupported", urls.scheme(visit.target.url)))


class Handlers:
    """The handler of each scheme met, made when it is first met."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._made: dict[str, Handler] = {}
        # Both made now, so that a wrong setting is found before anything is asked.
        self.accept = Accept(settings.check.accept)
        self._web = self["http"]

    def __getitem__(self, scheme: str) -> Handler:
        handler = self._made.get(scheme)
        if handler is None:
            handler = self._made[scheme] = self._make(scheme)
        return handler

    def of(self, url: str) -> Handler:
        """The handler of a normalised URL."""
        return self._web if url.startswith(_WEB) else self[urls.scheme(url)]

    def called(self, scheme: str) -> Callable[[str], tuple[str, str]] | None:
        """The blocking check of a third party's scheme, to be run in a thread."""
        handler = self[scheme]
        return handler.plugin.check if isinstance(handler, Called) else None

    def _make(self, scheme: str) -> Handler:
        if scheme in SCHEMES:
            return SCHEMES[scheme](self._settings, self.accept)
        for point in _third_parties():
            if point.name == scheme:
                return as_handler(point.load())
        return Unsupported()


@cache
def _third_parties() -> tuple[Any, ...]:
    # Only for schemes we do not know: reading the metadata of every installed
    # package, and the module that does it, cost more than a small check.
    from importlib.metadata import entry_points  # noqa: PLC0415

    return tuple(entry_points(group=ENTRY_POINTS))


class Bare:
    """A function `check(url) -> (state, reason)`, which allows everything."""

    def __init__(self, check: Callable[[str], tuple[str, str]]) -> None:
        self.check = check

    def allow(self, url: str) -> bool:
        """Any URL of its scheme."""
        return True

    def classify(self, url: str) -> str:
        """The host, or the scheme where there is none."""
        return urls.host_key(url) or urls.scheme(url)


def as_handler(plugin: Any) -> Handler:
    """A third party's class, instance, module or function as a handler."""
    made: Any = plugin() if isinstance(plugin, type) else plugin
    if callable(made) and not hasattr(made, "check") and not hasattr(made, "advance"):
        made = Bare(made)
    handler: Handler = Called(made) if hasattr(made, "check") else made
    return handler
