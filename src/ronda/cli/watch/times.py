"""Times as people write and read them: `6h`, `2026-01-31`, `3 h ago`."""

import re
from datetime import UTC, datetime

from ronda.errors import UsageError

LONGEST = 100 * 366 * 86_400.0  # seconds; more is a slip of the finger
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*([smhd])", re.ASCII)
# From when on a time is told in a unit; below the first one, in seconds.
_STEPS = ((90.0, 60.0, "min"), (5400.0, 3600.0, "h"), (172_800.0, 86_400.0, "d"))


def seconds(text: str) -> float:
    """A time span: `90s`, `10m`, `6h`, `7d`.

    Raises:
        UsageError: it is none, or none that anybody can mean.
    """
    found = _SPAN.fullmatch(text.strip().lower())
    if found is None:
        raise UsageError(f"'{_short(text)}' is no time span; write 90s, 10m, 6h or 7d")
    span = float(found[1]) * _UNITS[found[2]]
    if not 0 < span <= LONGEST:
        raise UsageError(f"'{_short(text)}' is out of range: above 0, at most 36600d")
    return span


def moment(text: str, now: float) -> float:
    """A moment, in epoch seconds: an ISO date, or a time span ago.

    Raises:
        UsageError: it is neither.
    """
    if _SPAN.fullmatch(text.strip().lower()):
        return now - seconds(text)
    try:
        found = datetime.fromisoformat(text.strip())
        # Without an offset it is UTC, like every moment that we print.
        aware = found if found.tzinfo else found.replace(tzinfo=UTC)
        return aware.timestamp()
    except (ValueError, OverflowError):
        words = "write 2026-01-31, 2026-01-31T12:00, or a time span ago: 7d"
        raise UsageError(f"'{_short(text)}' is no moment; {words}") from None


def iso(at: float | None) -> str | None:
    """A moment for programs: ISO 8601, UTC; None where there is none."""
    if not at:
        return None
    text = datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
    return text.replace("+00:00", "Z")


def stamp(at: float | None) -> str:
    """A moment for people, to the second: `2026-01-31 12:00:00`; `-` for none."""
    text = iso(at)
    return text.replace("T", " ").rstrip("Z") if text else "-"


def length(span: float) -> str:
    """How long: `45 s`, `12 min`, `3 h`, `9 d`."""
    number, unit = max(span, 0.0), "s"
    for start, size, name in _STEPS:
        if span >= start:
            number, unit = span / size, name
    return f"{number:.0f} {unit}"


def exact(span: float) -> str:
    """A time span that somebody has set, as it was: `90 s`, `36 h`, `7 d`."""
    units = (("d", 86_400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0))
    name, size = next((u for u in units if span >= u[1] and not span % u[1]), units[-1])
    return f"{span / size:g} {name}"


def ago(at: float | None, now: float) -> str:
    """How long since, or until: `3 h ago`, `in 12 min`, `now`; `-` for never."""
    if not at:
        return "-"
    if abs(now - at) < 1:
        return "now"
    return f"{length(now - at)} ago" if at < now else f"in {length(at - now)}"


def _short(text: str) -> str:
    cut = text if len(text) <= 40 else f"{text[:39]}…"
    return "".join(c if c.isprintable() else "�" for c in cut)
