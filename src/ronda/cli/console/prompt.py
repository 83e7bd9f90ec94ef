"""The prompt: lines with a history and completion, until somebody has enough."""

import os
import readline
from contextlib import suppress
from pathlib import Path

import click

from ronda.cli.console.names import completions
from ronda.cli.console.talking import Talker
from ronda.errors import RondaError

PROMPT = "ronda> "
LENGTH = 1000  # lines of history that are kept


def history_path() -> Path:
    """Where the lines of earlier sessions are."""
    given = os.environ.get("XDG_STATE_HOME", "")
    folder = Path(given) if given else Path("~/.local/state").expanduser()
    return folder / "ronda" / "console_history"


def talk(talker: Talker) -> None:
    """Ask for commands and have them carried out; a mistake is told, and it goes on."""
    _prepare()
    try:
        while not talker.over:
            try:
                line = input(PROMPT)
            except EOFError:
                click.echo()
                return
            except KeyboardInterrupt:
                click.echo()
                continue
            _forget_secrets(line)
            _ask(talker, line)
    finally:
        _keep()


def _ask(talker: Talker, line: str) -> None:
    if not line.strip():
        return
    try:
        talker.ask(line)
    except RondaError as error:
        click.echo(str(error), err=True)
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)


def _prepare() -> None:
    readline.set_completer(_complete)
    readline.set_completer_delims(" ")
    readline.parse_and_bind("tab: complete")
    readline.set_history_length(LENGTH)
    with suppress(OSError):  # the first time, or a folder that is closed to us
        readline.read_history_file(history_path())


def _complete(word: str, number: int) -> str | None:
    line = readline.get_line_buffer()[: readline.get_endidx()]
    found = completions(line, word)
    return found[number] if number < len(found) else None


def _forget_secrets(line: str) -> None:
    """A token must not stand in a file for years."""
    last = readline.get_current_history_length()
    name = line.split(maxsplit=1)[:1]
    if last and name and "AUTH".startswith(name[0].upper()):
        readline.remove_history_item(last - 1)


def _keep() -> None:
    path = history_path()
    with suppress(OSError):  # no history, then
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        readline.write_history_file(path)
