"""The passage: a proxy that lets programs ask whom the guard allows."""

import asyncio
import base64
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ronda.clock import SystemClock
from ronda.config import Guard as GuardSettings
from ronda.fetch import Guard
from ronda.fetch import Names as Resolver
from ronda.fetch.passage import Passage, Permit
from ronda.fetch.passage import permit as limits
from ronda.fetch.passage import relay as relaying
from ronda.fetch.passage.wish import place
from servers.names import Names

SECONDS = 30.0  # guards against hanging; nothing takes as long
METADATA = "169.254.169.254"
PAGE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nKeep-Alive: 5\r\n\r\nhi"

Story = Callable[["World"], Awaitable[None]]


class Web:
    """A server on loopback that keeps what it is asked."""

    def __init__(self, address: str, answer: bytes, closes: bool) -> None:
        self._address = address
        self._answer = answer
        self._closes = closes
        self._server: asyncio.Server | None = None
        self.asked: list[bytes] = []
        self.came_at: list[float] = []

    async def __aenter__(self) -> "Web":
        self._server = await asyncio.start_server(self._meet, self._address, 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()

    @property
    def port(self) -> int:
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    async def _meet(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.came_at.append(asyncio.get_running_loop().time())
        while data := await reader.read(65536):
            self.asked.append(data)
            writer.write(self._answer)
            if self._closes:
                break
        writer.close()


class World:
    """A passage, a permit, and a client for both."""

    def __init__(self, passage: Passage, port: int, permit: Permit) -> None:
        self.passage = passage
        self.port = port
        self.permit = permit
        self.told: list[tuple[str, str, str, float]] = []

    @property
    def login(self) -> bytes:
        pair = f"run:{self.permit.password}".encode()
        return b"Proxy-Authorization: Basic " + base64.b64encode(pair) + b"\r\n"

    async def say(self, data: bytes, end: bool = False) -> bytes:
        """Send bytes to the door; all that comes back."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(data)
        if end:
            writer.write_eof()
        try:
            return await reader.read()
        finally:
            writer.close()

    async def get(self, url: str, method: str = "GET", more: bytes = b"") -> bytes:
        """Ask for a URL as a program does that knows of proxies."""
        head = f"{method} {url} HTTP/1.1\r\nHost: x\r\n".encode()
        return await self.say(head + self.login + more + b"\r\n")

    async def tunnel(
        self, authority: str
    ) -> tuple[bytes, asyncio.StreamReader, asyncio.StreamWriter]:
        """Ask for a tunnel; the head of the answer, and both its ends."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(f"CONNECT {authority} HTTP/1.1\r\n".encode() + self.login)
        writer.write(b"\r\n")
        return await reader.readuntil(b"\r\n\r\n"), reader, writer


@asynccontextmanager
async def world(
    public: bool = False,
    gap: float = 0.0,
    allow: tuple[str, ...] = (),
    name_server: str = "127.0.0.1:9",
) -> AsyncIterator[World]:
    guard = Guard(GuardSettings(allow=allow))
    told: list[tuple[str, str, str, float]] = []
    clock = SystemClock()
    async with (
        asyncio.timeout(SECONDS),
        Resolver((name_server,), guard, clock) as names,
    ):
        passage = Passage(
            names, guard, clock, lambda *start: told.append(start), lambda *_: gap
        )
        server = await asyncio.start_server(passage.meet, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with passage.permit(public) as permit:
            made = World(passage, port, permit)
            made.told = told
            yield made
        server.close()


@asynccontextmanager
async def web(
    address: str = "127.0.0.1", answer: bytes = PAGE, closes: bool = True
) -> AsyncIterator[Web]:
    async with Web(address, answer, closes) as made:
        yield made


def status(answer: bytes) -> int:
    return int(answer.split()[1])


# -- HTTP ------------------------------------------------------------------------------


def test_a_request_is_passed_on_in_the_form_that_servers_know() -> None:
    async def story() -> None:
        async with world() as w, web() as server:
            url = f"http://127.0.0.1:{server.port}/a?b=c"
            await w.get(url, more=b"Proxy-Connection: keep-alive\r\nX-Own: 1\r\n")

            [asked] = server.asked
            line, *headers = asked.removesuffix(b"\r\n\r\n").split(b"\r\n")
            assert line == b"GET /a?b=c HTTP/1.1"
            assert headers == [b"Host: x", b"X-Own: 1", b"Connection: close"]

    asyncio.run(story())


def test_an_answer_says_that_the_connection_ends_with_it() -> None:
    async def story() -> None:
        # The server keeps it open nevertheless: nobody waits for that.
        async with world() as w, web(closes=False) as server:
            answer = await w.get(f"http://127.0.0.1:{server.port}")

            expected = b"Content-Length: 2\r\nConnection: close\r\n\r\nhi"
            assert answer == b"HTTP/1.1 200 OK\r\n" + expected

    asyncio.run(story())


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 204 No Content\r\nX: y\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 304 Not Modified\r\n\r\n",
    ],
)
def test_an_answer_without_a_body_ends_with_its_head(answer: bytes) -> None:
    async def story() -> None:
        async with world() as w, web(answer=answer, closes=False) as server:
            got = await w.get(f"http://127.0.0.1:{server.port}/")

            assert got == answer[:-2] + b"Connection: close\r\n\r\n"

    asyncio.run(story())


def test_the_answer_to_head_has_no_body_whatever_it_says() -> None:
    async def story() -> None:
        answer = b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"
        async with world() as w, web(answer=answer, closes=False) as server:
            got = await w.get(f"http://127.0.0.1:{server.port}/", method="HEAD")

            assert got.endswith(b"9999\r\nConnection: close\r\n\r\n")

    asyncio.run(story())


@pytest.mark.parametrize("answer", [b"SSH-2.0-x\r\n", b"", b"<p>" * 50_000])
def test_what_is_not_http_is_passed_on_as_it_is(answer: bytes) -> None:
    async def story() -> None:
        async with world() as w, web(answer=answer) as server:
            assert await w.get(f"http://127.0.0.1:{server.port}/") == answer

    asyncio.run(story())


@pytest.mark.parametrize(
    ("more", "body"),
    [
        (b"Content-Length: 5\r\n", b"hello"),
        (b"Transfer-Encoding: chunked\r\n", b"5\r\nhello\r\n0\r\n\r\n"),
    ],
)
def test_a_body_goes_with_a_request_and_what_follows_it_does_not(
    more: bytes, body: bytes
) -> None:
    async def story() -> None:
        async with world() as w, web(closes=False) as server:
            url = f"http://127.0.0.1:{server.port}/".encode()
            head = b"POST " + url + b" HTTP/1.1\r\n" + w.login + more + b"\r\n"
            answer = await w.say(head + body + b"GET http://10.0.0.1/ HTTP/1.1\r\n\r\n")

            assert answer.endswith(b"hi")
            sent = b"".join(server.asked).partition(b"\r\n\r\n")[2]
            assert sent.startswith(body)
            assert sent == body or b"chunked" in more

    asyncio.run(story())


def test_a_tunnel_carries_whatever_it_is_in_both_directions() -> None:
    async def story() -> None:
        async with world() as w, web(answer=b"\0\1\2", closes=False) as server:
            head, reader, writer = await w.tunnel(f"127.0.0.1:{server.port}")
            writer.write(b"\x16\x03\x01")
            assert await reader.readexactly(3) == b"\0\1\2"
            writer.write_eof()

            assert head == b"HTTP/1.1 200 Connection established\r\n\r\n"
            assert await reader.read() == b""  # the server closed, too
            assert server.asked == [b"\x16\x03\x01"]
            writer.close()

    asyncio.run(story())


def test_each_start_is_told() -> None:
    async def story() -> None:
        async with world() as w, web() as server:
            place = f"127.0.0.1:{server.port}"
            await w.get(f"http://{place}/x")
            *_, writer = await w.tunnel(place)
            writer.close()

            starts = [(host, address, asked) for host, address, asked, _ in w.told]
            same = ("127.0.0.1", "127.0.0.1")
            assert starts == [(*same, f"http://{place}/x"), (*same, place)]

    asyncio.run(story())


@pytest.mark.parametrize(
    "request_",
    [
        b"GET / HTTP/1.1\r\n",
        b"GET https://h.test/ HTTP/1.1\r\n",
        b"GET ftp://h.test/ HTTP/1.1\r\n",
        b"GET http:///x HTTP/1.1\r\n",
        b"GET http://h.test:99999/ HTTP/1.1\r\n",
        b"GET http://%00/ HTTP/1.1\r\n",
        b"CONNECT a@h.test:80 HTTP/1.1\r\n",
        b"CONNECT h.test:80/x HTTP/1.1\r\n",
        b"CONNECT / HTTP/1.1\r\n",
    ],
)
def test_what_is_no_request_for_a_proxy_is_refused_in_words(request_: bytes) -> None:
    async def story() -> None:
        async with world() as w:
            assert status(await w.say(request_ + w.login + b"\r\n")) == 400
            assert w.told == []

    asyncio.run(story())


@pytest.mark.parametrize(
    "data",
    [
        b"hello\r\n\r\n",
        b"GET http://h.test/ HTTP/2\r\n\r\n",
        b"GET http://h.test/ HTTP/1.1\r\nX : y\r\n\r\n",
        b"GET http://h.test/ HTTP/1.1\r\n folded\r\n\r\n",
        b"GET http://h.test/ HTTP/1.1\r\nA: b\nC: d\r\n\r\n",
    ],
)
def test_malformed_heads_are_refused(data: bytes) -> None:
    async def story() -> None:
        async with world() as w:
            assert status(await w.say(data)) == 400

    asyncio.run(story())


@pytest.mark.parametrize("data", [b"", b"GET", b"x" * 200_000, b"\x05", b"\x04\x01"])
def test_what_never_becomes_a_request_is_closed_without_a_word(data: bytes) -> None:
    async def story() -> None:
        async with world() as w:
            # It is reset where more was sent than is read.
            with contextlib.suppress(ConnectionResetError):
                assert await w.say(data, end=True) == b""

    asyncio.run(story())


@settings(max_examples=50)
@given(st.binary(max_size=300))
def test_no_bytes_bring_it_down(data: bytes) -> None:
    async def story() -> None:
        async with world() as w:
            await w.say(data, end=True)
            assert status(await w.say(b"GET / HTTP/1.1\r\n\r\n")) == 407

    asyncio.run(story())


# -- SOCKS -----------------------------------------------------------------------------


def greeting(password: str) -> bytes:
    secret = password.encode()
    return b"\5\1\2" + b"\1\3run" + bytes([len(secret)]) + secret


def connect(kind: int, host: bytes, port: int, command: int = 1) -> bytes:
    return bytes([5, command, 0, kind]) + host + port.to_bytes(2)


def by_name(host: str, port: int) -> bytes:
    return connect(3, bytes([len(host)]) + host.encode(), port)


WELCOME = b"\5\2\1\0"
YES = b"\5\0\0\1\0\0\0\0\0\0"


@pytest.mark.parametrize(
    ("address", "kind", "host"),
    [
        ("127.0.0.1", 1, socket.inet_aton("127.0.0.1")),
        ("::1", 4, socket.inet_pton(socket.AF_INET6, "::1")),
        ("127.0.0.1", 3, b"\x09127.0.0.1"),
    ],
)
def test_socks_takes_addresses_of_all_kinds(
    address: str, kind: int, host: bytes
) -> None:
    async def story() -> None:
        async with world() as w, web(address) as server:
            wish = connect(kind, host, server.port)
            answer = await w.say(greeting(w.permit.password) + wish + b"hello")

            assert answer == WELCOME + YES + PAGE
            assert server.asked == [b"hello"]

    asyncio.run(story())


def test_socks_takes_names_that_we_resolve(names: Names) -> None:
    async def story() -> None:
        async with world(name_server=names.server) as w, web("127.0.0.7") as server:
            wish = by_name("h7.ronda.test", server.port)
            answer = await w.say(greeting(w.permit.password) + wish + b"hello")

            assert answer == WELCOME + YES + PAGE
            assert w.told[0][:2] == ("h7.ronda.test", "127.0.0.7")

    asyncio.run(story())


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        (connect(1, socket.inet_aton(METADATA), 80), 2),
        (connect(1, socket.inet_aton("127.0.0.1"), 80, command=2), 7),
        (connect(9, b"", 80), 8),
        (by_name("h.test", 0), 8),
        (by_name("a@h.test", 80), 8),
    ],
)
def test_socks_says_why_not(wish: bytes, code: int) -> None:
    async def story() -> None:
        async with world() as w:
            answer = await w.say(greeting(w.permit.password) + wish)

            assert answer == WELCOME + bytes([5, code]) + YES[2:]
            assert w.told == []

    asyncio.run(story())


