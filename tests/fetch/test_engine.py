"""One engine and a pool of them against real servers: the same answers from both."""

import asyncio
import gzip
import os
import signal
import socket
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import pytest

from e2e import odd
from ronda.config import Fetch
from ronda.config import Guard as GuardSettings
from ronda.fetch.engine import Engine
from ronda.fetch.exchange import DISCARD_LIMIT
from ronda.fetch.guard import Guard
from ronda.fetch.pool import Pool
from ronda.model import Answer, Request
from servers.certificates import Certificates
from servers.ftp import HELLO, Ftp
from servers.ftps import Ftps
from servers.locations import BIG_BYTES, PAGE
from servers.nginx import Nginx
from servers.process import HOST
from servers.rude import Rude

SECONDS = 30.0  # guards against hanging; nothing takes as long
WHOLE = 20_000_000  # more than any body here

Ask = Callable[..., Awaitable[Answer]]
Engines = type[Engine] | type[Pool]
OPEN = Guard(GuardSettings())  # for what the operator named himself
BOTH = pytest.mark.parametrize("kind", [Engine, Pool])


def carried(
    kind: Engines,
    settings: Fetch,
    story: Callable[[Ask], object],
    guard: Guard = OPEN,
) -> object:
    """Tell a story that asks, by an engine or by a pool of two."""

    async def run() -> object:
        async with kind(settings, guard) as engine, asyncio.timeout(SECONDS):
            return await story(asking(engine))  # type: ignore[misc]

    return asyncio.run(run())


def asking(engine: Engine | Pool) -> Ask:
    def ask(
        request: Request | str, address: str = "", last: bool = False
    ) -> Awaitable[Answer]:
        if isinstance(request, str):
            request = Request(request, "GET", body=WHOLE)
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        engine.ask(request, address, last, future.set_result)
        return future

    return ask


@pytest.fixture
def settings(certificates: Certificates) -> Fetch:
    return Fetch(processes=2, timeout=10, ca_file=str(certificates.authority))


def several(
    kind: Engines, settings: Fetch, requests: list[Request | str]
) -> list[Answer]:
    """The answers to requests that are all made at once."""

    async def story(ask: Ask) -> list[Answer]:
        return await asyncio.gather(*(ask(request) for request in requests))

    answers = carried(kind, settings, story)
    assert isinstance(answers, list)
    return answers


def one(kind: Engines, settings: Fetch, request: Request | str) -> Answer:
    return several(kind, settings, [request])[0]


