"""The command line: one command a file, one clear line for every mistake."""

import io
import logging
import os
import sys
from collections.abc import Callable

import click

from ronda import __version__
from ronda.cli.codes import INTERRUPTED, UNUSABLE
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


class Commands(click.Group):
    """Loads a command when it is called: each brings along what the others spare."""

    table: dict[str, Callable[[], click.Command]] = {  # noqa: RUF012
        "check": _check,
        "crawl": _crawl,
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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with what may have been meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches  # noqa: PLC0415  # hardly needed

            near = get_close_matches(args[0], self.table, 1)
            words = f"did you mean {near[0]}?" if near else "there is none such"
            raise click.UsageError(
                f"{error.message.rstrip('.')}: {words}", ctx
            ) from None


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ronda")
def ronda() -> None:
    """A polite watchman for everything reachable by URL.

    Start with `ronda demo`, which needs no network, then check a page of yours:
    `ronda check https://your.site/page.html`.
    """


def main() -> None:
    """The command `ronda`."""
    # Without a handler, Python would print what is logged, tracebacks and all.
    logging.getLogger("ronda").addHandler(logging.NullHandler())
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


def _advised(error: click.ClickException) -> str:
    """What is wrong, and where to look; on one line like all our errors."""
    words = " ".join(error.format_message().split()).rstrip(".")
    if isinstance(error, click.UsageError) and error.ctx is not None:
        words = f"{words}; see '{error.ctx.command_path} --help'"
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