@pytest.mark.parametrize(
    ("data", "answer"),
    [(b"\5\1\0", b"\5\xff"), (greeting("guessed"), b"\5\2\1\1")],
)
def test_socks_needs_the_password(data: bytes, answer: bytes) -> None:
    async def story() -> None:
        async with world() as w:
            assert await w.say(data) == answer

    asyncio.run(story())


# -- who may go where ------------------------------------------------------------------


@pytest.mark.parametrize(
    "login",
    [
        b"",
        b"Proxy-Authorization: Basic cnVuOmd1ZXNzZWQ=\r\n",
        b"Proxy-Authorization: Basic \xff\r\n",
        b"Proxy-Authorization: Bearer x\r\n",
    ],
)
def test_nobody_passes_without_the_password(login: bytes) -> None:
    async def story() -> None:
        async with world() as w, web() as server:
            url = f"http://127.0.0.1:{server.port}/".encode()
            answer = await w.say(b"GET " + url + b" HTTP/1.1\r\n" + login + b"\r\n")

            assert status(answer) == 407
            assert b"\r\nProxy-Authenticate: Basic" in answer
            assert server.asked == []

    asyncio.run(story())


def test_a_password_ends_with_its_run_and_so_does_what_is_open() -> None:
    async def story() -> None:
        async with world() as w, web(closes=False) as server:
            mine = w.permit
            async with w.passage.permit(False) as permit:
                w.permit = permit
                _, reader, writer = await w.tunnel(f"127.0.0.1:{server.port}")
                assert permit.password != mine.password

            assert await reader.read() == b""
            writer.close()
            assert status(await w.get(f"http://127.0.0.1:{server.port}/")) == 407

    asyncio.run(story())