class TestTheContract:
    def test_an_engine_and_a_pool_give_the_same_answers(
        self, settings: Fetch, nginx: Nginx, rude: Rude, ftp: Ftp
    ) -> None:
        asked: list[Request | str] = [
            Request(nginx.url()),
            Request(nginx.url(port="good")),
            Request(nginx.url(port="expired")),
            Request(nginx.url("/status/404"), "GET"),
            Request(nginx.url("/redirect/301/page.html")),
            Request(nginx.url("/file.bin"), "GET", partial=True),
            nginx.url(),
            nginx.url("/gzip/page.html"),
            rude.url("/empty-reply"),
            rude.url("/garbage"),
            rude.url("/short-body"),
            rude.refused_url(),
            ftp.url(),
            Request(ftp.url("/folder/"), "GET", body=1000, listing=True),
            ftp.url("/nowhere.txt"),
            "file:///no/such/file",
        ]
        facts = [
            [
                (a.status, a.error, a.body, a.cut, a.address, a.verify, a.certificate)
                for a in several(kind, settings, asked)
            ]
            for kind in (Engine, Pool)
        ]

        assert facts[0] == facts[1]
        assert [fact[:2] for fact in facts[0]][:8] == [
            (200, 0),
            (200, 0),
            (0, 60),
            (404, 0),
            (301, 0),
            (206, 0),
            (200, 0),
            (200, 0),
        ]

    @BOTH
    def test_two_hundred_may_be_under_way_at_once(
        self, kind: Engines, settings: Fetch, nginx: Nginx
    ) -> None:
        asked: list[Request | str] = [
            nginx.url(f"/page.html?{n}", host=f"127.0.0.{n % 20 + 1}")
            for n in range(200)
        ]
        answers = several(kind, settings, asked)

        assert {(a.status, a.error, a.body) for a in answers} == {
            (200, 0, PAGE.encode())
        }

    @BOTH
    def test_many_that_fail_do_not_disturb_each_other(
        self, kind: Engines, settings: Fetch, rude: Rude, nginx: Nginx
    ) -> None:
        paths = ["/empty-reply", "/reset", "/garbage", "/short-body", "/ok"] * 10
        asked: list[Request | str] = [rude.url(path) for path in paths]
        asked += [rude.refused_url(), nginx.url()]
        answers = several(kind, settings, asked)

        found = {(path, a.error) for path, a in zip(paths, answers, strict=False)}
        assert len(found) == 5
        assert answers[-1].status == 200

    @BOTH
    def test_what_hangs_ends_with_its_time(
        self, kind: Engines, certificates: Certificates, rude: Rude
    ) -> None:
        settings = Fetch(processes=2, timeout=0.3, connect_timeout=0.2)
        asked: list[Request | str] = [
            rude.url("/hang"),
            rude.url("/slow-body"),
            rude.url("/slow-headers"),
            rude.full_url(),
            rude.tls_url("silent"),
        ]
        timed_out = 28

        assert {a.error for a in several(kind, settings, asked)} == {timed_out}

    @BOTH
    def test_the_end_does_not_wait_for_what_is_under_way(
        self, kind: Engines, settings: Fetch, rude: Rude
    ) -> None:
        async def story(ask: Ask) -> None:
            for number in range(10):
                ask(rude.url(f"/hang?{number}"))
            await ask(rude.url("/ok"))

        carried(kind, settings, story)  # `SECONDS` guards it


