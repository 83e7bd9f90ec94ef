"""The address guard: by itself, at the sockets, and before they are opened."""

import asyncio
import re
import socket
import struct
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pycurl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from e2e import odd
from ronda import networks
from ronda.clock import SystemClock
from ronda.config import Fetch
from ronda.config import Guard as Settings
from ronda.fetch import Asker, Guard, Names
from ronda.fetch.engine import Engine
from ronda.fetch.pool import Pool
from ronda.model import GUARDED, Answer, Request
from ronda.networks import Kind
from ronda.probes.faults import died, fault
from servers.certificates import Certificates
from servers.lying_ftp import CONTENT, ELSEWHERE, lying_ftp
from servers.nginx import Nginx
from servers.process import HOST
from servers.rude import Rude

SECONDS = 30.0  # guards against hanging; nothing takes as long
OPEN = Settings()
PUBLIC_IP = "93.184.216.34"  # never dialled here

Ask = Callable[..., Awaitable[Answer]]
BOTH = pytest.mark.parametrize("kind", [Engine, Pool])
addresses = st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)).map(str)


# -- by itself ---------------------------------------------------------------------


class TestWhomItRefuses:
    @pytest.mark.parametrize(
        ("address", "words"),
        [
            ("127.0.0.1", "127.0.0.1 is loopback"),
            ("10.0.0.1", "10.0.0.1 is private"),
            ("fe90::1%eth0", "fe90::1%eth0 is link-local"),
            ("100.64.0.1", "100.64.0.1 is shared (CGNAT)"),
            ("0.0.0.0", "0.0.0.0 is unspecified"),
            ("::ffff:10.0.0.1", "::ffff:10.0.0.1 is private"),
        ],
    )
    def test_own_machines_only_to_what_strangers_named(
        self, address: str, words: str
    ) -> None:
        guard = Guard(OPEN)

        assert guard.refusal(address, public=True) == words
        assert guard.refusal(address, public=False) == ""

    @pytest.mark.parametrize(
        ("address", "words"),
        [
            ("169.254.169.254", "169.254.169.254 is a metadata address"),
            ("64:ff9b::a9fe:a9fe", "64:ff9b::a9fe:a9fe is a metadata address"),
            ("224.0.0.1", "224.0.0.1 is multicast"),
            ("255.255.255.255", "255.255.255.255 is reserved"),
            ("a.example", "a.example is no address"),
        ],
    )
    def test_some_to_everybody(self, address: str, words: str) -> None:
        guard = Guard(OPEN)

        assert guard.refusal(address, public=True) == words
        assert guard.refusal(address, public=False) == words

    def test_public_addresses_to_nobody(self) -> None:
        assert Guard(OPEN).refusal(PUBLIC_IP, public=True) == ""
        assert Guard(Settings(public_only=True)).refusal(PUBLIC_IP, public=False) == ""

    @given(addresses, st.booleans())
    def test_public_only_takes_everything_for_a_strangers(
        self, address: str, public: bool
    ) -> None:
        strict, open_ = Guard(Settings(public_only=True)), Guard(OPEN)

        assert strict.refusal(address, public) == open_.refusal(address, public=True)

    @given(addresses)
    def test_a_stranger_may_not_do_more_than_the_operator(self, address: str) -> None:
        guard = Guard(OPEN)
        by_stranger = guard.refusal(address, public=True)

        assert (by_stranger == "") == (networks.kind(address) is Kind.PUBLIC)
        assert guard.refusal(address, public=False) in {"", by_stranger}

    @pytest.mark.parametrize(
        ("allowed", "address"),
        [
            ("10.1.0.0/16", "10.1.2.3"),
            ("10.1.0.0/16", "::ffff:10.1.2.3"),
            ("10.1.0.0/16", "64:ff9b::10.1.2.3"),
            ("127.0.0.2", "127.0.0.2"),
            ("169.254.169.254/32", "169.254.169.254"),
            ("fd00::/8", "fd00::1"),
            ("::1", "::1"),
            ("fe80::/10", "fe80::1%eth0"),
        ],
    )
    def test_nothing_that_the_operator_allows(self, allowed: str, address: str) -> None:
        guard = Guard(Settings(allow=(allowed,), public_only=True))

        assert guard.refusal(address, public=True) == ""
        assert guard.is_public(address)

    @pytest.mark.parametrize(
        ("allowed", "address"),
        [
            ("10.1.0.0/16", "10.2.0.1"),
            ("127.0.0.2", "127.0.0.3"),
            ("127.0.0.0/8", "::1"),
            # Teredo: the client is allowed, the server on the way there is not.
            ("10.0.0.0/8", "2001:0:7f00:1::f5ff:fffe"),
        ],
    )
    def test_but_what_lies_beside_it(self, allowed: str, address: str) -> None:
        guard = Guard(Settings(allow=(allowed,)))

        assert guard.refusal(address, public=True)
        assert not guard.is_public(address)


