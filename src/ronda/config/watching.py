"""The rows of the schedule, and those of rounds: when targets are checked."""

from collections.abc import Iterable
from typing import Annotated, Literal

from msgspec import Meta, Struct

from ronda import urls
from ronda.config.kinds import Count, Gap, Seconds
from ronda.config.politeness import EVERYTHING
from ronda.errors import SettingsError
from ronda.model import State

Text = Annotated[str, Meta(min_length=1)]


class Intervals(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """When a watched target is checked again, by what its last check found.

    Each row speaks for the targets it matches; a later row goes over an earlier one,
    and rows for everybody's everything come first wherever they stand. Where the owners
    or the labels of one target have different rows, the shortest time holds, and of
    `confirm`, `failures_to_disable` and `flaps` the largest. What was never checked is
    due at once.
    """

    match: Annotated[
        Text,
        Meta(
            description="Which URLs the row speaks for: a host, a pattern such as "
            "*.example.org, the beginning of a URL, a text with *, or re:REGEX."
        ),
    ] = EVERYTHING
    owner: Annotated[
        str, Meta(description="Only targets that this owner watches; empty: all.")
    ] = ""
    label: Annotated[
        str, Meta(description="Only targets with this label; empty: all.")
    ] = ""
    ok: Annotated[
        Seconds | None,
        Meta(
            description="Seconds between two checks of a target that is ok; "
            "not set: 86400, a day.",
            examples=[86_400.0],
        ),
    ] = None
    warning: Annotated[
        Seconds | None,
        Meta(
            description="Seconds between two checks of a target that works, but needs "
            "a hand; not set: 86400, a day.",
            examples=[86_400.0],
        ),
    ] = None
    temporary: Annotated[
        Seconds | None,
        Meta(
            description="Seconds until a target that may heal by itself is checked "
            "again; each next time is longer; not set: 600, 10 minutes.",
            examples=[600.0],
        ),
    ] = None
    temporary_longest: Annotated[
        Seconds | None,
        Meta(
            description="Longest such time, in seconds; not set: 21600, 6 hours.",
            examples=[21_600.0],
        ),
    ] = None
    broken: Annotated[
        Seconds | None,
        Meta(
            description="Seconds until a target that is dead is checked again; each "
            "next time is longer; not set: 21600, 6 hours.",
            examples=[21_600.0],
        ),
    ] = None
    broken_longest: Annotated[
        Seconds | None,
        Meta(
            description="Longest such time, in seconds, and the time between two "
            "checks of a target that its failures have disabled; "
            "not set: 604800, 7 days.",
            examples=[604_800.0],
        ),
    ] = None
    blocked: Annotated[
        Seconds | None,
        Meta(
            description="Seconds between two checks of a target that is not ours to "
            "judge; not set: 86400, a day.",
            examples=[86_400.0],
        ),
    ] = None
    unsupported: Annotated[
        Seconds | None,
        Meta(
            description="Seconds between two checks of a target that has no handler; "
            "not set: 604800, 7 days.",
            examples=[604_800.0],
        ),
    ] = None
    unknown: Annotated[
        Seconds | None,
        Meta(
            description="Seconds until a target is tried again whose check failed by "
            "a fault of our own; should it come again, each next time is longer, up to "
            "`temporary_longest`; not set: 600, 10 minutes.",
            examples=[600.0],
        ),
    ] = None
    growth: Annotated[
        Annotated[float, Meta(ge=1, le=10)] | None,
        Meta(
            description="By which a time that grows is multiplied at each check; "
            "not set: 2.",
            examples=[2.0],
        ),
    ] = None
    jitter: Annotated[
        Annotated[float, Meta(ge=0, le=0.5)] | None,
        Meta(
            description="Part of a time by which chance makes it longer or shorter, "
            "so that not all are due at once; not set: 0.1.",
            examples=[0.1],
        ),
    ] = None
    confirm: Annotated[
        Count | None,
        Meta(
            description="Checks in a row that must fail before the state says so; "
            "not set: 2.",
            examples=[2],
        ),
    ] = None
    confirm_gap: Annotated[
        Seconds | None,
        Meta(
            description="Seconds between two of these checks, at least; not set: 60.",
            examples=[60.0],
        ),
    ] = None
    failures_to_disable: Annotated[
        Count | None,
        Meta(
            description="Checks in a row that fail before a target is disabled, and "
            "its owners told; a good check enables it again; not set: never.",
            examples=[4],
        ),
    ] = None
    flaps: Annotated[
        Count | None,
        Meta(
            description="More changes of state than these, in a short time, make a "
            "target flapping: that is told once, and then no change until it settles; "
            "not set: 5.",
            examples=[5],
        ),
    ] = None
    flap_fade: Annotated[
        Seconds | None,
        Meta(
            description="Seconds after which a change counts half as much; "
            "not set: 21600, 6 hours.",
            examples=[21_600.0],
        ),
    ] = None


class PlannedRound(Struct, frozen=True, forbid_unknown_fields=True):
    """Checks that begin together by the clock, and are followed as one.

    A round takes all targets that match what the row names; without any of it, all.
    """

    name: Annotated[
        Text,
        Meta(description="What the round is called; no two alike.", examples=["night"]),
    ]
    cron: Annotated[
        str,
        Meta(
            description="When it begins: minute, hour, day of the month, month, day of "
            "the week, as cron has them; or @daily and the like.",
            examples=["30 2 * * mon-fri"],
        ),
    ]
    timezone: Annotated[
        str,
        Meta(
            description="Whose clock that is, such as Europe/Lisbon. A time that is "
            "skipped in spring is the next one that is not; one that comes twice in "
            "autumn counts once."
        ),
    ] = "UTC"
    owner: Annotated[
        str, Meta(description="Only targets that this owner watches; empty: all.")
    ] = ""
    label: Annotated[
        str, Meta(description="Only targets with this label; empty: all.")
    ] = ""
    state: Annotated[
        State | None,
        Meta(
            description="Only targets in this state; not set: in any.",
            examples=["broken"],
        ),
    ] = None
    host: Annotated[str, Meta(description="Only targets of this host; empty: all.")] = (
        ""
    )
    kind: Annotated[
        str,
        Meta(
            description="Only targets of this kind; empty: of any.",
            examples=["service"],
        ),
    ] = ""
    choose: Annotated[
        Literal["", "new", "failed", "unanswered"],
        Meta(
            description="Only targets that were never checked (new), that failed the "
            "last time (failed), or that gave no answer then, which others call "
            "status 0 (unanswered); empty: all."
        ),
    ] = ""
    stale: Annotated[
        Gap,
        Meta(description="Only targets that were not checked for so many seconds."),
    ] = 0.0
    order: Annotated[
        Literal["due", "biggest", "smallest", "name"],
        Meta(
            description="Who comes first: what is due longest, the targets of the "
            "owners with the most of them (biggest) or the fewest (smallest), or by "
            "the names of owners."
        ),
    ] = "due"
    over: Annotated[
        Gap,
        Meta(
            description="Seconds over which the visits are spread; 0: all may begin "
            "at once."
        ),
    ] = 0.0
    forced: Annotated[
        bool,
        Meta(description="Check also what was seen lately: see serve.recheck_guard."),
    ] = False


def require(rounds: Iterable[PlannedRound]) -> None:
    """What no type can say of rounds.

    Raises:
        SettingsError: with the row and the key.
    """
    names: set[str] = set()
    for number, row in enumerate(rounds):
        if row.name in names:
            words = f"'{urls.shown(row.name)}' is the name of another round too"
            raise SettingsError(f"rounds[{number}].name: {words}")
        names.add(row.name)
