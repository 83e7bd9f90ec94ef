"""What the rows of the schedule say of one target: settings to rules."""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

from msgspec import Struct
from msgspec.structs import astuple

from ronda import urls
from ronda.config import EVERYTHING, Intervals
from ronda.frontier.scope import Matcher, matcher

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0
NEVER = 1 << 30  # failures that no target has
LATELY = 1000  # sets of rows whose rules are not worked out again
_WHO = ("match", "owner", "label")  # whom a row speaks for; the rest is what it says
_NUMBERS = frozenset({"confirm", "failures_to_disable", "flaps"})  # the rest are times


class Rules(Struct, frozen=True, gc=False):
    """When one target is checked again, in seconds; see the settings of a row."""

    ok: float = DAY
    warning: float = DAY
    temporary: float = 10 * MINUTE
    temporary_longest: float = 6 * HOUR
    broken: float = 6 * HOUR
    broken_longest: float = 7 * DAY
    blocked: float = DAY
    unsupported: float = 7 * DAY
    unknown: float = 10 * MINUTE
    growth: float = 2.0
    jitter: float = 0.1
    confirm: int = 2
    confirm_gap: float = MINUTE
    failures_to_disable: int = NEVER
    flaps: int = 5
    flap_fade: float = 6 * HOUR


class _Row(Struct, frozen=True):
    matches: Matcher
    owner: str
    label: str
    given: dict[str, Any]

    @property
    def is_general(self) -> bool:
        """Whether it speaks for everything of everybody."""
        return self.matches is _always and not self.owner and not self.label


class Schedule:
    """The rows of the schedule: later ones go over earlier ones."""

    def __init__(self, rows: Iterable[Intervals]) -> None:
        """Read the rows.

        Raises:
            SettingsError: a pattern is none; with its row.
        """
        made = [_row(number, row) for number, row in enumerate(rows)]
        self._rows = sorted(made, key=lambda row: not row.is_general)
        self._owners = {row.owner for row in made if row.owner}
        self._labels = {row.label for row in made if row.label}
        self._general = _over(row.given for row in made if row.is_general)
        self._is_general = all(row.is_general for row in made)
        # Few differ, whatever the number of targets.
        self._made: dict[tuple[object, ...], Rules] = {}

    @property
    def needs_details(self) -> bool:
        """Whether owners and labels of a target make a difference to its rules."""
        return bool(self._owners or self._labels)

    def rules(
        self, url: str, owners: Sequence[str] = (), labels: Sequence[str] = ()
    ) -> Rules:
        """What holds for a target, by its normalised URL and by whom it matters to."""
        if self._is_general:
            return self._general
        numbers = tuple(n for n, row in enumerate(self._rows) if row.matches(url))
        # Owners without a row of their own count, since they rely on the general ones;
        # labels without one say nothing of the schedule.
        whose = {name if name in self._owners else "" for name in owners} or {""}
        what = self._labels.intersection(labels) or {""}
        key = (numbers, frozenset(whose), frozenset(what))
        found = self._made.get(key)
        if found is None:
            if len(self._made) >= LATELY:
                self._made.clear()
            rows = [self._rows[number] for number in numbers]
            pairs = product(whose, what)
            found = _strictest([_seen(rows, owner, label) for owner, label in pairs])
            self._made[key] = found
        return found


def _row(number: int, row: Intervals) -> _Row:
    fields = (f for f in row.__struct_fields__ if f not in _WHO)
    given = {f: value for f in fields if (value := getattr(row, f)) is not None}
    matches = _matcher(row.match, f"schedule[{number}].match")
    return _Row(matches, row.owner, row.label, given)


def _always(_url: str) -> object:
    return True


def _matcher(text: str, key: str) -> Matcher:
    """As patterns of URLs are, but a text with `*` may also be one for hosts."""
    if text == EVERYTHING:
        return _always
    of_url = matcher(text, key)
    if "*" not in text or text.startswith("re:"):
        return of_url
    of_host = matcher(text.lower(), key)
    return lambda url: of_url(url) or of_host(urls.host_key(url))


def _seen(rows: Iterable[_Row], owner: str, label: str) -> Rules:
    """What the rows say to one owner of a target with one label."""
    heard = (row for row in rows if row.owner in {"", owner})
    return _over(row.given for row in heard if row.label in {"", label})


def _over(given: Iterable[dict[str, Any]]) -> Rules:
    values: dict[str, Any] = {}
    for each in given:
        values |= each
    return Rules(**values)


def _strictest(found: Sequence[Rules]) -> Rules:
    """The shortest of times, the largest of numbers."""
    columns = zip(*map(astuple, found), strict=True)
    named = zip(Rules.__struct_fields__, columns, strict=True)
    return Rules(*(max(c) if name in _NUMBERS else min(c) for name, c in named))
