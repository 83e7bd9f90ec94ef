"""`ronda audit` proves that a run was polite, or names the requests that were not."""

import gzip
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from e2e.command import RONDA, SECONDS, Command, Ended, environment
from servers.nginx import LOG_FORMAT, Nginx

HEAD = {
    "log": "ronda requests",
    "version": 1,
    "agent": "ronda/0.1.0",
    "started_at": "2026-11-16T00:00:00.000Z",
    "politeness": [{"match": "*", "interval": 1.0}],
}
NOON = 1794787200.0
ESCAPE = "\x1b"


def line(at: float, seconds: float | None = 0.01, **more: Any) -> dict[str, Any]:
    known = {"host": "a.example", "server": "93.184.216.34", "method": "HEAD"}
    request = {"at": NOON + at, "seconds": seconds, "url": f"http://a.example/{at}"}
    return {**known, **request, "gap": 0.0, "rule": "interval", **more}


def written(folder: Path, *lines: Any, name: str = "run.jsonl") -> str:
    texts = (text if isinstance(text, str) else json.dumps(text) for text in lines)
    (folder / name).write_text("".join(f"{text}\n" for text in texts))
    return name


def audited(ronda: Command, *lines: Any, options: tuple[str, ...] = ()) -> Ended:
    return ronda("audit", written(ronda.folder, *lines), *options)


# -- our own logs --------------------------------------------------------------------


def test_a_polite_run_is_proven(ronda: Command) -> None:
    ended = audited(ronda, HEAD, line(0), line(1), line(2.5))

    assert (ended.code, ended.err) == (0, "")
    first, second, *_ = ended.out.splitlines()
    assert first == "polite: 3 requests to 1 host on 1 server, no violation"
    assert second == (
        "Judged per host and per server by the limits of the run; "
        "moments are known to 1 µs."
    )


def test_an_impolite_run_is_refuted_by_two_requests(ronda: Command) -> None:
    ended = audited(ronda, HEAD, line(0), line(0.25))

    assert (ended.code, ended.err) == (1, "")
    assert ended.out.startswith("NOT polite: 1 violation (interval 1) in 2 requests")
    assert ended.out.endswith(
        "interval broken, host a.example: asked again after 0.25 s, not 1 s\n"
        "  run.jsonl:2  2026-11-16T00:00:00.000000Z  HEAD http://a.example/0\n"
        "  run.jsonl:3  2026-11-16T00:00:00.250000Z  HEAD http://a.example/0.25\n"
    )


def test_too_many_at_once_are_told(ronda: Command) -> None:
    ended = audited(ronda, HEAD, line(0, 9), line(2, None), options=("--per-host", "1"))

    assert ended.code == 1
    assert "per_host broken, host a.example: 2 at once, 1 allowed" in ended.out


def test_a_gap_that_a_host_asked_for_is_judged(ronda: Command) -> None:
    ended = audited(ronda, HEAD, line(0), line(6, gap=10, rule="crawl-delay"))

    assert ended.code == 1
    assert "crawl-delay broken, host a.example: asked again after 6 s" in ended.out


def test_the_tables_show_the_tightest_hosts_and_servers(ronda: Command) -> None:
    lines = [
        line(at, host=f"h{host:02}.example", server=f"93.184.216.{host}")
        for host in range(20)
        for at in (0, 1 + host)
    ]
    ended = audited(ronda, HEAD, *lines)

    head, *rows = ended.out.split("\n\n")[1].splitlines()
    titles = [
        "host",
        "requests",
        "shortest gap",
        "interval",
        "most at once",
        "per_host",
    ]
    assert [t for t in titles if t in head] == titles
    assert rows[0].split() == ["h00.example", "2", "1", "s", "1", "s", "1", "4"]
    assert rows[-1] == "10 more, none of them tighter"
    assert len(rows) == 11


