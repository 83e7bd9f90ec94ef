"""What goes into the store and what comes out of it, as frozen values."""

from msgspec import Struct

from ronda.model import Result, Standing, State, Visit

URL_TASK = "url"  # the one task of a target that is a URL
URL_KIND = "url"  # the kind of a target that has no plan

# -- claims --------------------------------------------------------------------


class Due(Struct, frozen=True, gc=False):
    """A target that is to be checked."""

    id: int
    url: str
    server: int
    standing: Standing
    last_result: int | None = None
    every: float | None = None  # seconds between checks; None: by the rules
    round: int | None = None
    kind: str = URL_KIND  # by which it has a plan, or none
    owners: tuple[str, ...] = ()  # only when asked for
    labels: tuple[str, ...] = ()


class Pace(Struct, frozen=True, gc=False):
    """When a host or a server was asked, and when it may be asked again."""

    asked_at: float = 0.0
    next_at: float = 0.0
    gap: float = 0.0  # of a host: to which it had grown
    rests_until: float = 0.0  # of a host


class Queued(Struct, frozen=True):
    """A visit under way that was handed over."""

    id: int
    visit: Visit
    due: Due


class Claimed(Struct, frozen=True):
    """A server that this process holds from now on."""

    id: int
    address: str  # or UNRESOLVED and a host
    pace: Pace
    hosts: dict[str, Pace]
    due: tuple[Due, ...] = ()
    inherited: bool = False  # from a process that died: it may have asked until now


# -- the ledger ----------------------------------------------------------------


class Entry(Struct, frozen=True):
    """A result, and what it makes of its target."""

    due: Due  # as it was before
    result: Result
    at: float
    standing: Standing
    next_due: float | None
    notices: tuple[str, ...] = ()  # kinds: change, disabled, enabled, flapping, …
    request: int = 0  # the queued visit that it ends; 0: none
    task: str = ""  # that the result is of; empty: that which the result names


class HandedOver(Struct, frozen=True):
    """A visit whose next request belongs to a server that another process holds.

    Until that one has ended it, the target is not due again.
    """

    due: Due
    host: str  # that is to be asked next; the store knows at which server it lives
    visit: Visit
    request: int = 0  # the queued visit that it was before; 0: none


class Turn(Struct, frozen=True):
    """All that is written in one transaction."""

    # From 1 upwards for each process: a turn that was written is not written again,
    # should nobody know whether it was. 0: nobody will try again.
    number: int = 0
    entries: tuple[Entry, ...] = ()
    hosts: dict[str, Pace] = {}
    servers: dict[int, Pace] = {}
    robots: dict[str, bytes] = {}
    handed: tuple[HandedOver, ...] = ()
    released: tuple[int, ...] = ()  # servers to let go, once all else is written


class Written(Struct, frozen=True):
    """What became of a turn."""

    # Targets of servers that are no longer held: nothing of their results was written.
    refused: tuple[int, ...] = ()


# -- rounds --------------------------------------------------------------------


class Round(Struct, frozen=True):
    """How far a round is."""

    id: int
    name: str
    started_at: float
    ended_at: float | None
    total: int
    done: int
    starter: str = ""  # who began it
    words: str = ""  # which targets, for people
    stopped_at: float | None = None  # None: it was not
    window: float = 0.0  # seconds over which it is spread


class RoundResult(Struct, frozen=True, gc=False):
    """What a round found of a target."""

    target_id: int
    url: str  # empty: the target was removed since
    at: float
    state: State
    reason: str
    task: str
    message: str


class Left(Struct, frozen=True, gc=False):
    """A target that a round is still to check."""

    target_id: int
    url: str
    due: float  # its place in the order


# -- people --------------------------------------------------------------------


class Owner(Struct, frozen=True):
    """Who answers for targets, and is told of them."""

    id: int
    name: str
    contact: str = ""
    callback: str = ""
    notices_on: bool = True
    failures: int = 0
    added_at: float = 0.0


class Known(Struct, frozen=True, gc=False):
    """A watched target as people see it."""

    id: int
    url: str
    state: State
    reason: str = ""
    message: str = ""
    added_at: float = 0.0
    last_check_at: float = 0.0  # 0: never
    last_change_at: float = 0.0  # 0: never
    next_due: float | None = None
    failures: int = 0
    enabled: bool = True
    why_disabled: str = ""
    flapping: bool = False
    spelling: str = ""  # of the owner who asks
    acknowledged: bool = False  # by the owner who asks, or else by anybody
