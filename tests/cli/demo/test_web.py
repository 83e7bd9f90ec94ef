"""The demo's web, asked with the standard library: each path shows its fault."""

import asyncio
import http.client
import socket
import ssl
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest

from ronda.cli.demo.web import DemoWeb

# What GET gets from each path that the pages link to.
STATUSES = {
    "/": 200,
    "/visit.html": 200,
    "/collection.html": 200,
    "/archive.html": 200,
    "/style.css": 200,
    "/beacon.svg": 200,
    "/beacon": 204,
    "/staff/rota.html": 200,
    "/opening-times": 301,
    "/tickets": 308,
    "/today": 302,
    "/tide-table": 307,
    "/newsletter": 301,
    "/shop": 302,
    "/tour": 302,
    "/press": 301,
    "/members": 401,
    "/board/minutes.html": 403,
    "/partners/ferry": 403,
    "/brochure.html": 404,
    "/exhibits/diving-bell.html": 404,
    "/exhibits/whale.html": 410,
    "/catalogue/search": 429,
    "/catalogue/random": 500,
    "/webcam": 503,
    "/catalogue/ships.csv": 200,
    "/maps/harbour.svg": 200,
}
# And what becomes of the exchange where there is no whole answer.
FAILURES: dict[str, type[Exception]] = {
    "/sound/foghorn": http.client.RemoteDisconnected,
    "/sound/morse": http.client.BadStatusLine,
    "/radio": ConnectionResetError,
    "/reading-room": TimeoutError,
    "/logbook.txt": http.client.IncompleteRead,
}
# How each https site fails, as OpenSSL's verification code; 0 does not.
CERTIFICATES = {
    "bakery": 0,
    "fish market": 10,  # has expired
    "pilot": 18,  # self-signed
    "new pier": 64,  # IP address mismatch
    "ice-cream boat": 0,
    "rope walk": 20,  # issuer not found
}
# What the rest of the links are, none of them asked over HTTP on these ports.
ELSEWHERE = {
    "mailto:desk@harbour-museum.test",
    "mailto:keeper@@lighthouse",
    "mailto:divers@no-mail.test",
    "tel:+351210000000",
    "gopher://127.0.0.1/",
    "foo:bar",
    "http://no-such-name.invalid/",
    "http://silted-up.test/",
}


