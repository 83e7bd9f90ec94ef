"""Three ways to drive libcurl under asyncio, measured on the same list.

The question of the design: an epoll of our own with `perform` on the event loop,
`socket_action` on the event loop, or a loop in a thread with batched hand-over.
Each worker also does some work of its own, as a real one does: without it, a second
thread looks better than it is.
"""

import argparse
import asyncio
import os
import resource
import select
import socket
import threading
import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pycurl

AT_ONCE = 200
WORK = 400  # steps of a counting loop: about 10 µs
EDGES = select.EPOLLIN | select.EPOLLOUT | select.EPOLLET
FACTS = (
    pycurl.PRIMARY_IP,
    pycurl.NAMELOOKUP_TIME_T,
    pycurl.CONNECT_TIME_T,
    pycurl.APPCONNECT_TIME_T,
    pycurl.STARTTRANSFER_TIME_T,
    pycurl.TOTAL_TIME_T,
    pycurl.SIZE_DOWNLOAD_T,
)


class Handles:
    """What the three ways share: handles, and sockets put into an epoll."""

    def __init__(self, head: bool) -> None:
        self.epoll = select.epoll()
        self.multi = pycurl.CurlMulti()
        self.multi.setopt(pycurl.M_MAXCONNECTS, 2 * AT_ONCE)
        self.free = [self._make(head) for _ in range(AT_ONCE)]
        self.futures: dict[Any, asyncio.Future[int]] = {}
        self.opened: list[socket.socket] = []

    def _make(self, head: bool) -> Any:
        curl = pycurl.Curl()
        curl.setopt(pycurl.NOSIGNAL, 1)
        curl.setopt(pycurl.NOBODY, head)
        curl.setopt(pycurl.WRITEFUNCTION, lambda _chunk: None)
        return curl

    def watch_edges(self) -> None:
        for curl in self.free:
            curl.setopt(pycurl.OPENSOCKETFUNCTION, self._open)

    def _open(self, _purpose: int, address: Any) -> socket.socket:
        kind = address.socktype | socket.SOCK_NONBLOCK
        opened = socket.socket(address.family, kind, address.protocol)
        self.epoll.register(opened.fileno(), EDGES)
        self.opened.append(opened)
        return opened

    def add(self, url: str, future: "asyncio.Future[int]") -> None:
        curl = self.free.pop()
        curl.setopt(pycurl.URL, url)
        self.futures[curl] = future
        self.multi.add_handle(curl)

    def ended(self) -> Iterable[tuple["asyncio.Future[int]", int]]:
        while self.opened:
            self.opened.pop().close()
        while True:
            more, good, bad = self.multi.info_read()
            if bad:
                raise SystemExit(f"bench: {bad[0][1:]}")
            for curl in good:
                self.multi.remove_handle(curl)
                self.free.append(curl)
                _ = [curl.getinfo(fact) for fact in FACTS]
                yield self.futures.pop(curl), curl.getinfo(pycurl.RESPONSE_CODE)
            if not more:
                return


class OnLoop:
    """On the event loop: one reader for the epoll that holds all sockets."""

    def __init__(self, head: bool) -> None:
        self.loop = asyncio.get_running_loop()
        self.handles = Handles(head)
        self.kicked = False
        self.handles.multi.setopt(pycurl.M_TIMERFUNCTION, self._on_timer)
        self.loop.add_reader(self.handles.epoll.fileno(), self._on_sockets)

    def ask(self, url: str) -> "asyncio.Future[int]":
        future: asyncio.Future[int] = self.loop.create_future()
        self.handles.add(url, future)
        self.kick()
        return future

    def kick(self) -> None:
        if not self.kicked:
            self.kicked = True
            self.loop.call_soon(self._kick)

    def _on_timer(self, milliseconds: int) -> None:
        if milliseconds == 0:
            self.kick()

    def _kick(self) -> None:
        self.kicked = False
        self.move()
        self.settle()

    def _on_sockets(self) -> None:
        self.moved(self.handles.epoll.poll(0))
        self.settle()

    def settle(self) -> None:
        for future, status in self.handles.ended():
            future.set_result(status)

    def move(self) -> None:
        raise NotImplementedError

    def moved(self, events: list[tuple[int, int]]) -> None:
        raise NotImplementedError