class TestBeforeAnythingIsDialled:
    @pytest.mark.parametrize(
        ("url", "pin"),
        [
            ("http://a.example/", "10.0.0.1"),
            ("http://10.0.0.1/", ""),
            ("http://user:secret@10.0.0.1:8080/", ""),
            ("http://[::1]/", ""),
            ("http://[::ffff:7f00:1]:81/", ""),
            ("ftp://a.example/", "127.0.0.1"),
            ("sftp://a@127.0.0.1/", ""),
            ("file:///etc/passwd", ""),
        ],
    )
    def test_the_pin_or_the_literal_host_decides(self, url: str, pin: str) -> None:
        guard = Guard(OPEN)
        refused = guard.check(Request(url, public=True), pin)

        assert refused is not None
        assert refused.error == GUARDED
        assert refused.error_text
        assert guard.check(Request(url), pin) is None

    def test_a_name_that_is_not_pinned_is_left_to_the_sockets(self) -> None:
        assert Guard(OPEN).check(Request("http://a.example/", public=True), "") is None

    def test_a_refused_file_is_told_from_a_refused_address(self) -> None:
        url = "file:///etc/passwd"
        refused = Guard(OPEN).check(Request(url, public=True), "")

        assert refused is not None
        assert fault(refused, url).reason == "file_refused"
        assert fault(refused, "http://a.example/").reason == "address_refused"

    def test_files_are_no_addresses(self) -> None:
        assert Guard(OPEN).check(Request("file:///etc/passwd"), "") is None

    def test_strangers_documents_lead_to_files_beside_them_only(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "out.md").symlink_to("/etc/passwd")
        monkeypatch.chdir(tmp_path)
        guard = Guard(Settings(public_only=True))

        def may(path: Path) -> bool:
            return guard.check(Request(path.as_uri()), "") is None

        assert may(tmp_path / "folder" / "in.md")
        assert not may(tmp_path / "out.md")
        assert not may(tmp_path.parent / "beside.md")


# -- with real servers ---------------------------------------------------------------


def carried(
    kind: type[Engine] | type[Pool],
    story: Callable[[Ask], Awaitable[object]],
    guard: Settings = OPEN,
    **settings: object,
) -> object:
    """Tell a story that asks an engine, past the check that is made before it."""

    async def run() -> object:
        fetch = Fetch(processes=2, timeout=10, **settings)  # type: ignore[arg-type]
        async with kind(fetch, Guard(guard)) as engine, asyncio.timeout(SECONDS):

            def ask(request: Request, pin: str = "") -> Awaitable[Answer]:
                loop = asyncio.get_running_loop()
                future: asyncio.Future[Answer] = loop.create_future()
                engine.ask(request, pin, False, future.set_result)
                return future

            return await story(ask)

    return asyncio.run(run())


def asked(request: Request, pin: str = "", guard: Settings = OPEN) -> Answer:
    """The answer through the one door, with all its checks."""

    async def run() -> Answer:
        made, clock = Guard(guard), SystemClock()
        async with (
            Names((), made, clock) as names,
            Asker(Fetch(timeout=10), names, lambda _: None, made) as asker,
            asyncio.timeout(SECONDS),
        ):
            return await asker.ask(request, pin, False)

    return asyncio.run(run())


