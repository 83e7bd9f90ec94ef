"""The anchors GitHub gives to the headings of Markdown."""

import re
import unicodedata
from collections.abc import Iterator
from html import unescape

from ronda.targets.masking import without_blocks, without_spans

_HEADING = re.compile(r"[ \t>]*(#{1,6})(?=[ \t]|$)")
_UNDERLINE = re.compile(r"[ \t>]*(?:=+|-+)[ \t]*\Z")
_CODE = re.compile(r"(`+[^`]*`+)")
_EXPLICIT = re.compile(r"\{:?[ \t]*#([^\s{}]+)[^{}]*\}\s*\Z")
# Pictures and tags are not words; of a link only its words are, of emphasis no mark.
_MARKS = (
    (re.compile(r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?|<[^<>]*>"), ""),
    (re.compile(r"\[([^\[\]]*)\](?:\([^)]*\)|\[[^\]]*\])?"), r"\1"),
    (re.compile(r"(?<!\w)_+(?=\S)|(?<=\S)_+(?!\w)"), ""),
)
_LONGEST = 1000  # characters of a heading; it bounds what the patterns above look at
_KEPT = ("L", "M", "Nd", "Nl", "Pc")  # Unicode categories; Pc has the underscore


def slugs(text: str) -> Iterator[str]:
    """The anchors of all headings in their order, {#explicit} ones as well."""
    times: dict[str, int] = {}
    for heading in _headings(text):
        explicit = _EXPLICIT.search(heading)
        if explicit:
            yield explicit[1]
        yield _numbered(slug(_EXPLICIT.sub("", heading)), times)


def slug(heading: str) -> str:
    """One heading as an anchor: lower case, punctuation dropped, spaces to hyphens."""
    words = _words(heading.strip()).lower()
    return "".join("-" if c == " " else c for c in words if _is_kept(c))


def _numbered(name: str, times: dict[str, int]) -> str:
    """The second of a name gets -1, unless a heading is called so already."""
    unique = name
    while unique in times:
        times[name] += 1
        unique = f"{name}-{times[name]}"
    times[unique] = 0
    return unique


def _headings(text: str) -> Iterator[str]:
    plain = without_blocks(text)
    masked = without_spans(plain).split("\n")  # no headings in comments
    before = ""
    for line, seen in zip(plain.split("\n"), masked, strict=True):
        mark = _HEADING.match(seen)
        if mark:
            yield _unclosed(line[mark.end() :].strip())[:_LONGEST]
        elif _UNDERLINE.match(seen) and before.strip():
            yield before.strip(" \t>")[:_LONGEST]
        before = "" if mark else seen and line


def _unclosed(heading: str) -> str:
    """A heading without the number signs that may end it."""
    rest = heading.rstrip("#")
    return rest if not rest or rest[-1] in " \t" else heading


def _words(heading: str) -> str:
    code_and_text = _CODE.split(heading)
    for index in range(0, len(code_and_text), 2):
        for pattern, replacement in _MARKS:
            code_and_text[index] = pattern.sub(replacement, code_and_text[index])
    return unescape("".join(code_and_text))


def _is_kept(character: str) -> bool:
    return character in " -" or unicodedata.category(character).startswith(_KEPT)
