"""What users see: exit codes, reports, signals, streams."""

import csv
import fcntl
import gzip
import io
import json
import os
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from xml.etree import ElementTree as ET

import pytest

from e2e import odd
from e2e.command import RONDA, SECONDS, Command, environment
from servers.nginx import Nginx
from servers.process import HOST
from servers.rude import Rude

ESCAPE = "\x1b"


class TestExitCodes:
    @pytest.mark.parametrize(
        ("path", "code"),
        [
            ("/ok", 0),
            ("/status/404", 1),
            ("/status/403", 0),  # blocked: not ours to judge
            ("/status/500", 0),  # temporary
            ("/redirect-empty", 1),
        ],
    )
    def test_only_what_is_broken_counts(
        self, ronda: Command, rude: Rude, path: str, code: int
    ) -> None:
        name = ronda.listed([rude.url(path)])
        ended = ronda("check", "--no-robots", "--retries", "0", name)

        assert ended.code == code

    def test_help_and_version_end_well(self, ronda: Command) -> None:
        for arguments in (("--help",), ("--version",), ("check", "--help")):
            ended = ronda(*arguments)
            assert (ended.code, ended.err) == (0, "")
            assert ended.out

    def test_an_unknown_command_is_wrong_usage(self, ronda: Command) -> None:
        ended = ronda("chekc")

        assert ended.code == 2
        assert "chekc" in ended.err


class TestReports:
    FILES = (
        "r.json",
        "r.jsonl",
        "r.csv",
        "r.md",
        "r.html",
        "r.xml",
        "r.sarif",
        "r.txt",
    )

    def test_several_are_written_at_once(self, ronda: Command, rude: Rude) -> None:
        good, bad = rude.url("/ok"), rude.url("/status/404")
        name = ronda.listed([good, bad])
        outputs = [part for file in self.FILES for part in ("--output", file)]
        ended = ronda("check", "--no-robots", name, *outputs)

        read = {file: (ronda.folder / file).read_text() for file in self.FILES}
        assert all(bad in text for text in read.values())
        results = json.loads(read["r.json"])["results"]
        assert {r["url"]: r["verdict"] for r in results} == {good: "ok", bad: "broken"}
        lines = [json.loads(line) for line in read["r.jsonl"].splitlines()]
        assert sorted(line["url"] for line in lines) == sorted([good, bad])
        assert len(list(csv.DictReader(io.StringIO(read["r.csv"])))) == 2
        assert ET.fromstring(read["r.xml"]).iter("failure")
        assert json.loads(read["r.sarif"])["runs"]
        assert bad in ended.out
        assert good not in ended.out

    @pytest.mark.parametrize(
        "name", ["text", "json", "jsonl", "csv", "markdown", "html", "junit", "sarif"]
    )
    def test_every_format_can_be_printed(
        self, ronda: Command, rude: Rude, name: str
    ) -> None:
        bad = rude.url("/status/404")
        ended = ronda("check", "--no-robots", "--format", name, ronda.listed([bad]))

        assert bad in ended.out
        assert (ended.code, ended.err) == (1, "")

    def test_lines_are_streamed_while_the_run_goes_on(
        self, ronda: Command, rude: Rude
    ) -> None:
        good, hanging = rude.url("/ok"), rude.url("/hang")
        name = ronda.listed([good, hanging])
        with ended_at_last(
            ronda.start(
                "check", "--no-robots", "--format", "jsonl", "--timeout", "20", name
            )
        ) as process:
            assert process.stdout is not None
            first = json.loads(_line(process))

            assert process.poll() is None
            assert first["url"] == good
            assert first["found_in"][0]["line"] == 1

    def test_good_results_are_printed_when_asked_for(
        self, ronda: Command, rude: Rude
    ) -> None:
        good = rude.url("/ok")
        name = ronda.listed([good])

        assert good not in ronda("check", "--no-robots", name).out
        assert good in ronda("check", "--no-robots", "--verbose", name).out

    def test_quiet_is_quiet_but_for_mistakes_in_the_input(
        self, ronda: Command, rude: Rude
    ) -> None:
        name = ronda.listed([rude.url("/status/404"), "http://"])
        ended = ronda("check", "--no-robots", "--quiet", name, "-o", "r.json")

        assert (ended.code, ended.out) == (1, "")
        assert ended.err.startswith("urls.txt:2: ")
        assert json.loads((ronda.folder / "r.json").read_text())["results"]

    def test_passwords_are_in_no_report(self, ronda: Command, rude: Rude) -> None:
        url = rude.url("/status/404").replace("://", "://user:secret@")
        outputs = [part for file in self.FILES for part in ("--output", file)]
        ended = ronda("check", "--no-robots", ronda.listed([url]), *outputs)

        assert "secret" not in ended.out + ended.err
        for file in self.FILES:
            assert "secret" not in (ronda.folder / file).read_text()


