"""Progress on standard error: a live display in a terminal, plain lines elsewhere."""

import asyncio
import os
import sys
import time
from types import TracebackType
from typing import Self

from ronda.cli.crew import busiest, counted, line
from ronda.cli.outputs import terminal_style
from ronda.cli.report.style import COLOURS, GREY
from ronda.config import Report
from ronda.frontier import Wait
from ronda.model import State
from ronda.workers.account import Account

LIVE = 0.2  # seconds between two drawings
PLAIN = 10.0  # seconds between two lines
BAR = 24  # characters
_CLEAR = "\r\x1b[2K"


class Progress:
    """Shows how far a run is, what was found, and whom it waits for."""

    def __init__(self, run: Account, settings: Report, *, watch: bool = False) -> None:
        self._run = run
        self._style = terminal_style(sys.stderr, settings)
        self._live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._wanted = settings.progress and not settings.quiet
        self._handle: asyncio.TimerHandle | None = None
        self._lines = 0
        self._watch = watch  # show the crew too
        self._hosts: list[Wait] = []
        self._look_at = 0.0

    async def __aenter__(self) -> Self:
        if self._wanted:
            self._later()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._handle is not None:
            self._handle.cancel()
        if self._live:
            self._erase()

    def _later(self) -> None:
        loop = asyncio.get_running_loop()
        self._handle = loop.call_later(LIVE if self._live else PLAIN, self._show)

    def _show(self) -> None:
        if self._live:
            self._erase()
            lines = [self._bar(), *self._waiting(), *self._crew()]
            sys.stderr.write("\n".join(lines))
            self._lines = len(lines)
        else:
            words = [self._plain() + self._counts(), *self._waiting()]
            lines = ["  ".join(words), *self._crew()]
            sys.stderr.write("\n".join(lines) + "\n")
        sys.stderr.flush()
        self._later()

    def _erase(self) -> None:
        if self._lines:
            up = "\x1b[1A" + _CLEAR
            sys.stderr.write(_CLEAR + up * (self._lines - 1))
            sys.stderr.flush()
            self._lines = 0

    def _bar(self) -> str:
        text, counts = self._plain(), self._counts()
        if len(text) + len(counts) > self._style.width:
            return text[: self._style.width]  # a line that wraps cannot be wiped off
        if BAR + 1 + len(text) + len(counts) > self._style.width:
            return text + counts
        full = BAR * self._run.done // max(self._run.total, 1)
        bar = "━" * full + self._style.paint("─" * (BAR - full), GREY)
        return f"{bar} {text}{counts}"

    def _plain(self) -> str:
        done, total = self._run.done, self._run.total
        rate = done / max(self._run.seconds, 0.001)
        more = "" if self._run.fed else "+"
        words = [f"{done:,}/{total:,}{more} checked", f"{rate:,.0f}/s"]
        if self._run.fed and done:
            words.append(f"{span((total - done) / rate)} left")
        return ", ".join(words)

    def _counts(self) -> str:
        shown = [
            self._style.paint(f"{count:,} {state}", COLOURS[state])
            for state in State
            if (count := self._run.counts.get(state))
        ]
        return "  " + ", ".join(shown) if shown else ""

    def _waiting(self) -> list[str]:
        began = time.monotonic()
        if began >= self._look_at:  # with many hosts, a look takes its time
            self._hosts = self._run.waiting(3)
            self._look_at = began + 50 * (time.monotonic() - began)
        hosts = self._hosts
        if not hosts:
            return []
        names = ", ".join(_waits_for(wait) for wait in hosts)
        return [self._style.paint(f"waiting for {names}"[: self._style.width], GREY)]

    def _crew(self) -> list[str]:
        if not self._watch:
            return []
        glimpses = self._run.glimpses()
        lines = [counted(glimpses), *(f"  {line(seen)}" for seen in busiest(glimpses))]
        return [self._style.paint(text[: self._style.width], GREY) for text in lines]


class Rewriting:
    """Shows how far the pages of a copy are made readable offline."""

    def __init__(self, settings: Report) -> None:
        self._live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._wanted = settings.progress and not settings.quiet
        self._next_at = 0.0

    def __call__(self, done: int, total: int) -> None:
        """Told after each page."""
        now, over = time.monotonic(), done == total
        if not self._next_at:  # quick ones need not be told of
            self._next_at = now + LIVE
        if not self._wanted or (now < self._next_at and not (over and self._live)):
            return
        self._next_at = now + (LIVE if self._live else PLAIN)
        words = f"{done:,}/{total:,} saved pages made readable offline"
        before, after = (_CLEAR, "\n" if over else "") if self._live else ("", "\n")
        sys.stderr.write(before + words + after)
        sys.stderr.flush()


def _waits_for(wait: Wait) -> str:
    """A host, how much waits for it, and what it waits for itself."""
    words = f"{wait.queued:,}"
    if wait.seconds is not None:
        words += f", {wait.rule} {span(wait.seconds)}"
    return f"{wait.host or 'files'} ({words})"


def span(seconds: float) -> str:
    """A time in words, as exact as anybody wants it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