@pytest.mark.parametrize("public", [False, True])
@pytest.mark.parametrize("host", [METADATA, "0251.254.169.254", "[::ffff:a9fe:a9fe]"])
def test_metadata_addresses_are_for_nobody(host: str, public: bool) -> None:
    async def story() -> None:
        async with world(public=public) as w:
            answer = await w.get(f"http://{host}/latest/meta-data/")

            assert status(answer) == 403
            assert b"a metadata address" in answer
            assert "a metadata address" in w.permit.refused
            assert w.told == []

    asyncio.run(story())


@pytest.mark.parametrize("host", ["127.0.0.1", "0x7f.1", "2130706433", "[::1]", "0"])
def test_strangers_cannot_have_own_machines_asked(host: str) -> None:
    async def story() -> None:
        async with world(public=True) as w:
            assert status(await w.get(f"http://{host}/")) == 403
            assert w.told == []

    asyncio.run(story())


def test_strangers_cannot_either_by_a_name_of_theirs(names: Names) -> None:
    async def story() -> None:
        async with world(public=True, name_server=names.server) as w:
            answer = await w.get("http://private.ronda.test/")

            assert status(answer) == 403
            assert w.permit.refused == "private.ronda.test: 10.0.0.1 is private"
            assert w.told == []

    asyncio.run(story())


