"""Every kind of misbehaving server, each with the verdict that must come of it.

One run checks the URLs of many such servers, each by a host's name of its own, together
with pages on which all is well: `ROWS` says what must come of each.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pycurl
import pytest

from e2e.command import Command, Ended
from e2e.forks import Forked
from ronda import urls
from ronda.model import State
from servers.certificates import Certificates
from servers.h2 import STORMS
from servers.names import Names
from servers.nginx import Nginx
from servers.rude import Rude

OK, TEMPORARY = State.OK, State.TEMPORARY
BROKEN, BLOCKED = State.BROKEN, State.BLOCKED
YEAR = 31_536_000  # seconds
DIGITS = "9" * 400
NOT_WAITED_FOR = "asks us to wait 31,536,000 s"
TIMED_OUT = "in the middle of the answer: after"
TOO_SLOW = "in the middle of the answer: too slow, under 1,000 bytes a second"
SETTINGS = "[fetch]\nbody_limit = 1_000_000\nretry_gap = 0.1\nmin_rate_seconds = 0.5\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wild:
    """The servers, good and bad, and the command line let loose on them."""

    nginx: Nginx
    rude: Rude
    names: Names
    certificates: Certificates
    ronda: Command
    mark: str  # in every URL of the rude server: nobody asked for it before

    def check(self, *arguments: str, lines: list[str], inputs: list[str]) -> Ended:
        """One run over a list of URLs, and over URLs whose links are wanted too."""
        return self.ronda.json(
            *("--timeout", "2", "--connect-timeout", "1", "--max-wait", "5"),
            *("--ca-file", str(self.certificates.authority)),
            *("--name-server", self.names.server),
            *arguments,
            *inputs,
            urls=lines,
        )

    def url(self, path: str, host: str) -> str:
        """A path of the rude server, by a host's name."""
        return self.rude.url(f"{path}?{self.mark}", host)

    @property
    def good(self) -> dict[str, str]:
        """Pages that are well, whatever happens elsewhere, and their reasons."""
        return {
            self.url("/ok", "good.any.ronda.test"): "http_200",
            self.nginx.url("/page.html"): "http_200",
            self.nginx.url("/page.html", port="http2"): "http_200",
            self.nginx.url("/redirect/302/page.html"): "redirected",
            self.nginx.url("/status/404"): "http_404",
        }


@pytest.fixture
def wild(
    nginx: Nginx, rude: Rude, names: Names, certificates: Certificates, tmp_path: Path
) -> Wild:
    (tmp_path / "ronda.toml").write_text(SETTINGS)
    return Wild(
        nginx=nginx,
        rude=rude,
        names=names,
        certificates=certificates,
        ronda=Forked(tmp_path),
        mark=rude.fresh("").strip("?"),
    )


Where = Callable[[Wild], str]


class Row(NamedTuple):
    """A server, how it is checked, and what must come of it."""

    run: str
    reason: str
    state: State
    url: Where
    words: str = ""  # that must be in the message


def _rude(path: str, label: str = "") -> Where:
    """A path of the rude server, asked for by a name that nobody else has."""
    name = label or "".join(c if c.isalnum() else "-" for c in path.strip("/"))[:40]
    return lambda wild: wild.url(path, f"{name.strip('-')}.any.ronda.test")


def _tls(port: str) -> Where:
    return lambda wild: wild.rude.tls_url(port, host=f"{port}.any.ronda.test")


def _named(host: str) -> Where:
    return lambda wild: wild.url("/ok", host)


