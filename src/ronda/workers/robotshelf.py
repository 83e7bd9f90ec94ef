"""The robots.txt files of a watch: known before they are wanted, kept by the store."""

from collections.abc import Callable, Mapping

from ronda.clock import Clock

MOST = 2000  # files that wait to be looked at
MOST_BYTES = 16 << 20  # of them together


class RobotsShelf:
    """Holds what came with the claims, of which the gate may want some."""

    def __init__(self, keep: Callable[[str, bytes], None], clock: Clock) -> None:
        self._keep = keep  # told each file that is new
        self._now = clock.now
        self._known: dict[str, tuple[bytes, float]] = {}
        self._size = 0

    def fill(self, found: Mapping[str, tuple[bytes, float]]) -> None:
        """Take in files, each with its age in seconds."""
        now = self._now()
        for authority, (body, age) in found.items():
            self._drop(authority)
            self._known[authority] = body, now - age  # as the newest
            self._size += len(body)
        while len(self._known) > MOST or self._size > MOST_BYTES:
            self._drop(next(iter(self._known)))

    def _drop(self, authority: str) -> None:
        body, _ = self._known.pop(authority, (b"", 0.0))
        self._size -= len(body)

    def get(self, authority: str) -> tuple[bytes, float] | None:
        """The file of an authority, and its age."""
        found = self._known.get(authority)
        return (found[0], self._now() - found[1]) if found is not None else None

    def put(self, authority: str, body: bytes) -> None:
        """Keep a file."""
        self._keep(authority, body)
