"""What a program asks of the passage, whichever way it says it."""

from collections.abc import Callable

from msgspec import Struct

from ronda import urls
from ronda.errors import UrlError
from ronda.fetch.passage.permit import No, Permit


class Wish(Struct, frozen=True):
    """To be connected with a port of a host."""

    permit: Permit
    host: str  # as in a normalised URL
    port: int
    asked: str  # for the log: a URL, or host and port
    yes: bytes  # to be said when there is a connection
    no: Callable[[No], bytes]  # what is said when there is none
    head: bytes = b""  # to be sent first
    body: int | None = None  # bytes that follow the head; None: all there are
    answers: bool = False  # one request: one answer comes back, and no more


def place(authority: str) -> tuple[str, int] | None:
    """Host and port of an authority, in their one spelling; None if it is none."""
    try:
        url = urls.normalise(f"http://{authority}/")
    except UrlError:
        return None
    host, port = urls.host(url), urls.port(url)
    is_all = url.count("/") == 3 and not set(url) & set("?#")
    return (host, 80 if port is None else port) if host and is_all else None
