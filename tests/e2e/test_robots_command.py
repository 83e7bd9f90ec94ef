"""`ronda robots` against real servers on loopback, and with files."""

import contextlib
import socket
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from e2e import odd
from e2e.command import Command, Ended
from ronda.frontier.robots import SIZE_LIMIT
from servers.names import Names
from servers.process import HOST

ROBOTS = b"""\
# For all
User-agent: *
Disallow: /private/
Allow: /private/open$
Crawl-delay: 2.5

User-agent: Ronda
User-agent: other
Disallow: /staff # us only

Sitemap: https://a.test/sitemap.xml
"""


@contextlib.contextmanager
def site(
    status: str = "200 OK", *headers: str, body: bytes = b""
) -> Iterator[tuple[str, list[str]]]:
    """A site that answers all alike: its URL, and the paths it was asked for."""
    asked: list[str] = []

    def talk(connection: socket.socket) -> None:
        asked.append(" ".join(odd.read_head(connection)))
        odd.answer(connection, status, *headers, body=body)

    with odd.serving(talk) as port:
        yield f"http://{HOST}:{port}", asked


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "robots.txt").write_bytes(ROBOTS)
    return "robots.txt"


def rows(ended: Ended) -> list[list[str]]:
    """The cells of the lines about paths."""
    table = ended.out.split("\n\n")[1]
    return [
        [cell.strip() for cell in line.split("  ") if cell]
        for line in table.splitlines()
    ]


class TestWhatIsShown:
    def test_the_rule_that_decides_its_line_and_its_group(
        self, ronda: Command, file: str
    ) -> None:
        ended = ronda(
            *("robots", file, "--agent", "Googlebot/2.1 (+http://a.test)"),
            *("/private/x?y#z", "/private/open", "/", "/robots.txt"),
        )

        group = "User-agent: *"
        assert rows(ended) == [
            ["disallowed", "/private/x?y", "Disallow: /private/", "line 3", group],
            ["allowed", "/private/open", "Allow: /private/open$", "line 4", group],
            ["allowed", "/", "no rule speaks of it"],
            ["allowed", "/robots.txt", "always allowed (RFC 9309, 2.2.2)"],
        ]
        assert ended.code == 1

    def test_the_file_the_agent_its_group_its_delay_and_the_sitemaps(
        self, ronda: Command, file: str
    ) -> None:
        ended = ronda("robots", file, "--agent", "Googlebot")

        facts = ended.out.split("\n\n")[0].splitlines()
        assert [line.split(maxsplit=1) for line in facts] == [
            ["robots.txt", "robots.txt"],
            ["agent", "Googlebot"],
            ["group", "User-agent: *"],
            ["crawl-delay", "2.5 s"],
            ["sitemap", "https://a.test/sitemap.xml"],
        ]
        assert rows(ended) == [["allowed", "/", "no rule speaks of it"]]
        assert ended.code == 0

    def test_our_own_rules_without_a_word(self, ronda: Command, file: str) -> None:
        ended = ronda("robots", file, "/staff/rota", "/private/")

        assert "User-agent: Ronda, other" in ended.out
        assert [row[0] for row in rows(ended)] == ["disallowed", "allowed"]

    def test_the_rules_for_the_user_agent_of_the_settings(
        self, ronda: Command, file: str
    ) -> None:
        settings = '[fetch]\nuser_agent = "mine/1.0"\n'
        (ronda.folder / "other.toml").write_text(settings)
        ended = ronda("robots", file, "/staff/", "--config", "other.toml")

        assert rows(ended)[0][:2] == ["allowed", "/staff/"]

    def test_that_nothing_is_said_to_an_agent(self, ronda: Command) -> None:
        (ronda.folder / "robots").write_bytes(b"User-agent: x\nDisallow: /\n")
        ended = ronda("robots", "robots")

        assert "none, so all is allowed" in ended.out
        assert ended.code == 0

    def test_that_the_rest_of_a_long_file_is_not_read(self, ronda: Command) -> None:
        data = b"User-agent: *\n" + b"#" * SIZE_LIMIT + b"\nDisallow: /\n"
        (ronda.folder / "robots.txt").write_bytes(data)
        ended = ronda("robots", "robots.txt")

        assert "It is longer than 512,000 bytes" in ended.out
        assert ended.code == 0

    def test_nothing_that_steers_a_terminal(self, ronda: Command) -> None:
        (ronda.folder / "robots.txt").write_bytes(
            b"User-agent: ronda\x1b[31m\nDisallow: /\x1b]0;x\x07\xff\n"
            b"Sitemap: \x1b[2J\n" + b"Sitemap: http://u:secret@a.test/\n" * 20
        )
        ended = ronda("robots", "robots.txt", "/%1B]0;x%07%FF")

        assert ended.code == 1
        assert "\x1b" not in ended.out
        assert "\x07" not in ended.out
        assert "secret" not in ended.out
        assert "and 11 more" in ended.out

    def test_a_tree_for_programs(self, ronda: Command, file: str) -> None:
        ended = ronda("robots", file, "/staff", "/robots.txt", "--format", "json")

        report: dict[str, Any] = ended.report
        assert report.pop("ronda")
        assert report == {
            "robots": "robots.txt",
            "found_at": "robots.txt",
            "access": "found",
            "status": 0,
            "message": "",
            "hops": [],
            "cut": False,
            "agent": "ronda",
            "user_agents": ["Ronda", "other"],
            "crawl_delay": None,
            "sitemaps": ["https://a.test/sitemap.xml"],
            "paths": [
                {
                    "path": "/staff",
                    "allowed": False,
                    "why": "",
                    "rule": "Disallow: /staff",
                    "line": 9,
                    "user_agents": ["Ronda", "other"],
                },
                {
                    "path": "/robots.txt",
                    "allowed": True,
                    "why": "always allowed (RFC 9309, 2.2.2)",
                    "rule": None,
                    "line": None,
                    "user_agents": None,
                },
            ],
        }

    def test_bytes_that_are_not_text_are_no_trouble_for_programs(
        self, ronda: Command
    ) -> None:
        (ronda.folder / "robots.txt").write_bytes(
            b"User-agent: ronda\nUser-agent: \xfe\nDisallow: /\xff\nSitemap: \xff\n"
        )
        ended = ronda("robots", "robots.txt", "/%FF", "--format", "json")

        assert ended.report["paths"][0]["line"] == 3


