"""Politeness through the command line, judged by what the servers saw."""

import json
from collections import defaultdict
from itertools import pairwise

import pytest

from e2e import odd
from e2e.command import Command
from servers.names import Names
from servers.nginx import Nginx, Request
from servers.process import ADDRESSES
from servers.rude import Rude

TICK = 0.001  # seconds: nginx knows no finer moment
GAP = 0.2


def shortest_gaps(asked: list[Request], key: str) -> dict[str, float]:
    """Of each host or address, the shortest time between two requests."""
    moments = defaultdict(list)
    for request in asked:
        moments[getattr(request, key)].append(request.at)
    return {
        name: min((b - a for a, b in pairwise(sorted(times))), default=GAP)
        for name, times in moments.items()
    }


class TestGaps:
    def test_the_servers_log_shows_no_gap_too_short_on_either_key(
        self, ronda: Command, nginx: Nginx, names: Names
    ) -> None:
        hosts = [f"h{n}.ronda.test" for n in range(1, 9)]  # on addresses of their own
        hosts += [f"shared-{n}.ronda.test" for n in (1, 2, 3)]  # on one, with h3
        hosts += list(ADDRESSES[8:12])
        paths = ["/redirect-host", "/redirect/302/page.html", "/no-head/405"]
        urls = [nginx.url(path, host=host) for path in paths for host in hosts]
        mark = nginx.mark()
        limits = ("--interval", str(GAP), "--server-interval", str(GAP))

        ended = ronda.json(*limits, "--name-server", names.server, urls=urls)

        asked = nginx.requests(since=mark)
        assert len(asked) > len(urls) + len(hosts)  # hops, GETs and robots.txt too
        assert len(ended.results) == len(urls)
        for key in ("host", "address"):
            short = {
                name: gap
                for name, gap in shortest_gaps(asked, key).items()
                if gap + TICK < GAP
            }
            assert short == {}

    def test_a_row_for_some_hosts_holds_for_them_only(
        self, ronda: Command, nginx: Nginx
    ) -> None:
        (ronda.folder / "ronda.toml").write_text(
            '[[politeness]]\nmatch = "*.ronda.test"\ninterval = 9\n'
            '[[politeness]]\nmatch = "127.0.0.14/31"\ninterval = 0.2\n'
        )
        urls = [
            nginx.url(f"/page.html?{n}", host=host)
            for host in ("127.0.0.15", "127.0.0.16")
            for n in range(4)
        ]
        mark = nginx.mark()

        ronda.json("--no-robots", urls=urls)

        gaps = shortest_gaps(nginx.requests(since=mark), "address")
        assert gaps["127.0.0.15"] + TICK >= GAP
        assert gaps["127.0.0.16"] < GAP

    def test_crawl_delay_is_kept_on_own_machines_too(self, ronda: Command) -> None:
        moments = []

        def talk(connection: odd.socket.socket) -> None:
            _, path = odd.read_head(connection)
            moments.append((odd.time.monotonic(), path))
            rules = b"User-agent: *\nCrawl-delay: 0.3\n"
            odd.answer(connection, "200 OK", body=rules if "robots" in path else b"")

        with odd.serving(talk) as port:
            urls = [f"http://127.0.0.1:{port}/{n}" for n in range(3)]
            ronda.json(urls=urls)

        assert moments[0][1] == "/robots.txt"
        assert len(moments) == 4
        assert min(b - a for (a, _), (b, _) in pairwise(moments)) > 0.29


