"""The keeper as the daemon sees it: started, given programs to run, and ended."""

import asyncio
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Self

import msgspec
from msgspec import Struct

from ronda.model import Ran
from ronda.threads import in_thread

START = 10.0  # seconds that a keeper has to start, and to end
SLACK = 30.0  # seconds beyond its time limits after which a minder counts as lost
# By its file: its package would bring along all that the daemon needs. As a module and
# not as a script, so that it is compiled but once.
_LOAD = """\
import sys
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("ronda.fetch.keeper", sys.argv.pop(1))
module = module_from_spec(spec)
spec.loader.exec_module(module)
module.main()
"""
COMMAND = (
    *(sys.executable, "-I", "-c", _LOAD),
    str(Path(__file__).with_name("keeper.py")),
)
_DIED = Ran(failure="the process that runs programs has died")


class Order(Struct, frozen=True, kw_only=True):
    """What a minder is to do."""

    command: tuple[str, ...]
    input: str = ""
    environment: dict[str, str]
    data: str = ""  # the folder that is kept; "": no folders are named
    timeout: float
    grace: float  # seconds between being asked to end and being killed
    memory: int | None = None  # megabytes
    file_size: int | None = None  # megabytes
    files: int
    output: int  # kilobytes


class Keeper:
    """A process of ours that runs programs; use `start`."""

    def __init__(
        self, process: subprocess.Popen[bytes], control: socket.socket, scratch: str
    ) -> None:
        self._process = process
        self._scratch = scratch  # of all that it runs; it is removed in the end
        self._control = control
        self._loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        self._under_way: set[asyncio.StreamWriter] = set()
        self._exit = os.pidfd_open(process.pid)
        self._loop.add_reader(self._exit, self._on_exit)
        self.door: socket.socket | None = None  # within its wall, if there is one

    @classmethod
    async def start(cls, walls: bool) -> Self:
        """Start one, behind a wall where that is wanted and allowed.

        Raises:
            OSError: it does not start.
        """
        scratch = tempfile.mkdtemp(prefix="ronda-scratch-")
        try:
            made = cls(*_spawn(walls, scratch), scratch)
        except OSError:
            os.rmdir(scratch)  # noqa: PTH106  # it is empty, and this is quick
            raise
        try:
            async with asyncio.timeout(START):
                await made._greet()
        except BaseException:
            await made.close()
            raise
        return made

    async def _greet(self) -> None:
        await self._ready(self._loop.add_reader, self._loop.remove_reader)
        data, descriptors, _, _ = socket.recv_fds(self._control, 16, 1)
        if not data:
            raise ConnectionError("the process that runs programs does not start")
        if descriptors:
            self.door = socket.socket(fileno=descriptors[0])

    @property
    def is_alive(self) -> bool:
        """Whether it can be given more to do."""
        return not self._ended.is_set()

    async def run(self, order: Order) -> Ran:
        """Run a program; who does not wait to the end has it killed."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                await self._hand_over(theirs)
            except OSError:
                ours.close()
                return _DIED
        reader, writer = await asyncio.open_connection(sock=ours)
        self._under_way.add(writer)
        try:
            data = msgspec.json.encode(order)
            writer.write(len(data).to_bytes(4) + data)
            async with asyncio.timeout(order.timeout + order.grace + SLACK):
                return _ran(await reader.read())
        except TimeoutError:
            return Ran(failure="it could not be killed", timed_out=True)
        except OSError:
            return _DIED
        finally:
            self._under_way.discard(writer)
            writer.close()

    async def _hand_over(self, end: socket.socket) -> None:
        while True:
            try:
                socket.send_fds(self._control, [b"r"], [end.fileno()])
            except BlockingIOError:
                await self._ready(self._loop.add_writer, self._loop.remove_writer)
            else:
                return

    async def _ready(self, add: Any, remove: Any) -> None:
        """Wait until the socket can be read, or written."""
        ready = self._loop.create_future()
        add(self._control, lambda: None if ready.done() else ready.set_result(None))
        try:
            await ready
        finally:
            remove(self._control)

    async def close(self) -> None:
        """End it and what it runs: it goes when it has seen its minders off."""
        self._control.close()
        for writer in self._under_way:
            writer.close()
        if self.door is not None:
            self.door.close()
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(2 * START):  # it waits for its minders
                    await self._ended.wait()
        finally:
            if self.is_alive:
                self._process.kill()
                self._on_exit()
        # Mostly it has tidied up itself; not when it was killed.
        await in_thread(lambda: shutil.rmtree(self._scratch, ignore_errors=True))

    def _on_exit(self) -> None:
        self._loop.remove_reader(self._exit)
        os.close(self._exit)
        self._process.wait()
        self._ended.set()


def _spawn(walls: bool, scratch: str) -> tuple[subprocess.Popen[bytes], socket.socket]:
    ours, theirs = socket.socketpair()
    with theirs:
        number = theirs.fileno()
        arguments = [str(number), "walled" if walls else "open", scratch]
        try:
            process = subprocess.Popen(  # noqa: S603  # of our own
                [*COMMAND, *arguments],
                stdin=subprocess.DEVNULL,
                pass_fds=[number],
                start_new_session=True,
            )
        except OSError:
            ours.close()
            raise
    ours.setblocking(False)
    return process, ours


def _ran(data: bytes) -> Ran:
    """What a minder has told; nothing, if it has died before."""
    return Ran(**msgspec.json.decode(data)) if data else _DIED
