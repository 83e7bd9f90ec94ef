"""What the rude server gives too much of: one function a path, and the table."""

from collections.abc import Callable, Iterator
from itertools import chain, repeat

from servers.bombs import BOMBS, packed
from servers.talk import ENDLESS_BYTES, Talk

BLOCK = bytes(65_536)
HEADER_BYTES = 1_000_000
MANY_HEADERS = 10_000
COOKIE_BYTES = 4_000  # each; browsers take no longer ones
ROBOTS_BYTES = 100_000_000
LINE_BYTES = 10_000_000
DEEP_TAGS = 100_000
HTML = "Content-Type: text/html; charset=utf-8"
TEXT = "Content-Type: text/plain; charset=utf-8"
RULES = b"User-agent: *\nDisallow: /private\n"
# Names that each stand for ten of the one before: 2 GB of "ha" in half a kilobyte.
LAUGHS = b"".join(b'<!ENTITY h%d "%b">' % (n + 1, b"&h%d;" % n * 10) for n in range(9))


def _endless(block: bytes) -> Iterator[bytes]:
    """A block again and again; "endless" ends too, but not as it should."""
    yield from repeat(block, ENDLESS_BYTES // len(block))
    raise ConnectionAbortedError("enough")


# Headers


def _big_header(talk: Talk) -> None:
    talk.answer("200 OK", ("X-Big", "x" * HEADER_BYTES))


def _many_headers(talk: Talk) -> None:
    talk.answer("200 OK", *((f"X-{n}", "more") for n in range(MANY_HEADERS)))


def _big_cookie(talk: Talk) -> None:
    talk.answer("200 OK", ("Set-Cookie", f"a={'x' * HEADER_BYTES}"))


def _many_cookies(talk: Talk) -> None:
    crumbs = range(HEADER_BYTES // COOKIE_BYTES)
    talk.answer(
        "200 OK", *(("Set-Cookie", f"{n}={'x' * COOKIE_BYTES}") for n in crumbs)
    )


def _endless_headers(talk: Talk) -> None:
    talk.send(b"HTTP/1.1 200 OK\r\n")
    talk.flood(b"X-More: and more\r\n" * 1000)


def _flood_1xx(talk: Talk) -> None:
    talk.flood(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n" * 1000)


# Bodies


def _endless_body(talk: Talk) -> None:
    talk.chunked(_endless(BLOCK), "Content-Type: text/html")


def _endless_words(talk: Talk) -> None:
    talk.chunked(_endless(b"words " * 10_000), HTML)


def _endless_tags(talk: Talk) -> None:
    """What a tree of the page has most to remember of."""
    talk.chunked(_endless(b"<b><p>" * 10_000), HTML)


def _endless_links(talk: Talk) -> None:
    """A page of links, all to one place."""
    talk.chunked(_endless(b'<a href="/ok">fine</a> ' * 3000), HTML)


def _bomb(talk: Talk) -> None:
    name = talk.argument.replace("+", ", ")
    talk.chunked(BOMBS[name](), HTML, f"Content-Encoding: {name}")


def _links_bomb(talk: Talk) -> None:
    links = packed(b'<a href="/ok">fine</a> ')
    talk.chunked(links, HTML, "Content-Encoding: gzip")


def _packed_sitemap(talk: Talk) -> None:
    """A file that is packed, which the server does not say."""
    talk.chunked(BOMBS["gzip"](), "Content-Type: application/gzip")


# Pages that are hard to read


def _one_line(talk: Talk) -> None:
    words = repeat(b"words " * 10_000, LINE_BYTES // 60_000)
    talk.chunked(chain([b"<p>"], words, [b'<a href="/ok">fine</a>']), HTML)


def _deep(talk: Talk) -> None:
    tags = repeat(b"<div>" * 1000, DEEP_TAGS // 1000)
    talk.chunked(chain(tags, [b'<a href="/ok">fine</a>']), HTML)


def _laughs(talk: Talk) -> None:
    page = (
        b'<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY h0 "ha">' + LAUGHS + b"]>"
        b"<urlset><url><loc>http://127.0.0.1/&h9;</loc></url></urlset>"
    )
    talk.chunked([page], "Content-Type: application/xml")


# robots.txt


def _huge_robots(talk: Talk) -> None:
    lines = repeat(b"# and so on, and so on\n" * 1000, ROBOTS_BYTES // 23_000)
    talk.chunked(chain([RULES], lines), TEXT)


def _robots_bomb(talk: Talk) -> None:
    talk.chunked(packed(b"# and so on\n"), TEXT, "Content-Encoding: gzip")


def _slow_robots(talk: Talk) -> None:
    talk.answer(body=b"", length=10_000)
    talk.drip(RULES * 100)


# By the first part of the host's name.
ROBOTS: dict[str, Callable[[Talk], None]] = {
    "robots-huge": _huge_robots,
    "robots-endless": lambda talk: talk.chunked(_endless(BLOCK), TEXT),
    "robots-bomb": _robots_bomb,
    "robots-hangs": Talk.hang,
    "robots-drips": _slow_robots,
}


def _robots(talk: Talk) -> None:
    ROBOTS.get(talk.label, lambda talk: talk.answer("404 Not Found"))(talk)


FLOODS: dict[str, Callable[[Talk], None]] = {
    "/big-header": _big_header,
    "/many-headers": _many_headers,
    "/big-cookie": _big_cookie,
    "/many-cookies": _many_cookies,
    "/endless-headers": _endless_headers,
    "/flood-1xx": _flood_1xx,
    "/endless-body": _endless_body,
    "/endless-words": _endless_words,
    "/endless-tags": _endless_tags,
    "/endless-links": _endless_links,
    "/bomb": _bomb,  # /bomb/gzip, /bomb/gzip+gzip
    "/bomb-of-links": _links_bomb,
    "/bomb.xml.gz": _packed_sitemap,
    "/one-line": _one_line,
    "/deep": _deep,
    "/laughs.xml": _laughs,
    "/robots.txt": _robots,
}
