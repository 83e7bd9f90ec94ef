"""`ronda console`: commands for a daemon, one by one or all at a prompt."""

import os
import sys
from pathlib import Path
from typing import Any

import click

from ronda.cli.console.link import Place, quoted
from ronda.cli.console.names import wire_name
from ronda.cli.console.talking import Talker, ask_all
from ronda.cli.options import OPTIONS, as_settings, with_config, with_options
from ronda.cli.outputs import terminal_style
from ronda.config import Settings, load
from ronda.errors import UsageError
from ronda.server.console.places import address, socket_path
from ronda.server.console.replies import Form

TOKEN = "RONDA_TOKEN"  # noqa: S105  # the name of a variable


@click.command(
    short_help="Give commands to a daemon.",
    # A command's own options (-alpha) must not be taken for ours: no short ones.
    context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]},
)
@click.argument("words", nargs=-1, metavar="[COMMAND [ARGUMENT]...]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, a line a reply.")
@click.option("--pretty", is_flag=True, help="Print JSON over several lines.")
@click.option(
    "--socket",
    "path",
    metavar="PATH",
    help="The daemon's Unix socket; without it, that of the settings.",
)
@click.option("--tcp", metavar="HOST:PORT", help="Speak to a daemon over TCP.")
@click.option("--owner", metavar="NAME", help="Over TCP: whose token it is.")
@click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    help=f"A file with the token; without it, the environment's {TOKEN}.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0.001, 86_400),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="Wait so long for a reply.",
)
@with_config
@with_options([option for option in OPTIONS if option.setting == "report.colour"])
def console(words: tuple[str, ...], **given: Any) -> int:
    """Give commands to a daemon, over its control socket.

    With a command it is carried out, and that is all; without one there is a prompt,
    with a history, completion (Tab) and HELP; commands can be cut short: JOBL. From a
    file or a pipe, each line is a command.

    \b
    Examples:
      ronda console
      ronda console CHECK eid=3
      ronda console --json JOBLIST
      ronda console SUBSCRIBE
      ronda console --tcp 127.0.0.1:4422 --owner operator --token-file token QUERY

    Ends with 0 when the daemon said yes, 1 when it said no, 2 when there is none or
    the command was given wrongly. Ctrl-C ends SUBSCRIBE.
    """  # noqa: D301  # click reads \b
    if words[:1] == ("-h",):
        click.echo(click.get_current_context().get_help())
        return 0
    settings = load(given["config_file"], as_settings(given))
    talker = Talker(_place(given, settings), _form(given, settings))
    try:
        return _talk(talker, words)
    finally:
        talker.close()


def _talk(talker: Talker, words: tuple[str, ...]) -> int:
    if words:
        return talker.ask(" ".join((wire_name(words[0]), *map(quoted, words[1:]))))
    if not sys.stdin.isatty():
        return ask_all(talker, sys.stdin.buffer)
    from ronda.cli.console.prompt import talk  # noqa: PLC0415  # readline

    talk(talker)
    return 0


def _place(given: dict[str, Any], settings: Settings) -> Place:
    timeout = given["timeout"]
    if given["tcp"]:
        if given["path"]:
            raise UsageError("give --socket or --tcp, not both")
        host, port = address(given["tcp"], "--tcp")
        token = _token(given["token_file"])
        if bool(token) != bool(given["owner"]):
            words = f"--owner NAME, and --token-file or {TOKEN}"
            raise UsageError(f"over TCP a daemon wants both: {words}")
        return Place(None, host, port, given["owner"], token, timeout)
    path = socket_path(given["path"] or settings.control.socket)
    if path is None:
        raise UsageError("control.socket: none; give --socket or --tcp")
    return Place(path, timeout=timeout)


def _token(path: Path | None) -> str:
    if path is None:
        return os.environ.get(TOKEN, "")
    try:
        return path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        words = getattr(error, "strerror", None) or "not text"
        raise UsageError(f"--token-file {path}: {words}") from None


def _form(given: dict[str, Any], settings: Settings) -> Form:
    if given["as_json"] or given["pretty"]:
        return Form(json=True, pretty=given["pretty"])
    return Form(colour=terminal_style(sys.stdout, settings.report).colour)
