"""What a run needs of the other rooms, and the parts that give it."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Protocol

from msgspec import Struct

from ronda.clock import Clock
from ronda.config import Settings
from ronda.frontier import Frontier, Policy, Scope
from ronda.model import Answer, Found, Problem, Request
from ronda.probes import Handlers
from ronda.workers.book import Book
from ronda.workers.gate import Shelf
from ronda.workers.rulebook import Attic


class Fetch(Protocol):
    """What a run needs of the room that asks."""

    def ask(
        self, request: Request, address: str, last: bool, server: str
    ) -> Awaitable[Answer]:
        """One request, one answer."""


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