class TestResting:
    def test_what_waits_for_a_host_that_cannot_be_reached_is_told_so(
        self, ronda: Command, rude: Rude
    ) -> None:
        (ronda.folder / "ronda.toml").write_text(
            "[[politeness]]\nfailures_to_rest = 3\nper_host = 1\n"
        )
        urls = [rude.refused_url(f"/{n}") for n in range(10)]

        ended = ronda.json("--no-robots", urls=urls)

        reasons = [result["reason"] for result in ended.results.values()]
        assert reasons.count("connect_refused") == 3
        assert reasons.count("host_resting") == 7
        assert ended.summary["requests"] == 3
        words = {result["message"] for result in ended.results.values()}
        assert (
            "the host rests; not asked: 3 connections failed in a row, "
            "the last: connection refused; left alone for 60 s" in words
        )

    def test_a_host_that_asks_for_a_year_is_left_alone(
        self, ronda: Command, rude: Rude
    ) -> None:
        (ronda.folder / "ronda.toml").write_text("[[politeness]]\nper_host = 1\n")
        paths = [rude.fresh("/retry-after/31536000") for _ in range(5)]

        ended = ronda.json("--no-robots", urls=[rude.url(path) for path in paths])

        reasons = [result["reason"] for result in ended.results.values()]
        assert sorted(reasons) == ["host_resting"] * 4 + ["http_429"]
        assert sum(len(rude.methods(path)) for path in paths) == 1

    def test_one_that_asks_for_a_second_is_asked_again_after_it(
        self, ronda: Command, rude: Rude
    ) -> None:
        path = rude.fresh("/retry-after/1")

        ended = ronda.json("--no-robots", urls=[rude.url(path)])

        [result] = ended.results.values()
        assert (result["reason"], result["attempts"]) == ("http_200", 2)
        first, second = rude.hits[path]
        assert second.at - first.at >= 1.0


class TestWhy:
    def test_a_run_says_what_it_waits_for(self, ronda: Command, rude: Rude) -> None:
        urls = [rude.url(rude.fresh("/ok")) for _ in range(3)]
        name = ronda.listed(urls)
        process = ronda.start("check", "--no-robots", "--interval", "30", name)
        last = urls[0].removeprefix(rude.url(""))
        while not rude.hits[last]:
            assert process.poll() is None

        waits = self.asked(ronda, process.pid, "127.0.0.1")
        before = self.asked(ronda, process.pid, urls[2])
        none = self.asked(ronda, process.pid, "nobody.test")
        process.terminate()
        process.communicate(timeout=30)

        assert [(wait["rule"], wait["queued"]) for wait in waits] == [("interval", 2)]
        assert 0 < waits[0]["seconds"] <= 31
        assert [wait["detail"] for wait in before] == ["1 before it"]
        assert none == []

    def asked(self, ronda: Command, pid: int, about: str) -> list[dict[str, object]]:
        """What one run says, among all that may be under way."""
        told = json.loads(ronda("why", about, "--format", "json").out)
        [waits] = [reply["waits"] for reply in told if reply["process"] == pid]
        return waits  # type: ignore[no-any-return]

    def test_without_a_run_it_says_so_and_ends_with_1(self, ronda: Command) -> None:
        ended = ronda("why", "a.test", env={"XDG_RUNTIME_DIR": str(ronda.folder)})

        assert (ended.code, ended.out) == (1, "No run is under way.\n")


class TestLog:
    def test_a_request_log_passes_the_audit(self, ronda: Command, nginx: Nginx) -> None:
        urls = [nginx.url(f"/redirect/302/page.html?{n}") for n in range(3)]
        limits = ("--interval", "0.1", "--request-log", "log.jsonl")
        ronda.json(*limits, urls=urls)

        ended = ronda("audit", "log.jsonl")

        assert ended.code == 0, ended.out
        assert ended.out.startswith("polite: 7 requests to 1 host on 1 server")
        lines = (ronda.folder / "log.jsonl").read_text().splitlines()[1:]
        kinds = [json.loads(line)["kind"] for line in lines]
        assert sorted(kinds) == ["hop"] * 3 + ["page"] * 3 + ["robots"]

    @pytest.mark.parametrize("name", ["nowhere/log.jsonl", "."])
    def test_one_that_cannot_be_written_is_one_clear_line(
        self, ronda: Command, name: str
    ) -> None:
        ended = ronda("check", "--request-log", name, "http://127.0.0.1/")

        assert ended.code == 2
        assert ended.err.startswith(f"ronda: --request-log {name}: ")
        assert ended.err.count("\n") == 1


class TestInputs:
    @pytest.mark.parametrize("option", ["--request-log", "--output"])
    def test_an_input_is_not_written_over(self, ronda: Command, option: str) -> None:
        name = ronda.listed(["http://127.0.0.1/"], "in.json")
        ended = ronda("check", name, option, f"./{name}")

        assert (ended.code, ended.err.count("\n")) == (2, 1)
        assert "written over" in ended.err
        assert (ronda.folder / name).read_text() == "http://127.0.0.1/\n"