class TestBodies:
    @BOTH
    @pytest.mark.parametrize("port", ["http", "good", "http2", "tls12"])
    def test_ten_megabytes_come_whole_and_without_a_stop(
        self, kind: Engines, settings: Fetch, nginx: Nginx, port: str
    ) -> None:
        answers = several(kind, settings, [nginx.url("/big", port=port)] * 3)

        assert {(a.status, a.error, len(a.body), a.cut) for a in answers} == {
            (200, 0, BIG_BYTES, False)
        }

    @BOTH
    def test_a_body_without_links_in_it_is_not_read(
        self, kind: Engines, settings: Fetch, nginx: Nginx
    ) -> None:
        answer = one(kind, settings, nginx.url("/no-range/file.bin"))

        assert (answer.status, answer.error) == (200, 0)
        assert (answer.body, answer.cut) == (b"", True)

    @BOTH
    def test_no_more_is_kept_than_was_asked_for(
        self, kind: Engines, settings: Fetch, nginx: Nginx
    ) -> None:
        answer = one(kind, settings, Request(nginx.url("/big"), "GET", body=100_000))

        assert (answer.status, answer.error) == (200, 0)
        assert (len(answer.body), answer.cut) == (100_000, True)
        assert answer.size < BIG_BYTES // 2

    @BOTH
    def test_a_body_of_exactly_the_limit_is_whole(
        self, kind: Engines, settings: Fetch, nginx: Nginx
    ) -> None:
        answer = one(kind, settings, Request(nginx.url(), "GET", body=len(PAGE)))

        assert (answer.body, answer.cut) == (PAGE.encode(), False)

    @BOTH
    @pytest.mark.parametrize("path", ["/big", "/no-range/file.bin"])
    def test_a_body_that_nobody_wants_is_cut_off(
        self, kind: Engines, settings: Fetch, nginx: Nginx, path: str
    ) -> None:
        answer = one(kind, settings, Request(nginx.url(path), "GET"))

        assert (answer.status, answer.error, answer.body) == (200, 0, b"")
        assert answer.size < DISCARD_LIMIT * 8

    @BOTH
    def test_an_endless_body_ends(
        self, kind: Engines, settings: Fetch, rude: Rude
    ) -> None:
        request = Request(rude.url("/endless-body"), "GET", body=300_000)
        answer = one(kind, settings, request)

        assert (answer.error, len(answer.body), answer.cut) == (0, 300_000, True)

    @BOTH
    def test_only_the_first_bytes_are_asked_for_in_part(
        self, kind: Engines, settings: Fetch, nginx: Nginx
    ) -> None:
        asked: list[Request | str] = [
            Request(nginx.url("/big"), "GET", body=5000, partial=True),
            Request(nginx.url("/big"), "GET", body=5000),
        ]

        async def story(ask: Ask) -> list[Answer]:
            return [await ask(request) for request in asked]  # one handle for both

        ranged, whole = carried(kind, settings, story)  # type: ignore[misc]
        assert (ranged.status, len(ranged.body)) == (206, 1024)
        assert (whole.status, len(whole.body)) == (200, 5000)

    @BOTH
    def test_a_packed_body_is_unpacked_only_when_it_is_wanted(
        self, kind: Engines, settings: Fetch, nginx: Nginx, rude: Rude
    ) -> None:
        url = nginx.url("/gzip/page.html")
        read, unread = several(kind, settings, [url, Request(url, "GET")])
        bad, unread_bad = several(
            kind,
            settings,
            [rude.url("/bad-gzip"), Request(rude.url("/bad-gzip"), "GET")],
        )
        bad_encoding = 61

        assert read.header("content-encoding") == "gzip"
        assert read.body == PAGE.encode()
        assert unread.header("content-encoding") == ""
        assert (bad.error, unread_bad.error) == (bad_encoding, 0)

    @BOTH
    def test_a_bomb_is_cut_by_what_it_unpacks_to(
        self, kind: Engines, settings: Fetch, bomb: str
    ) -> None:
        answer = one(kind, settings, Request(bomb, "GET", body=100_000))

        assert (answer.error, len(answer.body), answer.cut) == (0, 100_000, True)

    @BOTH
    def test_a_slow_body_is_had_in_the_end(
        self, kind: Engines, settings: Fetch, slow: str
    ) -> None:
        answer = one(kind, settings, slow)

        assert (answer.error, answer.body) == (0, b"slow " * 10)

    @BOTH
    def test_a_file_is_read(self, kind: Engines, settings: Fetch, ftp: Ftp) -> None:
        path = ftp.files / "hello.txt"
        asked: list[Request | str] = [path.as_uri(), Request(path.as_uri(), "GET")]
        read, unread = several(kind, settings, asked)

        assert (read.error, read.body) == (0, HELLO.encode())
        assert (unread.error, unread.body) == (0, b"")


