"""A task of a plan: what to ask of a target, and what the answer means."""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from ronda.model import (
    Answer,
    Ask,
    Done,
    NotApplicable,
    Request,
    Service,
    Verdict,
    Visit,
)

Begun = Request | Verdict | NotApplicable
Judged = Ask | Done | NotApplicable


class Task(Protocol):
    """Built-in, a plug-in or a program, all the same. Both methods are pure."""

    def begin(self, visit: Visit, service: Service) -> Begun:
        """The first request, or what can be said without one."""

    def judge(self, visit: Visit, answer: Answer, now: float) -> Judged:
        """What an answer means: a verdict, or the next request (now: epoch)."""


class Row(Struct, frozen=True, kw_only=True):
    """A task as it is registered, or why it cannot be."""

    name: str
    description: str = ""
    kinds: tuple[str, ...] = ()  # of targets that it is for; none: for all
    task: Task | None = None  # None: it cannot be used
    fault: str = ""  # why
    procedure: str = "built_in"  # how it is run
    function: str = ""  # its name in the code
    script: str = ""  # the name of its file
    language: str = "Python"
    timeout: float = 0.0  # seconds that one request of it may take; 0: as any other

    def is_for(self, kind: str) -> bool:
        """Whether it has anything to say of a kind of target."""
        return self.task is not None and (not self.kinds or kind in self.kinds)


Judge = Callable[[Visit, Answer, float], Judged]


class Asked:
    """A task from two functions: what to ask, and what the answer means."""

    def __init__(self, ask: Callable[[Visit, Service], Begun], judge: Judge) -> None:
        self._ask = ask
        self._judge = judge

    def begin(self, visit: Visit, service: Service) -> Begun:
        """What the first of them says."""
        return self._ask(visit, service)

    def judge(self, visit: Visit, answer: Answer, now: float) -> Judged:
        """What the second of them says."""
        return self._judge(visit, answer, now)