class Perform(OnLoop):
    """Edge-triggered; any event at all calls `perform` once (what Ronda does)."""

    def __init__(self, head: bool) -> None:
        super().__init__(head)
        self.handles.watch_edges()

    def move(self) -> None:
        self.handles.multi.perform()

    def moved(self, events: list[tuple[int, int]]) -> None:
        self.handles.multi.perform()


class SocketAction(OnLoop):
    """libcurl says what it waits for; each event is one call."""

    def __init__(self, head: bool) -> None:
        super().__init__(head)
        self.handles.multi.setopt(pycurl.M_SOCKETFUNCTION, self._on_interest)

    def _on_interest(self, what: int, fd: int, _multi: object, _data: object) -> None:
        epoll = self.handles.epoll
        if what == pycurl.POLL_REMOVE:
            with suppress(OSError):
                epoll.unregister(fd)
            return
        wanted = (select.EPOLLIN if what & 1 else 0) | (
            select.EPOLLOUT if what & 2 else 0
        )
        try:
            epoll.modify(fd, wanted)
        except FileNotFoundError:
            epoll.register(fd, wanted)

    def move(self) -> None:
        self.handles.multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)

    def moved(self, events: list[tuple[int, int]]) -> None:
        for fd, event in events:
            bits = (event & 1) | (event & 4) >> 1 | (event & 8) >> 1
            self.handles.multi.socket_action(fd, bits)


class Threaded:
    """A loop in a thread; requests and answers are handed over in batches."""

    def __init__(self, head: bool) -> None:
        self.loop = asyncio.get_running_loop()
        self.handles = Handles(head)
        self.handles.watch_edges()
        self.asked: deque[tuple[str, asyncio.Future[int]]] = deque()
        self.answers: deque[tuple[asyncio.Future[int], int]] = deque()
        self.told = False
        self.sleeping = False
        self.bell = os.eventfd(0, os.EFD_NONBLOCK)
        self.handles.epoll.register(self.bell, select.EPOLLIN)
        threading.Thread(target=self._run, daemon=True).start()

    def ask(self, url: str) -> "asyncio.Future[int]":
        future: asyncio.Future[int] = self.loop.create_future()
        self.asked.append((url, future))
        if self.sleeping:
            self.sleeping = False
            os.eventfd_write(self.bell, 1)
        return future

    def _settle(self) -> None:
        self.told = False
        while self.answers:
            future, status = self.answers.popleft()
            future.set_result(status)

    def _run(self) -> None:
        handles = self.handles
        while True:
            while self.asked and handles.free:
                handles.add(*self.asked.popleft())
            handles.multi.perform()
            self.answers.extend(handles.ended())
            if self.answers and not self.told:
                self.told = True
                self.loop.call_soon_threadsafe(self._settle)
            self.sleeping = True
            if not self.asked:
                for fd, _ in handles.epoll.poll(0.05):
                    if fd == self.bell:
                        os.eventfd_read(self.bell)
            self.sleeping = False


WAYS = {"perform": Perform, "socket_action": SocketAction, "thread": Threaded}


def work() -> None:
    total = 0
    for step in range(WORK):
        total += step


async def drive(way: str, urls: list[str], head: bool) -> None:
    engine = WAYS[way](head)
    waiting = iter(urls)

    async def worker() -> None:
        for url in waiting:
            if await engine.ask(url) != 200:
                raise SystemExit(f"bench: {url} is not 200")
            work()

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(worker())


def main() -> None:
    """`python -m bench.loops LIST WAY METHOD`: requests a second and CPU."""
    options = argparse.ArgumentParser()
    options.add_argument("list", type=Path)
    options.add_argument("way", choices=WAYS)
    options.add_argument("method", choices=["GET", "HEAD"])
    given = options.parse_args()
    urls = given.list.read_text().split()
    start = time.monotonic()
    asyncio.run(drive(given.way, urls, given.method == "HEAD"))
    seconds = time.monotonic() - start
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = (used.ru_utime + used.ru_stime) / len(urls) * 1000
    print(f"{given.way:14}{given.method:5}{len(urls) / seconds:9,.0f}/s {cpu:.4f} ms")
    os._exit(0)  # the thread of one of them never ends


if __name__ == "__main__":
    main()