class TestConnections:
    def test_a_pin_decides_where_the_connection_goes(
        self, settings: Fetch, nginx: Nginx
    ) -> None:
        mark = nginx.mark()

        async def story(ask: Ask) -> None:
            for number in (4, 5, 4):
                url = nginx.url(f"/empty?{number}", host="www.ronda.test")
                answer = await ask(Request(url), f"127.0.0.{number}")
                assert answer.address == f"127.0.0.{number}"

        carried(Engine, settings, story)
        seen = nginx.requests("/empty", since=mark)
        assert [(r.host, r.address) for r in seen] == [
            ("www.ronda.test", "127.0.0.4"),
            ("www.ronda.test", "127.0.0.5"),
            ("www.ronda.test", "127.0.0.4"),
        ]

    def test_a_pin_may_be_a_long_address(self, settings: Fetch, nginx: Nginx) -> None:
        async def story(ask: Ask) -> Answer:
            return await ask(nginx.url(host="six.ronda.test"), "::1")

        answer = carried(Engine, settings, story)
        assert isinstance(answer, Answer)
        assert (answer.status, answer.address) == (200, "::1")

    def test_the_certificate_is_still_held_against_the_name(
        self, settings: Fetch, nginx: Nginx
    ) -> None:
        async def story(ask: Ask) -> list[int]:
            right = await ask(nginx.url(host="www.ronda.test", port="good"), HOST)
            wrong = await ask(nginx.url(host="www.else.test", port="good"), HOST)
            return [right.error, wrong.error]

        assert carried(Engine, settings, story) == [0, 60]

    @BOTH
    @pytest.mark.parametrize("port", ["http", "good", "http2"])
    def test_a_connection_is_kept_for_the_next_request(
        self, kind: Engines, settings: Fetch, nginx: Nginx, port: str
    ) -> None:
        mark = nginx.mark()

        async def story(ask: Ask) -> None:
            for number in range(5):
                await ask(Request(nginx.url(f"/empty?{number}", port=port)))

        carried(kind, settings, story)
        seen = nginx.requests("/empty", since=mark)
        assert len(seen) == 5
        assert len({request.connection for request in seen}) == 1

    def test_a_fresh_request_has_a_new_connection_and_leaves_the_old_one(
        self, settings: Fetch, nginx: Nginx
    ) -> None:
        mark = nginx.mark()

        async def story(ask: Ask) -> None:
            await ask(Request(nginx.url("/empty?1")))
            await ask(Request(nginx.url("/empty?2"), fresh=True))
            await ask(Request(nginx.url("/empty?3")))

        carried(Engine, settings, story)
        first, fresh, third = (
            r.connection for r in nginx.requests("/empty", since=mark)
        )
        assert fresh != first
        assert third in {first, fresh}

    def test_the_last_request_to_a_host_closes_its_connection(
        self, settings: Fetch, nginx: Nginx
    ) -> None:
        mark = nginx.mark()

        async def story(ask: Ask) -> None:
            await ask(Request(nginx.url("/empty?1")), last=True)
            await ask(Request(nginx.url("/empty?2")))
            await ask(Request(nginx.url("/empty?3")))

        carried(Engine, settings, story)
        first, second, third = (
            r.connection for r in nginx.requests("/empty", since=mark)
        )
        assert first != second
        assert second == third

    def test_http2_is_spoken_where_it_is_offered_and_wanted(
        self, settings: Fetch, nginx: Nginx, certificates: Certificates
    ) -> None:
        plain = Fetch(ca_file=str(certificates.authority), http2=False)
        url = nginx.url(port="http2")

        assert one(Engine, settings, url).headers[0].startswith(b"HTTP/2 200")
        assert one(Engine, plain, url).headers[0].startswith(b"HTTP/1.1 200")

    def test_every_answer_tells_the_certificate_also_on_a_kept_connection(
        self, settings: Fetch, nginx: Nginx, certificates: Certificates
    ) -> None:
        async def story(ask: Ask) -> list[Answer]:
            url = nginx.url("/empty", port="good")
            return [await ask(Request(url)) for _ in range(3)]

        answers = carried(Engine, settings, story)
        ends = certificates["good"].not_after.isoformat().replace("+00:00", "Z")
        assert [a.certificate.ends_at for a in answers] == [ends] * 3  # type: ignore[attr-defined]

    def test_an_ftps_server_s_certificate_is_told(
        self, settings: Fetch, ftps: Ftps
    ) -> None:
        answer = one(Engine, settings, ftps.url())

        assert (answer.error, answer.body) == (0, HELLO.encode())
        assert answer.certificate is not None
        assert "localhost" in answer.certificate.names

    def test_who_we_are_is_said(self, nginx: Nginx, rude: Rude) -> None:
        settings = Fetch(
            user_agent="watch/2", contact="a@b.test", headers={"X-Odd": "7"}
        )
        path = rude.fresh("/ok")
        one(Engine, settings, rude.url(path))

        [hit] = rude.hits[path]
        assert hit.headers["user-agent"] == "watch/2 (+a@b.test)"
        assert hit.headers["x-odd"] == "7"

    def test_the_headers_are_those_of_the_last_answer(
        self, settings: Fetch, early_hints: str
    ) -> None:
        answer = one(Engine, settings, early_hints)

        assert answer.headers[0] == b"HTTP/1.1 200 OK\r\n"
        assert answer.header("link") == ""
        assert answer.header("x-last") == "yes"

    def test_a_handle_forgets_what_it_was_set_to(
        self, settings: Fetch, nginx: Nginx, ftp: Ftp
    ) -> None:
        asked = [
            Request(ftp.url("/folder/"), "GET", body=1000, listing=True),
            Request(nginx.url("/file.bin"), "GET", partial=True),
            Request(nginx.url(), "HEAD", fresh=True),
            Request(ftp.url(), "GET", body=1000),
            Request(nginx.url(), "GET", body=WHOLE),
            Request(nginx.url("/status/404")),
            Request(nginx.url(), "GET", body=WHOLE),
        ]

        async def story(ask: Ask) -> list[Answer]:
            return [await ask(request) for request in asked]

        answers = carried(Engine, settings, story)
        assert isinstance(answers, list)
        assert [a.status for a in answers][1:3] == [206, 200]
        assert answers[0].body.split() == [b"file.bin"]
        assert answers[3].body == HELLO.encode()
        assert answers[4].body == answers[6].body == PAGE.encode()
        assert answers[5].status == 404


