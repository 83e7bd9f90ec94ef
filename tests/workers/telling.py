"""A notifier for tests, with all that it needs; run as a program, one to be killed."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing
from functools import partial
from typing import ParamSpec, TypeVar

from ronda.clock import Clock, SystemClock
from ronda.config import Fetch, Notices
from ronda.config import Guard as GuardSettings
from ronda.fetch.guard import Guard
from ronda.fetch.names import Names
from ronda.fetch.post import Post
from ronda.model import Answer
from ronda.store.sql.engines import Database
from ronda.store.sql.outbox import Outbox
from ronda.workers.notifying import Notifier

P = ParamSpec("P")
T = TypeVar("T")
SECONDS = 60.0  # guards against hanging; nothing takes as long


class KilledError(Exception):
    """The process has died here."""


class Office:
    """Where a notifier works: what it calls for, and where it may die."""

    def __init__(
        self,
        database: Database,
        threads: ThreadPoolExecutor,
        post: Post,
        clock: Clock,
        settings: Notices,
    ) -> None:
        self.outbox = Outbox(database)
        self.said: list[str] = []
        self.sent_at: list[float] = []
        self.busy: Exception | None = None  # the store's, once
        self.silent = False  # nothing ever comes of what is sent
        self._threads = threads
        self._clock = clock
        self._post = post
        self._settings = settings

    def notifier(self, process: int, dies: str = "") -> Notifier:
        """A new one; `dies` is "before" or "after" and what it does last."""

        def die(word: str, what: str) -> None:
            if dies == f"{word} {what}":
                raise KilledError(dies)

        async def call(function: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
            if self.busy is not None:
                error, self.busy = self.busy, None
                raise error
            die("before", function.__name__)
            loop = asyncio.get_running_loop()
            work = partial(function, *args, **named)
            found = await loop.run_in_executor(self._threads, work)
            die("after", function.__name__)
            return found

        async def send(url: str, body: bytes, headers: tuple[str, ...]) -> Answer:
            die("before", "send")
            self.sent_at.append(self._clock.epoch())
            if self.silent:
                await asyncio.Event().wait()
            answer = await self._post.send(url, body, headers)
            die("after", "send")
            return answer

        return Notifier(
            self.outbox,
            call,
            send,
            self._clock,
            self._settings,
            holder=lambda: process,
            tell=self.said.append,
        )


async def turn(notifier: Notifier) -> float | None:
    """One look, and all that it began come to its end; when to look again."""
    await notifier.look()
    if notifier._sending:
        await asyncio.wait(notifier._sending.values())
        await asyncio.sleep(0)  # they are taken off the list after that
    return await notifier.look()


@asynccontextmanager
async def office(where: str, clock: Clock, settings: Notices) -> AsyncIterator[Office]:
    guard = Guard(GuardSettings())
    # The threads end first: a call that nobody waits for any more has a connection.
    with closing(Database(where)) as database, ThreadPoolExecutor(4) as threads:
        async with (
            asyncio.timeout(SECONDS),
            Names((), guard, clock) as names,
            Post(Fetch(), settings.timeout, names, guard) as post,
        ):
            yield Office(database, threads, post, clock, settings)


async def main(where: str, process: str, settings: str) -> None:
    given = Notices(**json.loads(settings))
    async with office(where, SystemClock(), given) as made:
        await made.notifier(int(process)).run()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
