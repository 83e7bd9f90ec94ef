"""Names: the address behind a host, and the mail servers behind a domain."""

import asyncio
import socket
import time
from typing import TYPE_CHECKING

from msgspec import Struct

from ronda.model import Answer, Timings

if TYPE_CHECKING:
    from aiodns import DNSResolver
    from aiodns.error import DNSError

# c-ares's codes.
_NO_DATA = 1
_NO_SUCH_NAME = {_NO_DATA, 4}
_NAME_ERROR = 6  # libcurl's code for it, so that one table of faults serves all
TRIES = 2
TIMEOUT = 5.0  # seconds for one try


class Address(Struct, frozen=True, gc=False):
    """What a name stands for: an address, or the answer to give in its place."""

    address: str = ""
    failure: Answer | None = None
    others: tuple[str, ...] = ()  # to be tried when nobody is at the first
    seconds: float = 0.0  # it took to find out


_NOTHING = Address()


class Names:
    """Asks the name servers, each name once in a run."""

    def __init__(self, servers: tuple[str, ...]) -> None:
        self._servers = list(servers) or None
        self._made: DNSResolver | None = None
        self._known: dict[str, Address] = {}

    @property
    def _resolver(self) -> "DNSResolver":
        if self._made is None:
            # Not at the top: a run over addresses or files never needs it, and it
            # takes a tenth of the start-up time.
            from aiodns import DNSResolver  # noqa: PLC0415

            loop = asyncio.get_running_loop()
            self._made = DNSResolver(
                nameservers=self._servers, loop=loop, tries=TRIES, timeout=TIMEOUT
            )
        return self._made

    async def __aenter__(self) -> "Names":
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._made is not None:
            await self._made.close()

    def known(self, name: str) -> Address:
        """What was found out about a name before."""
        return self._known.get(name, _NOTHING)

    async def find(self, name: str) -> Address:
        """The address of a host name."""
        found = self._known.get(name)
        # A failing server is asked again; "no such name" is an answer.
        if found is None or (found.failure and found.failure.errno):
            found = self._known[name] = await self._ask(name)
        return found

    async def _ask(self, name: str) -> Address:
        from aiodns.error import DNSError  # noqa: PLC0415  # as above

        start = time.monotonic()
        try:
            reply = await self._resolver.getaddrinfo(
                name, family=socket.AF_UNSPEC, type=socket.SOCK_STREAM
            )
        except DNSError as error:
            return Address(failure=_failure(error, time.monotonic() - start))
        # c-ares puts the address first that this machine can best reach.
        texts = (node.addr[0] for node in reply.nodes)
        found = [text.decode() if isinstance(text, bytes) else text for text in texts]
        first, *others = dict.fromkeys(found)
        return Address(first, None, tuple(others), time.monotonic() - start)

    def next_address(self, name: str) -> str:
        """Another address of a host that was found; "" when all were tried."""
        known = self.known(name)
        if not known.others:
            return ""
        first, *others = known.others
        self._known[name] = Address(first, None, tuple(others), known.seconds)
        return first

    async def mail_servers(self, domain: str) -> Answer:
        """The mail servers of a domain, best first, or its own address if none."""
        from aiodns.error import DNSError  # noqa: PLC0415  # as above

        start = time.monotonic()
        try:
            reply = await self._resolver.query_dns(domain, "MX")
        except DNSError as error:
            if error.args[0] != _NO_DATA:
                return _failure(error, time.monotonic() - start)
            own = await self.find(domain)
            if own.failure is not None and own.failure.errno:
                return own.failure
            return Answer(address=own.address)
        records = sorted(
            (r.data.priority, r.data.exchange)
            for r in reply.answer
            if hasattr(r.data, "exchange") and hasattr(r.data, "priority")
        )
        seconds = time.monotonic() - start
        return Answer(
            names=tuple(name or "." for _, name in records),
            timings=Timings(name=seconds, total=seconds),
        )


def _failure(error: "DNSError", seconds: float) -> Answer:
    code, words = error.args[0], str(error.args[1])
    return Answer(
        error=_NAME_ERROR,
        errno=0 if code in _NO_SUCH_NAME else code,
        error_text=words,
        timings=Timings(total=seconds),
    )