class TestColours:
    def test_there_are_none_where_nobody_looks(
        self, ronda: Command, rude: Rude
    ) -> None:
        ended = ronda("check", "--no-robots", ronda.listed([rude.url("/status/404")]))

        assert ESCAPE not in ended.out + ended.err

    @pytest.mark.parametrize(
        ("env", "options", "coloured"),
        [
            ({}, [], True),
            ({"NO_COLOR": "1"}, [], False),
            ({"TERM": "dumb"}, [], False),
            ({}, ["--no-colour"], False),
        ],
    )
    def test_a_terminal_has_them_unless_it_wants_none(
        self,
        ronda: Command,
        rude: Rude,
        env: dict[str, str],
        options: list[str],
        coloured: bool,
    ) -> None:
        name = ronda.listed([rude.url("/status/404")])
        arguments = ["check", "--no-robots", "--no-progress", name, *options]
        ended, shown = in_terminal(ronda, arguments, {"TERM": "xterm", **env})

        assert ended == 1
        assert "404" in shown
        assert bool(re.search(r"\x1b\[[0-9;]*m", shown)) is coloured


class TestProgress:
    def test_there_is_none_where_nobody_looks(self, ronda: Command, rude: Rude) -> None:
        name = ronda.listed([rude.url("/hang")])
        ended = ronda(
            "check", "--no-robots", "--timeout", "0.5", "--retries", "0", name
        )

        assert ended.err == ""

    @pytest.mark.parametrize("columns", [80, 0])
    def test_a_terminal_shows_it_and_wipes_it_off(
        self, ronda: Command, rude: Rude, columns: int
    ) -> None:
        name = ronda.listed([rude.url("/ok"), rude.url("/hang")])
        arguments = ["check", "--no-robots", "--timeout", "1", "--retries", "0", name]
        _, shown = in_terminal(ronda, arguments, {"TERM": "xterm"}, columns)

        assert "1/2 checked" in shown
        assert "checked in" in shown.rpartition("\x1b[2K")[2]


class TestScope:
    @pytest.fixture
    def three(self, ronda: Command, rude: Rude) -> list[str]:
        urls = [rude.url("/ok?one"), rude.url("/ok?two"), rude.refused_url("/three")]
        ronda.listed(urls)
        return urls

    @pytest.mark.parametrize(
        ("options", "left"),
        [
            (["--exclude", "*two"], [0, 2]),
            (["--exclude", "re:one|two"], [2]),
            (["--exclude", "*one", "--exclude", "*two"], [2]),
            (["--include", "*one"], [0]),
            (["--include", "re:/ok", "--exclude", "*one"], [1]),
            (["--include", HOST], [0, 1, 2]),
        ],
    )
    def test_patterns_say_what_is_checked(
        self, ronda: Command, three: list[str], options: list[str], left: list[int]
    ) -> None:
        ended = ronda.json("--no-robots", "urls.txt", *options)

        assert set(ended.results) == {three[number] for number in left}
        assert ended.summary["excluded"] == 3 - len(left)

    def test_patterns_also_come_from_files(
        self, ronda: Command, three: list[str], rude: Rude
    ) -> None:
        (ronda.folder / ".rondaignore").write_text("# a comment\n\n*two\n")
        (ronda.folder / "ronda.toml").write_text(
            f'[check]\nexclude = ["{rude.refused_url("")}"]\n'
        )
        ended = ronda.json("--no-robots", "urls.txt")

        assert set(ended.results) == {three[0]}

    def test_what_is_excluded_is_not_asked(self, ronda: Command, rude: Rude) -> None:
        path = rude.fresh("/ok")
        ended = ronda.json("--exclude", HOST, urls=[rude.url(path)])

        assert rude.hits[path] == []
        assert (ended.results, ended.code) == ({}, 0)


