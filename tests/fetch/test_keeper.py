"""The keeper by itself: spoken to as the daemon speaks to it."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest

from ronda.fetch import keeper as module
from ronda.fetch.keeping import COMMAND

SECONDS = 30.0  # guards against hanging; nothing takes as long
PATH = Path(module.__file__)
WAYS = ("walled", "open")


class Kept:
    """A keeper, and programs that it runs."""

    def __init__(self, way: str, folder: Path) -> None:
        self.way = way
        self.folder = folder
        self.scratch = folder / "scratch"
        self.scratch.mkdir()
        self.control, theirs = socket.socketpair()
        self.control.settimeout(SECONDS)
        with theirs:
            number = theirs.fileno()
            arguments = [str(number), way, str(self.scratch)]
            self.process = subprocess.Popen([*COMMAND, *arguments], pass_fds=[number])
        self.said, doors, _, _ = socket.recv_fds(self.control, 16, 1)
        self.door = socket.socket(fileno=doors[0]) if doors else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.control.close()
        if self.door is not None:
            self.door.close()
        self.process.wait(SECONDS)

    def begin(self, *command: str, **changed: Any) -> socket.socket:
        """Begin a run; the socket on which its answer comes."""
        order = {
            "command": command,
            "input": "",
            "environment": {"PATH": os.environ["PATH"]},
            "data": "",
            "timeout": SECONDS,
            "grace": 0.2,
            "memory": None,
            "file_size": 10,
            "files": 64,
            "output": 64,
        }
        data = json.dumps(order | changed).encode()
        ours, theirs = socket.socketpair()
        ours.settimeout(SECONDS)
        with theirs:
            socket.send_fds(self.control, [b"r"], [theirs.fileno()])
        ours.sendall(len(data).to_bytes(4) + data)
        return ours

    def run(self, *command: str, **changed: Any) -> dict[str, Any]:
        """What became of a program."""
        with self.begin(*command, **changed) as link:
            return ended(link)

    def sh(self, script: str, **changed: Any) -> dict[str, Any]:
        return self.run("/bin/sh", "-c", script, **changed)


def ended(link: socket.socket) -> dict[str, Any]:
    data = b""
    while chunk := link.recv(65536):
        data += chunk
    return dict(json.loads(data)) if data else {}


@pytest.fixture(params=WAYS)
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kept]:
    with Kept(request.param, tmp_path) as made:
        yield made


@pytest.fixture
def walled(tmp_path: Path) -> Iterator[Kept]:
    with Kept("walled", tmp_path) as made:
        assert made.said == b"walled"
        yield made


class Mark:
    """A file that every process of a program has open, which shows who is alive."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "fifo"
        os.mkfifo(self.path)
        self._reader = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)

    def wait_for_none(self) -> None:
        """Wait until nobody holds it: the end of the last is the end of the file."""
        until = time.monotonic() + SECONDS
        os.set_blocking(self._reader, True)
        while os.read(self._reader, 1024):
            assert time.monotonic() < until

    def wait_for_word(self) -> None:
        os.set_blocking(self._reader, True)
        holder = os.open(self.path, os.O_WRONLY)  # else there is no file to wait for
        os.read(self._reader, 1)
        os.close(holder)

    def close(self) -> None:
        os.close(self._reader)


@pytest.fixture
def mark(tmp_path: Path) -> Iterator[Mark]:
    made = Mark(tmp_path)
    yield made
    made.close()


# -- what a program has --------------------------------------------------------------


def test_it_says_whether_there_is_a_wall(kept: Kept) -> None:
    assert kept.said == kept.way.encode()
    assert (kept.door is not None) == (kept.way == "walled")


def test_a_program_is_run_with_its_arguments_and_folders(kept: Kept) -> None:
    data = str(kept.folder / "data" / "7")
    ran = kept.run("/bin/sh", "-c", 'echo "$@"; pwd', "sh", "a b;c", data=data)

    first, scratch = ran["output"].splitlines()
    assert first == f"a b;c {scratch} {data}"
    assert (ran["code"], ran["signal"], ran["timed_out"]) == (0, 0, False)


