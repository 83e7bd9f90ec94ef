"""Who is connected, and what is known of each connection."""

from collections.abc import Callable

from msgspec import Struct

from ronda.clock import Clock
from ronda.server.console.monitor import Event, Monitor, Who
from ronda.server.console.replies import Form

TRIES = 3  # bad logins that a connection may make


class Limits(Struct, frozen=True):
    """What a connection may cost."""

    line: int = 64 * 1024  # bytes of a command
    stall: float = 10.0  # seconds for which a client may read nothing of its reply
    strangers: float = 60.0  # seconds of silence before a login
    linger: float = 2.0  # seconds for which the rest of a bad line is thrown away
    backlog: int = 256 * 1024  # bytes of events that wait for a slow client
    waiting: int = 1000  # events that wait for the end of a reply


class Session:
    """One connection: who it is, and how it wants its replies."""

    def __init__(self, kind: str, who: Who | None, now: float) -> None:
        self.kind = kind  # unix or tcp
        self.who = who  # None: not known yet
        self.form = Form()
        self.commands = 0
        self.failures = 0  # logins that went wrong
        self.last_at = now  # monotonic: when the last command came
        self.end: Callable[[], None] | None = None  # ends its subscription
        self.tell: Callable[[Event], None] = lambda event: None  # told each result

    @property
    def login(self) -> str:
        """A name for it."""
        return self.who.name if self.who else "-"

    def unsubscribe(self) -> bool:
        """End the subscription; whether there was one."""
        end, self.end = self.end, None
        if end is not None:
            end()
        return end is not None


class Hall(Struct, frozen=True):
    """What all connections share."""

    monitor: Monitor
    clock: Clock
    limits: Limits
    sessions: dict[Session, None]  # in the order in which they came
