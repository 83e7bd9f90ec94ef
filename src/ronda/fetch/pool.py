"""Several engines, each in a process of its own, behind the door of one.

The frontier stays in the main process, so politeness needs no agreement: the children
only carry requests. A host always goes to the same child, which keeps its connections.
"""

import asyncio
import os
import signal
import socket
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Self

from msgspec import Struct

from ronda import urls
from ronda.config import Fetch
from ronda.fetch.engine import Engine
from ronda.fetch.guard import Guard
from ronda.fetch.wire import Wire
from ronda.model import ORPHANED, Answer, Request

Settle = Callable[[Answer], None]
_CHILD_DIED = Answer(error=ORPHANED, error_text="the process that asked has died")
LIVES = 3  # times that a child is replaced


class Question(Struct, frozen=True, array_like=True, gc=False):
    """A request on its way to a child."""

    number: int
    request: Request
    address: str
    last: bool


class Reply(Struct, frozen=True, array_like=True):
    """An answer on its way back."""

    number: int
    answer: Answer


class Child:
    """A process that asks, as the main process sees it."""

    def __init__(
        self,
        settings: Fetch,
        guard: Guard,
        evidence: bool,
        others: list[socket.socket],
    ) -> None:
        ours, theirs = socket.socketpair()
        self.socket = ours
        self.pid = os.fork()
        if self.pid == 0:
            for end in (ours, *others):
                end.close()
            _be_child(settings, guard, evidence, theirs)
        theirs.close()
        self._open: dict[int, Settle] = {}
        self._number = 0
        self.dead = False
        self.wire = Wire(ours, Reply, self._receive, self._fail)

    def ask(self, request: Request, address: str, last: bool, settle: Settle) -> None:
        """Send a request; `settle` is called when its answer is back."""
        self._number += 1
        self._open[self._number] = settle
        self.wire.send(Question(self._number, request, address, last))

    def drop(self, settle: Settle) -> None:
        """Forget the request that would be settled so; the child's time-out ends it."""
        for number, waiting in self._open.items():
            if waiting == settle:
                del self._open[number]
                return

    def close(self) -> None:
        """End the process, which holds nothing that could be lost."""
        self.wire.close()
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def _receive(self, replies: list[Reply]) -> None:
        for reply in replies:
            settle = self._open.pop(reply.number, None)
            if settle is not None:  # else it was dropped
                settle(reply.answer)

    def _fail(self) -> None:
        self.dead = True
        unanswered, self._open = self._open, {}
        for settle in unanswered.values():
            settle(_CHILD_DIED)


class Pool:
    """Carries requests like one engine, on as many cores as it has processes."""

    def __init__(self, settings: Fetch, guard: Guard, evidence: bool = True) -> None:
        self._make = partial(Child, settings, guard, evidence)
        self._children: list[Child] = []
        for _ in range(settings.processes):
            self._children.append(self._make(self._sockets()))
        self.deaths = 0

    def _sockets(self) -> list[socket.socket]:
        return [child.socket for child in self._children]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for child in self._children:
            child.close()

    def ask(self, request: Request, address: str, last: bool, settle: Settle) -> None:
        """Start a request in the child that holds its host's connections."""
        number = hash(address or urls.host(request.url)) % len(self._children)
        child = self._children[number]
        if child.dead:
            if self.deaths >= LIVES * len(self._children):
                settle(_CHILD_DIED)  # whatever kills them would kill another
                return
            self.deaths += 1
            child.close()
            child = self._children[number] = self._make(self._sockets())
        child.ask(request, address, last, settle)

    def drop(self, settle: Settle) -> None:
        """Give up the request that would be settled so."""
        for child in self._children:
            child.drop(settle)


def _be_child(
    settings: Fetch, guard: Guard, evidence: bool, end: socket.socket
) -> None:
    """Ask until the other end is closed; never returns to what was forked."""
    code = 1
    try:
        # Signals reach the whole group; the main process decides what they mean.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        asyncio.run(_answer(settings, guard, evidence, end))
        code = 0
    finally:
        os._exit(code)


async def _answer(
    settings: Fetch, guard: Guard, evidence: bool, end: socket.socket
) -> None:
    over = asyncio.Event()
    async with Engine(settings, guard, evidence) as engine:

        def receive(questions: list[Question]) -> None:
            for q in questions:
                engine.ask(q.request, q.address, q.last, partial(reply, q.number))

        def reply(number: int, answer: Answer) -> None:
            wire.send(Reply(number, answer))

        wire = Wire(end, Question, receive, over.set)
        await over.wait()
