"""Patterns of SQL, with % and _, in letters of whichever case, the same everywhere."""

from typing import Any

from sqlalchemy import Column, ColumnElement

from ronda.store.sql.texts import legible

# PostgreSQL takes a backslash for more than that, and SQLite does not.
_ESCAPE = "\x1f"


class Pattern:
    """What a text may be like; without a % it may stand anywhere in it."""

    def __init__(self, words: str) -> None:
        words = legible(words).replace(_ESCAPE, "")
        self._words = words if "%" in words else f"%{words}%"

    def of(self, column: Column[Any]) -> ColumnElement[bool]:
        """Whether the text of a column is like it."""
        return column.ilike(self._words, escape=_ESCAPE)

    def fits(self, text: str) -> bool:
        """Whether a text is like it."""
        # Each part as early as it can be: to try all places takes for ever.
        first, *parts, last = self._words.lower().split("%")
        text = text.lower()
        if not _is_at(text, 0, first):
            return False
        place = len(first)
        for part in parts:
            ends = range(place, len(text) + 1)
            found = next((at for at in ends if _is_at(text, at, part)), None)
            if found is None:
                return False
            place = found + len(part)
        end = len(text) - len(last)
        return end >= place and _is_at(text, end, last)


def _is_at(text: str, place: int, part: str) -> bool:
    """Whether a part stands there; _ is any character."""
    there = text[place : place + len(part)]
    pairs = zip(there, part, strict=False)
    return len(there) == len(part) and all(b in (a, "_") for a, b in pairs)
