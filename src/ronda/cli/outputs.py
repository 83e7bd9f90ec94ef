"""Where reports go: the terminal, and files named on the command line."""

import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from msgspec.structs import replace

from ronda.cli.report import FORMATS, Format, Style, format_for
from ronda.cli.report.safe import safe_summary
from ronda.cli.report.words import problem_line
from ronda.config import Report
from ronda.errors import UsageError
from ronda.model import Result, Summary
from ronda.store import Spool
from ronda.urls import shown

WIDTH = 100  # characters, where nobody says


class Outputs:
    """Every report of a run; files are opened before it, so mistakes show at once."""

    def __init__(self, settings: Report) -> None:
        self._settings = settings
        self._files = ExitStack()
        self._targets: list[tuple[Format, TextIO, Style]] = []
        if settings.format not in FORMATS:
            known = ", ".join(FORMATS)
            raise UsageError(f"report.format: '{settings.format}'; known: {known}")
        if not settings.quiet:
            style = terminal_style(sys.stdout, settings)
            self._targets.append((FORMATS[settings.format], sys.stdout, style))

    def __enter__(self) -> Self:
        for name in self._settings.output:
            found = format_for(name)
            try:
                opened = Path(name).open("w", encoding="utf-8", newline="")
            except OSError as error:
                raise UsageError(f"--output {name}: {error.strerror}") from None
            style = Style(verbose=self._settings.verbose)
            self._targets.append((found, self._files.enter_context(opened), style))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._files.close()

    @property
    def want_all(self) -> bool:
        """Whether any report tells of good results too."""
        return self._settings.verbose or any(f.good_too for f, _, _ in self._targets)

    def listener(self, spool: Spool) -> Callable[[Result], None] | None:
        """Writes the streamed formats while the run goes on."""
        streams = [(f.line, out) for f, out, _ in self._targets if f.line is not None]
        if not streams:
            return None

        def tell(result: Result) -> None:
            placed = replace(result, found_in=spool.places(result.url))
            for line, out in streams:
                out.write(line(placed) + "\n")
                out.flush()

        return tell

    def write(self, results: Spool, summary: Summary) -> None:
        """Write every report that is made at the end."""
        if self._settings.quiet:
            for problem in safe_summary(summary).problems:
                line = problem_line(problem)
                sys.stderr.write(shown(line, len(line)) + "\n")
        for found, out, style in self._targets:
            if found.line is None:
                found.write(results, summary, out, style)
                out.flush()


def terminal_style(out: TextIO, settings: Report) -> Style:
    """What a stream can show, and what the user wants of it."""
    terminal = out.isatty() and os.environ.get("TERM") != "dumb"
    colour = terminal and settings.colour and not os.environ.get("NO_COLOR")
    width = os.get_terminal_size(out.fileno()).columns if terminal else 0
    return Style(
        colour=colour,
        verbose=settings.verbose,
        width=width or WIDTH,
        # Terminals that are known to understand links; others would print them.
        hyperlinks=colour and bool({"VTE_VERSION", "KITTY_PID"} & os.environ.keys()),
    )