class TestAsking:
    def test_the_host_is_asked_once_and_the_url_is_judged_first(
        self, ronda: Command
    ) -> None:
        with site(body=ROBOTS) as (url, asked):
            ended = ronda("robots", f"{url}/staff/x#y", "/a", "b", f"{url}/c")

        assert asked == ["GET /robots.txt"]
        assert [row[:2] for row in rows(ended)] == [
            ["disallowed", "/staff/x"],
            ["allowed", "/a"],
            ["disallowed", "/staff/b"],
            ["allowed", "/c"],
        ]
        assert f"{url}/robots.txt" in ended.out

    def test_the_rules_are_found_elsewhere_and_hold_for_the_host_that_was_asked(
        self, ronda: Command, names: Names
    ) -> None:
        with (
            site(body=ROBOTS) as (url, asked),
            site("301 Moved", f"Location: {url}/elsewhere.txt") as (first, _),
        ):
            port = first.rpartition(":")[2]
            start = f"http://user:secret@www.ronda.test:{port}/staff/"
            ended = ronda(
                *("robots", start, "--name-server", names.server, "--format", "json")
            )

        report = ended.report
        assert report["message"] == "200 OK"
        robots = f"http://www.ronda.test:{port}/robots.txt"
        assert report["robots"] == robots
        assert report["found_at"] == f"{url}/elsewhere.txt"
        assert report["hops"] == [
            {"url": robots, "status": 301, "to": f"{url}/elsewhere.txt"}
        ]
        assert [path["allowed"] for path in report["paths"]] == [False]
        assert asked == ["GET /elsewhere.txt"]

    def test_ten_redirects_are_followed_and_eleven_are_none(
        self, ronda: Command
    ) -> None:
        for hops, code in ((10, 1), (11, 0)):
            with odd.serving(partial(_chain, hops)) as port:
                ended = ronda("robots", f"http://{HOST}:{port}/staff")

            assert ended.code == code
        assert ended.out.count("redirect  ") == 10
        assert "so all is allowed (RFC 9309, 2.3.1.3)" in ended.out

    @pytest.mark.parametrize("status", ["404 Not Found", "403 Forbidden", "410 Gone"])
    def test_where_there_is_none_all_is_allowed(
        self, ronda: Command, status: str
    ) -> None:
        with site(status, body=ROBOTS) as (url, _):
            ended = ronda("robots", f"{url}/staff")

        assert rows(ended) == [["allowed", "/staff", "there is no robots.txt"]]
        assert status[:3] in ended.out
        assert "so all is allowed (RFC 9309, 2.3.1.3)" in ended.out
        assert ended.code == 0

    @pytest.mark.parametrize("status", ["500 Oops", "503 Busy", "429 Too Many"])
    def test_where_it_cannot_be_had_nothing_is_allowed(
        self, ronda: Command, status: str
    ) -> None:
        with site(status) as (url, asked):
            ended = ronda("robots", url, "/robots.txt")

        assert [row[:2] for row in rows(ended)] == [
            ["disallowed", "/"],
            ["allowed", "/robots.txt"],
        ]
        assert status[:3] in ended.out
        assert "nothing is allowed until it can be had" in ended.out
        assert len(asked) == 1
        assert ended.code == 1

    def test_nobody_there_is_told_as_such(self, ronda: Command, names: Names) -> None:
        with site() as (gone, _):
            pass
        refused = ronda("robots", gone)
        nameless = ronda(
            *("robots", "http://nowhere.ronda.test/", "--name-server", names.server)
        )

        assert "connection refused" in refused.out
        assert "no such name" in nameless.out
        assert (refused.code, nameless.code) == (1, 1)

    def test_the_address_guard_is_heeded(self, ronda: Command) -> None:
        (ronda.folder / "ronda.toml").write_text("[guard]\npublic_only = true\n")
        with site(body=ROBOTS) as (url, asked):
            ended = ronda("robots", url)

        assert "is loopback" in ended.out
        assert (ended.code, asked) == (1, [])


