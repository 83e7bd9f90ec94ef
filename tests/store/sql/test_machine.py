"""A process is told from all others, and is dead only where that is certain."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from ronda.store.sql import machine
from ronda.store.sql.machine import Identity, is_dead, myself

SAY_WHO = """
import sys
from ronda.store.sql.machine import myself
who = myself()
print(who.machine, who.pid, who.started, sep="\\n", flush=True)
sys.stdin.read()
"""


class Other:
    """Another process, which says who it is and waits."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SAY_WHO],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        lines = [self.process.stdout.readline().strip() for _ in range(3)]
        self.who = Identity(lines[0], int(lines[1]), int(lines[2]))

    def kill(self) -> None:
        self.process.kill()
        # Dead, but not waited for.
        os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT)

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def other() -> Iterator[Other]:
    started = Other()
    yield started
    started.end()


def test_this_process_is_alive() -> None:
    assert not is_dead(myself())


def test_this_process_is_on_this_run_of_this_machine() -> None:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()

    room = f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    assert myself().machine == f"{room} {socket.gethostname()}"
    assert myself().pid == os.getpid()
    assert myself().started > 0


def test_another_process_is_alive(other: Other) -> None:
    assert other.who.machine == myself().machine
    assert not is_dead(other.who)


def test_a_killed_process_is_dead(other: Other) -> None:
    other.end()

    assert is_dead(other.who)


def test_a_killed_process_is_dead_before_anybody_waited_for_it(other: Other) -> None:
    other.kill()

    assert is_dead(other.who)


def test_who_has_the_number_of_a_dead_process_is_not_that_process() -> None:
    before = replace(myself(), started=myself().started - 1)

    assert is_dead(before)


@pytest.mark.parametrize("machine", ["", "elsewhere"])
def test_of_processes_elsewhere_nothing_is_known(other: Other, machine: str) -> None:
    other.end()

    assert not is_dead(replace(other.who, machine=machine))


@pytest.mark.parametrize("name", ["", " renamed"])
def test_a_machine_may_be_renamed(other: Other, name: str) -> None:
    room, _, _ = other.who.machine.rpartition(" ")
    other.end()

    assert is_dead(replace(other.who, machine=f"{room}{name}"))


def test_a_machine_is_told_by_its_name() -> None:
    assert machine.name(myself().machine) == socket.gethostname()
    assert machine.name("0f4c2d6e-1 pid:[4026531836]") == "0f4c2d6e"
    assert machine.name("") == ""


def test_a_process_of_another_user_is_not_dead() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can be another user")
    script = f"""
import os
from ronda.store.sql import machine
from ronda.store.sql.machine import Identity, is_dead
os.setuid(65534)
print(is_dead(Identity({myself().machine!r}, {os.getpid()}, {myself().started})))
"""
    said = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert said.stdout == "False\n"