@pytest.mark.parametrize(("options", "shown"), [((), 20), (("--all",), 99)])
def test_many_violations_are_counted_and_some_are_shown(
    ronda: Command, options: tuple[str, ...], shown: int
) -> None:
    ended = audited(ronda, HEAD, *(line(i / 2) for i in range(100)), options=options)

    assert "99 violations" in ended.out
    assert ended.out.count("interval broken") == shown
    assert ("79 more: --all shows them." in ended.out) is not bool(options)


def test_lines_that_cannot_be_read_are_counted_and_named(ronda: Command) -> None:
    ended = audited(ronda, HEAD, line(0), *["garbage"] * 9, line(1))

    assert ended.code == 2
    assert ended.out.startswith("not proven: 9 lines cannot be read; no violation in 2")
    assert "9 lines cannot be read; the first:\nrun.jsonl:3: not a " in ended.out


def test_everything_is_there_for_programs(ronda: Command) -> None:
    lines = [line(0), line(0.25), "garbage", line(0.5)]
    report = audited(ronda, HEAD, *lines, options=("--format", "json")).report

    assert report["polite"] is False
    assert (report["requests"], report["unreadable"]) == (3, 1)
    assert report["broken"] == {"interval": 2}
    assert report["problems"][0]["line"] == 4
    assert [host["name"] for host in report["hosts"]] == ["a.example"]
    assert report["hosts"][0]["shortest"] == 0.25
    assert [server["name"] for server in report["servers"]] == ["93.184.216.34"]
    first, _ = report["violations"]
    assert (first["limit"], first["allowed"], first["found"]) == ("interval", 1.0, 0.25)
    assert first["first"] == {
        "log": "run.jsonl",
        "line": 2,
        "at": NOON,
        "request": "HEAD http://a.example/0",
    }


def test_nothing_of_a_log_steers_the_terminal_or_tells_a_password(
    ronda: Command,
) -> None:
    evil = f"{ESCAPE}]0;owned\x07"
    bad = line(0.1, host=f"a{evil}", url=f"http://me:secret@b@a.example/{evil}")
    again = bad | {"at": NOON + 0.2, "gap": 9, "rule": evil}
    garbage = f"{evil} http://me:secret@b@a.example/"
    for form in ("text", "json"):
        options = ("--format", form)
        ended = audited(ronda, HEAD, bad, again, garbage, options=options)

        assert ended.code == 1
        assert ESCAPE not in ended.out + ended.err
        assert "secret" not in ended.out + ended.err


# -- where limits come from ----------------------------------------------------------


def test_an_option_goes_over_the_limits_of_the_run_for_every_host(
    ronda: Command,
) -> None:
    own = {"host": "localhost", "server": "127.0.0.1"}
    lines = (HEAD, line(0, **own), line(1, **own))

    assert audited(ronda, *lines, options=("--interval", "1")).code == 0
    assert audited(ronda, *lines, options=("--interval", "2")).code == 1
    assert audited(ronda, *lines, options=("--server-interval", "2")).code == 1


def test_an_option_goes_over_a_row_that_names_the_host(ronda: Command) -> None:
    rows = [{"match": "a.example", "interval": 1.0}]
    lines = (HEAD | {"politeness": rows}, line(0), line(1))

    assert audited(ronda, *lines).code == 0
    assert audited(ronda, *lines, options=("--interval", "2")).code == 1


def test_without_a_first_line_the_settings_hold(ronda: Command) -> None:
    (ronda.folder / "ronda.toml").write_text("[[politeness]]\ninterval = 5\n")
    ended = audited(ronda, line(0), line(1))

    assert ended.code == 1
    assert "by the settings" in ended.out


def test_the_limits_of_the_run_go_before_the_settings(ronda: Command) -> None:
    (ronda.folder / "ronda.toml").write_text("[[politeness]]\ninterval = 5\n")

    assert audited(ronda, HEAD, line(0), line(1)).code == 0


