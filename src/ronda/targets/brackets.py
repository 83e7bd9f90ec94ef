"""Markdown's square brackets: [text](url), ![alt](url), [text][label], [label]: url."""

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

from ronda.targets.masking import blanked

_MARK = re.compile(r"\\.|!?\[|\]|\n(?=[ \t>]*\n)", re.DOTALL)
_GAP = r"[ \t]*(?:\n[ \t>]*)?"
_SPACE = re.compile(_GAP)
_ANGLED = re.compile(rf"{_GAP}<((?:[^<>\n\\]+|\\.)*+)>")
_PIECE = re.compile(r"[^\s()\\\x00-\x1f]+|\\.|[()]")
_CLOSE = re.compile(
    rf"(?:{_GAP}(?:\"(?:[^\"\\]+|\\.)*+\"|'(?:[^'\\]+|\\.)*+'|\((?:[^()\\]+|\\.)*+\)))?"
    rf"{_GAP}\)",
    re.DOTALL,
)
_LABEL = re.compile(r"\[((?:[^\[\]\\]|\\.){0,999}+)\]", re.DOTALL)
# Footnotes, [^1]: text, are not definitions.
_DEFINITION = re.compile(
    r"^[ \t>]*(?P<mark>\[(?!\^)(?P<label>(?:[^\[\]\\]|\\.){1,999}+)\]:)"
    rf"{_GAP}(?:<(?P<angled>[^<>\n]*)>|(?P<bare>[^\s<]\S*))(?=[ \t]*$|[ \t]+[\"'(])",
    re.MULTILINE,
)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_DEEPEST = 8  # parentheses within parentheses of a URL; it bounds what is looked at


class Bracket(NamedTuple):
    """A link: its words are between start and end, what it points with until after."""

    start: int
    end: int
    after: int
    url: str
    label: str = ""  # the definition it uses


class Definition(NamedTuple):
    """What a label stands for, and where that is said."""

    url: str
    offset: int


def definitions(text: str) -> tuple[dict[str, Definition], str]:
    """The definitions of a text by their labels, and the text without them."""
    found: dict[str, Definition] = {}
    spans = []
    for match in _DEFINITION.finditer(text):
        url = _unescaped(match["angled"] or match["bare"] or "")
        label = _folded(match["label"])
        found.setdefault(label, Definition(url, match.start("mark")))
        spans.append((match.start("mark"), match.end()))
    return found, blanked(text, spans)


def links(text: str, defined: dict[str, Definition]) -> Iterator[Bracket]:
    """The links and pictures of a text, inner ones first."""
    openers: list[re.Match[str]] = []
    outer = 0  # how many of them may become links; without it this is quadratic
    at = 0
    while mark := _MARK.search(text, at):
        at = mark.end()
        if mark[0][0] == "\n":
            openers, outer = [], 0  # brackets do not reach over paragraphs
        elif mark[0] in {"[", "!["}:
            openers.append(mark)
            outer += mark[0] == "["
        elif mark[0] == "]" and openers:
            opener = openers.pop()
            outer -= opener[0] == "["
            if found := _pointed(text, opener, at, defined):
                yield found
                at = found.after
                if opener[0] == "[" and outer:  # a link cannot stand within a link
                    openers = [mark for mark in openers if mark[0] == "!["]
                    outer = 0


def _pointed(
    text: str, opener: re.Match[str], end: int, defined: dict[str, Definition]
) -> Bracket | None:
    """What follows the closing bracket: (url), [label], [] or nothing."""
    start = opener.start()
    if inline := _inline(text, end):
        return Bracket(start, end, inline[1], inline[0])
    follower = _LABEL.match(text, end)
    own = text[opener.end() : min(end - 1, opener.end() + 1000)]
    if follower and (label := _folded(follower[1] or own)) in defined:
        return Bracket(start, end, follower.end(), defined[label].url, label)
    if (label := _folded(own)) in defined:
        return Bracket(start, end, end, defined[label].url, label)
    return None


def _inline(text: str, at: int) -> tuple[str, int] | None:
    """The URL in parentheses that begin at an offset, and where they end."""
    if not text.startswith("(", at):
        return None
    if angled := _ANGLED.match(text, at + 1):
        url, end = angled[1], angled.end()
    else:
        url, end = _bare(text, at + 1)
    close = _CLOSE.match(text, end)
    return (_unescaped(url), close.end()) if close else None


def _bare(text: str, at: int) -> tuple[str, int]:
    """A URL up to a space or the parenthesis that is not its own."""
    gap = _SPACE.match(text, at)
    start = at = gap.end() if gap else at
    depth = 0
    while (piece := _PIECE.match(text, at)) and depth <= _DEEPEST:
        depth += (piece[0] == "(") - (piece[0] == ")")
        if depth < 0:
            break
        at = piece.end()
    return text[start:at], at


def _unescaped(url: str) -> str:
    return unescape(_ESCAPE.sub(r"\1", url)).strip()


def _folded(label: str) -> str:
    return " ".join(label.split()).casefold()
