"""The names of commands as people type them: any case, cut short, with aliases."""

from ronda.errors import UsageError
from ronda.server.console.pages import NAMES, PAGES, page

LEAVE = "QUIT"
WHOLE = {"SHUTDWN", "STOP"}  # which nobody should type by a slip
KEYS = {
    "CHECK": ("eid=", "gid="),
    "STOP": ("round=",),
    "LSSERV": ("eid=", "offset=", "limit="),
    "QSERVICE": ("gid=",),
    "QTASK": ("gid=",),
    "ENTITIES": ("-alpha",),
    "FORMAT": ("HR", "JSON"),
    "HELP": tuple(one.name for one in PAGES),
}


def wire_name(typed: str) -> str:
    """The name that the daemon knows; what nobody knows is left to it as it is.

    Raises:
        UsageError: it may be cut from several.
    """
    found = page(typed)
    if found is not None:
        return found.name
    near = {one.name for name, one in NAMES.items() if name.startswith(typed.upper())}
    near -= WHOLE
    if len(near) > 1:
        raise UsageError(f"'{typed}' may be any of {', '.join(sorted(near))}")
    return near.pop() if near else typed


def command_line(text: str) -> str:
    """A line that was typed, with the command's own name.

    Raises:
        UsageError: as in `wire_name`.
    """
    name, _, rest = text.strip().partition(" ")
    return f"{wire_name(name)} {rest.strip()}".rstrip()


def completions(line: str, word: str) -> list[str]:
    """What the word at the end of a line may become."""
    before = line[: len(line) - len(word)].split()
    if not before:
        names = sorted({*NAMES} - {"?"})
        return [f"{name} " for name in names if name.startswith(word.upper())]
    found = page(before[0]) or page(_whole(before[0]))
    known = KEYS.get(found.name, ()) if found else ()
    return [key for key in known if key.lower().startswith(word.lower())]


def _whole(typed: str) -> str:
    try:
        return wire_name(typed)
    except UsageError:
        return ""


def help_lines(words: list[str]) -> list[str]:
    """What HELP says, here and without the daemon.

    Raises:
        UsageError: there is no such command.
    """
    if not words:
        lines = [f"{one.usage:<36}{one.words}" for one in PAGES]
        return [*lines, "HELP and a command explains it; EXIT or Ctrl-D ends."]
    found = page(wire_name(words[0]))
    if found is None:
        raise UsageError(f"no such command: {words[0]}")
    return found.lines
