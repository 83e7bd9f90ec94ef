"""A permit: what one run of a program may have of the network, and has had."""

import asyncio
import secrets
from collections.abc import Callable

from msgspec import Struct

TUNNELS = 64  # connections of one run, in all
AT_ONCE = 8  # of them; more wait
BYTES = 256 << 20  # of one run, both ways together

# Told of each start: host, address, URL or authority, and when (epoch seconds).
Told = Callable[[str, str, str, float], None]


class No(Struct, frozen=True):
    """Why a program does not get what it asked for: a status of HTTP, and words."""

    status: int
    words: str


class Permit:
    """Names a run by its password, and ends with it."""

    def __init__(self, public: bool) -> None:
        self.password = secrets.token_urlsafe(18)
        self.public = public  # once true, it stays so: there is no way back
        self.refused = ""  # what the guard has kept the program from: the last of it
        self.at_once = asyncio.Semaphore(AT_ONCE)
        self.serving: set[asyncio.Task[object]] = set()
        self._tunnels = TUNNELS
        self._bytes = BYTES

    def refuse(self, words: str, status: int = 403) -> No:
        """Say no, and remember it."""
        self.refused = words
        return No(status, words)

    def begin(self) -> No | None:
        """Count a connection; why there may be no more, when there may not."""
        if self._tunnels == 0:
            return self.refuse(f"more than {TUNNELS} connections in one run", 429)
        self._tunnels -= 1
        return None

    def spend(self, size: int) -> bool:
        """Count bytes; whether that many are left."""
        self._bytes -= size
        if self._bytes < 0:
            self.refuse(f"more than {BYTES >> 20} MiB in one run")
        return self._bytes >= 0
