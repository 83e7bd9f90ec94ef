"""What results make of the rows that are there: pure, and the same for both engines."""

from collections import Counter
from collections.abc import Iterable
from math import floor
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from ronda.model import Result, Standing, State
from ronda.store.sql import evidence
from ronda.store.sql.texts import is_legible, legible
from ronda.store.sql.values import URL_KIND, URL_TASK, Due, Entry

HOUR = 3600  # seconds
CHANGE, DISABLED, ENABLED = "change", "disabled", "enabled"  # kinds of notices
Said = TypeVar("Said", Result, Standing)
WORDS = {state: state.value for state in State}  # quicker to bind than its kind of text


class Current(Struct, frozen=True, gc=False):
    """What the store says of a target at the moment of writing."""

    server: int
    next_due: float | None  # None: not at all
    last_result: int | None
    round: int | None
    state: str
    reason: str
    message: str
    enabled: bool
    why_disabled: str


class Told(Struct, frozen=True):
    """A result of which owners hear, or by which they count."""

    entry: Entry
    was: str  # the state before
    kinds: tuple[str, ...]  # of notices

    @property
    def changes(self) -> bool:
        """Whether it changed the state."""
        return self.was != self.entry.standing.state


def expected(due: Due) -> Current:
    """What the store says, if nothing has happened since the target was claimed."""
    before = due.standing
    return Current(
        due.server,
        0.0,
        due.last_result,
        due.round,
        before.state,
        before.reason,
        before.message,
        before.enabled,
        before.why_disabled,
    )


def changes_target(entry: Entry) -> bool:
    """Whether a result is to be seen in the row of its target."""
    before, after = entry.due.standing, entry.standing
    return (
        before.reason != after.reason
        or before.message != after.message
        or before.state != after.state
        or before.enabled != after.enabled
    )


class Sheet:
    """The rows that are to be written."""

    def __init__(self) -> None:
        # Key, then what the row must still be, then what it becomes: see `recording`.
        self.schedule: list[tuple[object, ...]] = []
        self.history: list[tuple[object, ...]] = []
        self.targets: list[tuple[object, ...]] = []
        self.told: list[Told] = []
        self.tasks: list[tuple[object, ...]] = []
        self.cleared: list[int] = []  # targets whose tasks found something else before
        self.found: list[tuple[object, ...]] = []  # for rounds
        self.rounds: Counter[int] = Counter()
        self.hours: dict[int, tuple[int, int]] = {}

    def add(self, entry: Entry, now: Current, number: int) -> None:
        """Enter a result.

        Args:
            entry: the result.
            now: what the store says of its target.
            number: of its row in the history.
        """
        due, standing, result, at = entry.due, entry.standing, entry.result, entry.at
        task = entry.task or result.task or URL_TASK
        # What was switched off meanwhile stays so, and so does what was switched on.
        next_due = entry.next_due
        if now.next_due is None or (next_due is None and now.enabled):
            next_due = now.next_due
        self.schedule.append(
            (
                due.id,
                now.server,
                now.last_result,
                now.round,
                next_due,
                at,
                standing.failures,
                standing.repeats,
                standing.flap,
                standing.flapping,
                number,
            )
        )
        self.history.append(
            (
                number,
                due.id,
                task,
                at,
                WORDS[result.verdict],
                WORDS[standing.state],
                result.reason,
                result.status,
                result.timings.total,
                now.last_result,
                None if next_due is None else round(next_due - at),
                result.message,
                evidence.pack(result),
            )
        )
        if result.tasks or due.kind != URL_KIND:
            self._add_tasks(due.id, at, result)
        if now.round is not None:
            self.rounds[now.round] += 1
            words = (WORDS[result.verdict], result.reason, task, result.message)
            self.found.append((now.round, due.id, at, *words))
        hour = floor(at / HOUR)
        first, last = self.hours.get(hour, (number, number))
        self.hours[hour] = min(first, number), max(last, number)

    def _add_tasks(self, target: int, at: float, result: Result) -> None:
        """Enter what each task found, in the place of what they found before.

        A visit that did not come to its end for a fault of ours says nothing of the
        tasks that it did not come to.
        """
        if result.whole or result.verdict is not State.UNKNOWN:
            self.cleared.append(target)
        rows: dict[str, tuple[object, ...]] = {}  # a plan may name a task twice
        for place, one in enumerate(result.tasks):
            words = (WORDS[one.state], legible(one.reason), legible(one.message))
            more = (one.seconds, legible(one.data), legible(one.output))
            name = legible(one.task)
            rows[name] = (target, name, place, at, *words, *more)
        self.tasks.extend(rows.values())

    def change(self, entry: Entry, now: Current) -> None:
        """Enter what a result changes of its target, and who is to hear of it."""
        before, after = entry.due.standing, entry.standing
        enabled, why = after.enabled, after.why_disabled
        if now.enabled != before.enabled:  # by a person, meanwhile
            enabled, why = now.enabled, now.why_disabled
        changed = now.state != after.state
        row = (WORDS[after.state], after.reason, after.message, enabled, why)
        if row != (now.state, now.reason, now.message, now.enabled, now.why_disabled):
            self.targets.append((entry.due.id, entry.at if changed else None, *row))
        untold = set() if changed and not after.flapping else {CHANGE}
        if now.enabled != before.enabled:
            untold |= {DISABLED, ENABLED}
        kinds = tuple(kind for kind in entry.notices if kind not in untold)
        if changed or kinds:
            self.told.append(Told(entry, now.state, kinds))


def waves(entries: Iterable[Entry]) -> list[list[Entry]]:
    """Results in the order of their targets; a second one of a target comes later.

    Their words can be stored from here on.
    """
    found: list[dict[int, Entry]] = []
    for entry in map(_legible, entries):
        for wave in found:
            if entry.due.id not in wave:
                wave[entry.due.id] = entry
                break
        else:
            found.append({entry.due.id: entry})
    return [[wave[number] for number in sorted(wave)] for wave in found]


def _legible(entry: Entry) -> Entry:
    result, standing = entry.result, entry.standing
    # All at once, for nearly all are so.
    words = result.reason + result.message + standing.reason + standing.message
    if is_legible(words + result.task + entry.task):
        return entry
    result = replace(_in_words(result), task=legible(result.task))
    words = legible(entry.task)
    return replace(entry, result=result, standing=_in_words(standing), task=words)


def _in_words(found: Said) -> Said:
    reason, message = legible(found.reason), legible(found.message)
    return replace(found, reason=reason, message=message)
