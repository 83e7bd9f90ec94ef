"""What the user named: URLs, files, folders, patterns, standard input."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from msgspec.structs import replace

from ronda import config, urls
from ronda.errors import InputError, UrlError
from ronda.model import Found, Link, Place, Problem
from ronda.targets import formats
from ronda.targets.folders import has_pattern, matching, shown, unreadable, walked
from ronda.targets.resolve import Document, resolve
from ronda.targets.source import Readable
from ronda.targets.streams import DOCUMENT_LIMIT, opened
from ronda.targets.textlist import is_absolute

LARGE = 1024 * 1024  # bytes; parsing these takes tens of milliseconds
_SPECIAL = ("http:", "https:", "ftp:", "ftps:", "sftp:")  # whose // may be forgotten
_HOST = re.compile(r"(localhost|([\w\-]+\.)+[^\W\d]{2,})(:\d+)?([/?#].*)?\Z")


def gather(
    arguments: Sequence[str], check: config.Check, stdin: BinaryIO
) -> Iterator[Found | Problem]:
    """All that the arguments name: URLs first, then the links of files, in order."""
    names = []
    for argument in arguments:
        if _is_url(argument):
            yield _named(argument, check)
        else:
            names.append(argument)
    for name in names:
        if name == "-":
            here = _folder_url(Path())
            yield from _links(stdin, "-", Document(here, here), check)
        else:
            yield from _local(name, check)


def may_block(arguments: Sequence[str]) -> bool:
    """Whether reading the arguments may keep one waiting."""
    return not all(_is_quick(argument) for argument in arguments)


def _is_quick(argument: str) -> bool:
    """URLs, text lists (read line by line) and small files; no pipe, no folder."""
    path = Path(argument)
    if not _exists(argument):
        return _is_url(argument)
    if not path.is_file():
        return False
    return formats.by_suffix(path.name) is formats.TEXT or path.stat().st_size < LARGE


def _is_url(argument: str) -> bool:
    if _exists(argument):
        return False
    return is_absolute(argument) or argument.lower().startswith(_SPECIAL)


def _exists(argument: str) -> bool:
    try:
        return Path(argument).exists()
    except OSError:  # a name longer than any file's
        return False


def _folder_url(folder: Path) -> str:
    return f"{folder.absolute().as_uri().rstrip('/')}/"


def _named(argument: str, check: config.Check) -> Found | Problem:
    try:
        url = urls.normalise(argument)
    except UrlError as error:
        return Problem(Place(""), str(error))
    written = argument if url != argument else ""
    return Found(url, Place(""), reads=check.links, written=written)


def _local(name: str, check: config.Check) -> Iterator[Found | Problem]:
    """Four cases: a folder, a file, a pattern, or nothing of the kind."""
    path = Path(name)
    if _exists(name) and path.is_dir():
        for found in walked(path):
            yield from _file(found, path, check)
    elif _exists(name):
        yield from _file(path, path.parent, check)
    elif has_pattern(name):
        yield from _matches(name, check)
    else:
        yield Problem(Place(shown(name)), _missing(name))


def _matches(pattern: str, check: config.Check) -> Iterator[Found | Problem]:
    try:
        folder, paths = matching(pattern)
    except (ValueError, OSError) as error:
        yield Problem(Place(shown(pattern)), f"not a pattern: {error}")
        return
    for path in paths:
        yield from _file(path, folder, check)
    if not paths:
        yield Problem(Place(shown(pattern)), "the pattern matches no file")


def _missing(name: str) -> str:
    if not _HOST.match(name) or ("/" not in name and formats.by_suffix(name)):
        return "no such file"
    return f"no such file; if it is a URL, write it with its scheme, as https://{name}"


def _file(
    path: Path | Problem, root: Path, check: config.Check
) -> Iterator[Found | Problem]:
    if isinstance(path, Problem):
        yield path
        return
    try:
        with path.open("rb") as stream:
            document = Document(path.absolute().as_uri(), _folder_url(root))
            yield from _links(stream, shown(path), document, check)
    except OSError as error:
        yield Problem(Place(shown(path)), unreadable(error))


def _links(
    stream: Readable, name: str, document: Document, check: config.Check
) -> Iterator[Found | Problem]:
    """The links of one document, then what is wrong with it as a whole."""
    try:
        bounded = opened(stream)
        source = formats.of_file(name, bounded.head)
        if source and bounded.head:
            document = replace(document, is_list=source.is_list)
            if not source.is_list:
                bounded.shorten(DOCUMENT_LIMIT)
            yield from _resolved(source.read(bounded, name, check), document, check)
    except InputError as error:
        yield Problem(Place(name), str(error))
        return
    if not bounded.head:
        yield Problem(Place(name), "empty: nothing in it to check", grave=False)
    elif not source:
        yield Problem(Place(name), "not text, and of no kind that is known")
    elif bounded.cut:
        yield Problem(Place(name), bounded.problem)


def _resolved(
    items: Iterator[Link | Problem], document: Document, check: config.Check
) -> Iterator[Found | Problem]:
    for item in items:
        found = resolve(item, document, check) if isinstance(item, Link) else item
        if found is not None:
            yield found