class TestAtTheSockets:
    @BOTH
    @pytest.mark.parametrize("host", [HOST, "localhost"])
    def test_what_is_refused_is_not_dialled(
        self, kind: type[Engine], nginx: Nginx, host: str
    ) -> None:
        mark = nginx.mark()
        url = nginx.url("/empty", host=host)

        answer = carried(kind, lambda ask: ask(Request(url, public=True)))

        assert isinstance(answer, Answer)
        assert answer.error == GUARDED
        assert answer.error_text in {"127.0.0.1 is loopback", "::1 is loopback"}
        assert fault(answer).reason == "address_refused"
        assert nginx.requests(since=mark) == []

    @BOTH
    def test_what_is_allowed_is_dialled(self, kind: type[Engine], nginx: Nginx) -> None:
        url = nginx.url("/empty")
        allow = Settings(allow=("127.0.0.0/8",), public_only=True)

        answer = carried(kind, lambda ask: ask(Request(url, public=True)), allow)

        assert isinstance(answer, Answer)
        assert (answer.status, answer.error) == (200, 0)

    def test_a_handle_forgets_that_it_was_refused(self, rude: Rude) -> None:
        async def story(ask: Ask) -> list[int]:
            refused = await ask(Request(rude.url("/ok"), public=True))
            return [refused.error, (await ask(Request(rude.url("/garbage")))).error]

        unreadable = 1
        assert carried(Engine, story) == [GUARDED, unreadable]

    def test_the_data_of_an_ftp_server_is_had_from_where_it_was_asked(self) -> None:
        with lying_ftp() as server:
            request = Request(server.url, "GET", body=1000, raw=True)
            answer = asked(request)

        assert (answer.error, answer.body) == (0, CONTENT)
        assert server.arrived == [HOST]

    def test_the_data_connection_of_ftp_is_looked_at_too(self) -> None:
        async def run(url: str) -> Answer:
            allow = Settings(allow=(HOST,), public_only=True)
            async with Engine(Fetch(timeout=10), Guard(allow)) as engine:
                exchange = engine._new()
                exchange.curl.setopt(pycurl.FTP_SKIP_PASV_IP, 0)  # as if we believed it
                engine._free.append(exchange)
                future: asyncio.Future[Answer] = asyncio.Future()
                request = Request(url, "GET", body=1000, raw=True)
                engine.ask(request, "", False, future.set_result)
                async with asyncio.timeout(SECONDS):
                    return await future

        with lying_ftp() as server:
            answer = asyncio.run(run(server.url))

        assert (answer.error, answer.error_text) == (
            GUARDED,
            f"{ELSEWHERE} is loopback",
        )
        assert server.arrived == []


class TestKeptConnections:
    def test_a_strangers_request_does_not_use_the_operators_connection(
        self, nginx: Nginx
    ) -> None:
        mark = nginx.mark()
        url = nginx.url("/empty", host="www.ronda.test")

        async def run() -> list[int]:
            guard = Guard(OPEN)
            async with (
                Names((), guard, SystemClock()) as names,
                Asker(Fetch(), names, lambda _: None, guard) as asker,
                asyncio.timeout(SECONDS),
            ):
                answers = [
                    await asker.ask(Request(url, public=public), HOST, False)
                    for public in (False, True, False)
                ]
            return [answer.error for answer in answers]

        assert asyncio.run(run()) == [0, GUARDED, 0]
        seen = nginx.requests("/empty", since=mark)
        assert len({request.connection for request in seen}) == 1
        assert len(seen) == 2