ROWS = (
    # slow, or for ever
    Row("plain", "timeout_answer", TEMPORARY, _rude("/hang")),
    Row("plain", "timeout_body", TEMPORARY, _rude("/slow-headers")),
    Row("whole", "timeout_body", TEMPORARY, _rude("/slow-body")),
    Row("whole", "http_200", OK, _rude("/endless-body")),
    Row("plain", "bad_answer", BROKEN, _rude("/endless-headers")),
    Row("plain", "bad_answer", BROKEN, _rude("/flood-1xx")),
    # headers
    Row("plain", "bad_answer", BROKEN, _rude("/big-header")),
    Row("plain", "bad_answer", BROKEN, _rude("/many-headers")),
    Row("plain", "bad_answer", BROKEN, _rude("/big-cookie")),
    Row("plain", "bad_answer", BROKEN, _rude("/many-cookies")),
    Row("plain", "bad_answer", BROKEN, _rude("/no-colon-header")),
    Row("plain", "bad_answer", BROKEN, _rude("/double-length")),
    # redirects
    Row("plain", "redirect_loop", BROKEN, lambda wild: wild.nginx.url("/loop/a")),
    Row("plain", "redirect_loop", BROKEN, lambda wild: wild.nginx.url("/self")),
    Row("plain", "redirect_loop", BROKEN, _rude("/cookie-loop")),
    Row("plain", "redirect_too_many", BROKEN, _rude("/redirect-on/1")),
    Row("plain", "redirect_scheme", BLOCKED, _rude("/redirect-file")),
    Row("plain", "redirect_scheme", BLOCKED, _rude("/redirect-gopher")),
    Row("plain", "redirect_scheme", BLOCKED, _rude("/redirect-script")),
    Row("plain", "redirect_scheme", BLOCKED, _rude("/redirect-data")),
    Row("plain", "redirect_bad_location", BROKEN, _rude("/redirect-bad")),
    Row("plain", "redirect_no_location", BROKEN, _rude("/redirect-empty")),
    # lengths, chunks, and connections that end too soon
    Row("whole", "short_body", TEMPORARY, _rude("/short-body")),
    Row("whole", "http_200", OK, _rude("/long-body")),
    Row("whole", "bad_answer", BROKEN, _rude("/bad-chunk")),
    Row("whole", "short_body", TEMPORARY, _rude("/cut-body")),
    Row("whole", "short_body", TEMPORARY, _rude("/cut-chunk")),
    Row("whole", "connection_reset", TEMPORARY, _rude("/reset-body")),
    Row("plain", "connection_reset", TEMPORARY, _rude("/reset")),
    Row("plain", "empty_reply", TEMPORARY, _rude("/empty-reply")),
    # what is no HTTP
    Row("plain", "not_http", BROKEN, _rude("/http09")),
    Row("plain", "not_http", BROKEN, _rude("/garbage")),
    Row("plain", "not_http", BROKEN, _rude("/binary-status")),
    # HEAD is not GET
    Row("plain", "http_200", OK, _rude("/head-body")),
    Row("plain", "http_200", OK, _rude("/head-hangs")),
    Row("plain", "http_200", OK, _rude("/head-lies-404")),
    # TLS and HTTP/2
    Row("plain", "timeout_tls", TEMPORARY, _tls("silent")),
    Row("plain", "tls_failed", BROKEN, _tls("old")),
    Row("plain", "tls_failed", BROKEN, _tls("plain")),
    Row("whole", "http2_error", TEMPORARY, _tls("h2-resets")),
    Row("whole", "http2_error", TEMPORARY, _tls("h2-resets-late")),
    Row("whole", "http2_error", TEMPORARY, _tls("h2-sets")),
    Row("whole", "http2_error", TEMPORARY, _tls("h2-pings")),
    Row("whole", "http2_error", TEMPORARY, _tls("h2-continues")),
    Row("whole", "http2_error", TEMPORARY, _tls("h2-empty")),
    Row("whole", "http2_error", TEMPORARY, _tls("h2-http1")),
    Row("whole", "bad_answer", BROKEN, _tls("h2-swells")),
    # They speak nothing but HTTP/2, and will not take a request that way.
    Row("whole", "connection_reset", TEMPORARY, _tls("h2-refuses")),
    Row("whole", "connection_reset", TEMPORARY, _tls("h2-goes")),
    Row("whole", "connection_reset", TEMPORARY, _tls("h2-goes-at-once")),
    # names
    Row("plain", "http_200", OK, _named("BÜCHER.any.ronda.test")),
    Row("plain", "http_200", OK, _named("XN--MNCHEN-3YA.ronda.test")),
    Row("plain", "http_200", OK, _named("ｗｗｗ.ronda.test")),
    Row("plain", "http_200", OK, _named("☃.any.ronda.test")),
    Row("plain", "http_200", OK, _named("xn--a.any.ronda.test")),  # no name in Unicode
    Row("plain", "dns_no_such_name", BROKEN, _named(f"{'a' * 64}.any.ronda.test")),
    Row("plain", "dns_no_such_name", BROKEN, _named("☃.ronda.test")),
    # bodies to be unpacked, and pages that are hard to read
    Row("read", "http_200", OK, _rude("/bomb/gzip")),
    Row("read", "http_200", OK, _rude("/bomb/deflate")),
    Row("read", "http_200", OK, _rude("/bomb/br")),
    Row("read", "http_200", OK, _rude("/bomb/gzip+gzip")),
    Row("read", "bad_encoding", BROKEN, _rude("/odd-encoding")),
    Row("read", "bad_encoding", BROKEN, _rude("/bad-gzip")),
    Row("read", "http_200", OK, _rude("/bomb.xml.gz")),
    Row("read", "http_200", OK, _rude("/bomb-of-links")),
    Row("read", "http_200", OK, _rude("/endless-body", "read-endless")),
    Row("read", "http_200", OK, _rude("/endless-links")),
    Row("read", "http_200", OK, _rude("/deep")),
    Row("read", "http_200", OK, _rude("/one-line")),
    Row("read", "http_200", OK, _rude("/laughs.xml")),
    Row("read", "timeout_body", TEMPORARY, _rude("/slow-body", "read-slow")),
    # robots.txt
    Row("robots", "http_200", OK, _rude("/ok", "robots-huge")),
    Row("robots", "robots_disallow", BLOCKED, _rude("/private", "robots-huge")),
    Row("robots", "http_200", OK, _rude("/ok", "robots-endless")),
    Row("robots", "http_200", OK, _rude("/ok", "robots-bomb")),
    Row("robots", "timeout_answer", TEMPORARY, _rude("/ok", "robots-hangs")),
    Row("robots", "timeout_body", TEMPORARY, _rude("/ok", "robots-drips")),
    # Retry-After: what makes no sense is not waited for, and what is too long neither
    Row("again", "http_200", OK, _rude("/retry-after/-5")),
    Row("again", "http_200", OK, _rude("/retry-after/soon")),
    Row("again", "http_200", OK, _rude("/retry-after/1e9")),
    Row("again", "http_200", OK, _rude("/retry-after-date/-86400")),
    Row("again", "http_429", TEMPORARY, _rude(f"/retry-after/{YEAR}"), NOT_WAITED_FOR),
    Row("again", "http_429", TEMPORARY, _rude(f"/retry-after/{DIGITS}"), "to wait"),
    Row("again", "http_503", TEMPORARY, _rude(f"/retry-after-date/{YEAR}"), "to wait"),
    # bodies that trickle, beside answers that only come late
    Row("rate", "timeout_body", TEMPORARY, _rude("/slow-body", "rate"), TOO_SLOW),
    Row("rate", "timeout_body", TEMPORARY, _rude("/slow-headers", "rate"), TIMED_OUT),
    Row("rate", "http_200", OK, _rude("/late/1")),
)
ZSTD = (
    Row("read", "http_200", OK, _rude("/bomb/zstd"))
    if "zstd" in pycurl.version
    else Row("read", "bad_encoding", BROKEN, _rude("/bomb/zstd"))
)
ALL = (*ROWS, ZSTD)
OPTIONS = {
    "plain": ("--no-robots", "--retries", "0"),
    "whole": ("--no-robots", "--retries", "0", "--method", "GET"),
    "read": ("--no-robots", "--retries", "0"),
    "robots": ("--retries", "0"),
    "again": ("--no-robots", "--retries", "1", "--method", "GET"),
    "rate": ("--no-robots", "--retries", "0", "--method", "GET", "--min-rate", "1000"),
}