class TestSettings:
    def test_a_file_of_settings_may_be_named(self, ronda: Command, rude: Rude) -> None:
        (ronda.folder / "ronda.toml").write_text("nonsense\n")
        (ronda.folder / "mine.toml").write_text(
            '[check]\nrobots = false\naccept = ["404"]\n'
            '[fetch.headers]\nX-From = "file"\n'
        )
        path = rude.fresh("/status/404")
        ended = ronda.json("--config", "mine.toml", urls=[rude.url(path)])

        assert ended.code == 0
        assert rude.hits[path][0].headers["x-from"] == "file"

    def test_the_command_line_comes_before_the_file(
        self, ronda: Command, rude: Rude
    ) -> None:
        (ronda.folder / "ronda.toml").write_text(
            '[check]\nrobots = false\nmethod = "HEAD"\n'
            '[fetch]\nuser_agent = "from-file"\n'
        )
        path = rude.fresh("/ok")
        ronda.json(
            *("--method", "GET", "--user-agent", "from-line/2"), urls=[rude.url(path)]
        )

        [hit] = rude.hits[path]
        assert (hit.method, hit.headers["user-agent"]) == ("GET", "from-line/2")


class TestPages:
    def test_the_links_of_a_page_are_checked_with_their_lines(
        self, ronda: Command, nginx: Nginx
    ) -> None:
        page = nginx.url("/page.html")
        ended = ronda.json("--no-robots", page)

        assert {
            url.rpartition(":")[2].partition("/")[2]: (
                result["reason"],
                [(p["document"], p["line"]) for p in result["found_in"]],
            )
            for url, result in ended.results.items()
        } == {
            "page.html": ("http_200", [("", 0)]),
            "other.html": ("http_200", [(page, 6)]),
            "empty": ("http_200", [(page, 6)]),
            "status/404": ("http_404", [(page, 8)]),
            "file.bin": ("http_200", [(page, 10)]),
        }
        assert ended.code == 1

    def test_the_anchors_of_a_page_are_checked_if_wanted(
        self, ronda: Command, nginx: Nginx
    ) -> None:
        page = nginx.url("/page.html")
        ended = ronda.json("--no-robots", "--fragments", page)

        reasons = {url: result["reason"] for url, result in ended.results.items()}
        assert reasons[f"{page}#part"] == "fragment_found"
        assert reasons[f"{page}#nowhere"] == "fragment_missing"

    def test_only_the_page_itself_is_checked_if_wanted(
        self, ronda: Command, nginx: Nginx
    ) -> None:
        page = nginx.url("/page.html")

        assert set(ronda.json("--no-robots", "--no-links", page).results) == {page}

    def test_a_page_in_a_list_is_only_checked_itself(
        self, ronda: Command, nginx: Nginx
    ) -> None:
        page = nginx.url("/page.html")

        assert set(ronda.json("--no-robots", urls=[page]).results) == {page}

    @pytest.mark.parametrize(
        "kind", ["application/gzip", "application/octet-stream", "application/xml"]
    )
    def test_a_packed_sitemap_is_read_whatever_its_type(
        self, ronda: Command, rude: Rude, kind: str
    ) -> None:
        good = rude.url("/ok")
        packed = gzip.compress(
            f"<urlset><url><loc>{good}</loc></url></urlset>".encode()
        )

        def talk(connection: object) -> None:
            odd.read_head(connection)  # type: ignore[arg-type]
            odd.answer(
                connection,  # type: ignore[arg-type]
                "200 OK",
                f"Content-Type: {kind}",
                body=packed,
            )

        with odd.serving(talk) as port:
            ended = ronda.json("--no-robots", f"http://{HOST}:{port}/sitemap.xml.gz")

        assert good in ended.results

    def test_the_same_url_is_asked_once_however_often_it_stands(
        self, ronda: Command, rude: Rude
    ) -> None:
        path = rude.fresh("/ok")
        url = rude.url(path)
        ronda.listed([url] * 50, "one.txt")
        (ronda.folder / "two.md").write_text(f"[a]({url}) <{url}#part> {url}\n")
        ended = ronda.json("--no-robots", "one.txt", "two.md")

        assert len(rude.hits[path]) == 1
        assert len(ended.results[url]["found_in"]) == 53

    def test_a_list_comes_by_standard_input_too(
        self, ronda: Command, rude: Rude
    ) -> None:
        url = rude.url("/ok")
        ended = ronda.json("--no-robots", "-", stdin=f"\n{url}\n".encode())

        assert ended.results[url]["found_in"] == [
            {"document": "-", "line": 2, "column": 0, "text": "", "tag": ""}
        ]

    def test_more_processes_give_the_same_report(
        self, ronda: Command, nginx: Nginx
    ) -> None:
        urls = [
            nginx.url(f"/status/{code}", host=f"127.0.0.{code % 20 + 1}")
            for code in (200, 204, 301, 302, 403, 404, 410, 418, 500, 503)
        ]
        one, three = (
            ronda.json("--no-robots", "--retries", "0", "--processes", n, urls=urls)
            for n in ("1", "3")
        )

        assert {u: r["reason"] for u, r in one.results.items()} == {
            u: r["reason"] for u, r in three.results.items()
        }
        assert one.code == three.code == 1


