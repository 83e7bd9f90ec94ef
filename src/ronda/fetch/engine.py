"""libcurl on the event loop: many requests under way, one call to move them all.

libcurl opens its sockets through us, so each of them is put into an epoll of our own,
edge-triggered, and that epoll is one descriptor to asyncio. Whatever happens on any
socket, `perform` is called once and moves every transfer that can move. This needs no
Python call per socket event, which makes it faster than `socket_action`, and no second
thread, which would fight for the interpreter (figures: docs/design.md).
"""

import asyncio
import logging
import select
import socket
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import pycurl

from ronda.config import Fetch
from ronda.fetch.certificates import Certificates
from ronda.fetch.exchange import Exchange
from ronda.fetch.guard import Guard
from ronda.fetch.watch import Sockets
from ronda.model import Answer, Request

log = logging.getLogger(__name__)

KEPT = 2000  # connections that are kept open, at most, for the next request
_EDGES = select.EPOLLIN | select.EPOLLOUT | select.EPOLLET


class Engine:
    """Carries requests by http, https, ftp, ftps, sftp and file."""

    deaths = 0  # it asks in this very process

    def __init__(self, settings: Fetch, guard: Guard, evidence: bool = True) -> None:
        self._settings = settings
        self._sockets = Sockets(guard, self._open_socket)
        self._evidence = evidence
        self._loop = asyncio.get_running_loop()
        self._certificates = Certificates()
        self._free: list[Exchange] = []
        self._busy: dict[pycurl.Curl, Exchange] = {}
        self._giving: dict[pycurl.Curl, int] = {}  # bytes sent of what is posted
        # libcurl works on duplicates of the sockets we open; ours are closed after.
        self._opened: list[socket.socket] = []
        self._kicked = False
        self._timer: asyncio.TimerHandle | None = None
        self._epoll = select.epoll()
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, max(KEPT, settings.concurrency))
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._on_timer)

    async def __aenter__(self) -> Self:
        self._loop.add_reader(self._epoll.fileno(), self._on_sockets)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.remove_reader(self._epoll.fileno())
        if self._timer:
            self._timer.cancel()
        for curl in self._busy:
            self._multi.remove_handle(curl)
            curl.close()
        self._busy.clear()
        for exchange in self._free:
            exchange.curl.close()
        self._multi.close()
        self._epoll.close()

    def ask(
        self,
        request: Request,
        address: str,
        last: bool,
        settle: Callable[[Answer], None],
    ) -> None:
        """Start a request; `settle` is called with its answer.

        Args:
            request: what is asked.
            address: where the connection must go; "" where the URL says it itself.
            last: no more requests for this host are known, so the connection may close.
            settle: called on the event loop, once, whatever happens.
        """
        exchange = self._free.pop() if self._free else self._new()
        exchange.settle = settle
        try:
            exchange.prepare(request, address, last)
        except (UnicodeError, ValueError, pycurl.error) as error:  # a plug-in's URL
            settle(Answer(error=pycurl.E_URL_MALFORMAT, error_text=str(error)))
            return
        self._busy[exchange.curl] = exchange
        if request.payload:
            self._giving[exchange.curl] = 0
        self._multi.add_handle(exchange.curl)
        self._kick()

    def drop(self, settle: Callable[[Answer], None]) -> None:
        """Give up the request that would be settled so, and close its connection."""
        for curl, exchange in self._busy.items():
            if exchange.settle == settle:
                self._multi.remove_handle(curl)
                del self._busy[curl]
                self._giving.pop(curl, None)
                curl.close()  # not free again: who knows what state it is in
                return

    def _new(self) -> Exchange:
        made = Exchange(self._settings, self._certificates, self._sockets)
        made.lean = not self._evidence
        return made

    def _open_socket(self, address: Any) -> socket.socket | int:
        kind = address.socktype | socket.SOCK_NONBLOCK
        try:
            opened = socket.socket(address.family, kind, address.protocol)
        except OSError:  # no descriptors left, or no such family here
            return int(pycurl.SOCKET_BAD)
        self._epoll.register(opened.fileno(), _EDGES)
        self._opened.append(opened)
        return opened

    # -- moving ----------------------------------------------------------------

    def _kick(self) -> None:
        """Perform once for all that was added in this turn of the loop."""
        if not self._kicked:
            self._kicked = True
            self._loop.call_soon(self._perform)

    def _on_sockets(self) -> None:
        self._epoll.poll(0)  # which sockets does not matter: libcurl looks itself
        self._perform()

    def _on_timer(self, milliseconds: int) -> None:
        if milliseconds == 0:
            self._kick()
        elif milliseconds > 0:
            self._set_timer(milliseconds / 1000)

    def _set_timer(self, seconds: float) -> None:
        timer = self._timer
        if timer is not None:
            # One that is due sooner may stay: `_due` asks libcurl what is next.
            if timer.when() <= self._loop.time() + seconds:
                return
            timer.cancel()
        self._timer = self._loop.call_later(seconds, self._due)

    def _due(self) -> None:
        self._timer = None
        self._perform()
        left = self._multi.timeout()
        if left >= 0:
            self._set_timer(max(left, 1) / 1000)

    def _perform(self) -> None:
        self._kicked = False
        self._multi.perform()
        while self._opened:
            self._opened.pop().close()
        while True:
            more, good, bad = self._multi.info_read()
            for curl in good:
                self._end(curl, 0, "")
            for curl, error, text in bad:
                self._end(curl, error, text)
            if not more:
                break
        if self._giving:
            self._go_on_giving()

    def _go_on_giving(self) -> None:
        """Perform again while something is sent.

        libcurl sends one buffer a turn, and a socket that could take more is silent.
        """
        for curl, before in self._giving.items():
            sent = int(curl.getinfo(pycurl.SIZE_UPLOAD_T))
            if sent > before:
                self._giving[curl] = sent
                self._kick()

    def _end(self, curl: pycurl.Curl, error: int, text: str) -> None:
        self._multi.remove_handle(curl)
        exchange = self._busy.pop(curl)
        self._giving.pop(curl, None)
        try:
            answer = exchange.answer(error, text)
            self._free.append(exchange)
        except Exception as fault:  # whatever a server sent, somebody waits for it
            log.exception("answer cannot be read")
            answer = Answer(error=pycurl.E_FAILED_INIT, error_text=str(fault))
        try:
            exchange.settle(answer)
        except asyncio.InvalidStateError:
            log.debug("nobody waits for an answer any more")
