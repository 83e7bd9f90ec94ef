"""The name servers of a made-up web."""

import asyncio

from ronda.fetch.names import Address
from ronda.model import Answer
from ronda.simulation.homes import Home, Homes, Kind
from ronda.simulation.loop import VirtualClock

NO_SUCH_NAME = Answer(error=6, error_text="no such name")
NAME_FAILED = Answer(error=6, errno=3, error_text="the name server failed")
LOOKUP = 0.1  # seconds that a name takes, at most
NEGATIVE = 60.0  # seconds that "no such name" holds


class NameServers:
    """Tells where hosts live, in its own time."""

    def __init__(self, homes: Homes, clock: VirtualClock) -> None:
        self._homes = homes
        self._now = clock.now
        self._known: dict[str, Address] = {}

    async def find(self, name: str) -> Address:
        """The address of a host name."""
        known = self._known.get(name)
        if known is None or self._now() >= known.until:
            home = self._homes[name]
            await asyncio.sleep(min(LOOKUP, home.pace))
            known = self._known[name] = self._look_up(home)
        return known

    def _look_up(self, home: Home) -> Address:
        now = self._now()
        if home.kind is Kind.NAMELESS:
            return Address(failure=NO_SUCH_NAME, until=now + NEGATIVE)
        if home.kind is Kind.UNNAMED:
            return Address(failure=NAME_FAILED, until=now)
        first, *others = found = self._homes.addresses(home)
        home.told = tuple(dict.fromkeys([*home.told, *found]))
        return Address(first, others=tuple(others), until=now + self._homes.life(home))

    def known(self, name: str) -> Address:
        """What was found out before."""
        return self._known.get(name) or Address()

    def next_address(self, name: str) -> str:
        """Another address of a host; "" when all were tried."""
        known = self.known(name)
        if not known.others:
            return ""
        first, *others = known.others
        self._known[name] = Address(first, others=tuple(others), until=known.until)
        return first