def _rows(wild: Wild, run: str) -> dict[str, Row]:
    return {urls.normalise(row.url(wild)): row for row in ALL if row.run == run}


def _check(wild: Wild, run: str) -> Ended:
    """One run over the rows of a kind, and over what is well."""
    asked = [row.url(wild) for row in ALL if row.run == run]
    inputs = asked if run == "read" else []
    lines = [*wild.good, *(url for url in asked if url not in inputs)]
    return wild.check(*OPTIONS[run], lines=lines, inputs=inputs)


class TestTheTable:
    @pytest.mark.parametrize("run", OPTIONS)
    def test_every_server_gets_its_verdict(self, wild: Wild, run: str) -> None:
        ended = _check(wild, run)

        assert ended.code == 1, ended.err  # of the good, one is rightly a 404
        assert "Traceback" not in ended.err
        found = {url: (r["reason"], r["verdict"]) for url, r in ended.results.items()}
        rows = _rows(wild, run)
        assert {url: found.get(url) for url in rows} == {
            url: (row.reason, row.state) for url, row in rows.items()
        }
        assert {url: found[url][0] for url in wild.good} == wild.good
        words = {url: r["message"] for url, r in ended.results.items()}
        assert not {
            url: words[url] for url, r in rows.items() if r.words not in words[url]
        }

    def test_all_at_once_do_not_harm_what_is_well(self, wild: Wild) -> None:
        asked = {urls.normalise(row.url(wild)): row for row in ALL}
        inputs = [url for url, row in asked.items() if row.run == "read"]
        lines = [url for url in [*wild.good, *asked] if url not in inputs]
        ended = wild.check("--retries", "0", lines=lines, inputs=inputs)

        assert ended.code == 1, ended.err
        assert "Traceback" not in ended.err
        found = {url: r["reason"] for url, r in ended.results.items()}
        assert {url: found[url] for url in wild.good} == wild.good
        assert asked.keys() <= found.keys()
        assert not {"own_fault", "plugin_failed"} & set(found.values())

    def test_every_storm_of_http2_has_a_row(self, wild: Wild) -> None:
        storms = {
            wild.rude.tls_url(name, host=f"{name}.any.ronda.test") for name in STORMS
        }

        assert storms <= _rows(wild, "whole").keys()


