"""Which rounds are to begin: the rows of the settings, and the moments they name."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from msgspec import Struct

from ronda.config import PlannedRound
from ronda.errors import SettingsError
from ronda.frontier import cron

HOUR = 3600.0  # seconds


class Begin(Struct, frozen=True):
    """A round that is to begin, and the moment by which it is known."""

    row: PlannedRound
    at: float  # epoch seconds; the same for every process that looks


class Timetable:
    """The rounds that begin by the clock."""

    def __init__(self, rows: Iterable[PlannedRound]) -> None:
        """Read the rows.

        Raises:
            SettingsError: a wrong expression or time zone; with its row.
        """
        self._rows = [(row, _zone(row, number)) for number, row in enumerate(rows)]

    def due(self, begun: Mapping[str, float], since: float, now: float) -> list[Begin]:
        """What is to begin now: of each round the newest moment that has come.

        So a round whose time came while nobody was there begins late, and once.

        Args:
            begun: by name, the moment of the last round that was begun.
            since: moments before it do not count for rounds that never were.
            now: epoch seconds.
        """
        found = (
            (row, _newest(row.cron, zone, begun.get(row.name, since), now))
            for row, zone in self._rows
        )
        return [Begin(row, at) for row, at in found if at is not None]

    def next_at(self, now: float) -> float | None:
        """When the next round begins; None: there is none."""
        moments = (_after(row.cron, zone, now) for row, zone in self._rows)
        return min(moments, default=None)


def _zone(row: PlannedRound, number: int) -> ZoneInfo:
    """The time zone of a row whose expression can be read."""
    key = "cron"
    try:
        cron.parsed(row.cron)
        key = "timezone"
        return cron.zone(row.timezone)
    except SettingsError as error:
        raise SettingsError(f"rounds[{number}].{key}: {error}") from None


def _after(expression: str, zone: ZoneInfo, moment: float) -> float:
    start = datetime.fromtimestamp(moment, UTC).astimezone(zone)
    return cron.next_after(expression, start).timestamp()


def _newest(expression: str, zone: ZoneInfo, since: float, now: float) -> float | None:
    """The last moment after one and not after another.

    Looked for in ever longer stretches before now: of an expression that names every
    minute, a year would be long to walk through.
    """
    stretch, newest = HOUR, None
    while True:
        start = at = max(since, now - stretch)
        while (at := _after(expression, zone, at)) <= now:
            newest = at
        if newest is not None or start <= since:
            return newest
        stretch *= 24
