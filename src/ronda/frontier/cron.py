"""When a round begins: cron's five fields, and the next moment that they name.

Minute, hour, day of the month, month, day of the week (0 or 7 is Sunday): each is `*`,
a number, a range `a-b`, either with a step `/n`, or a list of these; months and days of
the week have their English names too. When neither field of days begins with `*`, one
of the two is enough; otherwise both must fit. `@hourly`, `@daily`, `@midnight`,
`@weekly`, `@monthly`, `@yearly` and `@annually` stand for what they say.

A time that a clock skips is the first one after it that exists; one that it shows twice
counts once, the first time.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from itertools import product
from zoneinfo import ZoneInfo

from msgspec import Struct

from ronda import urls
from ronda.errors import SettingsError

SECOND, DAY = timedelta(seconds=1), timedelta(days=1)
NAMED = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MONTHS = (
    *("jan", "feb", "mar", "apr", "may", "jun"),
    *("jul", "aug", "sep", "oct", "nov", "dec"),
)
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_LONGEST = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)  # days of the months


class Field(Struct, frozen=True):
    """One of the five: what it is called, and what may stand in it."""

    name: str
    first: int
    last: int
    names: Sequence[str] = ()  # of the numbers from `first` on


FIELDS = (
    Field("minute", 0, 59),
    Field("hour", 0, 23),
    Field("day of the month", 1, 31),
    Field("month", 1, 12, _MONTHS),
    Field("day of the week", 0, 7, _DAYS),
)


class Cron(Struct, frozen=True):
    """An expression, taken apart: the numbers that each field allows."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]  # 0 is Sunday
    either: bool  # one of the two fields of days is enough

    def times(self, since: datetime) -> Iterator[datetime]:
        """All that a clock on the wall shows, from a minute on."""
        day = since.date()
        while True:
            is_in = day.month in self.months
            if is_in and self._is_on(day):
                walls = product([day], self.hours, self.minutes)
                yield from (wall for each in walls if (wall := _wall(*each)) >= since)
            day = day + DAY if is_in else _next_month(day)

    def _is_on(self, day: date) -> bool:
        in_month, in_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return (in_month or in_week) if self.either else (in_month and in_week)


def next_after(
    expression: str, moment: datetime, timezone: str | None = None
) -> datetime:
    """The first moment after another, which has a time zone, that is meant.

    Args:
        expression: five fields, or a name for them.
        moment: the clock is that of its time zone,
        timezone: or of the one that is named here.

    Raises:
        SettingsError: it is no such expression; with the field that is wrong. Or there
            is no such time zone.
    """
    here = moment.astimezone(zone(timezone)) if timezone else moment
    clock, start = here.tzinfo, here.astimezone(UTC)
    wall = here.replace(second=0, microsecond=0, fold=0, tzinfo=None)
    # Of two times on the wall the later is never the earlier moment, so the first
    # that is after the start is the next. Compared in UTC: within one time zone Python
    # looks at the wall only.
    moments = (_moment(found, clock) for found in parsed(expression).times(wall))
    return next(found for found in moments if found > start).astimezone(clock)


def zone(name: str) -> ZoneInfo:
    """A time zone by its name.

    Raises:
        SettingsError: this system knows none of that name.
    """
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        words = f"'{urls.shown(name)}' is no time zone that this system knows"
        raise SettingsError(words) from None


def _wall(day: date, hour: int, minute: int) -> datetime:
    return datetime.combine(day, time(hour, minute))


def _moment(wall: datetime, clock: tzinfo | None) -> datetime:
    """When a clock shows a time first, or the end of the gap that it is skipped in."""
    found = wall.replace(tzinfo=clock).astimezone(UTC)
    if found.astimezone(clock).replace(tzinfo=None, fold=0) == wall:
        return found
    # Seen from before the gap such a time is after it, and seen from after, before.
    start = wall.replace(tzinfo=clock, fold=1).astimezone(UTC)
    before, after = 0, round((found - start) / SECOND)
    offset = found.astimezone(clock).utcoffset()
    while after - before > 1:
        middle = (before + after) // 2
        at = (start + middle * SECOND).astimezone(clock)
        before, after = (
            (before, middle) if at.utcoffset() == offset else (middle, after)
        )
    return start + after * SECOND


def _next_month(day: date) -> date:
    return (day.replace(day=1) + 31 * DAY).replace(day=1)


# -- reading ---------------------------------------------------------------------


@lru_cache(maxsize=256)
def parsed(expression: str) -> Cron:
    """An expression, taken apart.

    Raises:
        SettingsError: it is none; with the field that is wrong.
    """
    shown = f"'{urls.shown(expression)}'"
    texts = NAMED.get(expression.strip().lower(), expression).lower().split()
    if len(texts) != len(FIELDS):
        names = ", ".join(field.name for field in FIELDS)
        words = f"has {len(texts)} fields, not 5 ({names})"
        if expression.strip().startswith("@"):
            words = f"is not one of {', '.join(NAMED)}"
        raise SettingsError(f"{shown} {words}")
    try:
        sets = [
            _numbers(text, field) for text, field in zip(texts, FIELDS, strict=True)
        ]
    except ValueError as error:
        raise SettingsError(f"{shown}: {error}") from None
    minutes, hours, days, months, weekdays = sets
    either = not texts[2].startswith("*") and not texts[4].startswith("*")
    if not either and min(days) > max(_LONGEST[month - 1] for month in months):
        words = "day of the month: none of these months has such a day"
        raise SettingsError(f"{shown}: {words}")
    return Cron(
        tuple(sorted(minutes)),
        tuple(sorted(hours)),
        days,
        months,
        frozenset(day % 7 for day in weekdays),
        either,
    )


def _numbers(text: str, field: Field) -> frozenset[int]:
    """What a field allows.

    Raises:
        ValueError: with the field and what is wrong in it.
    """
    found: set[int] = set()
    try:
        for item in text.split(","):
            found.update(_item(item, field))
    except ValueError as error:
        raise ValueError(f"{field.name}: {error}") from None
    return frozenset(found)


def _item(item: str, field: Field) -> range:
    body, slash, step = item.partition("/")
    if slash and not 0 < _value(step) <= field.last:
        raise ValueError(f"'{urls.shown(step)}' is no step")
    stride = int(step) if slash else 1
    if body == "*":
        return range(field.first, field.last + 1, stride)
    start, dash, end = body.partition("-")
    if slash and not dash:
        words = f"write {start}-{field.last}/{step}"
        raise ValueError(f"'{urls.shown(item)}': a step needs * or a range: {words}")
    first = _number(start, field)
    last = _number(end, field) if dash else first
    if last == 0 and field.names is _DAYS and first:
        last = 7  # a week may end with Sunday
    if last < first:
        raise ValueError(f"'{urls.shown(item)}' goes backwards")
    return range(first, last + 1, stride)


def _number(text: str, field: Field) -> int:
    if text in field.names:
        return field.names.index(text) + field.first
    if field.first <= _value(text) <= field.last:
        return int(text)
    names = f" or a name such as {field.names[1]}" if field.names else ""
    words = f"is not a number from {field.first} to {field.last}{names}"
    raise ValueError(f"'{urls.shown(text)}' {words}")


def _value(text: str) -> int:
    """A number, or -1 for what is none or would be far too large."""
    return int(text) if len(text) < 9 and text.isascii() and text.isdecimal() else -1
