"""Whole sites for `ronda crawl`: pages by the dozen, servers that make them up."""

import contextlib
import random
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from e2e import odd
from e2e.command import Command, Ended
from servers.process import HOST, require
from servers.site import Site

HTML = "Content-Type: text/html; charset=utf-8"
# Runs a command and writes down its peak, in kilobytes. A process of its own: a child
# begins with the peak of its parent, and the tests' may be any.
MEASURE = """
import pathlib, resource, subprocess, sys
code = subprocess.call(sys.argv[2:])
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
pathlib.Path(sys.argv[1]).write_text(str(peak))
sys.exit(code)
"""

Reply = tuple[str, bytes] | bytes  # headers and body; or the body of a page
Answers = Callable[[str], Reply]


def crawl(ronda: Command, *arguments: str, **how: Any) -> Ended:
    """Crawl with the report as JSON; nobody of the crew may die."""
    ended = ronda("crawl", "--format", "json", *arguments, **how)
    assert "Traceback" not in ended.err, ended.err
    if ended.out.startswith("{"):
        assert not [r for r in ended.summary["remarks"] if "worker" in r]
    return ended


def page(*links: str, head: str = "", words: str = "") -> str:
    """A page with links, one a line; a link with a `<` is written as it is."""
    lines = [a if "<" in a else f'<a href="{a}">to {a}</a>' for a in links]
    text = "\n".join(lines)
    return f"<!doctype html>\n<title>{words}</title>{head}\n<p>{words}\n{text}\n"


def verdicts(ended: Ended) -> dict[str, tuple[str, str]]:
    """Verdict and reason by URL."""
    return {u: (r["verdict"], r["reason"]) for u, r in ended.results.items()}


def places(ended: Ended) -> dict[str, list[tuple[str, int, int, str, str]]]:
    """Where each URL stands, in an order of its own."""
    keys = ("document", "line", "column", "text", "tag")
    return {
        url: sorted(tuple(place[key] for key in keys) for place in result["found_in"])
        for url, result in ended.results.items()
    }


def found(ended: Ended) -> tuple[Any, Any]:
    """All that must be the same however often a crawl was interrupted."""
    return verdicts(ended), places(ended)


def paths(ended: Ended, start: str) -> set[str]:
    """The paths of all URLs that begin as one does."""
    return {url.removeprefix(start) for url in ended.results if url.startswith(start)}


def grown(site: Site, count: int, seed: int = 1, words: str = "") -> set[str]:
    """Pages that are all reached from the first one, some links broken; their paths."""
    chance = random.Random(seed)
    names = ["/", *(f"/p{number}.html" for number in range(1, count))]
    links: dict[str, list[str]] = {name: [] for name in names}
    for number, name in enumerate(names[1:], 1):
        links[names[chance.randrange(number)]].append(name)
    for number, name in enumerate(names):
        more = [names[chance.randrange(count)] for _ in range(3)]
        if number % 5 == 0:
            more.append(f"/gone{number % 3}.html")
        site.write(name, page(*links[name], *more, words=f"{number} {words}"))
    return set(names)


class Made:
    """What a made-up site was asked."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.asked: list[str] = []
        self.heard = threading.Event()  # somebody asks for /held
        self.told = threading.Event()  # it may be answered

    def url(self, path: str = "/", host: str = HOST) -> str:
        return f"http://{host}:{self.port}{path}"


@contextlib.contextmanager
def made(answers: Answers) -> Iterator[Made]:
    """A server that answers each path as a function says; /held when it is told to."""
    seen: list[Made] = []

    def talk(connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while (request := odd.read_head(connection))[0]:
            method, path = request
            seen[0].asked.append(path)
            if path.startswith("/held"):
                seen[0].heard.set()
                seen[0].told.wait(odd.TALK_SECONDS)
            reply = b"" if path == "/robots.txt" else answers(path)
            headers, body = (HTML, reply) if isinstance(reply, bytes) else reply
            head = f"HTTP/1.1 200 OK\r\n{headers}\r\nContent-Length: {len(body)}\r\n"
            sent = b"" if method == "HEAD" else body
            connection.sendall(head.encode() + b"\r\n" + sent)

    with odd.serving(talk) as port:
        seen.append(Made(port))
        try:
            yield seen[0]
        finally:
            seen[0].told.set()


def peak(ronda: Command, *arguments: str, **how: Any) -> tuple[int, Ended]:
    """The most memory that a crawl took, in bytes, and what came of it."""
    file = ronda.folder / "peak"
    # setpriv: it ends with whoever measures it.
    ending = (require("setpriv"), "--pdeathsig", "KILL")
    prefix = (sys.executable, "-c", MEASURE, str(file), *ending)
    ended = crawl(ronda, *arguments, prefix=prefix, **how)
    return int(Path(file).read_text()) * 1024, ended
