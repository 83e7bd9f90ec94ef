"""Offsets in a text as lines and columns."""

import re
from bisect import bisect_right

from ronda.model import Place
from ronda.targets.source import folded

_NEWLINE = re.compile(r"\n")


class Places:
    """The places of one document."""

    def __init__(self, document: str, text: str) -> None:
        self.text = text
        self._document = document
        self._starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]

    def at(self, offset: int, words: str = "", tag: str = "") -> Place:
        """The place of an offset, with the words of the link that begins there."""
        line = bisect_right(self._starts, offset)
        column = offset - self._starts[line - 1] + 1
        return Place(self._document, line, column, folded(words), tag)
