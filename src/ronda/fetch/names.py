"""Names: the address behind a host, and the mail servers behind a domain."""

import asyncio
import socket
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from ronda.clock import Clock
from ronda.fetch.guard import Guard, refused
from ronda.model import Answer, Timings

if TYPE_CHECKING:
    from aiodns import DNSResolver
    from aiodns.error import DNSError
    from pycares import AddrInfoResult

# c-ares's codes.
_NO_DATA = 1
_NO_SUCH_NAME = {_NO_DATA, 4, 8}  # 8: it cannot be a name, a part of it is too long
_NAME_ERROR = 6  # libcurl's code for it, so that one table of faults serves all
TRIES = 2
TIMEOUT = 5.0  # seconds for one try
SHORTEST, LONGEST = 5.0, 86_400.0  # seconds that an answer holds, whatever it says
NEGATIVE = 60.0  # seconds that "no such name" holds: c-ares does not tell
MANY = 10_000  # names from which on those are forgotten whose answers are old
OLD = 3600.0  # seconds after its end from which on nobody needs an answer any more
MOST_PUBLIC = 100_000  # names that are remembered to have been public, the latest


class Address(Struct, frozen=True, gc=False):
    """What a name stands for: an address, or the answer to give in its place."""

    address: str = ""
    failure: Answer | None = None
    others: tuple[str, ...] = ()  # to be tried when nobody is at the first
    seconds: float = 0.0  # it took to find out
    until: float = 0.0  # the moment to which it holds


_NOTHING = Address()


class Names:
    """Asks the name servers, each name once for as long as its answer holds."""

    def __init__(self, servers: tuple[str, ...], guard: Guard, clock: Clock) -> None:
        self._servers = list(servers) or None
        self._guard = guard
        self._now = clock.now
        self._made: DNSResolver | None = None
        self._known: dict[str, Address] = {}
        self._asking: dict[str, asyncio.Task[Address]] = {}
        self._tidy_at = MANY  # names that are known
        self._public: dict[str, None] = {}  # names that have had a public address

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
        asking = list(self._asking.values())
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
        if self._made is not None:
            await self._made.close()

    def known(self, name: str) -> Address:
        """What was found out about a name before, even if it holds no longer."""
        return self._known.get(name, _NOTHING)

    async def find(self, name: str) -> Address:
        """The address of a host name."""
        found = self._known.get(name)
        if found is not None and self._now() < found.until:
            return found
        task = self._asking.get(name)
        if task is None:
            task = self._asking[name] = asyncio.create_task(self._learn(name))
        # Whoever else waits for the same name must have it even if we no longer do.
        return await asyncio.shield(task)

    async def _learn(self, name: str) -> Address:
        try:
            found = self._known[name] = await self._ask(name)
        finally:
            del self._asking[name]
        if len(self._known) >= self._tidy_at:
            self._tidy()
        return found

    def _tidy(self) -> None:
        """Forget old answers; when there are twice as many as are left, again."""
        now, known = self._now(), self._known
        self._known = {n: known[n] for n in known if now < known[n].until + OLD}
        self._tidy_at = max(MANY, 2 * len(self._known))

    async def _ask(self, name: str) -> Address:
        from aiodns.error import DNSError  # noqa: PLC0415  # as above

        start = self._now()
        try:
            reply = await self._resolver.getaddrinfo(
                name, family=socket.AF_UNSPEC, type=socket.SOCK_STREAM
            )
        except DNSError as error:
            now = self._now()
            failure = _failure(error, now - start)
            # "No such name" is an answer; a failing server is asked again.
            return Address(
                failure=failure, until=now if failure.errno else now + NEGATIVE
            )
        now = self._now()
        return self._judge(
            name, addresses(reply), now - start, now + time_to_live(reply)
        )

    def _judge(
        self, name: str, found: list[str], seconds: float, until: float
    ) -> Address:
        """Keep the public addresses of a name that has any, or has ever had one.

        A name that is public now and private later is how strangers make a robot ask
        for them what only it can reach (DNS rebinding).
        """
        public = [address for address in found if self._guard.is_public(address)]
        if public:
            self._public.pop(name, None)
            self._public[name] = None  # as the latest
            if len(self._public) > MOST_PUBLIC:
                del self._public[next(iter(self._public))]
        elif name in self._public:
            words = f"{name} was public and is now at {found[0]}"
            return Address(failure=refused(words), until=until)
        first, *others = public or found
        return Address(first, None, tuple(others), seconds, until)

    def next_address(self, name: str) -> str:
        """Another address of a host that was found; "" when all were tried."""
        known = self.known(name)
        if not known.others:
            return ""
        first, *others = known.others
        self._known[name] = replace(known, address=first, others=tuple(others))
        return first

    async def mail_servers(self, domain: str) -> Answer:
        """The mail servers of a domain, best first, or its own address if none."""
        from aiodns.error import DNSError  # noqa: PLC0415  # as above

        start = self._now()
        try:
            reply = await self._resolver.query_dns(domain, "MX")
        except DNSError as error:
            if error.args[0] != _NO_DATA:
                return _failure(error, self._now() - start)
            own = await self.find(domain)
            if own.failure is not None and own.failure.errno:
                return own.failure
            return Answer(address=own.address)
        records = sorted(
            (r.data.priority, r.data.exchange)
            for r in reply.answer
            if hasattr(r.data, "exchange") and hasattr(r.data, "priority")
        )
        seconds = self._now() - start
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


def addresses(reply: "AddrInfoResult") -> list[str]:
    """All addresses, the one first that this machine can best reach (by c-ares)."""
    texts = (node.addr[0] for node in reply.nodes)
    found = (text.decode() if isinstance(text, bytes) else text for text in texts)
    return list(dict.fromkeys(found))


def time_to_live(reply: "AddrInfoResult") -> float:
    """For how many seconds every part of an answer holds, aliases too."""
    lives = [node.ttl for node in reply.nodes] + [name.ttl for name in reply.cnames]
    return min(max(float(min(lives)), SHORTEST), LONGEST)
