"""Files by folder and by pattern, sorted, without what machines put there."""

import os
from collections.abc import Iterator
from pathlib import Path

from ronda.model import Place, Problem
from ronda.targets import formats

_SKIPPED = frozenset({"node_modules", "__pycache__"})  # and all that begin with a dot
_MAGIC = frozenset("*?[")
_SUFFIXES = tuple(
    suffix
    for source in formats.SOURCES
    if not source.is_list  # a folder's .txt, .json and .csv are seldom lists of URLs
    for suffix in source.suffixes
)


def walked(folder: Path) -> Iterator[Path | Problem]:
    """The documents in a folder and the folders in it; unreadable ones are problems."""
    errors: list[OSError] = []
    empty = True
    for parent, folders, files in os.walk(folder, onerror=errors.append):
        folders[:] = sorted(name for name in folders if not _is_skipped(name))
        for name in sorted(files):
            path = Path(parent, name)
            # is_file: a pipe or a device in a folder would be waited on for ever.
            if name.lower().endswith(_SUFFIXES) and name[0] != "." and path.is_file():
                empty = False
                yield path
    yield from (
        Problem(Place(shown(error.filename)), unreadable(error)) for error in errors
    )
    if empty and not errors:
        yield Problem(
            Place(shown(folder)), f"no documents in it ({' '.join(_SUFFIXES)})"
        )


def matching(pattern: str) -> tuple[Path, list[Path]]:
    """The folder a pattern starts from, and the files that it matches.

    Raises:
        ValueError: it is not a pattern.
    """
    parts = Path(pattern).parts
    fixed = next(index for index, part in enumerate(parts) if has_pattern(part))
    folder = Path(*parts[:fixed])
    rest = parts[fixed:]
    found = folder.glob(str(Path(*rest)))
    wanted = (path for path in found if not _is_hidden(path, folder, rest))
    return folder, sorted(path for path in wanted if path.is_file())


def has_pattern(text: str) -> bool:
    """Whether a text has what shells expand."""
    return not _MAGIC.isdisjoint(text)


def shown(path: Path | str) -> str:
    """A path as reports write it; names that are not UTF-8 must not break those."""
    return os.fsencode(path).decode("utf-8", "replace")


def unreadable(error: OSError) -> str:
    """The problem of what cannot be opened, in words."""
    return f"cannot be read: {(error.strerror or str(error)).lower()}"


def _is_skipped(name: str) -> bool:
    return name in _SKIPPED or name.startswith(".")


def _is_hidden(path: Path, folder: Path, pattern: tuple[str, ...]) -> bool:
    """Whether a match lies where nobody looks, and the pattern does not say so."""
    within = path.relative_to(folder).parts
    return any(_is_skipped(part) and part not in pattern for part in within)
