"""When to look for what lies in the future: clocks are set, and some were wrong."""

DAY = 86_400.0  # seconds
TOLERANCE = 60.0  # seconds by which a clock may be set back unheeded
# A machine that has not been told the date yet begins in 1970 or so: to it everything
# is in the future. No store is older than this.
NEVER_SET = 1_672_531_200.0  # the first of January 2023


class Setback:
    """Says when: at first, once a day, and when the date was set back."""

    def __init__(self) -> None:
        self._looked_at: float | None = None
        self._offset = 0.0  # the date less the steady clock, when last asked

    def is_due(self, steady: float, date: float) -> bool:
        """Whether to look now.

        Args:
            steady: monotonic seconds.
            date: epoch seconds.
        """
        if date < NEVER_SET:
            return False
        offset = date - steady
        if offset < self._offset - TOLERANCE:
            self._looked_at = None
        self._offset = offset
        return self._looked_at is None or steady >= self._looked_at + DAY

    def looked(self, steady: float) -> None:
        """It was looked; until then it stays due."""
        self._looked_at = steady
