import asyncio
import os
import socket
from pathlib import Path

import pytest

from ronda.server import systemd


@pytest.fixture
def heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        path = str(tmp_path / "notify")
        listening.bind(path)
        listening.settimeout(5)
        monkeypatch.setenv("NOTIFY_SOCKET", path)
        yield listening


def test_systemd_is_told_in_lines(heard: socket.socket):
    systemd.tell(systemd.READY, "STATUS=fine")

    assert heard.recv(1024) == b"READY=1\nSTATUS=fine"


def test_a_reload_is_told_with_its_moment(heard: socket.socket):
    systemd.reloading()

    first, second = heard.recv(1024).decode().split("\n")
    assert first == "RELOADING=1"
    assert int(second.removeprefix("MONOTONIC_USEC=")) > 0


def test_nobody_is_told_where_nobody_listens(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    systemd.tell(systemd.READY)
    monkeypatch.setenv("NOTIFY_SOCKET", "/nowhere/at/all")
    systemd.tell(systemd.READY)


def test_an_abstract_socket_is_found(monkeypatch: pytest.MonkeyPatch):
    name = f"ronda-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind("\0" + name)
        listening.settimeout(5)
        monkeypatch.setenv("NOTIFY_SOCKET", "@" + name)
        systemd.tell(systemd.STOPPING)

        assert listening.recv(1024) == b"STOPPING=1"


def test_a_loop_that_turns_says_so(
    heard: socket.socket, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("WATCHDOG_USEC", "2000")

    async def play() -> None:
        beating = asyncio.create_task(systemd.stay_alive())
        for _ in range(3):
            told = await asyncio.to_thread(heard.recv, 1024)
            assert told == b"WATCHDOG=1"
        beating.cancel()

    asyncio.run(play())


@pytest.mark.parametrize(
    ("microseconds", "pid"), [("", None), ("soon", None), ("2000", "1")]
)
def test_nothing_is_said_that_was_not_asked_for(
    monkeypatch: pytest.MonkeyPatch, microseconds: str, pid: str | None
):
    monkeypatch.setenv("WATCHDOG_USEC", microseconds)
    if pid is not None:
        monkeypatch.setenv("WATCHDOG_PID", pid)

    asyncio.run(asyncio.wait_for(systemd.stay_alive(), 5))