def test_a_scratch_folder_goes_with_its_run_and_the_data_stay(kept: Kept) -> None:
    data = kept.folder / "data" / "7"
    script = 'touch kept; touch "$2/kept"; mkdir -p a/b; chmod 0 a'
    ran = kept.run("/bin/sh", "-c", script, "sh", data=str(data))

    assert ran["code"] == 0
    assert list(kept.scratch.iterdir()) == []
    assert list(data.iterdir()) == [data / "kept"]
    assert data.stat().st_mode & 0o777 == 0o700


def test_its_environment_is_what_it_is_given(kept: Kept) -> None:
    os.environ["RONDA_SECRET"] = "hush"
    try:
        ran = kept.sh("env; tr '\\0' '\\n' < /proc/1/environ", environment={"A": "b"})
    finally:
        del os.environ["RONDA_SECRET"]

    assert "A=b\n" in ran["output"]
    assert "hush" not in ran["output"]


def test_its_standard_input_is_a_file(kept: Kept) -> None:
    large = "x" * 1_000_000

    assert kept.sh("wc -c", input=large)["output"].strip() == "1000000"
    assert kept.sh("exec <&-; exit 0", input=large)["code"] == 0


def test_nothing_of_ours_is_open_in_it(kept: Kept) -> None:
    ran = kept.sh("ls /proc/self/fd")

    # The last is the folder that is listed.
    assert ran["output"].split() == ["0", "1", "2", "3"]


def test_signals_mean_what_they_mean_elsewhere(kept: Kept) -> None:
    ran = kept.sh("grep -E 'SigIgn|SigBlk' /proc/self/status")

    masks = [int(line.split()[1], 16) for line in ran["output"].splitlines()]
    # 32 and 33 are the C library's own: who inherits them ignored cannot change it.
    assert [mask & ~(0b11 << 31) for mask in masks] == [0, 0]


def test_it_has_no_rights_beyond_those_of_any_user(kept: Kept) -> None:
    ran = kept.sh("grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status")

    found = [line.split()[1] for line in ran["output"].splitlines()]
    assert found == ["0" * 16, "0" * 16, "1"]


def test_behind_a_wall_there_is_only_a_loopback(walled: Kept) -> None:
    ran = walled.sh("tail -n +3 /proc/net/dev | cut -d: -f1; cat /proc/net/route")

    assert ran["output"].split()[0] == "lo"
    assert len(ran["output"].splitlines()) == 2  # and no route


def test_behind_a_wall_nobody_else_is_seen(walled: Kept) -> None:
    ran = walled.sh("ls /proc | grep -c '^[0-9]'; echo $$")

    processes, own = map(int, ran["output"].split())
    assert processes <= 4
    assert own < 10


def test_the_door_behind_the_wall_is_ours(walled: Kept) -> None:
    assert walled.door is not None
    walled.door.settimeout(SECONDS)
    port = walled.door.getsockname()[1]
    script = f"exec 3<>/dev/tcp/127.0.0.1/{port}; echo hello >&3; cat <&3"
    with walled.begin("/bin/bash", "-c", script) as link:
        visitor, _ = walled.door.accept()
        with visitor:
            assert visitor.recv(100) == b"hello\n"
            visitor.sendall(b"welcome")

        assert ended(link)["output"] == "welcome"


# -- how it ends ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "code", "number"),
    [("exit 0", 0, 0), ("exit 77", 77, 0), ("kill -9 $$", None, 9)],
)
def test_its_end_is_told(
    kept: Kept, script: str, code: int | None, number: int
) -> None:
    ran = kept.sh(script)

    assert (ran["code"], ran["signal"], ran["failure"]) == (code, number, "")


