"""The keeper of external programs: a small process that forks a minder for each run.

The daemon starts it from this file alone, not as a part of its package: it imports
nothing but the standard library, so that it starts in a blink and a fork of it costs
next to nothing, however large the daemon.

Where the system allows it, the keeper lives in a network namespace whose only way out
is a door it hands to the daemon, and each minder is the first process of a namespace of
processes: when it ends, the kernel ends everything that the program has left behind.
Elsewhere the minder adopts what the program leaves, and ends it one by one.

A minder reads its order from a socket, watches the program, and writes what became of
it. When the daemon lets go of that socket, the program is killed.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from math import ceil, inf
from pathlib import Path
from typing import Any

CHUNK = 1 << 16  # bytes read at once
ERRORS = 4096  # bytes that are kept of standard error: its end
PATIENCE = 10.0  # seconds that an order may take to arrive, and minders to end
SPARE = 10  # seconds of the processor beyond the seconds of the clock
PROCESSES = 1024  # of this user, where the kernel counts them

# linux/sched.h, linux/prctl.h, linux/mount.h, linux/sockios.h, linux/if.h
_NEW_USERS, _NEW_NET = 0x1000_0000, 0x4000_0000
_NEW_PIDS, _NEW_MOUNTS = 0x2000_0000, 0x0002_0000
_DEATH_SIGNAL, _DROP_BOUND, _SUBREAPER, _NO_NEW_RIGHTS = 1, 24, 36, 38
_NO_SUID, _NO_DEVICES, _NO_EXEC, _DEEP, _PRIVATE = 2, 4, 8, 0x4000, 0x40000
_SET_FLAGS, _UP = 0x8914, 1

_libc = ctypes.CDLL(None, use_errno=True)
Order = dict[str, Any]


def main() -> None:
    """Keep programs until the daemon closes its end; in a fork: mind one of them."""
    descriptor, way, scratch = sys.argv[1:]
    control = socket.socket(fileno=int(descriptor))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the daemon decides what they mean
    door = _wall() if way == "walled" and _may_wall() else None
    if door is not None and not _is_first_behind_the_wall(control):
        return
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how a minder ended
    if door is None:
        control.send(b"open")
    else:
        socket.send_fds(control, [b"walled"], [door.fileno()])
        door.close()
    while (link := _next(control)) is not None:
        if _is_minder(walled=door is not None):
            control.close()
            mind(link, scratch)
            os._exit(0)  # leaving the interpreter in order takes half of the time
        link.close()
    _wait_for_minders()
    _remove(scratch)


def _next(control: socket.socket) -> socket.socket | None:
    """The socket of the next run; None when the daemon wants no more."""
    data, descriptors, _, _ = socket.recv_fds(control, 1, 1)
    return socket.socket(fileno=descriptors[0]) if data else None


def _wait_for_minders() -> None:
    """Wait: all of them hear of the end by themselves. An alarm ends who does not."""
    signal.alarm(int(PATIENCE))
    with contextlib.suppress(ChildProcessError):
        os.wait()  # returns when none is left, as SIGCHLD is ignored


# -- walls -------------------------------------------------------------------------


def _may_wall() -> bool:
    """Whether there may be a wall, tried in a fork: half of one could not be left."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            _wall()
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


def _wall() -> socket.socket:
    """Leave the network for an empty one; the door in it, where the daemon listens."""
    user, group = os.getuid(), os.getgid()
    try:
        _call("unshare", _NEW_USERS | _NEW_NET | _NEW_PIDS)
    except OSError:  # root may, where namespaces of users are off
        _call("unshare", _NEW_NET | _NEW_PIDS)
    else:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh22x", b"lo", _UP))
    return socket.create_server(("127.0.0.1", 0), backlog=128)


def _is_first_behind_the_wall(control: socket.socket) -> bool:
    """Fork: only a child is within the new namespace of processes, as its first.

    The parent waits for its end, and nothing of the daemon is open in it.
    """
    child = os.fork()
    if child == 0:
        _control_process(_DEATH_SIGNAL, signal.SIGKILL)
        return True
    control.close()
    os.waitpid(child, 0)
    return False


def _is_minder(walled: bool) -> bool:
    """Fork; whether this is the child. If there can be none, the daemon will see it."""
    try:
        if not walled:
            return os.fork() == 0
        ours = os.open("/proc/self/ns/pid", os.O_RDONLY)
        try:
            _call("unshare", _NEW_PIDS)  # for the next child, as its first
            return os.fork() == 0
        finally:
            with contextlib.suppress(OSError):  # the child may not, and need not
                _call("setns", ours, _NEW_PIDS)
            os.close(ours)
    except OSError:
        return False