def _unread(pipe: IO[bytes]) -> int:
    """How many bytes nobody has read yet."""
    size = fcntl.ioctl(pipe, termios.FIONREAD, bytes(4))
    return int.from_bytes(size, sys.byteorder)


class TestSignals:
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    @pytest.mark.parametrize("options", [(), ("--processes", "2")])
    def test_the_first_lets_requests_end_and_reports_what_was_done(
        self,
        ronda: Command,
        rude: Rude,
        number: signal.Signals,
        options: tuple[str, ...],
    ) -> None:
        slow, others = rude.fresh("/hang"), rude.fresh("/ok")
        urls = [rude.url(slow), *(f"{rude.url(others)}&{n}" for n in range(20))]
        process = ronda.start(
            *("check", "--no-robots", "--format", "json", "--timeout", "1.5"),
            *("--retries", "0", "--method", "GET", "--per-host", "1", *options),
            ronda.listed(urls),
        )
        _wait_for(rude, slow)
        process.send_signal(number)
        out, err = process.communicate(timeout=SECONDS)

        report = json.loads(out)
        assert process.returncode == 130
        assert report["summary"]["interrupted"] == "interrupted"
        assert report["summary"]["left"] == 20
        assert [r["reason"] for r in report["results"]] == ["timeout_answer"]
        assert b"Traceback" not in err

    def test_it_waits_no_longer_than_a_few_seconds(
        self, ronda: Command, rude: Rude
    ) -> None:
        good, slow = rude.url("/ok"), rude.fresh("/hang")
        name = ronda.listed([good, rude.url(slow)])
        process = ronda.start("check", "--no-robots", "--timeout", "30", name)
        _wait_for(rude, slow)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)

        assert process.returncode == 130
        assert b"1 not checked" in out
        assert b"Traceback" not in err

    @pytest.mark.parametrize("options", [(), ("--processes", "2")])
    def test_the_second_ends_at_once(
        self, ronda: Command, rude: Rude, options: tuple[str, ...]
    ) -> None:
        slow = rude.fresh("/hang")
        name = ronda.listed([rude.url(slow)])
        process = ronda.start("check", "--no-robots", "--timeout", "30", *options, name)
        _wait_for(rude, slow)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)  # two at once would be one to the system
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)

        assert process.returncode == 130
        assert out == b""  # the first alone has a report, after its seconds
        assert b"Traceback" not in err

    def test_a_source_that_waits_does_not_hold_it_up(self, ronda: Command) -> None:
        with subprocess.Popen(
            [*RONDA, "check", "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=ronda.folder,
            env=environment(ronda.folder),
        ) as process:
            assert process.stdin is not None
            process.stdin.write(b"gopher://a.test/\n")
            process.stdin.flush()
            # Until it has started, and waits for more.
            while _unread(process.stdin) and process.poll() is None:
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=SECONDS) == 130
            assert process.stderr is not None
            assert b"Traceback" not in process.stderr.read()

    def test_time_may_be_limited(self, ronda: Command, rude: Rude) -> None:
        urls = [rude.url("/ok"), *(rude.url(f"/hang?{n}") for n in range(5))]
        ended = ronda.json(
            *("--no-robots", "--max-time", "1", "--timeout", "2", "--retries", "0"),
            *("--per-host", "1"),
            urls=urls,
        )

        assert ended.summary["interrupted"] == "out of time"
        assert ended.summary["left"] >= 3
        assert urls[0] in ended.results
        assert ended.code != 130

    def test_nobody_is_left_behind(self, ronda: Command, rude: Rude) -> None:
        slow = rude.fresh("/hang")
        process = ronda.start(
            *("check", "--no-robots", "--processes", "3", "--timeout", "30"),
            ronda.listed([rude.url(slow)]),
            start_new_session=True,
        )
        _wait_for(rude, slow)
        process.kill()
        process.communicate(timeout=SECONDS)

        until = time.monotonic() + 10
        while _is_group_alive(process.pid) and time.monotonic() < until:
            time.sleep(0.05)
        assert not _is_group_alive(process.pid)


