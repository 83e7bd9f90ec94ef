"""Which statuses and reasons the user takes for good."""

import re
from collections.abc import Iterable

from ronda.errors import SettingsError
from ronda.model import State, Verdict
from ronda.probes.reasons import REASONS

_RANGE = re.compile(r"(?:http_)?(\d{3})(?:(?:-|\.\.=?)(\d{3}))?")


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
            if last < first:
                raise SettingsError(f"check.accept: '{part}' ends before it begins")
            self._statuses.update(range(first, last + 1))
        elif part in REASONS:
            self._reasons.add(part)
        else:
            raise SettingsError(
                f"check.accept: '{part}' is neither a status (403), a range (500-599) "
                "nor a reason code (tls_expired)"
            )

    def __call__(self, found: Verdict, status: int) -> Verdict:
        """A verdict as it is, or as good when it is on the list."""
        if found.state is State.OK or not self.takes(status, found.reason):
            return found
        return Verdict(State.OK, found.reason, f"{found.message} (accepted)")

    def takes(self, status: int, reason: str) -> bool:
        """Whether a verdict with this status and reason counts as good."""
        return reason in self._reasons or (
            status in self._statuses and reason in {f"http_{status}", "bot_wall"}
        )
