"""What a libcurl handle may do by itself."""

import socket
from typing import Any, NamedTuple

import pycurl
import pytest

from ronda.config import Guard as Settings
from ronda.fetch.guard import Guard
from ronda.fetch.watch import DIED, MOST, Sockets, Watch, proxied
from ronda.model import GUARDED, Request

ABORT, GO_ON = pycurl.PREREQFUNC_ABORT, pycurl.PREREQFUNC_OK
OPENED = 7  # stands for a socket


class Dialled(NamedTuple):
    """An address as pycurl hands it over."""

    addr: tuple[Any, ...]
    family: int = socket.AF_INET
    socktype: int = socket.SOCK_STREAM
    protocol: int = 0


LOOPBACK = Dialled(("127.0.0.1", 80))
STRANGER = Dialled(("93.184.216.34", 443))
LONG = Dialled(("fe80::1", 80, 0, 2), socket.AF_INET6)


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for scheme in ("http", "https", "ftp", "ftps", "sftp", "all"):
        monkeypatch.delenv(f"{scheme}_proxy", raising=False)
        monkeypatch.delenv(f"{scheme.upper()}_PROXY", raising=False)


def watching(url: str, public: bool = True) -> tuple[Watch, Sockets]:
    sockets = Sockets(Guard(Settings()), lambda _: OPENED)
    watch = Watch(sockets)
    watch.begin(Request(url, public=public))
    return watch, sockets


class TestSockets:
    def test_they_go_where_they_may(self) -> None:
        watch, _ = watching("http://a.example/")

        assert watch.open_socket(0, STRANGER) == OPENED
        assert watch.veto is None

    @pytest.mark.parametrize("address", [LOOPBACK, LONG])
    def test_and_nowhere_else(self, address: Dialled) -> None:
        watch, _ = watching("http://a.example/")

        assert watch.open_socket(0, address) == pycurl.SOCKET_BAD
        assert watch.veto is not None
        assert watch.veto[0] == GUARDED

    def test_a_data_connection_of_ftp_is_opened_after_the_request(self) -> None:
        watch, _ = watching("ftp://a.example/")
        watch.open_socket(0, STRANGER)
        watch.before_request()

        assert watch.open_socket(0, STRANGER) == OPENED
        assert watch.open_socket(0, LOOPBACK) == pycurl.SOCKET_BAD

    def test_the_web_has_no_second_connection_after_the_request(self) -> None:
        watch, _ = watching("http://a.example/")
        watch.before_request()

        assert watch.open_socket(0, STRANGER) == pycurl.SOCKET_BAD
        assert watch.veto == DIED


class TestSending:
    def test_once_and_not_twice(self) -> None:
        watch, _ = watching("sftp://a.example/")

        assert watch.before_request("", "", 0, 0) == GO_ON
        assert watch.before_request("", "", 0, 0) == ABORT
        assert watch.veto == DIED

    def test_the_next_request_may_be_sent_again(self) -> None:
        watch, _ = watching("http://a.example/")
        watch.before_request()
        watch.before_request()
        watch.begin(Request("http://a.example/"))

        assert watch.veto is None
        assert watch.before_request() == GO_ON

    @pytest.mark.parametrize(
        ("url", "opened", "known"),
        [
            ("https://a.example/", True, {"https://a.example"}),
            ("https://a.example/", False, set()),  # a kept connection died
            ("ftp://a.example/", True, set()),
        ],
    )
    def test_who_refuses_on_a_new_connection_gets_no_more_http2(
        self, url: str, opened: bool, known: set[str]
    ) -> None:
        watch, sockets = watching(url)
        if opened:
            watch.open_socket(0, STRANGER)
        watch.before_request()
        watch.before_request()

        assert sockets.without_http2 == known

    def test_not_everybody_is_remembered(self) -> None:
        watch, sockets = watching("https://a.example/")
        sockets.without_http2.update(map(str, range(MOST)))
        watch.open_socket(0, STRANGER)
        watch.before_request()
        watch.before_request()

        assert len(sockets.without_http2) == MOST


class TestProxies:
    @pytest.mark.parametrize(
        ("variable", "schemes"),
        [
            ("http_proxy", {"http"}),
            ("HTTP_PROXY", set()),
            ("https_proxy", {"https"}),
            ("HTTPS_PROXY", {"https"}),
            ("ftp_proxy", {"ftp"}),
            ("all_proxy", {"http", "https", "ftp", "ftps", "sftp"}),
            ("ALL_PROXY", {"http", "https", "ftp", "ftps", "sftp"}),
        ],
    )
    def test_they_are_found_where_libcurl_finds_them(
        self, variable: str, schemes: set[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(variable, "http://127.0.0.1:3128")

        assert proxied() == schemes

    def test_an_empty_variable_is_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("all_proxy", "")

        assert proxied() == frozenset()

    def test_they_may_be_dialled_but_only_for_their_scheme(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("https_proxy", "http://127.0.0.1:3128")
        secure, _ = watching("https://a.example/")
        plain, _ = watching("http://a.example/")

        assert secure.open_socket(0, LOOPBACK) == OPENED
        assert plain.open_socket(0, LOOPBACK) == pycurl.SOCKET_BAD
