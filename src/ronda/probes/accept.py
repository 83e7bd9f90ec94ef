"""Which statuses and reasons the user takes for good."""

import re
from collections.abc import Iterable

from ronda.errors import SettingsError
from ronda.probes.reasons import REASONS

_RANGE = re.compile(r"(\d{3})(?:(?:-|\.\.=?)(\d{3}))?")


class Accept:
    """A list such as `403`, `500-599`, `tls_expired`."""

    def __init__(self, entries: Iterable[str]) -> None:
        self._statuses: set[int] = set()
        self._reasons: set[str] = set()
        for entry in entries:
            for part in entry.replace(" ", "").split(","):
                self._add(part)

    def _add(self, part: str) -> None:
        if found := _RANGE.fullmatch(part):
            first, last = int(found[1]), int(found[2] or found[1])
            self._statuses.update(range(first, last + 1))
        elif part in REASONS:
            self._reasons.add(part)
        else:
            raise SettingsError(
                f"check.accept: '{part}' is neither a status (403), a range (500-599) "
                "nor a reason code (tls_expired)"
            )

    def __call__(self, status: int, reason: str) -> bool:
        """Whether a verdict with this status and reason counts as good."""
        return reason in self._reasons or (
            status in self._statuses and reason in {f"http_{status}", "bot_wall"}
        )
