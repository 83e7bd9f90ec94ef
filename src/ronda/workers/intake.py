"""What comes into a run: references are put on their way once, the others noted."""

import logging
from collections import Counter
from collections.abc import Callable

from msgspec.structs import replace

from ronda import urls
from ronda.frontier import Item
from ronda.model import Answer, Found, Problem, Request, Target, Verdict, Visit
from ronda.probes import SCHEMES, Unsupported, verdict
from ronda.store.seen import Seen
from ronda.workers.gate import WEB
from ronda.workers.parts import Parts
from ronda.workers.visits import begin, charged

log = logging.getLogger(__name__)

MANY = 10_000  # problems that are told one by one
UNFOLLOWED = 100_000  # pages that are not followed, and remembered as such


class Intake:
    """Lets in what is in scope and new; what needs no request has its verdict here."""

    def __init__(self, parts: Parts, start: Callable[[Item], None]) -> None:
        self._scope = parts.scope
        self._reach = parts.reach
        self._rank = parts.priorities.rank
        self._events = parts.events
        self._chooses = bool(parts.scope) or bool(parts.events)
        self._book = parts.book
        self._note = parts.book.note
        self._handlers = parts.handlers
        self._memory = parts.memory
        self._watches = parts.grants is not None
        self._start = start  # told each item that is to be asked
        self.excluded = Seen()
        self.beyond: Counter[str] = Counter()  # links not followed, by rule
        self.unfollowed: set[str] = set()  # pages of them
        self.problems: list[Problem] = []

    def admit(self, found: Found | Problem) -> None:
        """Take in what the user named: a new URL is put on its way."""
        if isinstance(found, Problem):
            self.tell(found)
            return
        page = self._noted(found)
        if page:
            self._begin(Target(page, "", found.reads, public=found.public))

    def admit_fetched(
        self, found: Found | Problem, parent: Target, public: bool, nofollow: bool
    ) -> None:
        """Take in what a fetched document names: never a file, nothing private.

        Args:
            found: the reference, or what is wrong with it.
            parent: the document.
            public: whether it was at a public address.
            nofollow: whether it asks that none of its links be followed.
        """
        if isinstance(found, Problem):
            self.tell(found)
        elif not found.url.startswith("file:") or parent.url.startswith("file:"):
            page = self._noted(found)
            if page:
                self._begin(self._linked(page, found, parent, public, nofollow))
        else:
            named, fragment = urls.split_fragment(found.url)
            if self._book.note(named, fragment, found.place):
                self._record(named, verdict("file_refused"))

    def note(self, found: Found | Problem) -> None:
        """Take in where a link stands that an earlier process put on its way."""
        if isinstance(found, Problem):
            self.tell(found)
            return
        self._noted(found)

    def _noted(self, found: Found) -> str:
        """The page that a reference is to, if it is new and in scope."""
        page, fragment = urls.split_fragment(found.url)
        if self._chooses and not self._is_chosen(page, found):
            self._leave_out(page)
            return ""
        return page if self._note(page, fragment, found.place) else ""

    def _leave_out(self, page: str) -> None:
        """A run says nothing of it; who watches a URL is told why it is not asked."""
        if self._watches:
            self._record(page, verdict("policy_disallowed"))
        else:
            self.excluded.add(page)

    def _is_chosen(self, page: str, found: Found) -> bool:
        if self._scope and page not in self._scope:
            return False
        return self._events.link_found(found)

    def _linked(
        self, page: str, found: Found, parent: Target, public: bool, nofollow: bool
    ) -> Target:
        """A new target as it is seen from the page it was found on."""
        public = public and not parent.url.startswith("file:")
        if self._reach is None:
            return Target(page, "", found.reads, public=public)
        if found.reads:  # of an index of sitemaps
            step = self._reach.judge_sitemap(page, parent)
        else:
            step = self._reach.judge(page, found.place.tag, found.rel, parent, nofollow)
        if step.beyond:
            self.beyond[step.beyond] += 1
            if len(self.unfollowed) < UNFOLLOWED:
                self.unfollowed.add(page)
        rank = self._rank(page, step.depth, step.asset)
        return Target(
            page,
            "",
            step.follow,
            public=public,
            depth=step.depth,
            outside=step.outside,
            rank=rank,
        )

    def tell(self, problem: Problem) -> None:
        """Note a problem; of too many, that there are more."""
        if len(self.problems) < MANY:
            self.problems.append(problem)
        elif len(self.problems) == MANY:
            words = "there are more problems; only the first are told"
            self.problems.append(Problem(problem.place, words))

    def _begin(self, target: Target) -> None:
        page = target.url
        try:
            item = self._item(target)
        except Exception as error:  # a third party's code may do anything
            log.exception("handler failed url=%s", urls.shown(page))
            words = f"{type(error).__name__}: {error}"
            self._record(page, verdict("plugin_failed", words))
            return
        if isinstance(item, Verdict):
            self._record(page, item)
        else:
            self._start(item)

    def _item(self, target: Target) -> Item | Verdict:
        """What is to be asked, or why nothing is."""
        page = target.url
        handler = self._handlers.of(page)
        if not handler.allow(page):
            if isinstance(handler, Unsupported):
                return verdict("scheme_unsupported", urls.scheme(page))
            return verdict("policy_disallowed")
        target = replace(target, host=handler.classify(page))
        if page.startswith(WEB) or urls.scheme(page) in SCHEMES:
            return target
        # A third party's class may be of what is asked through libcurl after all.
        return charged(begin(target, self._handlers))

    def _record(self, page: str, found: Verdict) -> None:
        """Record what needed no request."""
        visit = Visit(Target(page, ""), Request(page), "")
        result = self._book.record(visit, found, Answer())
        if result is not None and self._memory is not None:
            self._memory.ended(result)