def test_who_was_outside_once_does_not_come_in_again() -> None:
    async def story() -> None:
        # What is allowed counts as public.
        async with (
            world(allow=("127.0.0.2",)) as w,
            web("127.0.0.1") as own,
            web("127.0.0.2") as outside,
        ):
            inside = f"http://127.0.0.1:{own.port}/"
            before = await w.get(inside)
            there = await w.get(f"http://127.0.0.2:{outside.port}/")
            after = await w.get(inside)

            assert list(map(status, (before, there, after))) == [200, 200, 403]
            assert len(own.asked) == 1

    asyncio.run(story())


def test_a_name_that_is_not_there_is_no_refusal(names: Names) -> None:
    async def story() -> None:
        async with world(name_server=names.server) as w:
            answer = await w.get("http://nowhere.ronda.test/")

            assert status(answer) == 502
            assert b"nowhere.ronda.test: " in answer
            assert w.permit.refused == ""

    asyncio.run(story())


def test_where_nobody_is_the_next_address_is_tried(names: Names) -> None:
    async def story() -> None:
        async with world(name_server=names.server) as w, web() as server:
            answer = await w.get(f"http://both.ronda.test:{server.port}/")

            assert status(answer) == 200
            tried = {address for _, address, _, _ in w.told}
            assert tried <= {"::1", "127.0.0.1"}

    asyncio.run(story())


