"""Programs as tasks: run for real, on loopback, with the samples of the docs."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest

from ronda.clock import SystemClock
from ronda.config import Guard as GuardSettings
from ronda.config import Tasks
from ronda.fetch import Guard, Names, keeping
from ronda.fetch.programs import Programs
from ronda.model import Done, Job, Ran, Request, Service, State, Target, Via, Visit
from ronda.probes.program import Program
from ronda.probes.said import identified
from servers.process import require

SECONDS = 60.0  # guards against hanging; nothing takes as long
SAMPLES = Path(__file__).parents[2] / "docs" / "tasks"
METADATA = "169.254.169.254"
BOTH = pytest.mark.parametrize("walls", [True, False])
T = TypeVar("T")


@asynccontextmanager
async def running(
    folder: Path,
    walls: bool = True,
    told: Any = None,
    gap: float = 0.0,
    **settings: Any,
) -> AsyncIterator[Programs]:
    guard = Guard(GuardSettings())
    tasks = Tasks(data=str(folder / "data"), **settings)
    names = Names(("127.0.0.1:9",), guard, SystemClock())
    heard = told or (lambda *_: None)
    made = Programs(tasks, names, guard, heard, walls, gap=lambda *_: gap)
    async with asyncio.timeout(SECONDS), names, made as programs:
        yield programs


def carried(
    folder: Path, story: Callable[[Programs], Awaitable[T]], **options: Any
) -> T:
    async def run() -> T:
        async with running(folder, **options) as programs:
            return await story(programs)

    return asyncio.run(run())


def request(
    *command: str,
    url: str = "http://127.0.0.1/",
    public: bool = False,
    timeout: float = SECONDS,
    folder: str = "7",
) -> Request:
    program, *arguments = command
    job = Job(program, tuple(arguments), folder, timeout, input="{}")
    payload = msgspec.json.encode(job)
    return Request(url, via=Via.PROGRAM, payload=payload, public=public)


def sh(script: str, **options: Any) -> Request:
    return request("/bin/bash", "-c", script, "sh", **options)


async def ran(programs: Programs, asked: Request) -> Ran:
    answer = await programs.run(asked)
    assert answer.ran is not None
    return answer.ran


def one(folder: Path, asked: Request, **options: Any) -> Ran:
    return carried(folder, lambda programs: ran(programs, asked), **options)


# -- a server ------------------------------------------------------------------------


class Site:
    """What is on loopback: a path has a body and perhaps headers."""

    def __init__(self) -> None:
        self.pages: dict[str, tuple[bytes, dict[str, str]]] = {}
        self.asked: list[str] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append(self.path)
                body, headers = site.pages.get(self.path, (b"", {}))
                self.send_response_only(200 if self.path in site.pages else 404)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(body)

            def do_HEAD(self) -> None:
                self.do_GET()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    yield made
    made.close()


# -- the samples ---------------------------------------------------------------------


def sampled(
    folder: Path, name: str, url: str, public: bool = False
) -> tuple[str, str, str]:
    """Run a sample as a task: state, reason and words."""
    require("tclsh")
    require("curl")
    path = str(SAMPLES / name)

    async def story(programs: Programs) -> tuple[str, str, str]:
        who = identified(await programs.identify(path))
        program = Program(path, who, SECONDS)
        asked = Request(url, public=public)
        visit = Visit(Target(url, "127.0.0.1"), asked, "127.0.0.1")
        answer = await programs.run(program.begin(visit, Service(id=7)))
        done = program.judge(visit, answer, 0.0)
        assert isinstance(done, Done), answer.ran
        return done.verdict.state, done.verdict.reason, done.verdict.message

    return carried(folder, story)


HEADERS = {
    "Content-Type": "text/html",
    "Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT",
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("10_title.sh", "the title is: A page"),
        ("20_headers.tcl", "text/html, of Thu, 01 Jan 2026 00:00:00 GMT"),
        ("30_size.py", "36 bytes"),
    ],
)
def test_each_sample_is_content_with_a_good_page(
    tmp_path: Path, site: Site, name: str, expected: str
) -> None:
    site.pages["/"] = (b"<html>\n<title> A\n{page} </title>\n ..", HEADERS)
    found = sampled(tmp_path, name, f"{site.url}/")

    assert found == (State.OK, "task_ok", expected)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("10_title.sh", (State.WARNING, "no_title", "the page has no title")),
        (
            "20_headers.tcl",
            (State.WARNING, "no_content_type", "the answer has no content-type"),
        ),
        ("30_size.py", (State.WARNING, "shrunk", "2 bytes, 1,000 the last time")),
    ],
)
def test_each_sample_warns_of_what_it_looks_for(
    tmp_path: Path, site: Site, name: str, expected: tuple[str, str, str]
) -> None:
    kept = tmp_path / "data" / "7"
    kept.mkdir(parents=True)
    (kept / "page_size.txt").write_text("1000")
    site.pages["/"] = (b"hi", {})

    assert sampled(tmp_path, name, f"{site.url}/") == expected


@pytest.mark.parametrize("name", ["10_title.sh", "20_headers.tcl", "30_size.py"])
class TestEachSample:
    def test_has_the_reason_of_a_page_that_is_not_there(
        self, tmp_path: Path, site: Site, name: str
    ) -> None:
        state, reason, _ = sampled(tmp_path, name, f"{site.url}/none")

        assert (state, reason) == (State.BROKEN, "http_404")

    def test_is_stopped_by_the_guard(
        self, tmp_path: Path, site: Site, name: str
    ) -> None:
        state, reason, words = sampled(tmp_path, name, f"{site.url}/", public=True)

        assert (state, reason) == (State.BLOCKED, "task_refused")
        assert "127.0.0.1 is loopback" in words
        assert site.asked == []

    def test_takes_a_url_for_nothing_but_a_url(
        self, tmp_path: Path, site: Site, name: str
    ) -> None:
        odd = "/$(touch%20x)`id`;{a,b}[1-3]'%22&-o=x"
        site.pages[odd] = (b"<title>odd</title>", HEADERS)

        assert sampled(tmp_path, name, f"{site.url}{odd}")[0] == State.OK
        assert set(site.asked) == {odd}


# -- what a program is given ---------------------------------------------------------


def test_folders_are_its_last_arguments_and_the_data_are_kept(tmp_path: Path) -> None:
    script = 'echo "$1|$2|$3"; echo x >> "$3/log"; wc -l < "$3/log"'
    asked = request("/bin/bash", "-c", script, "sh", "4|http://h/||WMS|1")

    async def story(programs: Programs) -> list[Ran]:
        return [await ran(programs, asked) for _ in range(2)]

    first, second = carried(tmp_path, story)
    line, count = second.output.splitlines()
    *_, scratch, data = line.split("|")
    assert line.startswith("4|http://h/||WMS|1|")
    assert data == str(tmp_path / "data" / "7")
    assert (first.output.splitlines()[1], count) == ("1", "2")
    assert not Path(scratch).exists()


def test_its_environment_names_the_proxy_to_everybody_who_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RONDA_DATABASE_PASSWORD", "hush")
    monkeypatch.setenv("http_proxy", "http://other.test")
    output = one(tmp_path, sh("env", url="http://h.test/?a=b")).output
    found = dict(line.split("=", 1) for line in output.splitlines())

    place = found["GDAL_HTTP_PROXY"]
    user = found["GDAL_HTTP_PROXYUSERPWD"]
    assert user.startswith("run:")
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        assert found[name] == f"http://{user}@{place}"
    for name in ("all_proxy", "ALL_PROXY", "ftp_proxy", "FTP_PROXY"):
        assert found[name] == f"socks5h://{user}@{place}"
    assert found["RSYNC_PROXY"] == f"{user}@{place}"
    assert (found["no_proxy"], found["NO_PROXY"]) == ("", "")
    assert (found["RONDA_URL"], found["LC_ALL"]) == ("http://h.test/?a=b", "C.UTF-8")
    assert found["HOME"] == found["RONDA_SCRATCH"] == found["PWD"]
    assert "hush" not in output


@pytest.mark.parametrize("folder", ["", ".", "/etc", "../x", "a/../../x"])
def test_no_job_leads_out_of_the_data_folder(tmp_path: Path, folder: str) -> None:
    assert "no name for a folder" in one(tmp_path, sh("true", folder=folder)).failure


def test_what_is_no_job_is_not_run(tmp_path: Path) -> None:
    odd = Request("http://h.test/", via=Via.PROGRAM, payload=b"[]")

    assert one(tmp_path, odd).failure.startswith("not a job: ")


def test_limits_are_those_of_the_settings(tmp_path: Path) -> None:
    script = "ulimit -n; ulimit -v; ulimit -f"
    settings = {"files": 77, "memory": 512, "file_size": 3}
    told = one(tmp_path, sh(script), **settings).output.split()

    assert told == ["77", str(512 * 1024), str(3 * 1024)]


def test_too_much_output_ends_it(tmp_path: Path) -> None:
    found = one(tmp_path, sh("yes"), output=1)

    assert (found.code, len(found.output)) == (None, 1024)
    assert "more than 1 KB" in found.failure


def test_too_much_time_ends_it(tmp_path: Path) -> None:
    found = one(tmp_path, sh("echo so far; sleep 100", timeout=0.2))

    assert (found.timed_out, found.output) == (True, "so far\n")


def test_who_is_asked_to_identify_itself_has_no_way_out(tmp_path: Path) -> None:
    path = tmp_path / "who"
    path.write_text('#!/bin/bash\necho "$@"; env | grep -ci proxy\n')
    path.chmod(0o755)
    found = carried(tmp_path, lambda programs: programs.identify(str(path)))

    assert found.output == "identify\n0\n"


# -- the network ---------------------------------------------------------------------


@BOTH
def test_it_asks_through_the_proxy_by_http_and_socks(
    tmp_path: Path, site: Site, walls: bool
) -> None:
    site.pages["/"] = (b"hello ", {})
    told: list[tuple[Any, ...]] = []
    script = (
        f"curl -sS {site.url}/; "
        f"curl -sS --proxytunnel {site.url}/; "
        f'curl -sS --proxy "$all_proxy" {site.url}/'
    )
    found = one(tmp_path, sh(script), walls=walls, told=lambda *one: told.append(one))

    assert (found.output, found.errors) == ("hello " * 3, "")
    place = site.url.removeprefix("http://")
    assert [asked for _, _, asked, _ in told] == [f"{site.url}/", place, place]


@BOTH
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_metadata_are_not_to_be_had_through_the_proxy(
    tmp_path: Path, walls: bool, scheme: str
) -> None:
    told: list[object] = []
    script = f"curl -sSf -m 20 {scheme}://{METADATA}/latest"
    found = one(tmp_path, sh(script), walls=walls, told=lambda *one: told.append(one))

    assert found.code != 0
    assert "403" in found.errors
    assert found.refused == f"{METADATA}: {METADATA} is a metadata address"
    assert told == []


def test_behind_the_wall_there_is_no_other_way(tmp_path: Path, site: Site) -> None:
    port = site.url.rpartition(":")[2]
    script = "".join(
        f"(exec 3<>/dev/tcp/{address}) 2>&1; "
        for address in (f"127.0.0.1/{port}", f"{METADATA}/80")
    )
    found = one(tmp_path, sh(f"{script} curl -sS --noproxy '*' {site.url}/ 2>&1"))

    assert "Connection refused" in found.output  # its own loopback, where nobody is
    assert "Network is unreachable" in found.output
    assert found.code == 7
    assert site.asked == []


def test_strangers_cannot_reach_loopback(tmp_path: Path, site: Site) -> None:
    script = f'curl -sSf {site.url}/ || curl -sSf -x "$all_proxy" {site.url}/'
    found = one(tmp_path, sh(script, public=True))

    assert found.code == 97  # curl's code for what SOCKS refuses
    assert found.refused == "127.0.0.1: 127.0.0.1 is loopback"
    assert site.asked == []


def test_without_a_wall_nothing_is_run_for_strangers(tmp_path: Path) -> None:
    async def story(programs: Programs) -> tuple[Ran, bool]:
        return await ran(programs, sh("true", public=True)), programs.walled

    found, walled = carried(tmp_path, story, walls=False)
    assert not walled
    assert "user.max_user_namespaces" in found.failure


def test_the_way_through_ends_with_the_run(tmp_path: Path, site: Site) -> None:
    site.pages["/"] = (b"hello", {})

    async def story(programs: Programs) -> Ran:
        proxy = (await ran(programs, sh("echo $http_proxy"))).output.strip()
        script = f"curl -s -o /dev/null -w '%{{http_code}}' -x {proxy} {site.url}/"
        return await ran(programs, sh(script))

    assert carried(tmp_path, story).output == "407"


def test_programs_cannot_hammer_a_host_not_even_together(
    tmp_path: Path, site: Site
) -> None:
    site.pages["/"] = (b"x", {})
    script = f"for i in 1 2 3; do curl -sS {site.url}/; done"
    told: list[float] = []

    async def story(programs: Programs) -> list[Ran]:
        return await asyncio.gather(*(ran(programs, sh(script)) for _ in range(3)))

    found = carried(tmp_path, story, told=lambda *one: told.append(one[3]), gap=0.1)
    assert [one.output for one in found] == ["xxx"] * 3
    assert len(told) == 9
    assert min(later - before for before, later in pairwise(told)) > 0.08


# -- many, and none ------------------------------------------------------------------


def test_no_more_run_at_once_than_there_are_workers(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = f"echo 1 >> {log}; sleep 0.05; echo -1 >> {log}"

    async def story(programs: Programs) -> tuple[int, int]:
        await asyncio.gather(*(ran(programs, sh(script)) for _ in range(7)))
        return programs.running, programs.idle

    assert carried(tmp_path, story, workers=3) == (0, 3)
    now = most = 0
    for line in log.read_text().split():
        now += int(line)
        most = max(most, now)
    assert most == 3


def test_the_loop_goes_on_while_programs_run(tmp_path: Path) -> None:
    async def story(programs: Programs) -> int:
        turns = 0
        task = asyncio.create_task(ran(programs, sh("sleep 0.3")))
        while not task.done():
            turns += 1
            await asyncio.sleep(0.001)
        return turns

    assert carried(tmp_path, story) > 20


def test_an_idle_keeper_is_let_go_and_comes_again(tmp_path: Path) -> None:
    async def story(programs: Programs) -> list[int]:
        keepers = []
        for _ in range(2):
            await ran(programs, sh("true"))
            assert programs._keeper is not None
            keepers.append(programs._keeper._process.pid)
            while True:
                if programs._keeper is None:
                    break
                await asyncio.sleep(0.01)
            assert programs.idle == 0
        return keepers

    first, second = carried(tmp_path, story, idle=0.05)
    assert first != second
    for pid in (first, second):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


class Held:
    """A pipe with a name: it shows when a program has begun, and when all is over."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "held"
        os.mkfifo(self.path)
        self._reader = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)

    @property
    def script(self) -> str:
        return f"exec 9>{self.path}; echo begun >&9; (setsid sleep 1000 &); sleep 1000"

    async def begun(self) -> None:
        while True:
            try:
                if os.read(self._reader, 100):
                    return
            except BlockingIOError:
                pass
            await asyncio.sleep(0.01)

    async def over(self) -> None:
        while True:
            try:
                if not os.read(self._reader, 100):
                    return
            except BlockingIOError:
                pass
            await asyncio.sleep(0.01)

    def close(self) -> None:
        os.close(self._reader)


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Held]:
    made = Held(tmp_path)
    yield made
    made.close()