class TestPipes:
    def test_a_reader_that_leaves_is_no_error(self, ronda: Command, rude: Rude) -> None:
        urls = [rude.url(f"/ok?{n}") for n in range(300)]
        command = [*RONDA, "check", "--no-robots", "--format", "jsonl"]
        with subprocess.Popen(
            [*command, ronda.listed(urls)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=ronda.folder,
            env=environment(ronda.folder),
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.readline()
            process.stdout.close()
            err = process.stderr.read()
            process.wait(timeout=SECONDS)

        assert err == b""

    def test_a_text_report_cut_by_head_is_no_error(
        self, ronda: Command, rude: Rude
    ) -> None:
        urls = [rude.refused_url(f"/{'x' * 200}/{n}") for n in range(2000)]
        name = ronda.listed(urls)
        python = f"'{sys.executable}' -m ronda check --no-robots {name} | head -n 1"
        done = subprocess.run(
            ["sh", "-c", python],
            capture_output=True,
            check=False,
            cwd=ronda.folder,
            env=environment(ronda.folder),
            timeout=SECONDS,
        )

        assert done.stdout.startswith(b"urls.txt")
        assert done.stderr == b""

    def test_a_full_disk_is_told_in_one_line(self, ronda: Command, rude: Rude) -> None:
        ended = ronda(
            *("check", "--no-robots", ronda.listed([rude.url("/ok")])),
            prefix=("sh", "-c", 'exec "$@" > /dev/full', "sh"),
        )

        assert "Traceback" not in ended.err
        assert ended.code != 0


# -- terminals and processes -----------------------------------------------------


@contextmanager
def ended_at_last(
    process: subprocess.Popen[bytes],
) -> Iterator[subprocess.Popen[bytes]]:
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def in_terminal(
    ronda: Command, arguments: list[str], env: dict[str, str], columns: int = 80
) -> tuple[int, str]:
    """The exit code, and all that a terminal was sent."""
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    process = ronda.start(*arguments, env=env, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        if not select.select([ours], [], [], 1)[0]:
            continue
        try:
            data = os.read(ours, 65_536)
        except OSError:  # Linux says so when the other side is closed
            break
        if not data:
            break
        shown += data
    os.close(ours)
    return process.wait(timeout=SECONDS), shown.decode()


def _line(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    assert select.select([process.stdout], [], [], SECONDS)[0], "nothing was printed"
    return process.stdout.readline()


def _wait_for(rude: Rude, path: str) -> None:
    """Wait until a path has been asked for."""
    until = time.monotonic() + SECONDS
    while not rude.hits[path]:
        assert time.monotonic() < until, "it was never asked for"
        time.sleep(0.01)


def _is_group_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-"])
def test_a_closed_stream_is_no_fault(closed: str, tmp_path: Path) -> None:
    command = f'"$0" -m ronda target add http://127.0.0.1/ --db store.db {closed}'
    ended = subprocess.run(
        ["bash", "-c", command, sys.executable],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )

    assert ended.returncode == 0
    assert b"Traceback" not in ended.stderr + ended.stdout
