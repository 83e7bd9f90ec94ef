"""Chance that can be asked again: the same seed and the same words, the same number."""

from hashlib import blake2b
from statistics import NormalDist

_BYTES = 16
_STEPS = 1024  # of the bell curve that is told apart
_BELL = [NormalDist().inv_cdf((step + 0.5) / _STEPS) for step in range(_STEPS)]


class Chance:
    """Draws numbers by seed and name, so that nothing drawn needs to be kept."""

    def __init__(self, seed: int) -> None:
        self._seed = blake2b(digest_size=_BYTES, key=str(seed).encode())

    def __call__(self, name: str) -> "Draw":
        """All the numbers of one name."""
        hashed = self._seed.copy()
        hashed.update(name.encode())
        return Draw(int.from_bytes(hashed.digest()))


class Draw:
    """Numbers that are used up one after the other."""

    __slots__ = ("_left",)

    def __init__(self, bits: int) -> None:
        self._left = bits

    def below(self, most: int) -> int:
        """A whole number from 0, less than `most`."""
        self._left, found = divmod(self._left, most)
        return found

    def share(self) -> float:
        """A number from 0 to 1, in ten thousandths."""
        return self.below(10_000) / 10_000

    def bell(self) -> float:
        """A number of the standard normal distribution."""
        return _BELL[self.below(_STEPS)]
