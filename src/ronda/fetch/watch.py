"""Watches a libcurl handle: where its sockets go, how often it sends a request."""

import os
import socket
from collections.abc import Callable
from time import monotonic
from typing import Any

import pycurl

from ronda import urls
from ronda.fetch.guard import Guard
from ronda.model import GUARDED, Request

Open = Callable[[Any], socket.socket | int]

DIED = (pycurl.E_RECV_ERROR, "Connection died, and the request is not sent twice")
MOST = 10_000  # authorities without HTTP/2 that are remembered
_SCHEMES = ("http", "https", "ftp", "ftps", "sftp")


class Sockets:
    """What the watches of one engine share."""

    def __init__(self, guard: Guard, open_: Open) -> None:
        self.guard = guard
        self.open = open_
        self.proxied = proxied()
        self.without_http2: set[str] = set()  # authorities that took none of it


class Watch:
    """Vetoes what libcurl would do by itself, and remembers why."""

    __slots__ = ("_opened", "_request", "_sockets", "sent_at", "veto")

    def __init__(self, sockets: Sockets) -> None:
        self._sockets = sockets
        self._request: Request
        self._opened = False
        self.sent_at = 0.0  # monotonic; 0 as long as nothing was sent
        self.veto: tuple[int, str] | None = None  # the error to give, and its words

    def begin(self, request: Request) -> None:
        """A request is about to be handed over to libcurl."""
        self._request = request
        self._opened = False
        self.sent_at = 0.0
        self.veto = None

    def open_socket(self, _purpose: int, address: Any) -> socket.socket | int:
        """Open a socket to where libcurl would dial, FTP's data connections too."""
        request = self._request
        if self.sent_at and request.url.startswith("http"):
            return self._give_up()
        # A proxy of the operator's is dialled in place of the target, whose address
        # has been looked at before (`Guard.check`) and is all the proxy is told.
        if not self._sockets.proxied or not self._is_proxied():
            words = self._sockets.guard.refusal(str(address.addr[0]), request.public)
            if words:
                self.veto = GUARDED, words
                return int(pycurl.SOCKET_BAD)
        self._opened = True
        return self._sockets.open(address)

    def before_request(self, *_: object) -> int:
        """Let a request be sent, but not a second time.

        When a kept connection dies or an HTTP/2 server refuses a stream, libcurl tries
        again, up to six times in all. None but the first was charged to anybody.
        """
        if self.sent_at:
            self._give_up()
            return int(pycurl.PREREQFUNC_ABORT)
        self.sent_at = monotonic()
        return int(pycurl.PREREQFUNC_OK)

    def _give_up(self) -> int:
        self.veto = DIED
        # On a new connection only HTTP/2 is tried again: its server wants HTTP/1.1,
        # or may do better with it.
        url, known = self._request.url, self._sockets.without_http2
        if self._opened and url.startswith("https:") and len(known) < MOST:
            known.add(urls.authority(url))
        return int(pycurl.SOCKET_BAD)

    def _is_proxied(self) -> bool:
        return urls.scheme(self._request.url) in self._sockets.proxied


def proxied() -> frozenset[str]:
    """The schemes for which libcurl finds a proxy in the environment.

    Hosts that no_proxy names are dialled all the same, but only where they are pinned.
    """
    return frozenset(scheme for scheme in _SCHEMES if _has_proxy(scheme))


def _has_proxy(scheme: str) -> bool:
    names = [f"{scheme}_proxy", "all_proxy", "ALL_PROXY"]
    if scheme != "http":  # libcurl's rule: a CGI script's HTTP_PROXY is a stranger's
        names.append(f"{scheme.upper()}_PROXY")
    return any(os.environ.get(name) for name in names)