class Links(HTMLParser):
    """The links of a page with their words, and the anchors on it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.words: dict[str, str] = {}
        self.anchors: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in {"href", "src"} and value:
                self.found.append(value)
            elif name == "id" and value:
                self.anchors.add(value)

    def handle_data(self, data: str) -> None:
        if self.lasttag == "a" and data.strip():
            self.words.setdefault(" ".join(data.split()), self.found[-1])


@pytest.fixture
def mended_after() -> float | None:
    return None


@pytest.fixture
def web(mended_after: float | None) -> Iterator[DemoWeb]:
    started: list[DemoWeb] = []
    ready, over = threading.Event(), threading.Event()

    async def run() -> None:
        async with DemoWeb(mended_after) as web:
            started.append(web)
            ready.set()
            await asyncio.to_thread(over.wait)

    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    try:
        assert ready.wait(10)
        yield started[0]
    finally:
        over.set()
        thread.join(10)
    assert not thread.is_alive()


def ask(
    web: DemoWeb,
    path: str,
    method: str = "GET",
    timeout: float = 10,
    body: bytes | None = None,
) -> http.client.HTTPResponse:
    client = http.client.HTTPConnection(urlsplit(web.front).netloc, timeout=timeout)
    try:
        client.request(method, path, body)
        answer = client.getresponse()
        answer.body = answer.read()  # type: ignore[attr-defined]
        return answer
    finally:
        client.close()


def verify(web: DemoWeb, url: str) -> tuple[int, dict[str, object]]:
    """OpenSSL's verdict on a site's certificate, and what the certificate says."""
    context = ssl.create_default_context(cafile=web.ca_file)
    place = urlsplit(url)
    address = (str(place.hostname), int(place.port or 0))
    with socket.create_connection(address, timeout=10) as plain:
        try:
            with context.wrap_socket(plain, server_hostname=address[0]) as secure:
                return 0, dict(secure.getpeercert() or {})
        except ssl.SSLCertVerificationError as error:
            return error.verify_code, {}


def pages(web: DemoWeb) -> dict[str, Links]:
    read = {url: ask(web, urlsplit(url).path) for url in web.pages}
    return {url: Links(page.body.decode()) for url, page in read.items()}  # type: ignore[attr-defined]


@pytest.mark.parametrize(("path", "status"), STATUSES.items())
def test_a_path_answers_with_its_status(web: DemoWeb, path: str, status: int) -> None:
    assert ask(web, path).status == status


@pytest.mark.parametrize(
    ("mended_after", "statuses"), [(None, [404, 404]), (0.0, [404, 200])]
)
def test_what_is_broken_works_again_if_that_is_wanted(
    web: DemoWeb, statuses: list[int]
) -> None:
    path = "/exhibits/diving-bell.html"

    assert [ask(web, path).status for _ in statuses] == statuses
    assert ask(web, path, "HEAD").status == statuses[-1]


def test_what_is_sent_to_the_callback_is_heard(web: DemoWeb) -> None:
    heard: list[bytes] = []
    web.told = heard.append
    body = b"x" * 100_000

    assert ask(web, urlsplit(web.callback).path, "POST", body=body).status == 204
    assert heard == [body]


@pytest.mark.parametrize(("path", "failure"), FAILURES.items())
def test_a_path_breaks_in_its_own_way(
    web: DemoWeb, path: str, failure: type[Exception]
) -> None:
    with pytest.raises(failure) as raised:
        ask(web, path, timeout=0.2 if failure is TimeoutError else 10)

    assert raised.type is failure


def test_every_link_is_served_or_a_fault_on_purpose(web: DemoWeb) -> None:
    links = {
        urldefrag(urljoin(page, link)).url
        for page, found in pages(web).items()
        for link in found.found
    }
    inside = {urlsplit(u).path for u in links if u.startswith(web.front)}
    outside = {link for link in links if not link.startswith(web.front)}
    secure = {link for link in outside if link.startswith("https:")}
    refused = {link for link in outside if link.startswith("http://127.0.0.1:")}

    assert inside == STATUSES.keys() | FAILURES.keys()
    assert len(secure) == len(CERTIFICATES)
    assert len(refused) == 1
    assert outside - secure - refused == ELSEWHERE


def test_the_pages_hold_good_and_missing_fragments(web: DemoWeb) -> None:
    found = pages(web)
    fragments = {
        urljoin(page, link)
        for page, links in found.items()
        for link in links.found
        if "#" in link
    }
    good = {f for f in fragments if urldefrag(f)[1] in found[urldefrag(f)[0]].anchors}

    assert {urldefrag(f)[1] for f in good} == {"contact", "lighthouse", "hall"}
    assert {urldefrag(f)[1] for f in fragments - good} == {"submarine", "crows-nest"}


@pytest.mark.parametrize(
    ("start", "hops"),
    [
        ("/opening-times", ["/visit.html"]),
        ("/tickets", ["/visit/tickets.html"]),
        ("/today", ["/events/today.html"]),
        ("/tide-table", ["/events/tides.html"]),
        ("/newsletter", ["/news/letter", "/news/letter/current", "/news/letter.html"]),
    ],
)
def test_a_redirect_leads_to_a_page(web: DemoWeb, start: str, hops: list[str]) -> None:
    followed, last = follow(web, start)

    assert followed == hops
    assert last == 200


def test_a_redirect_leads_to_a_missing_page(web: DemoWeb) -> None:
    assert follow(web, "/press") == (["/press/kit.html"], 404)


def test_a_redirect_goes_in_a_circle(web: DemoWeb) -> None:
    hops, status = follow(web, "/shop")

    assert hops == ["/shop/welcome", "/shop"] * 10
    assert status == 302


def test_a_redirect_takes_too_many_hops(web: DemoWeb) -> None:
    hops, status = follow(web, "/tour")

    assert len(set(hops)) == 20
    assert status == 302


def follow(web: DemoWeb, path: str) -> tuple[list[str], int]:
    hops: list[str] = []
    answer = ask(web, path)
    while (to := answer.getheader("location")) and len(hops) < 20:
        hops.append(to)
        answer = ask(web, to)
    return hops, answer.status


def test_a_bot_wall_shows_its_marks(web: DemoWeb) -> None:
    answer = ask(web, "/partners/ferry")

    assert answer.getheader("server") == "cloudflare"
    assert answer.getheader("cf-mitigated") == "challenge"


@pytest.mark.parametrize("method", ["HEAD", "GET"])
def test_a_throttled_path_is_fine_the_second_time(web: DemoWeb, method: str) -> None:
    first = ask(web, "/catalogue/search", method)
    second = ask(web, "/catalogue/search")

    assert (first.status, first.getheader("retry-after")) == (429, "1")
    assert second.status == 200


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", 200),
        ("/catalogue/ships.csv", 405),
        ("/maps/harbour.svg", 404),
        ("/logbook.txt", 405),
    ],
)
def test_head_is_answered_without_a_body(web: DemoWeb, path: str, status: int) -> None:
    answer = ask(web, path, "HEAD")

    assert answer.status == status
    assert answer.body == b""  # type: ignore[attr-defined]


def test_one_connection_carries_many_requests(web: DemoWeb) -> None:
    client = http.client.HTTPConnection(urlsplit(web.front).netloc, timeout=10)
    statuses = []
    for method, path in [("HEAD", "/"), ("GET", "/beacon"), ("GET", "/visit.html")]:
        client.request(method, path)
        with client.getresponse() as answer:
            answer.read()
            statuses.append(answer.status)
        assert client.sock is not None
    client.close()

    assert statuses == [200, 204, 200]


def test_a_request_that_is_too_long_is_cut_off(web: DemoWeb) -> None:
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        ask(web, "/" + "x" * 60_000)


def test_robots_are_kept_from_the_staff_pages(web: DemoWeb) -> None:
    answer = ask(web, "/robots.txt")

    assert b"Disallow: /staff/" in answer.body  # type: ignore[attr-defined]


@pytest.mark.parametrize(("site", "code"), CERTIFICATES.items())
def test_a_site_shows_its_certificate(web: DemoWeb, site: str, code: int) -> None:
    url = pages(web)[web.pages[1]].words[site]

    assert verify(web, url)[0] == code


def test_a_certificate_ends_in_five_days(web: DemoWeb) -> None:
    url = pages(web)[web.pages[1]].words["ice-cream boat"]
    _, facts = verify(web, url)
    starts, ends = (
        ssl.cert_time_to_seconds(str(facts[key])) for key in ("notBefore", "notAfter")
    )

    assert (ends - starts) // 86_400 == 30 + 5


def test_https_answers_like_http(web: DemoWeb) -> None:
    place = urlsplit(pages(web)[web.pages[1]].words["bakery"])
    context = ssl.create_default_context(cafile=web.ca_file)
    client = http.client.HTTPSConnection(place.netloc, context=context, timeout=10)
    client.request("GET", place.path)
    with client.getresponse() as answer:
        answer.read()
    client.close()

    assert answer.status == 200


def test_a_port_refuses(web: DemoWeb) -> None:
    place = urlsplit(pages(web)[web.pages[1]].words["harbour master"])

    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((str(place.hostname), int(place.port or 0)), 10)


def test_closing_ends_every_connection_and_removes_every_file() -> None:
    async def run() -> tuple[DemoWeb, list[bytes]]:
        async with DemoWeb() as web:
            secure = await asyncio.to_thread(pages, web)
            waiting = [
                await asyncio.open_connection("127.0.0.1", urlsplit(url).port)
                for url in (web.front, web.front, secure[web.pages[1]].words["bakery"])
            ]
            waiting[1][1].write(b"GET /reading-room HTTP/1.1\r\n\r\n")
            await asyncio.sleep(0)
        async with asyncio.timeout(5):
            said = [await reader.read() for reader, _ in waiting]
        for _, writer in waiting:
            writer.close()
            await writer.wait_closed()
        return web, said

    web, said = asyncio.run(run())

    assert said == [b"", b"", b""]
    assert not Path(web.ca_file).parent.exists()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", int(urlsplit(web.front).port or 0)), 10)


def test_an_error_of_the_caller_comes_out_as_it_is() -> None:
    async def run() -> None:
        async with DemoWeb():
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        asyncio.run(run())
