"""The address guard through the command line: what is refused never arrives.

Loopback stands for everything: by itself it is the operator's own, and what
`--guard-allow` names is as good as public.
"""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e import odd
from e2e.command import Command, Ended
from servers.lying_ftp import ELSEWHERE, lying_ftp
from servers.names import Names
from servers.nginx import Nginx
from servers.process import HOST

NO_RETRY = ("--retries", "0", "--timeout", "5")
ROBOTS = pytest.mark.parametrize("robots", [(), ("--no-robots",)], ids=["robots", ""])


def outcomes(ended: Ended) -> dict[str, tuple[str, str]]:
    assert ended.out, ended.err
    return {url: (r["verdict"], r["reason"]) for url, r in ended.results.items()}


REFUSED = ("blocked", "address_refused")


class TestPublicOnly:
    @ROBOTS
    @pytest.mark.parametrize("processes", ["1", "2"])
    def test_no_spelling_of_an_own_address_is_asked(
        self, ronda: Command, nginx: Nginx, robots: tuple[str, ...], processes: str
    ) -> None:
        mark = nginx.mark()
        hosts = [
            HOST,
            "2130706433",
            "0x7f.1",
            "0177.0.0.2",
            "127.0.3",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:4]",
            "[::127.0.0.5]",
            "0.0.0.0",
            "0",
            "[::]",
            "[64:ff9b::7f00:1]",
            "[2002:7f00:1::]",
        ]
        urls = [nginx.url(f"/empty?{n}", host=h) for n, h in enumerate(hosts)]
        urls += [f"https://{HOST}:{nginx.ports['good']}/empty"]
        options = ("--public-only", "--processes", processes, *NO_RETRY, *robots)

        found = outcomes(ronda.json(*options, urls=urls))

        assert set(found.values()) == {REFUSED}
        assert len(found) == len(urls)
        assert nginx.requests(since=mark) == []

    @ROBOTS
    def test_no_name_of_one_is_asked(
        self, ronda: Command, nginx: Nginx, names: Names, robots: tuple[str, ...]
    ) -> None:
        mark = nginx.mark()
        hosts = ["www.ronda.test", "six.ronda.test", "both.ronda.test", "localhost"]
        urls = [nginx.url("/empty", host=host) for host in hosts]
        urls.append("http://private.ronda.test/")
        options = ("--public-only", "--name-server", names.server, *NO_RETRY, *robots)

        ended = ronda.json(*options, urls=urls)

        assert set(outcomes(ended).values()) == {REFUSED}
        message = ended.results["http://private.ronda.test/"]["message"]
        assert message.endswith("10.0.0.1 is private")
        assert nginx.requests(since=mark) == []

    @pytest.mark.parametrize(
        "url",
        [
            "ftp://0x7f000001:{port}/",
            "ftps://127.0.0.1:{port}/",
            "sftp://user:secret@127.0.0.1:{port}/",
        ],
    )
    def test_nor_by_another_scheme(self, ronda: Command, url: str) -> None:
        arrived: list[object] = []
        with odd.serving(arrived.append) as port:
            url = url.format(port=port)
            ended = ronda.json("--public-only", *NO_RETRY, urls=[url])

        assert set(outcomes(ended).values()) == {REFUSED}
        assert "secret" not in ended.out
        assert arrived == []

    def test_what_is_allowed_is_asked(self, ronda: Command, nginx: Nginx) -> None:
        urls = [nginx.url("/empty"), nginx.url("/empty", host="127.0.0.9")]
        options = ("--public-only", "--guard-allow", "127.0.0.0/8", *NO_RETRY)

        found = outcomes(ronda.json(*options, urls=urls))

        assert set(found.values()) == {("ok", "http_200")}

    def test_it_may_stand_in_the_settings(self, ronda: Command, nginx: Nginx) -> None:
        text = '[guard]\npublic_only = true\nallow = ["127.0.0.2"]\n'
        (ronda.folder / "ronda.toml").write_text(text)
        urls = [nginx.url("/empty", host=f"127.0.0.{n}") for n in (2, 3, 4)]

        found = outcomes(ronda.json("--guard-allow", "127.0.0.3", *NO_RETRY, urls=urls))

        assert list(found.values()).count(("ok", "http_200")) == 2
        assert found[urls[2]] == REFUSED

    @pytest.mark.parametrize("network", ["10.1.2.3/16", "a.example", "", "10.0.0.0/33"])
    def test_what_is_no_network_is_one_line_and_code_2(
        self, ronda: Command, network: str
    ) -> None:
        ended = ronda("check", "--guard-allow", network, "urls.txt")

        assert ended.code == 2
        assert ended.err.startswith("ronda: guard.allow: ")
        assert ended.err.count("\n") == 1


