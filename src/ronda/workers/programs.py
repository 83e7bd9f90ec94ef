"""Programs that are tasks: found in a folder, and asked who they are."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from ronda.model import Ran
from ronda.probes.program import Program
from ronda.probes.said import identified
from ronda.probes.task import Row

# What a program is written in, by the ending of its name or its first line.
LANGUAGES = {
    "sh": "Bash",
    "bash": "Bash",
    "tcl": "Tcl",
    "tclsh": "Tcl",
    "py": "Python",
    "python": "Python",
    "pl": "Perl",
    "perl": "Perl",
    "rb": "Ruby",
    "ruby": "Ruby",
    "js": "JavaScript",
    "node": "JavaScript",
}

LONGEST = 900.0  # seconds that a program may ask for itself

Identify = Callable[[str], Awaitable[Ran]]


async def rows(folder: str, seconds: float, identify: Identify) -> list[Row]:
    """The programs of a folder in the order of their names, broken ones with a fault.

    Args:
        folder: where they are; a problem with it is that of the settings.
        seconds: that each may take, unless it says otherwise itself.
        identify: asks a program who it is.
    """
    found = await asyncio.to_thread(_files, folder)
    asked = [_row(path, seconds, identify) for path in found]
    return list(await asyncio.gather(*asked))


def _files(folder: str) -> list[Path]:
    """Each file that is a program, or looks like one; not what begins with a dot."""
    return sorted(
        path
        for path in Path(folder).expanduser().resolve().iterdir()
        if not path.name.startswith(".")
        and path.is_file()
        and (os.access(path, os.X_OK) or _language(path))
    )


async def _row(path: Path, seconds: float, identify: Identify) -> Row:
    language = await asyncio.to_thread(_language, path)
    procedure = f"run_{language.lower()}" if language else "run"
    known = {"script": path.name, "language": language, "procedure": procedure}
    if not os.access(path, os.X_OK):
        fault = f"not executable: chmod +x {path}"
        return Row(name=path.name, fault=fault, **known)  # type: ignore[arg-type]
    try:
        who = identified(await identify(str(path)))
    except ValueError as error:
        return Row(name=path.name, fault=str(error), **known)  # type: ignore[arg-type]
    seconds = min(who.timeout or seconds, LONGEST)
    return Row(
        name=who.name,
        description=who.description,
        kinds=who.kinds,
        task=Program(str(path), who, seconds),
        timeout=seconds,
        **known,
    )


def _language(path: Path) -> str:
    """What a program is written in; "": nobody knows."""
    ending = path.suffix.removeprefix(".").lower()
    if ending in LANGUAGES:
        return LANGUAGES[ending]
    with path.open("rb") as file:
        first = file.readline(200)
    if not first.startswith(b"#!"):
        return ""
    words = first[2:].decode("latin-1").split()
    name = words[-1].rpartition("/")[2].rstrip("0123456789.") if words else ""
    return LANGUAGES.get(name, name)