@BOTH
def test_who_cancels_a_run_ends_its_program(
    tmp_path: Path, held: Held, walls: bool
) -> None:
    async def story(programs: Programs) -> int:
        task = asyncio.create_task(ran(programs, sh(held.script)))
        await held.begun()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await held.over()
        return programs.running

    assert carried(tmp_path, story, walls=walls) == 0


@BOTH
def test_a_keeper_that_dies_is_replaced_and_nobody_else_is_blamed(
    tmp_path: Path, held: Held, walls: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(programs: Programs) -> tuple[Ran, Ran]:
        task = asyncio.create_task(ran(programs, sh(held.script)))
        await held.begun()
        assert programs._keeper is not None
        programs._keeper._process.kill()
        cut = await task
        await held.over()
        return cut, await ran(programs, sh("echo again"))

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    cut, again = carried(tmp_path, story, walls=walls)
    assert list((tmp_path / "scratch").iterdir()) == []
    assert "has died" in cut.failure
    assert again.output == "again\n"


@BOTH
def test_nothing_outlives_a_daemon_that_is_killed(
    tmp_path: Path, held: Held, walls: bool
) -> None:
    code = (
        "import asyncio, sys; sys.path[:0] = sys.argv[1].split(':');"
        "from pathlib import Path; from fetch import test_programs as t;"
        "t.one(Path(sys.argv[2]), t.sh(sys.argv[3]), walls=sys.argv[4] == 'True')"
    )
    tests = str(Path(__file__).parents[1])
    arguments = [tests, str(tmp_path), held.script, str(walls)]
    daemon = subprocess.Popen([sys.executable, "-c", code, *arguments])

    async def story() -> None:
        async with asyncio.timeout(SECONDS):
            await held.begun()
            daemon.send_signal(signal.SIGKILL)
            await held.over()

    try:
        asyncio.run(story())
    finally:
        daemon.kill()
        daemon.wait()


@BOTH
def test_what_is_under_way_ends_with_the_session(
    tmp_path: Path, held: Held, walls: bool
) -> None:
    async def story() -> Ran:
        async with running(tmp_path, walls) as programs:
            task = asyncio.create_task(ran(programs, sh(held.script)))
            await held.begun()
        async with asyncio.timeout(SECONDS):
            await held.over()
            return await task

    assert "has died" in asyncio.run(story()).failure


@pytest.mark.parametrize(
    ("command", "words"),
    [("/bin/false", "does not start"), ("/no/such/python", "No such file")],
)
def test_where_no_keeper_starts_nothing_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, words: str
) -> None:
    monkeypatch.setattr(keeping, "COMMAND", (command,))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    found = one(tmp_path, sh("true"))

    assert found.failure.startswith("cannot be run: ")
    assert words in found.failure
    assert list((tmp_path / "scratch").iterdir()) == []
