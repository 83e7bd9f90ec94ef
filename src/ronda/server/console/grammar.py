"""A line of the protocol taken apart: words as a shell has them, ids and keys."""

import re

from msgspec import Struct

from ronda import urls
from ronda.server.console.replies import Reply

LONGEST = 64 * 1024  # bytes of a line
HIGHEST = 2**63 - 1  # of an id: more fits into no database

# A word is made of plain characters, escaped ones, and quoted parts. Nothing that was
# matched is tried again in another way, so the time is in proportion to the length.
_WORD = re.compile(r"""(?:[^\s"'\\]++|\\.|"(?:[^"\\]|\\.)*+"|'[^']*+')++""", re.DOTALL)
_GAP = re.compile(r"\s*+")
_PART = re.compile(
    r"""\\(?P<escaped>.)|"(?P<double>(?:[^"\\]|\\.)*+)"|'(?P<single>[^']*+)'""",
    re.DOTALL,
)
_ESCAPED = re.compile(r'\\(["\\])')
_KEY = re.compile(r"([A-Za-z]+)=(.*)", re.DOTALL)
_NUMBER = re.compile(r"[0-9]{1,19}")


class RefusedError(Exception):
    """A line that is not carried out; what is to be replied."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.message)
        self.reply = reply


class Chosen(Struct, frozen=True):
    """What a command is about: targets, owners, and patterns."""

    gids: tuple[int, ...] = ()
    eids: tuple[int, ...] = ()
    patterns: tuple[str, ...] = ()


def words(line: bytes) -> list[str]:
    """The words of a line.

    Raises:
        RefusedError: it cannot be read as words, or there is none.
    """
    try:
        text = line.decode().strip()
    except UnicodeDecodeError:
        raise refused("101", "not a command: the line is not text in UTF-8") from None
    found, at = [], 0
    while at < len(text):
        word = _WORD.match(text, at)
        if word is None:
            words_ = "a quote is not closed, or a backslash is the last character"
            raise refused("101", f"invalid command line '{urls.shown(text)}': {words_}")
        found.append(_PART.sub(_unquoted, word[0]))
        at = _GAP.match(text, word.end()).end()  # type: ignore[union-attr]
    if not found:
        raise refused("101", "an empty line is no command; HELP lists them")
    return found


def _unquoted(part: re.Match[str]) -> str:
    if part["double"] is not None:
        return _ESCAPED.sub(r"\1", part["double"])
    return part["single"] if part["single"] is not None else part["escaped"]


def refused(
    code: str, message: str, error: str = "", *, closes: bool = False
) -> RefusedError:
    """What is raised to say no."""
    return RefusedError(Reply(code, message, error=error, closes=closes))


def chosen(given: list[str], keys: tuple[str, ...]) -> Chosen:
    """Targets and owners as they are named: `12`, `gid=12`, `eid=3`, or a pattern.

    Raises:
        RefusedError: a key is none of those, or an id is no number.
    """
    found: dict[str, dict[int, None]] = {"gid": {}, "eid": {}}
    patterns: dict[str, None] = {}
    for word in given:
        key, value = keyed(word, keys)
        if key or _NUMBER.fullmatch(value):
            found[key or "gid"][number(value, key or "gid")] = None
        else:
            patterns[value] = None
    return Chosen(tuple(found["gid"]), tuple(found["eid"]), tuple(patterns))


def keyed(word: str, keys: tuple[str, ...]) -> tuple[str, str]:
    """A word as key and value; the key is empty where there is none.

    Raises:
        RefusedError: there is a key, but another one.
    """
    match = _KEY.fullmatch(word)
    if match is None:
        return "", word
    key = match[1].lower()
    if key not in keys:
        known = ", ".join(f"{name}=" for name in keys)
        raise refused("103", f"unknown key '{urls.shown(match[1])}='; known: {known}")
    return key, match[2]


def number(text: str, name: str, least: int = 0, most: int = HIGHEST) -> int:
    """A whole number.

    Raises:
        RefusedError: it is none, or out of range.
    """
    if not _NUMBER.fullmatch(text):
        raise refused("103", f"{name} '{urls.shown(text)}': not a whole number")
    if not least <= int(text) <= most:
        raise refused("103", f"{name} {text}: out of range {least} to {most}")
    return int(text)