def test_where_no_limit_holds_nothing_is_said_to_be_proven(ronda: Command) -> None:
    own = {"host": "localhost", "server": "127.0.0.1"}
    head = HEAD | {"politeness": [{"per_host": 1 << 30}]}
    ended = audited(ronda, head, line(0, **own), line(0, **own))

    assert ended.code == 0
    assert "No limit holds for 1 host and 1 server: nothing is proven" in ended.out


# -- what cannot be used -------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ((), "run.jsonl: no request in it"),
        ((HEAD,), "run.jsonl: no request in it"),
        (("garbage",), "no line can be read (run.jsonl:1: not a line of a known"),
        ((HEAD | {"version": 7}, line(0)), "run.jsonl:1: version 7"),
        ((HEAD, line(0), HEAD), "run.jsonl:3: a second run"),
        (('{"msec": 1.0}',), "neither hosts nor servers are named; say by --host"),
    ],
)
def test_a_log_that_cannot_be_used_is_one_clear_line(
    ronda: Command, lines: tuple[Any, ...], told: str
) -> None:
    ended = audited(ronda, *lines)

    assert (ended.code, ended.out) == (2, "")
    assert ended.err.count("\n") == 1
    assert told in ended.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "nothing to audit"),
        (("gone.jsonl",), "gone.jsonl: No such file"),
        ((".",), ".: Is a directory"),
        (("cut.gz",), "cut.gz: damaged gzip data"),
        (("run.jsonl", "--interval", "-1"), "--interval"),
        (("run.jsonl", "--log-format", "$msec$host"), "between $msec and $host"),
        (("run.jsonl", "--agent", "curl"), "2 requests, but none of that user agent"),
        (("run.jsonl", "--client", "10.0.0.1"), "none of that user agent or client"),
        (("run.jsonl", "other.jsonl"), "run.jsonl, other.jsonl: different limits"),
        (("run.jsonl", "access.log"), "one is a request log, one an access log"),
    ],
)
def test_wrong_usage_is_one_clear_line(
    ronda: Command, arguments: tuple[str, ...], told: str
) -> None:
    written(ronda.folder, HEAD, line(0), line(2))
    written(ronda.folder, HEAD | {"politeness": []}, line(9), name="other.jsonl")
    written(ronda.folder, {"msec": 1.0, "host": "a"}, name="access.log")
    (ronda.folder / "cut.gz").write_bytes(gzip.compress(b"x" * 99)[:-9])
    ended = ronda("audit", *arguments)

    assert (ended.code, ended.out) == (2, "")
    assert told in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    "data",
    [
        b"\0" * 5000,
        bytes(range(256)) * 99,
        b"\x1f\x8b" + b"\xff" * 99,
        b"{" * 200_000,
        b"x" * 3_000_000,
    ],
)
def test_any_bytes_end_with_one_line(ronda: Command, data: bytes) -> None:
    ended = ronda("audit", "-", stdin=data)

    assert (ended.code, ended.out) == (2, "")
    assert ended.err.count("\n") == 1


# -- how logs are given --------------------------------------------------------------


def test_standard_input_is_read_and_its_requests_are_named(ronda: Command) -> None:
    name = written(ronda.folder, HEAD, line(0), line(0.25))
    ended = ronda("audit", "-", stdin=(ronda.folder / name).read_bytes())

    assert ended.code == 1
    assert "(standard input):3  2026-11-16T00:00:00.250000Z  HEAD http:" in ended.out


def test_packed_logs_are_unpacked_and_several_are_one(ronda: Command) -> None:
    old = written(ronda.folder, HEAD, line(0))
    packed = ronda.folder / "old.gz"
    packed.write_bytes(gzip.compress((ronda.folder / old).read_bytes()))
    new = written(ronda.folder, HEAD, line(0.25))
    ended = ronda("audit", "old.gz", new, new)

    assert ended.code == 1
    assert "1 violation (interval 1) in 2 requests" in ended.out
    assert "old.gz:2     2026-11-16T00:00:00.000000Z  HEAD" in ended.out
    assert "run.jsonl:2  2026-11-16T00:00:00.250000Z  HEAD" in ended.out


