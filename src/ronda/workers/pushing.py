"""The links of a page: found, judged, and pushed to where targets wait."""

import asyncio
import hashlib
from collections.abc import Iterable

from msgspec.structs import replace

from ronda import urls
from ronda.model import Answer, Found, Place, Problem, Target, Visit
from ronda.probes.directives import directives
from ronda.workers.feed import ThreadedFeed
from ronda.workers.intake import Intake
from ronda.workers.pages import Page
from ronda.workers.parts import Parts

LARGE = 256 * 1024  # bytes beyond which a page is read in a thread
PATIENCE = 300.0  # seconds without a link, or for one file, after which it is given up


class Pushing:
    """Reads small pages at once, large ones in a thread."""

    def __init__(self, parts: Parts, intake: Intake) -> None:
        self._parts = parts
        self._intake = intake
        self._memory = parts.memory
        self._survey = parts.survey
        self._loop = asyncio.get_running_loop()
        # One large page at a time: taken apart it is many times as large, and its
        # thread takes turns with the loop, for which answers wait.
        self._large = asyncio.Lock()
        self._led_to: set[str] = set()  # pages that were read after redirects

    def kind(self, visit: Visit, answer: Answer) -> str:
        """The Content-Type of a page, as it was known if it is unchanged."""
        if answer.status == 304 and self._memory is not None:
            known = self._memory.known(visit.request.url)
            return known.media_type if known is not None else ""
        return answer.header("content-type")

    def parent(self, visit: Visit, kind: str) -> Target | None:
        """The page whose links are seen from where it was at last; None: unwanted."""
        target = visit.target
        if self._parts.reach is None:
            return target
        if self._is_read_elsewhere(visit):
            return None
        step = self._parts.reach.after(target, visit.request.url, kind)
        if step.beyond:
            self._intake.beyond[step.beyond] += 1
        if not step.follow:
            return None
        same = step.outside == target.outside
        return target if same else replace(target, outside=step.outside)

    def _is_read_elsewhere(self, visit: Visit) -> bool:
        """Whether another visit reads a page: its own, or one that was led there too.

        Else its links would be told twice.
        """
        url = visit.request.url
        if url in self._led_to:
            return True
        found = bool(visit.hops) and url in self._parts.book
        return found and url not in self._intake.unfollowed

    def led_to(self, url: str) -> None:
        """A page was read after redirects."""
        self._led_to.add(url)

    def digest(self, visit: Visit, answer: Answer) -> str:
        """What tells a page from another: of its body, or as it was known."""
        if answer.status == 304 and self._memory is not None:
            known = self._memory.known(visit.request.url)
            return known.digest if known is not None else ""
        if not answer.body or answer.cut:
            return ""
        return hashlib.sha256(answer.body).hexdigest()

    async def push(self, page: Page, parent: Target) -> Page:
        """Let every link of a page be taken in; the page as it is then."""
        answer = page.answer
        if self._parts.reach is not None and self._is_read_elsewhere(page.visit):
            return replace(page, parent=None)  # since it came
        if answer.cut and answer.body:
            limit = self._parts.settings.fetch.body_limit
            words = f"longer than {limit:,} bytes (body_limit): links may be missing"
            self.tell(page, words)
        push = _Push(self._intake, page, parent, nofollow=self._says_nofollow(answer))
        push.kept = [] if self._memory is not None and not page.unchanged else None
        kind = page.kind.lower()
        is_sitemap = "xml" in kind and "html" not in kind
        push.named = [] if self._survey is not None and is_sitemap else None
        if len(answer.body) <= LARGE:
            push.take(self._links(page))
        else:
            await self._push_large(push)
        self._tell_of(push)
        if page.visit.hops:
            self.led_to(page.visit.request.url)
        # Without its parent: should anybody die from now on, it is not read again.
        links, copy = push.kept, push.is_copy
        return replace(page, parent=None, read=True, links=links, is_copy=copy)

    def _says_nofollow(self, answer: Answer) -> bool:
        if self._parts.reach is None:
            return False
        return "nofollow" in directives(answer, self._parts.settings.fetch.agent)

    def _links(self, page: Page) -> Iterable[Found | Problem]:
        url = page.visit.request.url
        if page.unchanged and self._memory is not None:
            return self._memory.links(url)
        return self._parts.read(page.answer.body, url, page.kind)

    async def _push_large(self, push: "_Push") -> None:
        """Read a page in a thread, for as long as something comes of it."""
        try:
            async with self._large, asyncio.timeout(PATIENCE) as limit:
                async for batch in ThreadedFeed(self._links(push.page)):
                    limit.reschedule(self._loop.time() + PATIENCE)
                    push.take(batch)
        except TimeoutError:
            self.tell(push.page, f"no link was found in {PATIENCE:.0f} s: given up")

    def _tell_of(self, push: "_Push") -> None:
        page, url = push.page, push.page.visit.request.url
        if self._survey is not None:
            if "html" in page.kind.lower():  # not a style, a sitemap or a list
                digest = "" if push.is_copy else page.digest
                self._survey.read(page.visit, page.answer, digest)
            self._survey.named(push.named or ())
        if self._parts.events:
            self._parts.events.page_parsed(url, page.answer)

    def tell(self, page: Page, words: str, *, grave: bool = False) -> None:
        """Note a problem with a page."""
        place = Place(urls.without_credentials(page.visit.request.url))
        self._intake.tell(Problem(place, words, grave=grave))


class _Push:
    """The links of one page on their way in."""

    def __init__(
        self, intake: Intake, page: Page, parent: Target, *, nofollow: bool
    ) -> None:
        self._admit = intake.admit_fetched
        self.page = page
        self._parent = parent
        self._nofollow = nofollow
        self.kept: list[Found | Problem] | None = None  # for the next time
        self.named: list[str] | None = None  # entries of a sitemap
        self.is_copy = False  # it says itself that another page is the original

    def take(self, links: Iterable[Found | Problem]) -> None:
        """Let links in."""
        parent, public, nofollow = self._parent, self.page.public, self._nofollow
        for found in links:
            self._admit(found, parent, public, nofollow)
            if self.kept is not None:
                self._keep(found)
            if isinstance(found, Found):
                if self.named is not None and not found.reads:  # an index's are none
                    self.named.append(found.url)
                if found.rel and "canonical" in found.rel:
                    self.is_copy |= found.url != self.page.visit.request.url

    def _keep(self, found: Found | Problem) -> None:
        """What the page itself says, its links must say the next time."""
        if self._nofollow and isinstance(found, Found):
            found = replace(found, rel=f"{found.rel} nofollow".strip())
        if self.kept is not None:
            self.kept.append(found)
