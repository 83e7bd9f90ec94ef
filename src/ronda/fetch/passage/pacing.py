"""The pace of all programs together: gaps between connections, by host and address."""

import asyncio
from collections.abc import Callable

MANY = 10_000  # keys, above which those are forgotten that may be asked anyway

Gap = Callable[[str, str], float]  # host and address → seconds


class Pacing:
    """When programs may connect with whom; they do not know of each other."""

    def __init__(self, gap: Gap) -> None:
        self._gap = gap
        self._next: dict[str, float] = {}  # by the loop's clock

    async def turn(self, host: str, address: str) -> None:
        """Wait until both may be asked, and let the gap count from there."""
        now = asyncio.get_running_loop().time()
        keys = (host, f"at {address}")
        start = max(now, *(self._next.get(key, now) for key in keys))
        if gap := self._gap(host, address):
            if len(self._next) > MANY:
                self._next = {k: at for k, at in self._next.items() if at > now}
            self._next |= dict.fromkeys(keys, start + gap)
        await asyncio.sleep(start - now)
