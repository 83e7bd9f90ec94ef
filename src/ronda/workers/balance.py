"""The end of a run: when everything that went in has come out, and not before."""

from collections.abc import Iterator

READING = ("input is still being read", 0)


class Balance:
    """Counts on both sides of every hand-over. The run is over when all are level.

    No state of any worker is asked, no time is waited, and no queue is measured: what
    is on its way has been counted in, and not yet out.
    """

    __slots__ = ("begun", "ended", "fed", "pages_read", "pages_told", "worked", "works")

    def __init__(self) -> None:
        self.fed = False  # no further input
        self.begun = 0  # visits, those of robots.txt too
        self.ended = 0
        self.pages_told = 0  # pages given to crawlers
        self.pages_read = 0
        self.works = 0  # pieces of work given to workers
        self.worked = 0

    @property
    def over(self) -> bool:
        """Whether nothing is queued, asked, read, held back or worked on."""
        return (
            self.begun == self.ended
            and self.fed
            and self.pages_told == self.pages_read
            and self.works == self.worked
        )

    def open(self, reading: tuple[str, int] = READING) -> Iterator[tuple[str, int]]:
        """What is not level yet, in words, with how much is missing.

        Args:
            reading: what to say while there may be further input.
        """
        if not self.fed:
            yield reading
        if self.begun != self.ended:
            yield "visits that have not ended", self.begun - self.ended
        if self.pages_told != self.pages_read:
            yield "pages that are not read yet", self.pages_told - self.pages_read
        if self.works != self.worked:
            yield "pieces of work that are not done yet", self.works - self.worked
