"""JSON and JSON lines: every string that is a URL, with its line and its path."""

import re
from collections.abc import Callable, Iterator

import msgspec

from ronda import config
from ronda.model import Link, Place, Problem
from ronda.targets.encoding import decoded
from ronda.targets.source import Readable, folded

Path = list[str | int]  # keys as written, and indexes
UrlOf = Callable[[str, Path], str]

_CHECKER = msgspec.json.Decoder(msgspec.Raw)
_OFFSET = re.compile(r"\(byte (\d+)\)")
# A key with its colon, a string, a mark, or a newline to count.
_TOKEN = re.compile(r'("(?:[^"\\]+|\\.)*+")(\s*:)?|[\[\]{},\n]')
_URL = re.compile(r"(?:[a-z][a-z0-9+.\-]*://|mailto:)\S+\Z", re.IGNORECASE)


def read(
    stream: Readable, document: str, _options: config.Check
) -> Iterator[Link | Problem]:
    """The URLs of a JSON document: Chrome's and Firefox's bookmarks are such ones."""
    return links(decoded(stream.read()), document, _absolute)


def read_lines(
    stream: Readable, document: str, _options: config.Check
) -> Iterator[Link | Problem]:
    """The URLs of a document with a JSON value on every line."""
    for number, line in enumerate(decoded(stream.read()).split("\n"), start=1):
        if line.strip():
            yield from links(line, document, _absolute, number)


def links(
    text: str, document: str, url_of: UrlOf, line: int = 1
) -> Iterator[Link | Problem]:
    """The strings of a JSON text that are links.

    Args:
        text: a JSON value.
        document: where it stands.
        url_of: takes a string as written and its path; gives a URL, or nothing.
        line: where the text begins.
    """
    if fault := _fault(text):
        message, offset = fault
        line += text.count("\n", 0, offset)
        yield Problem(Place(document, line), f"not JSON: {message}")
        return
    for string, number, path in _strings(text, line):
        if url := url_of(string, path):
            yield Link(url, Place(document, number, 0, folded(_written(path))))


def _fault(text: str) -> tuple[str, int] | None:
    """What is wrong with a text as JSON, and at which offset (0 if not known)."""
    try:
        _CHECKER.decode(text)
    except msgspec.DecodeError as error:
        message = str(error).removeprefix("JSON is malformed: ")
        offset = _OFFSET.search(message)
        return message, int(offset[1]) if offset else 0
    except (RecursionError, UnicodeError) as error:
        return str(error), 0
    return None


def _strings(text: str, line: int) -> Iterator[tuple[str, int, Path]]:
    """The strings that are values, as written, each with its line and path.

    The text is known to be JSON, so the order of its marks is not checked again.
    """
    path: Path = []  # the key or index within each open object and array
    for token in _TOKEN.finditer(text):
        match token[0][0]:
            case '"' if token[2]:
                path[-1] = token[1]
                line += token[2].count("\n")
            case '"':
                yield token[1], line, path
            case "{" | "[" as opening:
                path.append("" if opening == "{" else 0)
            case "}" | "]":
                path.pop()
            case "," if isinstance(path[-1], int):
                path[-1] += 1
            case "\n":
                line += 1
            case _:
                pass  # a comma within an object


def _absolute(string: str, _path: Path) -> str:
    """A string that is a URL by itself."""
    if "//" not in string and "\\/" not in string and "mailto:" not in string:
        return ""
    url = value(string)
    return url if _URL.match(url) else ""


def value(string: str) -> str:
    """A string as it is meant; empty for what cannot be a URL."""
    try:
        return str(msgspec.json.decode(string))
    except (msgspec.DecodeError, UnicodeError):  # half a surrogate pair
        return ""


def _written(path: Path) -> str:
    """A path as programmers write it: items[3].url."""
    steps = (f"[{p}]" if isinstance(p, int) else "." + p.strip('"') for p in path)
    return "".join(steps).removeprefix(".")
