"""URLs named on the command line and in lists, to what is watched."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct
from msgspec.structs import replace

from ronda.cli.report.safe import safe_text
from ronda.cli.report.words import left_out, problem_line
from ronda.cli.watch.session import Session
from ronda.errors import UrlError, UsageError
from ronda.model import Place, Problem
from ronda.probes import Handlers
from ronda.targets import gather
from ronda.targets.source import not_a_url
from ronda.targets.textlist import is_absolute
from ronda.urls import shown

if TYPE_CHECKING:
    from ronda.store.sql.adding import Given

MANY = 10_000  # problems that are told one by one


class Named(Struct, frozen=True):
    """What a command was told to work on."""

    urls: tuple[str, ...]
    files: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    every: float | None = None

    def __post_init__(self) -> None:
        """Nothing, or a file in the place of a URL, is a slip."""
        if not self.urls and not self.files:
            raise UsageError("no target named: give a URL, --file FILE, or -")
        if (*self.urls, *self.files).count("-") > 1:
            raise UsageError("-: standard input can be read once only")
        for text in self.urls:
            if text != "-" and not is_absolute(text) and _is_file(text):
                raise UsageError(f"'{shown(text)}' is a file; write --file {text}")
        for text in self.files:
            if is_absolute(text) and not _is_file(text):
                raise UsageError(f"--file '{shown(text)}': a URL; leave out --file")
            if Path(text).is_dir():
                raise UsageError(f"'{shown(text)}' is a folder: name a list in it")


class Reader:
    """Reads what was named, once; what cannot be used is kept, and the rest goes on."""

    def __init__(self, session: Session, named: Named) -> None:
        # What is watched for ever is not guessed from running text.
        self._check = replace(session.settings.check, strict_lists=True)
        self._handlers = Handlers(session.settings)
        self._named = named
        self._more: dict[str, Any] = {"labels": named.labels, "every": named.every}
        self._wrong = 0
        self.problems: list[Problem] = []  # the first of them

    def __iter__(self) -> Iterator["Given"]:
        for text in self._named.urls:
            if text == "-":
                yield from self._listed("-")
            elif (given := self._given(text)) is not None:
                yield given
        for name in self._named.files:
            yield from self._listed(name)

    @property
    def failed(self) -> bool:
        """Whether something could not be used."""
        return any(problem.grave for problem in self.problems)

    def _given(self, text: str) -> "Given | None":
        from ronda.workers.enrolment import enrol  # noqa: PLC0415  # see Session.opened

        if not is_absolute(text):
            self._note(not_a_url(text, Place("")))
            return None
        try:
            return enrol(text, self._handlers, **self._more)
        except UrlError as error:
            self._note(Problem(Place(""), str(error)))
            return None

    def _listed(self, name: str) -> Iterator["Given"]:
        from ronda.workers.enrolment import enrolled  # noqa: PLC0415

        # Not sys.stdin, for the same reasons as `ronda check`.
        with os.fdopen(os.dup(0), "rb", buffering=0) as stdin:
            for found in gather([name], self._check, stdin):
                if isinstance(found, Problem):
                    self._note(found)
                    continue
                written = found.written or found.url
                yield enrolled(found.url, written, self._handlers, **self._more)

    def _note(self, problem: Problem) -> None:
        self._wrong += 1
        if len(self.problems) < MANY:
            self.problems.append(problem)

    def tell(self) -> None:
        """Name on standard error what could not be used, a line each."""
        for problem in self.problems:
            click.echo(_line(problem), err=True)
        if self._wrong > len(self.problems):
            click.echo(left_out(self._wrong - len(self.problems)), err=True)

    def trees(self) -> list[dict[str, Any]]:
        """What could not be used, for programs."""
        return [
            {
                "document": safe_text(problem.place.document),
                "line": problem.place.line,
                "message": safe_text(problem.message),
            }
            for problem in self.problems
        ]


def named(command: Callable[..., Any]) -> Callable[..., Any]:
    """Let a command be told which URLs are meant, one by one or by lists."""
    command = click.option(
        "--file",
        "files",
        multiple=True,
        metavar="FILE",
        help="A list of URLs; - is standard input.",
    )(command)
    return click.argument("urls", nargs=-1, metavar="[URL]...")(command)


def _line(problem: Problem) -> str:
    line = safe_text(problem_line(problem))
    return shown(line, len(line))


def _is_file(text: str) -> bool:
    try:
        return bool(text) and Path(text).exists()
    except OSError:  # a name longer than any file's
        return False