class TestADeadChild:
    def test_what_it_was_asked_is_answered_with_a_fault(
        self, settings: Fetch, rude: Rude
    ) -> None:
        async def run() -> list[Answer]:
            async with Pool(settings, OPEN) as pool, asyncio.timeout(SECONDS):
                ask = asking(pool)
                open_ = [ask(rude.url(f"/hang?{n}")) for n in range(5)]
                await ask(rude.url("/ok"))  # by then the others have been sent too
                for child in pool._children:
                    os.kill(child.pid, signal.SIGKILL)
                return await asyncio.gather(*open_)

        answers = asyncio.run(run())
        assert all(answer.error for answer in answers)
        assert all("died" in answer.error_text for answer in answers)

    def test_what_it_is_asked_later_is_answered_too(
        self, settings: Fetch, rude: Rude
    ) -> None:
        async def run() -> Answer:
            async with Pool(settings, OPEN) as pool:
                ask = asking(pool)
                async with asyncio.timeout(SECONDS):
                    await ask(rude.url("/ok"))
                    hanging = ask(rude.url("/hang"))
                    await ask(rude.url("/ok"))
                    for child in pool._children:
                        os.kill(child.pid, signal.SIGKILL)
                    await hanging  # the death is known by now
                async with asyncio.timeout(3):
                    return await ask(rude.url("/ok"))

        # Either will do: a new child that asks, or a fault.
        answer = asyncio.run(run())
        assert answer.status == 200 or answer.error

    def test_the_other_children_go_on(
        self, settings: Fetch, nginx: Nginx, rude: Rude
    ) -> None:
        async def run() -> set[int]:
            async with Pool(settings, OPEN) as pool, asyncio.timeout(SECONDS):
                ask = asking(pool)
                victim, survivor = pool._children
                os.kill(victim.pid, signal.SIGKILL)
                mine = [
                    f"127.0.0.{n}"
                    for n in range(1, 21)
                    if hash(f"127.0.0.{n}") % 2 == pool._children.index(survivor)
                ]
                asked = [ask(nginx.url(host=host), host) for host in mine]
                return {answer.status for answer in await asyncio.gather(*asked)}

        assert asyncio.run(run()) in ({200}, set())


# -- servers of our own --------------------------------------------------------


@contextmanager
def answering(*parts: bytes, gap: float = 0.0) -> Iterator[str]:
    """The URL of a server that sends these bytes to whoever asks."""

    def talk(connection: socket.socket) -> None:
        odd.read_head(connection)
        for part in parts:
            connection.sendall(part)
            time.sleep(gap)

    with odd.serving(talk) as port:
        yield f"http://{HOST}:{port}/"


@pytest.fixture
def bomb() -> Iterator[str]:
    packed = gzip.compress(bytes(50_000_000), 9)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Type: text/html\r\n"
    size = f"Content-Length: {len(packed)}\r\n\r\n".encode()
    with answering(head + size + packed) as url:
        yield url


@pytest.fixture
def slow() -> Iterator[str]:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 50\r\n\r\n"
    with answering(head, *[b"slow "] * 10, gap=0.02) as url:
        yield url


@pytest.fixture
def early_hints() -> Iterator[str]:
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"
    head = b"HTTP/1.1 200 OK\r\nX-Last: yes\r\nContent-Length: 0\r\n\r\n"
    with answering(hints, hints, head) as url:
        yield url