def _own_processes() -> None:
    """Show the processes of this namespace in /proc, where that is allowed."""
    with contextlib.suppress(OSError):
        _call("unshare", _NEW_MOUNTS)
        _call("mount", None, b"/", None, ctypes.c_ulong(_DEEP | _PRIVATE), None)
        flags = ctypes.c_ulong(_NO_SUID | _NO_DEVICES | _NO_EXEC)
        _call("mount", b"proc", b"/proc", b"proc", flags, None)


# -- minding -----------------------------------------------------------------------


def mind(link: socket.socket, root: str) -> None:
    """Carry out the order that comes over a socket, and answer over it."""
    _control_process(_SUBREAPER, 1)
    _control_process(_DEATH_SIGNAL, signal.SIGTERM)
    for number in (signal.SIGINT, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)  # a program would inherit it
    signal.signal(signal.SIGTERM, lambda *_: _let_go(link))
    if os.getpid() == 1:
        _own_processes()
    link.settimeout(PATIENCE)
    with contextlib.suppress(OSError, EOFError), link:
        order = json.loads(_read(link, int.from_bytes(_read(link, 4))))
        link.sendall(json.dumps(_carry_out(order, link, root)).encode())


def _let_go(link: socket.socket) -> None:
    """The keeper has died: go on as if the daemon had let go of the socket."""
    with contextlib.suppress(OSError):
        link.shutdown(socket.SHUT_RDWR)


def _read(link: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        more = link.recv(min(size - len(data), CHUNK))
        if not more:
            raise EOFError
        data += more
    return bytes(data)


def _carry_out(order: Order, link: socket.socket, root: str) -> dict[str, object]:
    """What became of a program, whatever that is."""
    os.umask(0o077)
    try:
        scratch = tempfile.mkdtemp(dir=root)
    except OSError as error:
        return {"failure": f"no scratch folder: {error.strerror}"}
    try:
        if order["data"]:
            Path(order["data"]).mkdir(parents=True, exist_ok=True)
        watch = Watch(_start(order, scratch), order, link)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return {"failure": _words(order["command"][0], error)}
    else:
        return watch.result()
    finally:
        _sweep()
        _remove(scratch)


def _start(order: Order, scratch: str) -> subprocess.Popen[bytes]:
    folders = [scratch, order["data"]] if order["data"] else []
    environment = order["environment"] | {"HOME": scratch, "TMPDIR": scratch}
    if folders:
        environment |= {"RONDA_SCRATCH": scratch, "RONDA_DATA": order["data"]}
    # A file, not a pipe: a program need not read what it is given.
    with tempfile.TemporaryFile(dir=scratch) as given:
        given.write(order["input"].encode())
        given.seek(0)
        return subprocess.Popen(  # noqa: S603  # what the operator put there
            [*order["command"], *folders],
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=scratch,
            env=environment,
            start_new_session=True,
            preexec_fn=lambda: _limit(order),  # noqa: PLW1509  # no threads here
        )


def _limit(order: Order) -> None:
    """In the child, just before it becomes the program."""
    _control_process(_DEATH_SIGNAL, signal.SIGKILL)
    with contextlib.suppress(OSError):  # ends with the last right, or without any
        for right in range(64):
            _control_process(_DROP_BOUND, right)
    _control_process(_NO_NEW_RIGHTS, 1)
    megabyte = 1 << 20
    seconds = ceil(order["timeout"]) + SPARE
    _bound(resource.RLIMIT_CORE, 0)
    _bound(resource.RLIMIT_CPU, seconds)
    _bound(resource.RLIMIT_NOFILE, order["files"])
    if os.getuid() != 0:  # root is not counted
        _bound(resource.RLIMIT_NPROC, PROCESSES)
    if order["file_size"]:
        _bound(resource.RLIMIT_FSIZE, order["file_size"] * megabyte)
    if order["memory"]:
        _bound(resource.RLIMIT_AS, order["memory"] * megabyte)


def _bound(kind: int, most: int) -> None:
    _, hard = resource.getrlimit(kind)
    least = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (least, least))


def _words(program: str, error: Exception) -> str:
    """Why a program could not be started, in words for who wrote it."""
    if isinstance(error, FileNotFoundError) and Path(program).exists():
        return f"{program}: the interpreter that its first line names is not there"
    if isinstance(error, PermissionError):
        return f"{program}: not executable"
    if isinstance(error, OSError) and error.strerror == os.strerror(8):  # ENOEXEC
        return f"{program}: it has no first line such as #!/bin/sh"
    text = error.strerror if isinstance(error, OSError) else str(error)
    return f"{program}: {text}"


