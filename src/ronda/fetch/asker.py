"""The one door to the outside: each request goes to whoever can carry it."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from time import monotonic
from typing import Self

import msgspec

from ronda import urls
from ronda.config import Fetch
from ronda.fetch.engine import Engine
from ronda.fetch.guard import Guard
from ronda.fetch.local import ODD_FILE, is_odd
from ronda.fetch.names import Names
from ronda.fetch.pool import Pool
from ronda.fetch.programs import Programs
from ronda.model import Answer, Ran, Request, Via
from ronda.threads import in_thread

Check = Callable[[str], tuple[str, str]]


class Asker:
    """Carries requests by libcurl, a name server, a blocking plug-in or a program."""

    def __init__(
        self,
        settings: Fetch,
        names: Names,
        checks: Callable[[str], Check | None],
        guard: Guard,
        evidence: bool = True,
        programs: Programs | None = None,
    ) -> None:
        self._names = names
        self._guard = guard
        self._checks = checks
        self._programs = programs
        many = settings.processes > 1
        self._engine = (Pool if many else Engine)(settings, guard, evidence)
        self._loop = asyncio.get_running_loop()
        self._stack = AsyncExitStack()
        self._timeout = settings.timeout

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._engine)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    def ask(
        self, request: Request, address: str, last: bool, server: str = ""
    ) -> Awaitable[Answer]:
        """One request, one answer.

        Args:
            request: what is asked.
            address: where the connection must go; "" where the URL says it itself.
            last: no more requests for this host are known.
            server: the address that is asked, where it is known: saves looking.
        """
        if request.via is Via.CURL:
            refused = self._guard.check(request, server or address)
            if refused is not None:
                return _known(refused)
            if request.url.startswith("file:") and is_odd(request.url):
                return _known(ODD_FILE)
            future: asyncio.Future[Answer] = self._loop.create_future()
            self._engine.ask(request, address, last, future.set_result)
            return future
        if request.via is Via.MX:
            return self._mail(request.url)
        if request.via is Via.PROGRAM:
            return self._run(request, server or address)
        return self._call(request.url)

    async def _run(self, request: Request, address: str) -> Answer:
        if self._programs is None:
            return Answer(ran=Ran(failure="programs are not run here"))
        refused = self._guard.check(request, address) if address else None
        if refused is not None:
            return refused
        answer = await self._programs.run(request)
        # Its last request may have left just now: the gap counts from here.
        return msgspec.structs.replace(answer, sent_at=monotonic())

    def drop(self, asking: asyncio.Future[Answer]) -> None:
        """Give up a request: its connection is closed, its answer not waited for."""
        self._engine.drop(asking.set_result)

    @property
    def deaths(self) -> int:
        """How many processes died that asked for us."""
        return self._engine.deaths

    async def _mail(self, domain: str) -> Answer:
        return await self._names.mail_servers(domain) if domain else Answer()

    async def _call(self, url: str) -> Answer:
        check = self._checks(urls.scheme(url))
        if check is None:
            return Answer(error_text="no such plug-in")
        try:
            async with asyncio.timeout(self._timeout):
                said = await in_thread(lambda: check(url))
            state, words = said
            if not isinstance(words, str) or not isinstance(state, str | None):
                raise TypeError(f"it returned {said!r}, not a state and words")
        except TimeoutError:
            return Answer(error_text=f"no answer in {self._timeout:g} s")
        except Exception as error:  # a third party's code may do anything
            return Answer(error_text=f"{type(error).__name__}: {error}")
        return Answer(called=(state, words))


async def _known(answer: Answer) -> Answer:
    """An answer for which nobody needs to be asked."""
    return answer