@pytest.mark.parametrize(
    ("content", "mode", "words"),
    [
        (None, 0, "No such file or directory"),
        ("#!/no/such/interpreter\n", 0o755, "its first line names is not there"),
        ("#!/bin/sh\n", 0o644, "not executable"),
        ("\x7fELF", 0o755, "no first line such as #!/bin/sh"),
    ],
)
def test_one_that_cannot_be_started_is_told_why(
    kept: Kept, content: str | None, mode: int, words: str
) -> None:
    path = kept.folder / "program"
    if content is not None:
        path.write_text(content)
        path.chmod(mode)
    ran = kept.run(str(path))

    assert ran["failure"].startswith(f"{path}: ")
    assert words in ran["failure"]
    assert list(kept.scratch.iterdir()) == []


@pytest.mark.parametrize("argument", ["a\0b", "x" * 200_000])
def test_one_that_cannot_have_its_arguments_is_told_why(
    kept: Kept, argument: str
) -> None:
    assert kept.run("/bin/true", argument)["failure"]


def test_without_room_for_a_scratch_folder_nothing_is_run(kept: Kept) -> None:
    kept.scratch.rmdir()

    assert "no scratch folder" in kept.sh("exit 0")["failure"]


def test_binary_output_becomes_text(kept: Kept) -> None:
    ran = kept.sh("printf 'a\\000b\\377\\n'; printf '\\377' >&2")

    assert (ran["output"], ran["errors"]) == ("ab�\n", "�")


def test_of_errors_the_end_is_kept(kept: Kept) -> None:
    ran = kept.sh("yes | head -c 300000 >&2; echo end >&2")

    assert len(ran["errors"]) == 4096
    assert ran["errors"].endswith("y\nend\n")


def test_output_to_the_limit_is_kept_and_more_ends_it(kept: Kept) -> None:
    full = kept.sh("yes | head -c 65536; exit 3")
    assert (full["code"], len(full["output"]), full["failure"]) == (3, 65536, "")

    more = kept.sh("trap '' TERM; while :; do yes; done")
    assert (more["code"], len(more["output"])) == (None, 65536)
    assert more["failure"] == "it wrote more than 64 KB to its standard output"


def test_one_that_takes_too_long_is_asked_to_end(kept: Kept) -> None:
    ran = kept.sh("trap 'echo bye; exit 4' TERM; sleep 100 & wait", timeout=0.2)

    assert (ran["timed_out"], ran["code"], ran["output"]) == (True, 4, "bye\n")


def test_one_that_does_not_listen_is_killed(kept: Kept) -> None:
    ran = kept.sh("trap '' TERM; while :; do sleep 0.01; done", timeout=0.2)

    assert (ran["timed_out"], ran["code"], ran["signal"]) == (True, None, 9)
    assert 0.4 <= ran["seconds"] < SECONDS


def test_the_whole_group_is_asked_to_end(kept: Kept) -> None:
    script = "(trap 'echo child; exit' TERM; while :; do sleep 0.01; done) & wait"
    ran = kept.sh(f"trap 'wait; exit 5' TERM; {script}; wait", timeout=0.2, grace=10.0)

    assert "child" in ran["output"]


# -- what it leaves behind -----------------------------------------------------------


@pytest.mark.parametrize(
    "left",
    [
        "sleep 1000 &",
        "nohup sleep 1000 >/dev/null 2>&1 &",
        "setsid sleep 1000 &",
        "(setsid sh -c 'trap \"\" TERM HUP; (sleep 1000 &) ; sleep 1000' &)",
    ],
)
def test_nothing_is_left_of_it(kept: Kept, mark: Mark, left: str) -> None:
    ran = kept.sh(f"exec 9>{mark.path}; {left}\nexit 0")

    assert ran["code"] == 0
    mark.wait_for_none()


