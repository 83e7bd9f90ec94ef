"""The robots.txt files of a run: all put away, those in use taken apart."""

from collections import OrderedDict
from typing import Protocol

from ronda.frontier.robots import Robots

# Bytes of files that are kept taken apart, which may be thirty times as large.
BUDGET = 1024 * 1024
LEAST = 1024  # bytes that a file counts for beside its own: an empty one takes room too


class Attic(Protocol):
    """Where files are put away."""

    def __setitem__(self, name: str, data: bytes, /) -> None:
        """Put one away."""

    def __getitem__(self, name: str, /) -> bytes:
        """Fetch one that was."""

    def __delitem__(self, name: str, /) -> None:
        """Throw one away."""


class Rulebook:
    """Rules by authority; those that were used least lately are read again."""

    def __init__(self, attic: Attic) -> None:
        self._attic = attic
        self._open: OrderedDict[str, tuple[Robots, int]] = OrderedDict()
        self._size = 0

    def put(self, authority: str, body: bytes) -> Robots:
        """Take in a file."""
        self._attic[authority] = body
        self._drop(authority)
        return self._take_apart(authority, body)

    def __getitem__(self, authority: str) -> Robots:
        """The rules of a file that was taken in."""
        found = self._open.get(authority)
        if found is None:
            return self._take_apart(authority, self._attic[authority])
        self._open.move_to_end(authority)
        return found[0]

    def __delitem__(self, authority: str) -> None:
        """Forget a file that was taken in."""
        del self._attic[authority]
        self._drop(authority)

    def _take_apart(self, authority: str, body: bytes) -> Robots:
        rules = Robots.parse(body)
        size = len(body) + LEAST
        self._open[authority] = rules, size
        self._size += size
        while self._size > BUDGET and len(self._open) > 1:
            self._drop(next(iter(self._open)))
        return rules

    def _drop(self, authority: str) -> None:
        _, size = self._open.pop(authority, (None, 0))
        self._size -= size
