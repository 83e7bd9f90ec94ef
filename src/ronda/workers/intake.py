"""What comes into a run: references are put on their way once, the others noted."""

import logging
from collections.abc import Callable

from msgspec.structs import replace

from ronda import urls
from ronda.frontier import Item
from ronda.model import Answer, Found, Problem, Request, Target, Verdict, Visit
from ronda.probes import SCHEMES, Unsupported, verdict
from ronda.workers.gate import WEB
from ronda.workers.parts import Parts
from ronda.workers.visits import begin, charged

log = logging.getLogger(__name__)

MANY = 10_000  # problems that are told one by one


class Intake:
    """Lets in what is in scope and new; what needs no request has its verdict here."""

    def __init__(self, parts: Parts, start: Callable[[Item], None]) -> None:
        self._scope = parts.scope
        self._book = parts.book
        self._handlers = parts.handlers
        self._anchors = parts.settings.check.fragments
        self._start = start  # told each item that is to be asked
        self.excluded: set[str] = set()
        self.problems: list[Problem] = []

    def admit(self, found: Found | Problem) -> None:
        """Take in a reference: a new URL is put on its way, a known one only noted."""
        if isinstance(found, Problem):
            self.tell(found)
            return
        page, fragment = urls.split_fragment(found.url)
        if self._scope and page not in self._scope:
            self.excluded.add(page)
        elif self._book.note(page, fragment, found.place):
            self._begin(page, found.reads, found.public)

    def admit_fetched(self, found: Found | Problem, page: str, public: bool) -> None:
        """Take in what a fetched document names: never a file, nothing private.

        Args:
            found: the reference, or what is wrong with it.
            page: the URL of the document.
            public: whether it was at a public address.
        """
        if isinstance(found, Problem) or page.startswith("file:"):
            self.admit(found)
        elif not found.url.startswith("file:"):
            self.admit(replace(found, public=public))
        else:
            named, fragment = urls.split_fragment(found.url)
            if self._book.note(named, fragment, found.place):
                self._record(named, verdict("file_refused"))

    def tell(self, problem: Problem) -> None:
        """Note a problem; of too many, that there are more."""
        if len(self.problems) < MANY:
            self.problems.append(problem)
        elif len(self.problems) == MANY:
            words = "there are more problems; only the first are told"
            self.problems.append(Problem(problem.place, words))

    def _begin(self, page: str, reads: bool, public: bool) -> None:
        try:
            item = self._item(page, reads, public)
        except Exception as error:  # a third party's code may do anything
            log.exception("handler failed url=%s", urls.shown(page))
            words = f"{type(error).__name__}: {error}"
            self._record(page, verdict("plugin_failed", words))
            return
        if isinstance(item, Verdict):
            self._record(page, item)
        else:
            self._start(item)

    def _item(self, page: str, reads: bool, public: bool) -> Item | Verdict:
        """What is to be asked, or why nothing is."""
        handler = self._handlers.of(page)
        if not handler.allow(page):
            if isinstance(handler, Unsupported):
                return verdict("scheme_unsupported", urls.scheme(page))
            return verdict("policy_disallowed")
        key = handler.classify(page)
        target = Target(page, key, reads, self._anchors, public=public)
        if page.startswith(WEB) or urls.scheme(page) in SCHEMES:
            return target
        # A third party's class may be of what is asked through libcurl after all.
        return charged(begin(target, self._handlers))

    def _record(self, page: str, found: Verdict) -> None:
        """Record what needed no request."""
        visit = Visit(Target(page, ""), Request(page), "")
        self._book.record(visit, found, Answer())
