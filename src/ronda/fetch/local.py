"""Files of this machine: what libcurl cannot be trusted with, or does not tell."""

import stat
from errno import EACCES
from pathlib import Path
from urllib.parse import unquote

import pycurl

from ronda.model import Answer

# A pipe or a device may keep whoever opens it waiting for ever.
ODD_FILE = Answer(
    error=pycurl.E_FILE_COULDNT_READ_FILE,
    error_text="neither a file nor a folder",
    errno=EACCES,
)


def is_odd(url: str) -> bool:
    """Whether there is something, but neither a file nor a folder."""
    try:
        mode = _path(url).stat().st_mode
    except (OSError, ValueError):
        return False  # libcurl will say that it is missing
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def is_within(url: str, folder: Path) -> bool:
    """Whether a file really lies in a folder, wherever links lead."""
    try:
        return _path(url).resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):  # a circle of links
        return False


def why_unread(url: str) -> int:
    """The system's code for a file that libcurl could not read; 0 if it can be."""
    try:
        with _path(url).open("rb"):
            return 0
    except IsADirectoryError:
        return 0
    except OSError as error:
        return error.errno or 0


def _path(url: str) -> Path:
    return Path(unquote(url.removeprefix("file://")))
