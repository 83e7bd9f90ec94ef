"""The sections of what goes on for ever: store, daemon, notices, tasks, control."""

from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta, Struct

from ronda.config.kinds import Count, Gap, Seconds
from ronda.errors import SettingsError


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


class Tasks(Struct, frozen=True, forbid_unknown_fields=True):
    """Tasks of a plan, the programs among them, and how many visits run at once."""

    folder: Annotated[
        str,
        Meta(
            description="Where the programs are: each executable file in it is a task, "
            "in the order of their names; empty: none.",
            examples=["/etc/ronda/tasks"],
        ),
    ] = ""
    data: Annotated[
        str,
        Meta(
            description="Where programs keep data, a folder for each target; "
            "empty: ~/.local/state/ronda/tasks."
        ),
    ] = ""
    workers: Annotated[
        Count, Meta(description="Visits of plans that run at once, in all rounds.")
    ] = 50
    batch: Annotated[
        Count, Meta(description="Visits that a round may begin when it is its turn.")
    ] = 10
    idle: Annotated[
        Seconds, Meta(description="Seconds after which an idle worker is released.")
    ] = 60.0
    timeout: Annotated[
        Seconds,
        Meta(
            description="Seconds that a program may take; then it is ended, and "
            "5 seconds later killed."
        ),
    ] = 30.0
    memory: Annotated[
        Count | None,
        Meta(
            description="Megabytes of memory that a program may use; "
            "not set: no limit.",
            examples=[1024],
        ),
    ] = None
    file_size: Annotated[
        Count | None,
        Meta(
            description="Megabytes that a file may have which a program writes; "
            "not set: no limit.",
            examples=[100],
        ),
    ] = 100
    files: Annotated[
        Count, Meta(description="Files that a program may have open at once.")
    ] = 256
    output: Annotated[
        Count,
        Meta(
            description="Kilobytes that are read of what a program writes to its "
            "standard output; more ends it."
        ),
    ] = 1024


class Plan(Struct, frozen=True, forbid_unknown_fields=True):
    """The tasks for a kind of target, in their order."""

    kind: Annotated[
        str, Meta(description="Of targets that have this plan.", examples=["service"])
    ]
    tasks: Annotated[
        tuple[str, ...],
        Meta(
            description="Names of tasks, as `ronda task list` tells them.",
            examples=[["congruence", "url_status_codes"]],
        ),
    ]


def require(plans: Iterable[Plan]) -> None:
    """What no type can say of plans.

    Raises:
        SettingsError: with the row and the key.
    """
    kinds: set[str] = set()
    for number, plan in enumerate(plans):
        if plan.kind in kinds:
            words = f"there is another plan for '{plan.kind}'"
            raise SettingsError(f"plans[{number}].kind: {words}")
        kinds.add(plan.kind)
        if not plan.tasks:
            raise SettingsError(f"plans[{number}].tasks: names no task")
        twice = [name for name in plan.tasks if plan.tasks.count(name) > 1]
        if twice:
            raise SettingsError(f"plans[{number}].tasks: names '{twice[0]}' twice")


class Control(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the daemon takes commands: see `ronda console`."""

    socket: Annotated[
        str,
        Meta(
            description="The Unix socket, for this user only; empty: control.sock in "
            "the user's runtime folder; none: there is none."
        ),
    ] = ""
    listen: Annotated[
        str,
        Meta(
            description="An address and a port for TCP, where commands need an owner's "
            "token; empty: none.",
            examples=["127.0.0.1:4422"],
        ),
    ] = ""
    connections: Annotated[
        Count,
        Meta(description="Connections at once to each socket; more are turned away."),
    ] = 100
    idle: Annotated[
        Seconds,
        Meta(description="Seconds of silence after which a connection is closed."),
    ] = 3600.0
