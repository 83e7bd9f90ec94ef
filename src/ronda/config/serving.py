"""The sections of what goes on for ever: the store, the daemon, the notices."""

from typing import Annotated

from msgspec import Meta, Struct

from ronda.config.kinds import Count, Gap, Seconds


class Store(Struct, frozen=True, forbid_unknown_fields=True):
    """Where watched targets and their history are kept, and how they are written."""

    db: Annotated[
        str,
        Meta(
            description="The database: a file, or postgresql://…; "
            "empty: ~/.local/state/ronda/ronda.db."
        ),
    ] = ""
    retention: Annotated[
        Count, Meta(description="Days for which the history of a target is kept.")
    ] = 90
    batch: Annotated[
        Count, Meta(description="Results that are written at once, at most.")
    ] = 5000
    batch_age: Annotated[
        Gap, Meta(description="Seconds that a result waits to be written, at most.")
    ] = 0.5
    lease: Annotated[
        Seconds,
        Meta(
            description="Seconds for which what a process has claimed stays its own "
            "without a sign of life; then others may take it over."
        ),
    ] = 30.0


class Serve(Struct, frozen=True, forbid_unknown_fields=True):
    """How the daemon lives, and how it ends."""

    grace: Annotated[
        Gap,
        Meta(description="Seconds that running checks have to end at SIGTERM."),
    ] = 10.0
    share: Annotated[
        bool,
        Meta(
            description="Let another daemon work on the same SQLite file; "
            "with PostgreSQL several always may."
        ),
    ] = False
    recheck_guard: Annotated[
        Gap,
        Meta(
            description="Seconds since its last check within which a target is not "
            "checked again when somebody asks, unless forced."
        ),
    ] = 3600.0


class Notices(Struct, frozen=True, forbid_unknown_fields=True):
    """How owners are told of changes."""

    interval: Annotated[
        Gap, Meta(description="Seconds between two batches to one owner, at least.")
    ] = 15.0
    batch: Annotated[
        Count, Meta(description="Notices in one batch, at most; more follow it.")
    ] = 1000
    timeout: Annotated[
        Seconds, Meta(description="Seconds that an owner's server has to take a batch.")
    ] = 20.0
    retry_first: Annotated[
        Seconds,
        Meta(
            description="Seconds before a batch that was not taken is sent again; "
            "each next time doubles."
        ),
    ] = 30.0
    retry_longest: Annotated[
        Seconds, Meta(description="Longest such wait, in seconds: 6 hours.")
    ] = 21_600.0
    give_up: Annotated[
        Seconds,
        Meta(
            description="Seconds after which a batch that nobody takes is given up: "
            "3 days."
        ),
    ] = 259_200.0
    failures_to_switch_off: Annotated[
        Count,
        Meta(
            description="Batches that fail in a row before an owner's notices are "
            "switched off, and the operator is told."
        ),
    ] = 20
    reconcile: Annotated[
        Seconds,
        Meta(
            description="Seconds after which an owner is told the states of all his "
            "targets, which mends what was lost: a day."
        ),
    ] = 86_400.0