class TestLargePages:
    def test_what_is_not_read_of_a_page_is_told(self, wild: Wild) -> None:
        bomb = wild.url("/bomb/gzip", "bomb.any.ronda.test")
        laughs = wild.url("/laughs.xml", "laughs.any.ronda.test")
        ended = wild.check("--no-robots", lines=[], inputs=[bomb, laughs])

        told = {document: words for document, _, words in ended.problems}
        assert "longer than 1,000,000 bytes" in told[bomb]
        assert "XML with entities" in told[laughs]

    def test_the_last_link_of_a_page_that_is_hard_to_read_is_found(
        self, wild: Wild
    ) -> None:
        (wild.ronda.folder / "ronda.toml").unlink()
        hosts = ("one-line.any.ronda.test", "deep.any.ronda.test")
        pages = [wild.url(f"/{host.partition('.')[0]}", host) for host in hosts]
        ended = wild.check("--no-robots", "--timeout", "20", lines=[], inputs=pages)

        found = {url: r["reason"] for url, r in ended.results.items()}
        links = [wild.rude.url("/ok", host) for host in hosts]
        assert found == dict.fromkeys([*pages, *links], "http_200")


class TestKeptConnections:
    @pytest.mark.parametrize("method", ["HEAD", "GET"])
    @pytest.mark.parametrize(
        "path", ["/kept", "/keepalive-drops", "/long-body", "/head-body"]
    )
    def test_nothing_is_asked_twice_nor_taken_for_another_answer(
        self, wild: Wild, path: str, method: str
    ) -> None:
        ended, came = _in_a_row(wild, path, method)

        assert {r["reason"] for r in ended.results.values()} == {"http_200"}
        assert came == ended.summary["requests"]

    @pytest.mark.parametrize("method", ["HEAD", "GET"])
    def test_what_is_sent_to_a_closed_connection_is_asked_again_and_told(
        self, wild: Wild, method: str
    ) -> None:
        ended, came = _in_a_row(wild, "/keepalive-closes", method)

        assert {r["reason"] for r in ended.results.values()} == {"http_200"}
        assert came <= ended.summary["requests"]

    def test_no_storm_of_http2_brings_about_more_requests_than_are_told(
        self, wild: Wild
    ) -> None:
        asked = [wild.rude.tls_url(s, host=f"{s}.any.ronda.test") for s in STORMS]
        before = sum(len(wild.rude.hits[storm]) for storm in STORMS)
        options = ("--no-robots", "--retries", "0")
        ended = wild.check(*options, lines=asked, inputs=[])

        came = sum(len(wild.rude.hits[storm]) for storm in STORMS) - before
        assert len(STORMS) <= came <= ended.summary["requests"]


def _in_a_row(wild: Wild, path: str, method: str) -> tuple[Ended, int]:
    """A run over six URLs of one host, one at a time, and how many requests came."""
    paths = [wild.rude.fresh(path) for _ in range(6)]
    asked = [wild.rude.url(one, "kept.any.ronda.test") for one in paths]
    options = ("--no-robots", "--per-host", "1", "--method", method, "--retries", "0")
    ended = wild.check(*options, lines=asked, inputs=[])
    return ended, sum(len(wild.rude.hits[one]) for one in paths)
