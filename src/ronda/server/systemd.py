"""Tells systemd how the daemon is: ready, reloading, stopping, alive."""

import asyncio
import contextlib
import os
import socket
import time

ALIVE = "WATCHDOG=1"
READY = "READY=1"
STOPPING = "STOPPING=1"


def tell(*words: str) -> None:
    """Tell it, if it wants to know; who runs us otherwise does not."""
    name = os.environ.get("NOTIFY_SOCKET", "")
    if not name:
        return
    if name.startswith("@"):
        name = "\0" + name[1:]
    with (
        contextlib.suppress(OSError),
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out,
    ):
        out.sendto("\n".join(words).encode(), name)


def reloading() -> None:
    """Tell it that settings are read again; READY follows."""
    tell("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")


async def stay_alive() -> None:
    """Say that the event loop turns, twice as often as systemd wants to hear it."""
    given = os.environ.get("WATCHDOG_USEC", "")
    if not given.isdecimal() or os.environ.get("WATCHDOG_PID") not in (
        None,
        str(os.getpid()),
    ):
        return
    while True:
        tell(ALIVE)
        await asyncio.sleep(int(given) / 2_000_000)