def test_a_port_where_nobody_is_gets_words() -> None:
    async def story() -> None:
        async with world() as w, web() as server:
            port = server.port
        async with world() as w:
            answer = await w.get(f"http://127.0.0.1:{port}/")

            assert status(answer) == 502
            assert b"127.0.0.1: Connection refused" in answer

    asyncio.run(story())


# -- how much --------------------------------------------------------------------------


def test_starts_to_one_host_keep_their_gap() -> None:
    gap = 0.05

    async def story() -> None:
        async with world(gap=gap) as w, web() as server, web("127.0.0.2") as other:
            url = f"http://127.0.0.1:{server.port}/"
            await asyncio.gather(
                *(w.get(url) for _ in range(4)),
                w.get(f"http://127.0.0.2:{other.port}/"),
            )

            came = server.came_at
            assert came[-1] - came[0] >= 3 * gap - 0.02  # loops may be late, once
            assert other.came_at[0] < came[-1]

    asyncio.run(story())


def test_more_at_once_than_allowed_wait() -> None:
    async def story() -> None:
        async with world() as w, web(closes=False) as server:
            place = f"127.0.0.1:{server.port}"
            ends = [(await w.tunnel(place))[2] for _ in range(limits.AT_ONCE)]
            one_more = asyncio.create_task(w.tunnel(place))
            done, _ = await asyncio.wait([one_more], timeout=0.05)
            assert not done

            ends[0].close()
            head, _, last = await one_more
            assert status(head) == 200
            for writer in (*ends[1:], last):
                writer.close()

    asyncio.run(story())


def test_more_in_all_than_allowed_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "TUNNELS", 2)

    async def story() -> None:
        async with world() as w, web() as server:
            url = f"http://127.0.0.1:{server.port}/"
            answers = [status(await w.get(url)) for _ in range(3)]

            assert answers == [200, 200, 429]
            assert w.permit.refused == "more than 2 connections in one run"

    asyncio.run(story())


def test_more_bytes_than_allowed_end_the_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "BYTES", 1 << 20)
    large = b"HTTP/1.1 200 OK\r\n\r\n" + bytes(2 << 20)

    async def story() -> None:
        async with world() as w, web(answer=large) as server:
            got = b""
            with contextlib.suppress(ConnectionResetError):  # so it is cut
                got = await w.get(f"http://127.0.0.1:{server.port}/")

            assert len(got) <= 1 << 20
            assert w.permit.refused == "more than 1 MiB in one run"

    asyncio.run(story())


def test_a_connection_in_which_nothing_happens_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(relaying, "IDLE", 0.05)

    async def story() -> None:
        async with world() as w, web(closes=False) as server:
            _, reader, writer = await w.tunnel(f"127.0.0.1:{server.port}")

            assert await reader.read() == b""
            writer.close()

    asyncio.run(story())


def test_no_program_can_make_it_hold_what_the_other_does_not_take() -> None:
    sent = 0

    async def pour(_: Any, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        with contextlib.suppress(ConnectionError):
            while sent < 200 << 20:
                writer.write(bytes(1 << 16))
                await writer.drain()
                sent += 1 << 16
        writer.close()

    async def story() -> None:
        server = await asyncio.start_server(pour, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with world() as w:
            *_, writer = await w.tunnel(f"127.0.0.1:{port}")
            writer.transport.pause_reading()
            before = -1
            while sent != before:  # until all buffers on the way are full
                before = sent
                await asyncio.sleep(0.1)

            assert sent < 64 << 20
            writer.transport.abort()
        server.close()

    asyncio.run(story())


# -- places ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("authority", "expected"),
    [
        ("H.test:8080", ("h.test", 8080)),
        ("h.test", ("h.test", 80)),
        ("user:secret@h.test:80", ("h.test", 80)),
        ("[::1]:443", ("[::1]", 443)),
        ("127.1:443", ("127.0.0.1", 443)),
        ("", None),
        ("h.test/x:80", None),
        ("h.test\\x", None),
        ("h.test?x", None),
        ("h.test:x", None),
    ],
)
def test_a_place_has_one_spelling(
    authority: str, expected: tuple[str, int] | None
) -> None:
    assert place(authority) == expected
