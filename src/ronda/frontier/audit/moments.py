"""When a line of an access log was written, and how exactly that is known."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from functools import lru_cache

MILLISECOND, SECOND = 0.001, 1.0
LATEST = 100_000_000_000.0  # seconds since 1970: the year 5138
_LOCAL = re.compile(
    r"(\d\d)/([A-Z][a-z]{2})/(\d{4}):(\d\d):(\d\d):(\d\d) ([+-])(\d\d)(\d\d)", re.ASCII
)
# English, whatever the language of this machine.
_MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"
_NUMBER = re.compile(r"\d{1,12}(?:\.\d{1,9})?", re.ASCII)


def moment(fields: dict[str, str]) -> tuple[float, float] | None:
    """Seconds since 1970, and the step of the clock; None when no moment is there."""
    for name, (read, step) in _READERS.items():
        text = fields.get(name, "")
        found = read(text) if text else None
        if found is not None and 0 <= found < LATEST:
            return found, step
    return None


def number(text: str) -> float | None:
    """A plain positive number; None when it is none."""
    return float(text) if _NUMBER.fullmatch(text) else None


@lru_cache(1024)  # busy servers write many lines a second
def _local(text: str) -> float | None:
    found = _LOCAL.fullmatch(text)
    if not found:
        return None
    day, name, year, hour, minute, second, sign, hours, minutes = found.groups()
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    try:
        zone = timezone(offset if sign == "+" else -offset)
        date = int(year), _MONTHS.index(name) // 3 + 1, int(day)
        time = int(hour), int(minute), int(second)
        return datetime(*date, *time, tzinfo=zone).timestamp()
    except (ValueError, OverflowError):
        return None


@lru_cache(1024)
def _iso(text: str) -> float | None:
    try:
        found = datetime.fromisoformat(text)
        # Without a zone, nobody knows which moment is meant.
        return found.timestamp() if found.tzinfo else None
    except (ValueError, OverflowError):
        return None


# The most exact first.
_READERS: dict[str, tuple[Callable[[str], float | None], float]] = {
    "msec": (number, MILLISECOND),
    "time_iso8601": (_iso, SECOND),
    "time_local": (_local, SECOND),
}