def test_a_pipe_is_read_though_its_requests_are_looked_up(ronda: Command) -> None:
    name = written(ronda.folder, HEAD, line(0), line(0.25))
    reader, writer = os.pipe()
    with os.fdopen(writer, "wb") as pipe:
        pipe.write((ronda.folder / name).read_bytes())
    done = subprocess.run(
        [*RONDA, "audit", f"/dev/fd/{reader}"],
        capture_output=True,
        check=False,
        cwd=ronda.folder,
        env=environment(ronda.folder),
        pass_fds=(reader,),
        timeout=SECONDS,
    )
    os.close(reader)

    assert done.returncode == 1
    assert b"HEAD http://a.example/0.25" in done.stdout


# -- access logs ---------------------------------------------------------------------


def test_a_servers_log_is_judged_for_one_user_agent(ronda: Command) -> None:
    rest = '- - [16/Nov/2026:00:00:0{} +0000] "GET / HTTP/1.1" 200 9 "-" "{}"'
    lines = [
        f"10.0.0.{i} {rest.format(second, agent)}"
        for i, (second, agent) in enumerate(
            [(0, "ronda/0.1.0"), (1, "curl/8"), (5, "curl/8"), (9, "ronda/0.1.0")]
        )
    ]
    options = ("--host", "a.example", "--interval", "6")
    every = audited(ronda, *lines, options=options)
    picked = audited(ronda, *lines, options=(*options, "--agent", "ronda"))
    client = audited(ronda, *lines, options=(*options, "--client", "10.0.0.1"))

    assert (every.code, picked.code, client.code) == (1, 0, 0)
    assert "2 user agents; --agent picks one." in every.out
    assert "moments are known to 1 s" in every.out
    assert "per host only (no server is named)" in every.out
    assert "how many were at once is not judged" in every.out
    assert "2 requests left out" in picked.out
    assert "GET a.example/" not in picked.out
    assert "run.jsonl:1  2026-11-16T00:00:00Z  GET /" in every.out


def test_moments_too_coarse_for_a_limit_are_told(ronda: Command) -> None:
    text = '10.0.0.1 - - [16/Nov/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 9 "-" "x"'
    ended = audited(ronda, text, text, options=("--host", "a.example"))

    assert ended.code == 0
    assert "Intervals of 1 s or less cannot be judged by such moments." in ended.out


@pytest.mark.parametrize(("interval", "code"), [("0.05", 0), ("60", 1)])
def test_a_check_is_judged_by_the_log_of_the_server_it_asked(
    ronda: Command, nginx: Nginx, interval: str, code: int
) -> None:
    agent = f"audited-{interval}/1"
    urls = [nginx.url(f"/page.html?{number}") for number in range(6)]
    ronda.json(
        *("--user-agent", agent, "--interval", "0.2", "--no-robots"),
        *("--method", "GET"),
        urls=urls,
    )
    nginx.requests()  # when it returns, all is in the log
    options = ("--log-format", LOG_FORMAT, "--agent", agent, "--interval", interval)
    ended = ronda("audit", str(nginx._log), *options)

    assert ended.code == code, ended.out
    assert "6 requests to 1 host on 1 server" in ended.out
    assert "moments are known to 1 ms" in ended.out


def test_a_check_proves_its_own_politeness(ronda: Command, nginx: Nginx) -> None:
    urls = [nginx.url(f"/page.html?{number}") for number in range(6)]
    options = ("--interval", "0.1", "--request-log", "run.jsonl")
    checked = ronda.json(*options, urls=urls)
    ended = ronda("audit", "run.jsonl")

    assert checked.code == 0
    assert ended.code == 0, ended.out
    assert "7 requests to 1 host on 1 server" in ended.out  # and its robots.txt