def _chain(length: int, connection: socket.socket) -> None:
    """As many redirects, and then the file."""
    _, target = odd.read_head(connection)
    number = int(target.partition("?")[2] or 0)
    if number < length:
        odd.answer(connection, "302 Found", f"Location: /robots.txt?{number + 1}")
    else:
        odd.answer(connection, "200 OK", body=ROBOTS)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "nothing to show: give a URL, or a file"),
        (("example.org",), "example.org: No such file or directory; a URL begins"),
        (("./none/robots.txt",), "./none/robots.txt: No such file or directory\n"),
        ((".",), ".: Is a directory"),
        (("ftp://a.test/",), "ftp://a.test/: only http and https have a robots.txt"),
        (("http://a b/",), "not a URL: http://a b/"),
        (
            ("http://a.test/", "http://b.test/x"),
            "http://b.test/x: not on http://a.test",
        ),
        (("http://a.test/", "https://a.test/x"), "not on http://a.test, whose"),
        (("http://a.test/", "//b.test/x"), "//b.test/x: not on http://a.test"),
        (("http://a.test/", "http://[/"), "not a URL: http://[/"),
        (("robots.txt", "--config", "none.toml"), "none.toml: No such file"),
    ],
)
def test_what_cannot_be_used_is_told_in_one_line(
    ronda: Command, arguments: tuple[str, ...], words: str
) -> None:
    ended = ronda("robots", *arguments)

    assert words in ended.err
    assert ended.err.count("\n") == 1
    assert (ended.code, ended.out) == (2, "")
