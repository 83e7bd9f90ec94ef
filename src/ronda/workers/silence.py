"""Who has given no sign of life for too long, by our own clock that nobody can set."""

from collections.abc import Mapping


class Silence:
    """Watches the signs of life of others."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[float, float]] = {}  # the sign, and since when
        self._looked_at = 0.0

    def of(
        self, signs: Mapping[int, float], now: float, seconds: float
    ) -> dict[int, float]:
        """Those whose sign has been the same for so long, with that sign.

        Args:
            signs: what each gives as its sign now; all that matters is that it changes.
            now: monotonic seconds.
            seconds: of silence after which one is taken for dead.
        """
        # While the store could not be used, nobody could give a sign.
        if now - self._looked_at > seconds / 2:
            self._seen.clear()
        self._looked_at = now
        for number in self._seen.keys() - signs.keys():
            del self._seen[number]
        for number, sign in signs.items():
            if self._seen.get(number, (None, 0.0))[0] != sign:
                self._seen[number] = sign, now
        return {
            number: sign
            for number, (sign, since) in self._seen.items()
            if now - since >= seconds
        }