class Watch:
    """A program under way: until when it may run, and what it has written."""

    def __init__(
        self, process: subprocess.Popen[bytes], order: Order, link: socket.socket
    ) -> None:
        self._process = process
        self._most = order["output"] * 1024
        self._grace: float = order["grace"]
        self._began = time.monotonic()
        self._due = self._began + order["timeout"]  # to be ended, then to be killed
        self._output, self._errors = bytearray(), bytearray()
        self._ended = self._timed_out = self._talks_too_much = False
        self._exit = os.pidfd_open(process.pid)
        self._pipes = {
            process.stdout.fileno(): self._output,  # type: ignore[union-attr]
            process.stderr.fileno(): self._errors,  # type: ignore[union-attr]
        }
        self._act: dict[int, Callable[[], None]] = {
            self._exit: self._end,
            link.fileno(): _kill,  # nobody waits for it any more
        }

    def result(self) -> dict[str, object]:
        """Wait for the end of it; what is to be told."""
        poll = select.poll()
        for descriptor in (*self._pipes, *self._act):
            poll.register(descriptor, select.POLLIN)
        while not self._ended:
            if time.monotonic() >= self._due:
                self._stop()
            wait = None if self._due == inf else self._due - time.monotonic()
            for descriptor, _ in poll.poll(wait and max(0, ceil(wait * 1000))):
                if descriptor in self._act:
                    self._act[descriptor]()
                    poll.unregister(descriptor)
                elif not self._take(descriptor):
                    poll.unregister(descriptor)
        seconds = time.monotonic() - self._began
        _, status = os.waitpid(self._process.pid, 0)
        _sweep()
        for descriptor in self._pipes:
            self._take_rest(descriptor)
        return self._told(os.waitstatus_to_exitcode(status), seconds)

    def _stop(self) -> None:
        """Ask the program and its group to end; the second time, do not ask."""
        if self._timed_out:
            self._due = inf
            _kill()
            return
        self._timed_out = True
        self._due = time.monotonic() + self._grace
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)

    def _end(self) -> None:
        self._ended = True

    def _take(self, descriptor: int) -> bool:
        """Keep what can be read; whether there may be more."""
        data = os.read(descriptor, CHUNK)
        kept = self._pipes[descriptor]
        if kept is self._errors:
            kept += data
            del kept[:-ERRORS]
            return bool(data)
        room = self._most - len(kept)
        kept += data[:room]
        if len(data) > room and not self._talks_too_much:
            self._talks_too_much = True
            _kill()
        return bool(data)

    def _take_rest(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        with contextlib.suppress(BlockingIOError):
            while self._take(descriptor):
                pass

    def _told(self, code: int, seconds: float) -> dict[str, object]:
        most = f"it wrote more than {self._most // 1024} KB to its standard output"
        return {
            "code": code if code >= 0 and not self._talks_too_much else None,
            "signal": max(0, -code),
            "timed_out": self._timed_out,
            "output": _text(self._output),
            "errors": _text(self._errors),
            "seconds": seconds,
            "failure": most if self._talks_too_much else "",
        }


def _text(data: bytearray) -> str:
    return data.decode("utf-8", "replace").replace("\0", "")


# -- sweeping ----------------------------------------------------------------------


def _kill() -> None:
    """Kill what was started here: all of a namespace, else the children."""
    with contextlib.suppress(ProcessLookupError):
        if os.getpid() == 1:
            os.kill(-1, signal.SIGKILL)
            return
    for child in Path("/proc/thread-self/children").read_text().split():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(child), signal.SIGKILL)


def _sweep() -> None:
    """Kill until nobody is left; whoever loses a parent becomes a child of ours."""
    with contextlib.suppress(ChildProcessError):
        while True:
            _kill()
            os.waitpid(-1, 0)


def _remove(folder: str) -> None:
    """Remove a folder, also one that was locked."""

    def unlock(function: Callable[[str], None], path: str, _: object) -> None:
        with contextlib.suppress(OSError):
            Path(path).parent.chmod(0o700)
            Path(path).chmod(0o700)
            function(path)

    shutil.rmtree(folder, onerror=unlock)
    shutil.rmtree(folder, ignore_errors=True)  # what was within the locked ones


# -- system calls ------------------------------------------------------------------


def _control_process(option: int, value: int) -> None:
    zero = ctypes.c_ulong(0)
    _call("prctl", option, ctypes.c_ulong(value), zero, zero, zero)


def _call(name: str, *arguments: object) -> None:
    if getattr(_libc, name)(*arguments) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)
