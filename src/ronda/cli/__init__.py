"""The command line: one command a file, one clear line for every mistake."""

import io
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from ronda import __version__
from ronda.cli.codes import INTERRUPTED, UNUSABLE
from ronda.cli.groups import Group
from ronda.errors import RondaError


def _check() -> click.Command:
    from ronda.cli.check import check  # noqa: PLC0415  # see Commands

    return check


def _crawl() -> click.Command:
    from ronda.cli.crawl import crawl  # noqa: PLC0415

    return crawl


def _simulate() -> click.Command:
    from ronda.cli.simulate import simulate  # noqa: PLC0415

    return simulate


def _demo() -> click.Command:
    from ronda.cli.demo.command import demo  # noqa: PLC0415

    return demo


def _audit() -> click.Command:
    from ronda.cli.audit.command import audit  # noqa: PLC0415

    return audit


def _robots() -> click.Command:
    from ronda.cli.robots.command import robots  # noqa: PLC0415

    return robots


def _why() -> click.Command:
    from ronda.cli.why import why  # noqa: PLC0415

    return why


def _target() -> click.Command:
    from ronda.cli.watch.target import target  # noqa: PLC0415

    return target


def _owner() -> click.Command:
    from ronda.cli.watch.owner import owner  # noqa: PLC0415

    return owner


def _register() -> click.Command:
    from ronda.cli.watch.register import register  # noqa: PLC0415

    return register


def _round() -> click.Command:
    from ronda.cli.watch.round import round_  # noqa: PLC0415

    return round_


def _service() -> click.Command:
    from ronda.cli.watch.service import service  # noqa: PLC0415

    return service


def _task() -> click.Command:
    from ronda.cli.task import task  # noqa: PLC0415

    return task


def _stats() -> click.Command:
    from ronda.cli.watch.stats import stats  # noqa: PLC0415

    return stats


def _db() -> click.Command:
    from ronda.cli.watch.db import db  # noqa: PLC0415

    return db


def _serve() -> click.Command:
    from ronda.cli.serve import serve  # noqa: PLC0415

    return serve


def _console() -> click.Command:
    from ronda.cli.console.command import console  # noqa: PLC0415

    return console


class Commands(Group):
    """Loads a command when it is called: each brings along what the others spare."""

    table: dict[str, Callable[[], click.Command]] = {  # noqa: RUF012
        "check": _check,
        "crawl": _crawl,
        "serve": _serve,
        "console": _console,
        "target": _target,
        "owner": _owner,
        "register": _register,
        "service": _service,
        "task": _task,
        "round": _round,
        "stats": _stats,
        "db": _db,
        "why": _why,
        "audit": _audit,
        "robots": _robots,
        "simulate": _simulate,
        "demo": _demo,
    }

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All of them, in the order of the table."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One of them, loaded."""
        return self.table[cmd_name]() if cmd_name in self.table else None

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """As click does it, which prints help on the way."""
        with _reader_may_go():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """As click does it."""
        with _reader_may_go():
            return super().invoke(ctx)


@contextmanager
def _reader_may_go() -> Iterator[None]:
    """Before click hears of it (`| head`), which would end with 1: nothing found."""
    try:
        yield
    except BrokenPipeError:
        raise click.exceptions.Exit(0) from None


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ronda")
def ronda() -> None:
    """A polite watchman for everything reachable by URL.

    Start with `ronda demo`, which needs no network, then check a page of yours:
    `ronda check https://your.site/page.html`.

    To have URLs watched for as long as you like, add them with `ronda target add
    https://your.site/`, and leave `ronda serve` running.
    """


def main() -> None:
    """The command `ronda`."""
    # Without a handler, Python would print what is logged, tracebacks and all.
    logging.getLogger("ronda").addHandler(logging.NullHandler())
    _have_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = ronda.main(standalone_mode=False)
        sys.stdout.flush()
    except (click.exceptions.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except (click.ClickException, RondaError, OSError, ExceptionGroup) as error:
        code = _tell(error)
    sys.exit(code or 0)


def _have_streams() -> None:
    """Let there be an output, though whoever started us closed it."""
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115  # until we end
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115


def _advised(error: click.ClickException) -> str:
    """What is wrong, and where to look; on one line like all our errors."""
    words = " ".join(error.format_message().split()).rstrip(".")
    if isinstance(error, click.UsageError) and error.ctx is not None:
        see = " See" if words.endswith("?") else "; see"
        words = f"{words}{see} '{error.ctx.command_path} --help'"
    return words[0].lower() + words[1:]


def _tell(error: Exception) -> int:
    """One line for a mistake, and its exit code; anything else is a bug, and raised."""
    if isinstance(error, ExceptionGroup):
        return _tell(error.exceptions[0])  # the tasks of a run fail together
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return error.exit_code
    if isinstance(error, click.ClickException):
        click.echo(f"ronda: {_advised(error)}", err=True)
        return error.exit_code
    if isinstance(error, RondaError):
        click.echo(f"ronda: {error}", err=True)
        return error.exit_code
    if not isinstance(error, OSError):
        raise error
    # What could not be written is given up, or Python would try again at its end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return 0  # the reader went away (`| head`), and there is nobody to tell
    click.echo(f"ronda: {error.strerror}", err=True)
    return UNUSABLE
