"""Which process of which machine this is, and whether another one has died.

A process number is used again, by another process or after a restart of the machine:
so the moment of its start is part of who it is, and so is the start of the machine.
"""

import os
import socket
from functools import cache
from pathlib import Path

from msgspec import Struct

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_NAMESPACE = Path("/proc/self/ns/pid")
_START = 22 - 3  # field of /proc/PID/stat, counted after the name in brackets
_STATE = 3 - 3
_SHORT = 8  # characters that are enough to tell runs of machines apart
_ENDED = "ZX"  # a process that nobody has waited for yet does nothing any more


class Identity(Struct, frozen=True):
    """A process, told from all others that are or were."""

    machine: str  # where process numbers mean the same, its name last; empty: not known
    pid: int
    started: int  # ticks since the machine was started


def myself() -> Identity:
    """This process."""
    pid = os.getpid()
    return Identity(_machine(), pid, _started(pid) or 0)


def is_dead(who: Identity) -> bool:
    """Whether a process has ended; False too when that cannot be known from here."""
    if not who.machine or _room(who.machine) != _room(_machine()):
        return False
    try:
        os.kill(who.pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # it is there, but another user's
    started = _started(who.pid)
    return started is not None and started != who.started


def name(machine: str) -> str:
    """The name of a machine, for people: what tells it apart, if it has none."""
    run, _, rest = machine.partition(" ")
    return rest.partition(" ")[2] or run[:_SHORT]


def _room(machine: str) -> list[str]:
    """What tells it from all others: names change, and two may have the same."""
    return machine.split(" ", 2)[:2]


@cache
def _machine() -> str:
    """This run of this machine, the room in it whose processes we see, and its name."""
    try:
        room = f"{_BOOT.read_text().strip()} {_NAMESPACE.readlink()}"
        return f"{room} {socket.gethostname()}".strip()
    except OSError:  # not Linux, or nothing of it is to be seen
        return ""


def _started(pid: int) -> int | None:
    """When a process was started, 0 if it has ended; None: it is not to be seen."""
    try:
        # The name before the last bracket may hold spaces and brackets.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return 0 if fields[_STATE] in _ENDED else int(fields[_START])
