"""The task of the daemon that tells owners: takes batches, sends them, and says how.

A batch stands in the store before it is first sent and until its receiver took it, so
whatever happens here, it is sent again: the same words under the same key.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from random import random
from typing import ParamSpec, Protocol, TypeVar

from ronda.clock import Clock
from ronda.config import Notices
from ronda.errors import StoreBusyError
from ronda.model import Answer
from ronda.store.sql.outbox import Outbox
from ronda.store.sql.taking import Batch
from ronda.workers import notices

log = logging.getLogger(__name__)

AT_ONCE = 16  # owners who are told at the same time
TICK = 60.0  # seconds after which it is looked again: others write to the store too
SHORTEST = 1.0  # seconds between two looks, where another process is at it
PATIENCE = 5.0  # seconds before a store that cannot be used is tried again
TIMED_OUT = 28  # libcurl's code
GATHER = 1.0  # seconds in which notices that belong together come together
GRACE = 10.0  # seconds for what is being sent when all is to end

P = ParamSpec("P")
T = TypeVar("T")
Send = Callable[[str, bytes, tuple[str, ...]], Awaitable[Answer]]


class Call(Protocol):
    """Calls a function of the store in the thread where that may be done."""

    async def __call__(
        self, function: Callable[P, T], *args: P.args, **named: P.kwargs
    ) -> T:
        """What the function returns."""


class Notifier:
    """Tells every owner who listens, one batch at a time."""

    def __init__(
        self,
        outbox: Outbox,
        call: Call,
        send: Send,
        clock: Clock,
        settings: Notices,
        *,
        holder: Callable[[], int],
        tell: Callable[[str], None],
    ) -> None:
        """Make it; `run` is what it does.

        Args:
            outbox: where the batches are.
            call: the way into the store.
            send: a URL, a body and headers; for its answer.
            clock: of the store, which all its processes go by.
            settings: gaps and limits.
            holder: this process, as the store knows it now.
            tell: one line for people.
        """
        self._outbox = outbox
        self._call = call
        self._send = send
        self._now = clock.epoch
        self.settings = settings  # may be set anew
        self._until: float | None = None  # by the loop's clock: what is sent may end
        self._holder = holder
        self._tell = tell
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._gathering: asyncio.TimerHandle | None = None
        self._sending: dict[int, asyncio.Task[None]] = {}  # by owner
        self._fault: BaseException | None = None  # of ours, met while sending
        self._tidied = -TICK  # by the event loop's clock
        self._waits = False  # for the store, and said so

    def wake(self) -> None:
        """Notices were written; called on the event loop."""
        if self._gathering is None:
            self._gathering = self._loop.call_later(GATHER, self._gathered)

    def _gathered(self) -> None:
        self._gathering = None
        self._news.set()

    def hurry(self, grace: float) -> None:
        """What is being sent has so many seconds to end, once all is to end."""
        self._until = self._loop.time() + grace
        if not grace:
            for task in self._sending.values():
                task.cancel()

    async def run(self) -> None:
        """Tell whoever is to be told, until cancelled."""
        try:
            while True:
                self._news.clear()
                await self._pause(await self.look())
        finally:
            if self._gathering is not None:
                self._gathering.cancel()
            await self._end()

    async def look(self) -> float | None:
        """Begin to send what is due; says when there will be more, None: not known."""
        if self._fault is not None:
            raise self._fault
        try:
            found = await self._begin()
        except StoreBusyError as error:
            self._wait_for_store(error)
            return self._now() + PATIENCE
        self._waits = False
        return found

    async def _begin(self) -> float | None:
        await self._tidy()
        room = AT_ONCE - len(self._sending)
        due_at = await self._call(self._outbox.next_at)
        if not room or due_at is None or due_at > self._now():
            return due_at if room else None  # whoever ends makes room, and looks again
        for batch in await self._call(self._take, room, tuple(self._sending)):
            name = f"notices to {batch.owner}"
            task = self._loop.create_task(self._carry(batch), name=name)
            self._sending[batch.owner_id] = task
            task.add_done_callback(partial(self._ended, batch.owner_id))
        return await self._call(self._outbox.next_at)

    def _take(self, count: int, besides: tuple[int, ...]) -> list[Batch]:
        """Called in the store's thread: a batch is held from then on, not from before.

        The thread may have been busy for long.
        """
        holder, now = self._holder(), self._now()
        return self._outbox.take(
            holder, now, self.settings, count=count, besides=besides
        )

    async def _tidy(self) -> None:
        if self._loop.time() - self._tidied >= TICK:
            await self._call(self._outbox.tidy, self._now(), self.settings)
            self._tidied = self._loop.time()

    async def _pause(self, until: float | None) -> None:
        seconds = TICK
        if until is not None:
            seconds = min(max(until - self._now(), SHORTEST), TICK)
        try:
            async with asyncio.timeout(seconds):
                await self._news.wait()
        except TimeoutError:
            return

    # -- one batch ---------------------------------------------------------------

    async def _carry(self, batch: Batch) -> None:
        answer = await self._answer(batch)
        try:
            await self._record(batch, notices.fault(answer))
        except StoreBusyError as error:
            # It is held for a while yet, and then sent again under its key.
            self._wait_for_store(error)

    async def _answer(self, batch: Batch) -> Answer:
        seconds = self.settings.timeout
        headers = notices.headers(batch, self._now())
        try:
            async with asyncio.timeout(seconds):
                return await self._send(batch.callback, batch.body, headers)
        except TimeoutError:
            return Answer(error=TIMED_OUT, error_text=f"no answer in {seconds:g} s")

    async def _record(self, batch: Batch, fault: str) -> None:
        now, settings, outbox = self._now(), self.settings, self._outbox
        if not fault:
            next_at = now + settings.interval
            again = notices.reconcile_at(batch.owner_id, now, settings)
            await self._call(
                outbox.delivered, batch, now, next_at=next_at, reconcile_at=again
            )
        elif why := notices.why_given_up(batch, now, settings, fault):
            if await self._call(outbox.switch_off, batch, now, why):
                self._tell(why)
        else:
            again = notices.retry_at(batch, now, settings, random())  # noqa: S311
            await self._call(outbox.failed, batch, now, again)
            log.info("owner %s could not be told: %s", batch.owner, fault)

    def _ended(self, owner_id: int, task: asyncio.Task[None]) -> None:
        del self._sending[owner_id]
        if not task.cancelled():
            self._fault = self._fault or task.exception()
        self._news.set()

    async def _end(self) -> None:
        """Let what is being sent come to its end; what does not is sent again later."""
        tasks = list(self._sending.values())
        try:
            if tasks:
                until = self._until or self._loop.time() + GRACE
                left = max(0.0, until - self._loop.time())
                await asyncio.wait(tasks, timeout=left)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _wait_for_store(self, error: StoreBusyError) -> None:
        if not self._waits:
            self._waits = True
            self._tell(f"notices wait for the store: {error}")
