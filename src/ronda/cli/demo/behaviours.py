"""What each path of the demo's web does when it is asked: the table of its faults."""

from collections.abc import Mapping
from enum import StrEnum
from html import escape
from http import HTTPStatus
from importlib.resources import files
from string import Template

from msgspec import Struct

HTML = "text/html; charset=utf-8"
CALLBACK = "/told"  # for notices
PAGES = ("/", "/visit.html", "/collection.html", "/archive.html")

_ROOMS = 25  # redirects in a row: more than any checker or browser follows
_ROBOTS = b"User-agent: *\nDisallow: /staff/\n"
_STYLE = b"body { max-width: 42em; margin: auto; font: 1em/1.5 serif }\n"
_DRAWING = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">'
    b'<path d="M4 0h1l1 9H3z"/></svg>\n'
)


class Ending(StrEnum):
    """What becomes of the connection after an answer."""

    KEEP = "keep"  # the next request may come
    CLOSE = "close"
    RESET = "reset"
    SILENCE = "silence"  # it stays open, and nothing is ever said


class Behaviour(Struct, frozen=True):
    """What a path does; answers are whole HTTP messages as sent."""

    answer: bytes = b""
    head: bytes | None = None  # what HEAD gets, when it is not as GET without the body
    first: bytes | None = None  # what the very first request gets
    mended: bytes | None = None  # what is sent once it works again, if it ever does
    ending: Ending = Ending.KEEP

    def reply(self, method: str, *, first: bool, mended: bool = False) -> bytes:
        """What is sent back to a request.

        Args:
            method: GET and the like.
            first: whether it is the first one for this path.
            mended: whether somebody has mended meanwhile what can be mended.
        """
        if method == "HEAD" and self.head is not None:
            return self.head
        if first and self.first is not None:
            found = self.first
        elif mended and self.mended is not None:
            found = self.mended
        else:
            found = self.answer
        return _without_body(found) if method == "HEAD" else found


def _without_body(message: bytes) -> bytes:
    head, separator, _ = message.partition(b"\r\n\r\n")
    return head + separator


def message(
    status: int, body: bytes = b"", kind: str = HTML, headers: tuple[str, ...] = ()
) -> bytes:
    """An HTTP answer as it is sent."""
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", *headers]
    if status != HTTPStatus.NO_CONTENT:
        lines += [f"content-type: {kind}", f"content-length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode() + body


def page(title: str, text: str = "", status: int = 200, *headers: str) -> Behaviour:
    """A small page with a title and a line of text."""
    body = (
        f"<!doctype html><html lang=en><title>{escape(title)}</title>"
        f"<h1>{escape(title)}</h1><p>{escape(text)}</p></html>\n"
    )
    return Behaviour(message(status, body.encode(), headers=headers))


def moved(status: int, to: str) -> Behaviour:
    """A redirect."""
    return Behaviour(message(status, headers=(f"location: {to}",)))


def fault(status: int, *headers: str) -> Behaviour:
    """An answer that is an error, with a small page."""
    return page(HTTPStatus(status).phrase, "", status, *headers)


def _file(body: bytes, kind: str, head: bytes | None = None) -> Behaviour:
    return Behaviour(message(200, body, kind), head=head)


_NO_HEAD = message(405, headers=("allow: GET",))

MISSING = fault(404)

TABLE: Mapping[str, Behaviour] = {
    # good
    "/robots.txt": _file(_ROBOTS, "text/plain"),
    "/style.css": _file(_STYLE, "text/css"),
    "/beacon.svg": _file(_DRAWING, "image/svg+xml"),
    "/beacon": Behaviour(message(204)),
    "/hello.html": page("Welcome", "This site's certificate is what counts here."),
    "/visit/tickets.html": page(
        "Tickets", "Adults 9, children free, seals half price."
    ),
    "/events/today.html": page("Today", "Knot tying at two, in the sail loft."),
    "/events/tides.html": page("Tides", "High water 06:12 and 18:40."),
    "/news/letter.html": page("The letter", "Four times a year, with the tides."),
    CALLBACK: Behaviour(message(204)),
    "/staff/rota.html": page("Rota", "For the staff, says robots.txt."),
    # redirects
    "/opening-times": moved(301, "/visit.html"),
    "/tickets": moved(308, "/visit/tickets.html"),
    "/today": moved(302, "/events/today.html"),
    "/tide-table": moved(307, "/events/tides.html"),
    "/newsletter": moved(301, "/news/letter"),
    "/news/letter": moved(302, "/news/letter/current"),
    "/news/letter/current": moved(307, "/news/letter.html"),
    "/shop": moved(302, "/shop/welcome"),
    "/shop/welcome": moved(302, "/shop"),
    "/tour": moved(302, "/tour/1"),
    **{f"/tour/{n}": moved(302, f"/tour/{n + 1}") for n in range(1, _ROOMS)},
    f"/tour/{_ROOMS}": page("The way out", "You made it."),
    "/press": moved(301, "/press/kit.html"),
    # not ours to judge
    "/members": fault(401, 'www-authenticate: Basic realm="Friends of the Museum"'),
    "/board/minutes.html": fault(403),
    "/partners/ferry": fault(403, "server: cloudflare", "cf-mitigated: challenge"),
    # dead, or ill
    "/exhibits/diving-bell.html": Behaviour(
        fault(404).answer,
        mended=page("The diving bell", "Back from the restorers.").answer,
    ),
    "/exhibits/whale.html": fault(410),
    "/catalogue/search": Behaviour(
        page("Search", "Three ships found.").answer,
        first=fault(429, "retry-after: 1").answer,
    ),
    "/catalogue/random": fault(500),
    "/webcam": fault(503),
    # HEAD is not to be trusted
    "/catalogue/ships.csv": _file(b"ship,year\nAurora,1888\n", "text/csv", _NO_HEAD),
    "/maps/harbour.svg": _file(_DRAWING, "image/svg+xml", message(404)),
    # no HTTP at all
    "/sound/foghorn": Behaviour(ending=Ending.CLOSE),
    "/sound/morse": Behaviour(b"-.-. --.- / ... --- ...\n", ending=Ending.CLOSE),
    "/radio": Behaviour(ending=Ending.RESET),
    "/reading-room": Behaviour(ending=Ending.SILENCE),
    "/logbook.txt": Behaviour(
        message(200, b"Wind north-west, " * 64, "text/plain")[:-512],
        head=_NO_HEAD,
        ending=Ending.CLOSE,
    ),
}


def table(addresses: Mapping[str, str]) -> dict[str, Behaviour]:
    """The whole table, pages included: their links get this web's own addresses."""
    pages = {path: _document(path, addresses) for path in PAGES}
    return {**TABLE, **pages}


def _document(path: str, addresses: Mapping[str, str]) -> Behaviour:
    name = path.lstrip("/") or "index.html"
    text = files("ronda.cli.demo").joinpath("pages", name).read_text("utf-8")
    return Behaviour(message(200, Template(text).substitute(addresses).encode()))