def test_a_small_fork_bomb_is_over_with_its_time(kept: Kept, mark: Mark) -> None:
    # Each has two children which do the same, three levels deep, and again for ever.
    bomb = "b() { [ $1 -gt 0 ] && { b $(($1-1)) & b $(($1-1)) & }; sleep 0.02; }"
    script = f"exec 9>{mark.path}; {bomb}; trap '' TERM; while :; do b 3; done"
    ran = kept.sh(script, timeout=0.5)

    assert ran["timed_out"]
    mark.wait_for_none()


def test_the_output_of_those_it_left_is_not_waited_for(kept: Kept) -> None:
    ran = kept.sh("echo first; (sleep 1000; echo never) & exit 0")

    assert ran["output"] == "first\n"
    assert ran["seconds"] < SECONDS


def test_who_lets_go_of_a_run_ends_it(kept: Kept, mark: Mark) -> None:
    link = kept.begin("/bin/sh", "-c", f"exec 9>{mark.path}; echo x >&9; sleep 1000")
    mark.wait_for_word()
    link.close()

    mark.wait_for_none()


def test_programs_die_with_a_keeper_that_is_killed(tmp_path: Path, mark: Mark) -> None:
    script = f"exec 9>{mark.path}; echo x >&9; sleep 1000"
    for way in WAYS:
        folder = tmp_path / way
        folder.mkdir()
        with Kept(way, folder) as kept, kept.begin("/bin/sh", "-c", script) as link:
            mark.wait_for_word()
            kept.process.kill()

            assert ended(link) == {}
            mark.wait_for_none()


def test_a_keeper_that_nobody_wants_ends_with_all_it_runs(
    tmp_path: Path, mark: Mark
) -> None:
    script = f"exec 9>{mark.path}; echo x >&9; trap '' TERM; sleep 1000"
    for way in WAYS:
        folder = tmp_path / way
        folder.mkdir()
        with Kept(way, folder) as kept:
            link = kept.begin("/bin/sh", "-c", script)
            mark.wait_for_word()
            link.close()

        assert kept.process.returncode == 0
        mark.wait_for_none()
        assert not kept.scratch.exists()


def test_the_signals_of_a_terminal_are_not_for_the_keeper(kept: Kept) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        kept.process.send_signal(number)

    assert kept.sh("exit 6")["code"] == 6


# -- limits --------------------------------------------------------------------------


def test_memory_is_limited(kept: Kept) -> None:
    hog = "x = bytearray(512 << 20); print(len(x))"

    assert kept.run(sys.executable, "-c", hog)["code"] == 0
    limited = kept.run(sys.executable, "-c", hog, memory=256)
    assert limited["code"] == 1
    assert "MemoryError" in limited["errors"]


def test_files_are_limited_in_size(kept: Kept) -> None:
    write = "head -c 2000000 /dev/zero > large; ls -l large | wc -l"
    ran = kept.sh(write, file_size=1)

    assert kept.sh("head -c 2000000 /dev/zero > large && wc -c < large")["code"] == 0
    assert "File size limit exceeded" in ran["errors"] or ran["code"] != 0


def test_open_files_cores_and_seconds_are_limited(kept: Kept) -> None:
    ran = kept.sh("ulimit -n; ulimit -c; ulimit -t", files=50, timeout=2.5)

    assert ran["output"].split() == ["50", "0", "13"]


def test_many_run_at_once(kept: Kept) -> None:
    links = [kept.begin("/bin/sh", "-c", f"exit {number}") for number in range(20)]
    codes = []
    for link in links:
        with link:
            codes.append(ended(link)["code"])

    assert codes == list(range(20))


def test_it_needs_nothing_but_the_standard_library() -> None:
    code = (
        "import runpy, sys; "
        f"runpy.run_path({str(PATH)!r}, run_name='looked at');"
        "sys.exit('ronda' in sys.modules or 'msgspec' in sys.modules)"
    )

    command = [sys.executable, "-I", "-S", "-c", code]
    assert subprocess.run(command, check=False).returncode == 0
