"""Tells: a body goes to a URL by POST, and what that says is its answer."""

import asyncio
from typing import Self

import pycurl
from msgspec.structs import replace

from ronda import networks, urls
from ronda.config import Fetch
from ronda.errors import UrlError
from ronda.fetch.engine import Engine
from ronda.fetch.guard import Guard
from ronda.fetch.names import Names
from ronda.model import Answer, Request

_SCHEMES = ("http", "https")


class Post:
    """Sends what others asked to be told, on connections of its own.

    Redirects are not followed, and the headers that targets get are not sent: they
    may be meant for nobody else.
    """

    def __init__(
        self, settings: Fetch, seconds: float, names: Names, guard: Guard
    ) -> None:
        connect = min(settings.connect_timeout, seconds)
        own = replace(settings, headers={}, timeout=seconds, connect_timeout=connect)
        self._engine = Engine(own, guard)
        self._names = names
        self._guard = guard

    async def __aenter__(self) -> Self:
        await self._engine.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._engine.__aexit__(None, None, None)

    async def send(self, url: str, payload: bytes, headers: tuple[str, ...]) -> Answer:
        """Send it to the first address of a host that can be reached.

        The URL is taken for the operator's own word: it may lead to his machines.
        """
        try:
            url = urls.normalise(url)
        except UrlError as error:
            return Answer(error=pycurl.E_URL_MALFORMAT, error_text=str(error))
        if urls.scheme(url) not in _SCHEMES:
            words = f"{urls.shown(url)}: neither http nor https"
            return Answer(error=pycurl.E_UNSUPPORTED_PROTOCOL, error_text=words)
        request = Request(url, "POST", fresh=True, payload=payload, headers=headers)
        host = urls.host(url)
        if address := networks.literal(host):
            return await self._ask(request, address)
        found = await self._names.find(host)
        if found.failure is not None:
            return found.failure
        answer = await self._ask(request, found.address)
        for other in found.others:
            if answer.reached:
                break
            answer = await self._ask(request, other)
        return answer

    async def _ask(self, request: Request, address: str) -> Answer:
        refused = self._guard.check(request, address)
        if refused is not None:
            return refused
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        settle = future.set_result
        self._engine.ask(request, address, True, settle)
        try:
            return await future
        except asyncio.CancelledError:
            self._engine.drop(settle)
            raise
