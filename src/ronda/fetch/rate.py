"""How fast a body comes, and whether that is too slow."""


class Rate:
    """So many bytes a second over some seconds, counted from the first of a body.

    libcurl's own limit counts from a request's start, and counts neither headers nor
    the time a server thinks: it would cut off an honest answer that begins late. Here
    silence is left to the time-out, and only what trickles is given up before it.
    """

    __slots__ = ("_came", "_least", "_seconds", "_since")

    def __init__(self, least: int, seconds: float) -> None:
        self._least = least
        self._seconds = seconds
        self._since = self._came = 0.0

    def begin(self) -> None:
        """A body is about to come; its clock runs from its first bytes."""
        self._since = self._came = 0.0

    def is_too_slow(self, size: int, now: float) -> bool:
        """Count what came by now; True when it was too little for too long."""
        if not self._since:
            self._since = now
        self._came += size
        seconds = now - self._since
        if seconds < self._seconds:
            return False
        too_slow = self._came < self._least * seconds
        self._since, self._came = now, 0.0
        return too_slow

    @property
    def words(self) -> str:
        """What to say of a body that is."""
        return f"too slow, under {self._least:,} bytes a second"