class TestProxies:
    @pytest.fixture(autouse=True)
    def environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("no_proxy", "NO_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.delenv(name, raising=False)

    @pytest.mark.parametrize("variable", ["http_proxy", "all_proxy", "ALL_PROXY"])
    def test_the_operators_proxy_may_be_dialled_for_anybody(
        self, variable: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with proxy() as (url, seen):
            monkeypatch.setenv(variable, url)
            answer = asked(Request("http://a.example/", public=True), PUBLIC_IP)

        assert answer.status == 200
        assert seen == [f"CONNECT {PUBLIC_IP}:80"]

    def test_but_it_is_not_told_to_go_where_we_may_not(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with proxy() as (url, seen):
            monkeypatch.setenv("http_proxy", url)
            answer = asked(Request("http://a.example/", public=True), "10.0.0.1")

        assert answer.error == GUARDED
        assert seen == []

    def test_a_variable_that_libcurl_does_not_read_opens_no_door(
        self, nginx: Nginx, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HTTP_PROXY", nginx.url(""))
        monkeypatch.setenv("https_proxy", nginx.url(""))
        request = Request(nginx.url("/empty"), public=True)

        answer = carried(Engine, lambda ask: ask(request))

        assert isinstance(answer, Answer)
        assert answer.error == GUARDED


class TestARequestIsSentOnce:
    @BOTH
    def test_what_dies_on_a_kept_connection_is_not_sent_again(
        self, kind: type[Engine], rude: Rude
    ) -> None:
        path = rude.fresh("/keepalive-drops")
        answers = self.four(kind, rude.url(path))

        assert [a.status for a in answers] == [200, 0, 200, 0]
        assert [died(a) for a in answers] == [False, True, False, True]
        assert fault(answers[1]).reason == "empty_reply"
        assert len(rude.hits[path]) == 4

    @BOTH
    def test_a_connection_known_to_be_dead_is_made_anew(
        self, kind: type[Engine], rude: Rude
    ) -> None:
        path = rude.fresh("/keepalive-closes")
        answers = self.four(kind, rude.url(path))

        # Whether its end was seen before the next request is a matter of time.
        good = [a for a in answers if a.status == 200]
        assert all(died(a) for a in answers if a not in good)
        assert len(rude.hits[path]) == len(good)

    def four(self, kind: type[Engine], url: str) -> list[Answer]:
        async def story(ask: Ask) -> list[Answer]:
            request = Request(url, "GET", body=1000)
            return [await ask(request) for _ in range(4)]

        answers = carried(kind, story)
        assert isinstance(answers, list)
        return answers

    def test_a_fresh_connection_is_made_for_the_next(self, rude: Rude) -> None:
        url = rude.url(rude.fresh("/keepalive-drops"))

        async def story(ask: Ask) -> list[int]:
            requests = [Request(url), Request(url), Request(url, fresh=True)]
            return [(await ask(request)).status for request in requests]

        assert carried(Engine, story) == [200, 0, 200]

    @pytest.mark.parametrize("error", [7, 13])  # refused stream, HTTP/1.1 required
    def test_a_stream_that_is_taken_back_is_asked_for_by_http1(
        self, certificates: Certificates, error: int
    ) -> None:
        async def story(ask: Ask) -> list[Answer]:
            return [await ask(Request(url)) for _ in range(3)]

        with takes_back_streams(certificates, error) as (url, seen):
            ca_file = str(certificates.authority)
            answers = carried(Engine, story, ca_file=ca_file)

        assert isinstance(answers, list)
        assert [a.status for a in answers] == [0, 200, 200]
        assert died(answers[0])
        assert seen == ["stream 1", "HEAD /", "HEAD /"]

    @pytest.mark.parametrize("port", ["http", "good", "http2"])
    def test_many_that_share_connections_are_all_answered(
        self, certificates: Certificates, nginx: Nginx, port: str
    ) -> None:
        async def story(ask: Ask) -> set[tuple[int, int]]:
            requests = [Request(nginx.url(f"/empty?{n}", port=port)) for n in range(60)]
            answers = await asyncio.gather(*(ask(request) for request in requests))
            again = await asyncio.gather(*(ask(request) for request in requests))
            return {(a.status, a.error) for a in (*answers, *again)}

        ca_file = str(certificates.authority)
        assert carried(Engine, story, ca_file=ca_file) == {(200, 0)}


# -- servers of our own --------------------------------------------------------------


@contextmanager
def proxy() -> Iterator[tuple[str, list[str]]]:
    """A proxy that goes nowhere: it answers itself, and notes what it was asked."""
    seen: list[str] = []

    def talk(connection: socket.socket) -> None:
        method, target = odd.read_head(connection)
        if method == "CONNECT":
            seen.append(f"{method} {target}")
            connection.sendall(b"HTTP/1.1 200 fine\r\n\r\n")
            odd.read_head(connection)
            odd.answer(connection, "200 OK")

    with odd.serving(talk) as port:
        yield f"http://{HOST}:{port}", seen


@contextmanager
def takes_back_streams(
    certificates: Certificates, error: int
) -> Iterator[tuple[str, list[str]]]:
    """HTTP/2 that takes back every stream, and HTTP/1.1 that works."""
    seen: list[str] = []

    def talk(connection: socket.socket) -> None:
        if connection.selected_alpn_protocol() == "h2":  # type: ignore[attr-defined]
            _take_back(connection, error, seen)
            return
        while (request := odd.read_head(connection))[0]:
            seen.append(" ".join(request))
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    context = odd.tls(certificates["good"], "h2", "http/1.1")
    with odd.serving(talk, context) as port:
        yield f"https://{HOST}:{port}/", seen


def _take_back(connection: socket.socket, error: int, seen: list[str]) -> None:
    settings, reset = b"\0\0\0\4\0\0\0\0\0", b"\0\0\4\3\0"  # frames (RFC 9113)
    connection.sendall(settings)
    data = b""
    while more := connection.recv(65_536):
        data += more
        # A HEADERS frame that ends its headers and its stream, whose number follows.
        while found := re.search(rb"\x01\x05\0\0\0([\1-\x7f])", data):
            stream = found[1][0]
            seen.append(f"stream {stream}")
            connection.sendall(reset + struct.pack(">II", stream, error))
            data = data[found.end() :]
