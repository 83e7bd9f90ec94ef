"""Pages and sites that would never end, or take all memory: bounded, and reported."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from e2e import odd
from e2e.command import Command
from e2e.site import HTML, crawl, made, page, paths, peak
from servers.rude import Rude
from servers.site import Site

MB = 1024 * 1024
HUGE = 500 * MB
BESIDES = 100 * MB  # the program itself
MANY = 200_000  # links on one page


@contextmanager
def huge() -> Iterator[tuple[str, list[int]]]:
    """A page of 500 MB, made as it is sent; its URL, and the bytes that went out."""
    sent: list[int] = []

    def talk(connection: socket.socket) -> None:
        while (request := odd.read_head(connection))[0]:
            method, path = request
            body = b"" if path == "/robots.txt" else page("/first").encode()
            length = HUGE if path == "/" else len(body)
            head = f"HTTP/1.1 200 OK\r\n{HTML}\r\nContent-Length: {length}\r\n\r\n"
            connection.sendall(head.encode() + (b"" if method == "HEAD" else body))
            if path == "/":
                flood(connection)

    def flood(connection: socket.socket) -> None:
        block = b"<p>" + b"words " * 10_000
        for _ in range(HUGE // len(block)):
            connection.sendall(block)
            sent.append(len(block))

    with odd.serving(talk) as port:
        yield f"http://127.0.0.1:{port}/", sent


class TestPages:
    def test_of_a_page_of_500_mb_its_beginning_is_read(self, ronda: Command) -> None:
        with huge() as (url, sent):
            most, ended = peak(ronda, url, "--max-page-size", "2000000")

        assert set(ended.results) == {url, f"{url}first"}
        [problem] = ended.problems
        assert problem[0] == url
        assert "longer than 2,000,000 bytes" in problem[2]
        assert sum(sent) < 50 * MB
        assert most < BESIDES + 20 * MB
        assert ended.code == 0

    def test_200_000_links_on_one_page_are_bounded_and_reported(
        self, ronda: Command, tmp_path: Path
    ) -> None:
        with Site(tmp_path / "nginx", "location /n { return 200 here; }") as site:
            site.write("/", page(*(f'<a href="/n{n}">' for n in range(MANY))))
            options = ("--max-pages", "1", "--max-time", "1")
            most, ended = peak(ronda, site.url(), *options)

        summary = ended.summary
        assert summary["interrupted"] == "out of time"
        # How far it comes in its second is the machine's affair.
        assert len(ended.results) == summary["checked"] >= 1
        assert summary["checked"] + summary["left"] <= MANY + 1
        assert summary["left_at"].keys() == {"127.0.0.1"}
        assert most < BESIDES + 150 * MB

    def test_one_link_200_000_times_is_asked_once(self, ronda: Command) -> None:
        body = page(*['<a href="/one">'] * MANY).encode()
        with made(lambda path: body if path == "/" else page().encode()) as server:
            most, ended = peak(ronda, server.url())

        assert sorted(server.asked) == ["/", "/one", "/robots.txt"]
        assert len(ended.results[server.url("/one")]["found_in"]) == 10_000
        assert most < BESIDES + 100 * MB

    @pytest.mark.parametrize("tag", ["div", "b", "svg"])
    def test_the_links_of_10_000_elements_in_one_another_are_found(
        self, ronda: Command, tag: str
    ) -> None:
        deep = f"<{tag}>" * 10_000 + '<a href="/deep">deep</a>'
        with made(lambda path: page(deep if path == "/" else "/").encode()) as server:
            ended = crawl(ronda, server.url())

        assert set(ended.results) == {server.url(), server.url("/deep")}

    def test_odd_links_are_told_of_and_harm_nobody(self, ronda: Command) -> None:
        links = {
            '<a href="/nul\0here">': "/nulhere",
            '<a href="/new\nline">': "/newline",
            '<a href="  /spaces in it  ">': "/spaces%20in%20it",
            '<a href="javascript:void(0)">': None,
            '<a href="JavaScript&#58;alert(1)">': None,
            '<a href="data:text/html,<a href=/no>">': None,
            '<a href="/100%">': "/100%",
            '<a href="/%zz%G1">': "/%zz%G1",
            '<a href="/%C3%28">': "/%C3%28",
            '<a href="/ünïcode">': "/%C3%BCn%C3%AFcode",
            '<a href="?q=a b&amp;c=ü">': "/?q=a%20b&c=%C3%BC",
            '<a href="">': "/",
            '<a href="//127.0.0.1:99999/">': None,
            '<a href="http://xn--a.test/">': None,
            '<a href="http://[::1">': None,
            '<a href="/\ud83d\ude00">': "/%F0%9F%98%80",
        }
        body = page(*links).encode("utf-16", "surrogatepass").decode("utf-16").encode()
        with made(lambda path: body if path == "/" else b"") as server:
            options = ("--name-server", "127.0.0.1:1", "--retries", "0")
            ended = crawl(ronda, server.url(), *options)
            asked = {path for path in server.asked if path != "/robots.txt"}

        wanted = {path for path in links.values() if path}
        assert asked == wanted
        assert paths(ended, server.url("")) == wanted
        assert ended.results["http://xn--a.test/"]["verdict"] == "temporary"
        assert len(ended.results) == len(wanted) + 1
        told = " ".join(words for _, _, words in ended.problems)
        assert "127.0.0.1:99999" in told
        assert "[::1" in told


class TestSites:
    def test_a_chain_without_end_ends_by_its_depth(self, ronda: Command) -> None:
        def answers(path: str) -> bytes:
            number = int(path.rpartition("/")[2] or 0)
            return page(f"/chain/{number + 1}").encode()

        with made(answers) as server:
            ended = crawl(ronda, server.url())

        assert len(ended.results) == 52  # the last one is checked, and not read
        assert ended.summary["site"]["pages"] == 51
        assert ended.summary["site"]["beyond"] == {"depth": 1}
        assert ended.code == 0

    def test_a_wide_one_ends_by_its_pages_in_little_memory(
        self, ronda: Command
    ) -> None:
        def answers(path: str) -> bytes:
            return page(*(f"{path.rstrip('/')}-{n}" for n in range(5))).encode()

        with made(answers) as server:
            most, ended = peak(ronda, server.url("/p"), "--max-pages", "200")

        assert ended.summary["site"]["pages"] == 200
        assert len(ended.results) == 1 + 5 * 200
        assert ended.summary["left"] == 0
        assert most < BESIDES

    def test_a_path_that_goes_round_in_circles_is_a_trap(self, ronda: Command) -> None:
        with made(lambda _: page("again/", "round/").encode()) as server:
            ended = crawl(ronda, server.url("/x/"))

        assert ended.summary["left"] == 0
        assert ended.summary["site"]["beyond"]["trap: endless path"] > 0
        assert len(server.asked) < 2000


class TestSeeds:
    @pytest.mark.parametrize(
        "seed",
        ["", "example.test", "ftp://h/"],
    )
    def test_one_that_is_no_url_is_one_clear_line(
        self, ronda: Command, seed: str
    ) -> None:
        ended = crawl(ronda, "--", seed)

        assert ended.code == 2
        assert ended.err.startswith("ronda: ")
        assert (ended.err.count("\n"), ended.out) == (1, "")

    def test_none_at_all_is_one_clear_line(self, ronda: Command) -> None:
        ended = ronda("crawl")

        assert (ended.code, ended.err.count("\n")) == (2, 1)
        assert "nothing to crawl" in ended.err

    def test_one_that_is_down_is_reported(self, ronda: Command, rude: Rude) -> None:
        url = rude.refused_url()
        ended = crawl(ronda, url, "--retries", "0")

        assert ended.results[url]["reason"] == "connect_refused"
        assert (ended.summary["left"], ended.summary["site"]["pages"]) == (0, 0)

    def test_a_robots_txt_that_forbids_everything_is_obeyed_and_told(
        self, ronda: Command
    ) -> None:
        asked = []

        def talk(connection: socket.socket) -> None:
            asked.append(odd.read_head(connection)[1])
            odd.answer(connection, "200 OK", body=b"User-agent: *\nDisallow: /\n")

        with odd.serving(talk) as port:
            url = f"http://127.0.0.1:{port}/"
            ended = crawl(ronda, url)

        assert ended.results[url]["reason"] == "robots_disallow"
        assert asked == ["/robots.txt"]
        assert ended.code == 2  # nothing was crawled, which is no success
