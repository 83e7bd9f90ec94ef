"""Pages on their way from fetchers to crawlers to workers, and the links on them."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from enum import Enum
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ronda.frontier import Item
from ronda.model import Target
from ronda.workers.balance import Balance
from ronda.workers.crew import Fate, Member
from ronda.workers.entrance import Entrance
from ronda.workers.inbox import Inbox
from ronda.workers.pages import Page
from ronda.workers.parts import Parts
from ronda.workers.pushing import PATIENCE, Pushing
from ronda.workers.states import Role, WorkerState

if TYPE_CHECKING:
    from ronda.workers.memory import Memory

MANY, HEAVY = 16, 32 * 1024 * 1024  # pages, and bytes of them, that wait to be read
TURN = 0.005  # seconds after which others have a turn on the event loop


class Room(Enum):
    """Handed to a crawler in the place of a page: held-back links may go on."""

    MADE = "made"


class Reading:
    """Reads pages; links that find no room wait on disk, so that nobody waits."""

    def __init__(
        self,
        parts: Parts,
        pushing: Pushing,
        balance: Balance,
        ended: Callable[[], None],
        entrance: Entrance,
    ) -> None:
        self._parts = parts
        self._balance = balance
        self._ended = ended  # told when something has come to its end
        self._entrance = entrance
        self._now = parts.clock.now
        self._half = parts.settings.frontier.capacity // 2
        self.pages: Inbox[Page | Room] = Inbox(MANY, HEAVY)
        self.works: Inbox[Page] = Inbox(MANY, HEAVY)
        self._refilling = False
        self._going: deque[Target] = deque()  # out of the overflow, not yet queued
        self._turn_until = 0.0
        self._pushing = pushing

    # -- what a fetcher does -------------------------------------------------------

    async def hand_over(self, page: Page) -> None:
        """Give a page to the crawlers."""
        await self.pages.put(page, len(page.answer.body))

    # -- links that find no room -----------------------------------------------------

    def hold_back(self, item: Item) -> bool:
        """Keep a target on disk while the frontier is full; False when it is not."""
        overflow = self._parts.overflow
        if overflow is None or not isinstance(item, Target):
            return False
        if self._entrance.room > 0 and not len(overflow):
            return False
        overflow.push(item)
        self.look_for_room()  # or nobody would, where all that is queued is done
        return True

    def look_for_room(self) -> None:
        """Send a crawler to let held-back targets go on, once there is room."""
        overflow = self._parts.overflow
        if self._refilling or overflow is None or not len(overflow):
            return
        if self._entrance.room >= max(self._half, 1):
            self._refilling = True
            self.pages.add(Room.MADE)

    def let_go_on(self, put: Callable[[Item], None], me: Member) -> None:
        """Queue as many of the held-back targets as there is room for."""
        me.become(WorkerState.PUSH_BUFFER, self._now())
        me.hands = Room.MADE
        room = self._entrance.room - len(self._going)
        if self._parts.overflow is not None:
            self._going.extend(self._parts.overflow.pop(max(room, 0)))
        while self._going:
            me.on = self._going[0].url
            put(self._going[0])
            self._going.popleft()
        self._refilling = False
        self.look_for_room()
        self._ended()

    def refill_again(self, fate: Fate) -> Target | None:
        """Let another crawler do it; a target that has killed too many is returned."""
        self.pages.add(Room.MADE)
        given_up = fate is Fate.GIVEN_UP and bool(self._going)
        return self._going.popleft() if given_up else None

    # -- what a crawler does ---------------------------------------------------------

    async def next_page(self, me: Member) -> Page | Room | None:
        """Wait for a page, which is then in a crawler's hands; None at the end."""
        if me.state is WorkerState.SLEEPING:
            me.become(WorkerState.WAITING, self._now())
        page = await self.pages.get()
        if isinstance(page, Page):
            me.become(WorkerState.BEFORE_WORK, self._now(), page.visit.request.url)
            me.hands = page
        return page

    async def read(self, page: Page, me: Member) -> None:
        """Push the links of a page; give it to the workers if it is to be saved."""
        before = len(self._parts.overflow or ())
        me.become(WorkerState.WORKING, self._now())
        me.become(WorkerState.PUSHING, self._now())
        if page.parent is not None:
            me.hands = page = await self._pushing.push(page, page.parent)
        if len(self._parts.overflow or ()) > before:
            me.become(WorkerState.PUSH_BUFFER, self._now())
        me.become(WorkerState.PUSHED, self._now())
        if self._parts.keep is not None and page.answer.status:
            self._balance.works += 1
            await self.works.put(page, len(page.answer.body))
        else:
            self.finish(page)
        self._balance.pages_read += 1
        self._ended()
        await self._give_way()

    def finish(self, page: Page) -> None:
        """The last that is done with a page: its visit ends."""
        if self._parts.memory is not None:
            self._remember(page, self._parts.memory)
        self._balance.ended += page.ends

    def _remember(self, page: Page, memory: "Memory") -> None:
        """All at once: what is said to be done was read, and saved."""
        url, answer, result = page.visit.request.url, page.answer, page.result
        if page.links is not None:
            memory.page(url, answer, page.digest, page.links)
        elif page.read:
            memory.unchanged(url)
        elif self._parts.keep is not None and answer.status == 200:
            memory.page(url, answer, page.digest, ())
        if result is not None:
            memory.ended(replace(result, digest="") if page.is_copy else result)

    async def _give_way(self) -> None:
        now = self._now()
        if now >= self._turn_until:
            await asyncio.sleep(0)
            self._turn_until = self._now() + TURN

    # -- what a worker does -----------------------------------------------------------

    async def next_work(self, me: Member) -> Page | None:
        """Wait for something to save; None when there is nothing more."""
        if me.state is WorkerState.SLEEPING:
            me.become(WorkerState.WAITING, self._now())
        me.hands = page = await self.works.get()
        if page is not None:
            me.become(WorkerState.BEFORE_WORK, self._now(), page.visit.request.url)
        return page

    async def keep(self, page: Page, me: Member) -> None:
        """Save a page."""
        me.become(WorkerState.WORKING, self._now())
        assert self._parts.keep is not None  # noqa: S101  # else there is no work
        if page.answer.cut and not page.read:
            limit = self._parts.settings.fetch.body_limit
            words = f"longer than {limit:,} bytes (body_limit): not saved"
            self._pushing.tell(page, words)
        try:
            async with asyncio.timeout(PATIENCE):
                await self._parts.keep(page.visit, page.answer)
        except TimeoutError:
            self._pushing.tell(page, f"it was not saved in {PATIENCE:.0f} s: given up")
        except OSError as error:
            words = error.strerror or str(error)
            self._pushing.tell(page, f"could not be saved: {words}", grave=True)
        self.finish(page)
        self._balance.worked += 1
        self._ended()

    # -- the end -----------------------------------------------------------------------

    def take_over(self, page: Page, role: Role, fate: Fate, words: str) -> None:
        """Let a page go on that a worker which died had in its hands."""
        if fate is not Fate.GIVEN_UP:
            inbox = self.works if role is Role.WORKER else self.pages
            inbox.add(page, len(page.answer.body))
            return
        what = "saved" if role is Role.WORKER else "read"
        self._pushing.tell(page, f"could not be {what}: {words}")
        self.finish(page)
        if role is Role.WORKER:
            self._balance.worked += 1
        else:
            self._balance.pages_read += 1

    def close(self) -> None:
        """Let everybody go who waits for a page, or for room."""
        self.pages.close()
        self.works.close()

    async def wind_up(
        self,
        fetchers: Sequence[asyncio.Task[None]],
        crawlers: Sequence[asyncio.Task[None]],
    ) -> None:
        """Let crawlers go when no fetcher is left, and workers after them."""
        await asyncio.wait(fetchers)
        self.pages.close()
        await asyncio.wait(crawlers)
        self.works.close()
