"""How much is received a second, over all hosts: a token bucket."""

BURST = 1.0  # seconds' worth of bytes that may come at once


class Bandwidth:
    """Says when the next request may begin, by the bytes that came so far.

    How long a body is, nobody knows before it came. So it is charged afterwards, and
    whatever was too much delays those that follow: in any time t there come no more
    than limit × (t + 1 s), and the bodies that were under way at its end.
    """

    def __init__(self, limit: int | None) -> None:
        self._limit = limit  # bytes a second; None: any
        self._paid_at = 0.0  # when all that came is paid for, at the limit's rate

    @property
    def free_at(self) -> float:
        """The moment from which the next request may begin."""
        return self._paid_at - BURST if self._paid_at else 0.0

    def spent(self, size: int, now: float) -> None:
        """Bytes were received."""
        if self._limit is not None:
            self._paid_at = max(self._paid_at, now) + size / self._limit
