"""What a run needs of the other rooms, and the parts that give it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from ronda.clock import Clock
from ronda.config import Settings
from ronda.frontier import Frontier, Item, Lease, Policy, Scope
from ronda.frontier.priority import Priorities
from ronda.frontier.reach import Reach
from ronda.model import Answer, Found, Problem, Request, Target, Visit
from ronda.probes import Handlers
from ronda.probes.plans import Plans
from ronda.workers.book import Book
from ronda.workers.events import Events
from ronda.workers.gate import Shelf
from ronda.workers.rulebook import Attic
from ronda.workers.survey import Survey
from ronda.workers.watchdog import Watchdog

if TYPE_CHECKING:  # loaded where it is used: most runs remember nothing
    from ronda.workers.memory import Memory


class Fetch(Protocol):
    """What a run needs of the room that asks."""

    def ask(
        self, request: Request, address: str, last: bool, server: str
    ) -> Awaitable[Answer]:
        """One request, one answer."""

    def drop(self, asking: asyncio.Future[Answer]) -> None:
        """Give up a request: its connection is closed, its answer not waited for."""

    @property
    def deaths(self) -> int:
        """How many processes died that asked for us."""


class Address(Protocol):
    """An address, or the answer to give in its place."""

    @property
    def address(self) -> str:
        """Where the host lives; "" when it has no address."""

    @property
    def failure(self) -> Answer | None:
        """Why it has none."""

    @property
    def seconds(self) -> float:
        """How long it took to find out."""

    @property
    def until(self) -> float:
        """The moment to which it holds."""


class Log(Protocol):
    """What a run needs of its request log."""

    def add(self, *, url: str, **entry: Any) -> None:
        """Write a request."""


class Resolve(Protocol):
    """What a run needs of the name servers."""

    async def find(self, name: str) -> Address:
        """The address of a host name."""

    def known(self, name: str) -> Address:
        """What was found out before."""

    def next_address(self, name: str) -> str:
        """Another address of a host that was found; "" when all were tried."""


class Read(Protocol):
    """What a run needs of the room that finds targets."""

    def __call__(
        self, body: bytes, url: str, content_type: str
    ) -> Iterator[Found | Problem]:
        """The links of a document."""


class Overflow(Protocol):
    """Where targets wait that find no room in memory."""

    def __len__(self) -> int:
        """How many there are."""

    def push(self, target: Target) -> None:
        """Put one behind the others."""

    def pop(self, count: int) -> list[Target]:
        """The first of them, no more than some, which are then gone."""


class Keep(Protocol):
    """Saves answers."""

    async def __call__(self, visit: Visit, answer: Answer) -> None:
        """Save one."""

    def has(self, url: str) -> bool:
        """Whether what was saved before need not come again."""


class Grants(Protocol):
    """Who says whether a server is ours to ask, when several processes share them."""

    @property
    def until(self) -> float:
        """The moment to which what is held may be asked at all."""

    def holds(self, host: str, server: str) -> bool:
        """Whether a host is known to live at a server that is held."""

    async def grant(self, host: str, server: str) -> bool:
        """Hold the server at which a host was found; False: another process does."""

    def asked(self, lease: Lease, rests: float) -> None:
        """A host was asked; it rests to a moment, or does not (0)."""

    def hand_over(self, item: Item) -> None:
        """What another process must carry on."""


class Batches(Protocol):
    """References as they are read."""

    @property
    def over(self) -> bool:
        """Nothing follows what was given."""

    def __aiter__(self) -> AsyncIterator[list[Found | Problem]]:
        """All of them, in lists."""


class Parts(Struct, frozen=True):
    """The parts a run is made of, wired in `app`."""

    settings: Settings
    clock: Clock
    frontier: Frontier
    handlers: Handlers
    scope: Scope
    fetch: Fetch
    names: Resolve
    read: Read
    book: Book
    policy: Policy
    is_public: Callable[[str], bool]  # by its address: everybody's, or allowed as such
    shelf: Shelf | None = None  # robots.txt files of earlier runs
    attic: Attic | None = None  # robots.txt files of this one; None: in memory
    log: Log | None = None
    overflow: Overflow | None = None
    watchdog: Watchdog | None = None
    events: Events = Events(())
    grants: Grants | None = None  # None: all servers are ours to ask
    plans: Plans | None = None  # of targets that are more than a URL
    strict: bool = False  # a worker's illegal change of state is raised
    # Of a crawl only:
    reach: Reach | None = None
    priorities: Priorities = Priorities(())
    survey: Survey | None = None
    memory: "Memory | None" = None
    keep: Keep | None = None
