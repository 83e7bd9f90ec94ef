"""Lists as Tcl writes them: the seed's way to put several texts on one line."""

import re

MOST = 1 << 16  # characters of a list; a longer one is a mistake

_SPACE = " \t\n\r\v\f"
_WORD = re.compile(r"(?:[^\\ \t\n\r\v\f]|\\.)+", re.DOTALL)
_QUOTED = re.compile(r'"((?:[^\\"]|\\.)*)"', re.DOTALL)
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_ESCAPE = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|([0-7]{1,3})|(.))", re.DOTALL
)
_LETTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def elements(text: str) -> list[str]:
    """The elements of a list.

    Raises:
        ValueError: it is none.
    """
    if len(text) > MOST:
        raise ValueError("too long")
    found = []
    place = _skip(text, 0)
    while place < len(text):
        element, end = _element(text, place)
        if end < len(text) and text[end] not in _SPACE:
            raise ValueError("no space after a brace or a quote")
        found.append(element)
        place = _skip(text, end)
    return found


def _skip(text: str, place: int) -> int:
    while place < len(text) and text[place] in _SPACE:
        place += 1
    return place


def _element(text: str, place: int) -> tuple[str, int]:
    """An element and where it ends; three forms: in braces, in quotes, a word."""
    if text[place] == "{":
        return _braced(text, place)
    pattern, quoted = (_QUOTED, True) if text[place] == '"' else (_WORD, False)
    found = pattern.match(text, place)
    if found is None:
        raise ValueError("a quote is not closed" if quoted else "a backslash ends it")
    return _ESCAPE.sub(_unescaped, found[1] if quoted else found[0]), found.end()


def _braced(text: str, place: int) -> tuple[str, int]:
    """What stands in braces stays as it is; inner ones must match."""
    depth = 0
    for found in _BRACES.finditer(text, place):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth == 0:
            return text[place + 1 : found.start()], found.end()
    raise ValueError("a brace is not closed")


def _unescaped(found: re.Match[str]) -> str:
    byte, code, octal, other = found.groups()
    if other is not None:
        return " " if other == "\n" else _LETTERS.get(other, other)
    number = int(octal, 8) & 0xFF if octal else int(byte or code, 16)
    # Halves of a character beyond the 16 bits cannot be stored.
    return "\N{REPLACEMENT CHARACTER}" if 0xD800 <= number < 0xE000 else chr(number)