class TestWhatIsNeverAsked:
    @ROBOTS
    def test_metadata_and_the_like_even_if_the_operator_names_it(
        self, ronda: Command, names: Names, robots: tuple[str, ...]
    ) -> None:
        names.move("metadata.ronda.test", "169.254.169.254")
        urls = [
            "http://169.254.169.254/latest/meta-data/",
            "http://0xa9fea9fe/",
            "http://[::ffff:169.254.169.254]/",
            "http://[64:ff9b::169.254.169.254]/",
            "http://[fd00:ec2::254]/",
            "http://100.100.100.200/",
            "http://metadata.ronda.test/",
            "http://224.0.0.1/",
            "http://255.255.255.255/",
            "http://192.0.2.1/",
        ]
        options = ("--name-server", names.server, *NO_RETRY, *robots)

        found = outcomes(ronda.json(*options, urls=urls))

        assert set(found.values()) == {REFUSED}
        assert len(found) == len(urls)


class TestTheOperatorsOwn:
    def test_it_is_asked_without_a_word(self, ronda: Command, nginx: Nginx) -> None:
        urls = [nginx.url("/empty"), nginx.url("/redirect-host", host="127.0.0.3")]

        found = outcomes(ronda.json(*NO_RETRY, urls=urls))

        assert found[urls[0]] == ("ok", "http_200")
        assert found[urls[1]] == ("warning", "moved_permanently")


class TestFromPublicToPrivate:
    def test_a_hop_is_not_followed(self, ronda: Command, nginx: Nginx) -> None:
        mark = nginx.mark()
        url = nginx.url("/redirect-host", host="127.0.0.3")
        options = ("--public-only", "--guard-allow", "127.0.0.3/32", *NO_RETRY)

        ended = ronda.json(*options, urls=[url])

        assert outcomes(ended) == {url: REFUSED}
        assert len(ended.results[url]["hops"]) == 1
        assert {r.address for r in nginx.requests(since=mark)} == {"127.0.0.3"}

    def test_nor_when_the_operator_may_go_there_himself(
        self, ronda: Command, nginx: Nginx
    ) -> None:
        there = nginx.url("/empty", host="127.0.0.2")
        url = nginx.url("/redirect-host", host="127.0.0.3")

        found = outcomes(
            ronda.json("--guard-allow", "127.0.0.3", *NO_RETRY, urls=[url, there])
        )

        assert found == {url: REFUSED, there: ("ok", "http_200")}

    def test_nor_are_links_on_a_page_from_there(
        self, ronda: Command, nginx: Nginx, page: tuple[str, list[str]]
    ) -> None:
        url, links = page
        links += [nginx.url("/empty", host="127.0.0.3"), "http://10.0.0.1/"]
        mark = nginx.mark()

        ended = ronda.json("--guard-allow", HOST, *NO_RETRY, url)

        found = outcomes(ended)
        assert found.pop(url) == ("ok", "http_200")
        assert found == dict.fromkeys(links, REFUSED)
        assert nginx.requests(since=mark) == []

    def test_nor_files_which_are_only_for_what_the_operator_named(
        self, ronda: Command, tmp_path: Path, page: tuple[str, list[str]]
    ) -> None:
        url, links = page
        (tmp_path / "secret.txt").write_text("secret\n")
        links.append((tmp_path / "secret.txt").as_uri())

        ended = ronda.json("--guard-allow", HOST, *NO_RETRY, url)

        assert outcomes(ended)[links[0]] == ("blocked", "file_refused")

    @pytest.fixture
    def page(self) -> Iterator[tuple[str, list[str]]]:
        """A page with the links that are put into the list."""
        links: list[str] = []

        def talk(connection: socket.socket) -> None:
            odd.read_head(connection)
            body = "".join(f'<a href="{link}">a</a>' for link in links).encode()
            odd.answer(connection, "200 OK", "Content-Type: text/html", body=body)

        with odd.serving(talk) as port:
            yield f"http://{HOST}:{port}/page", links


class TestFtp:
    @pytest.mark.parametrize(
        "options", [(), ("--public-only", "--guard-allow", HOST)], ids=["own", "public"]
    )
    def test_its_passive_address_is_not_believed(
        self, ronda: Command, options: tuple[str, ...]
    ) -> None:
        with lying_ftp() as server:
            ended = ronda.json(*options, *NO_RETRY, urls=[server.url])

        assert outcomes(ended) == {server.url: ("ok", "ftp_started")}
        assert ELSEWHERE not in server.arrived


class TestRequestsAreSentOnce:
    def test_a_kept_connection_that_drops_requests_costs_none_that_is_not_charged(
        self, ronda: Command
    ) -> None:
        arrived: list[str] = []
        with odd.serving(drops_every_second(arrived)) as port:
            urls = [f"http://{HOST}:{port}/{n}" for n in range(6)]
            options = ("--no-robots", "--per-host", "1", "--retries", "0")
            ended = ronda.json(*options, urls=urls)

        assert set(outcomes(ended).values()) == {("ok", "http_200")}
        assert len(arrived) == ended.summary["requests"]


def drops_every_second(arrived: list[str]) -> odd.Talk:
    """Answers the first request of a connection, and leaves at the second."""

    def talk(connection: socket.socket) -> None:
        arrived.append(odd.read_head(connection)[1])
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        if more := odd.read_head(connection)[1]:
            arrived.append(more)

    return talk
