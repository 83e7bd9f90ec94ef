"""States as rows have them, to what they mean."""

from ronda.errors import StoreError
from ronda.model import State
from ronda.urls import shown


class _States(dict[str, State]):
    """All that this Ronda knows."""

    def __missing__(self, text: str) -> State:
        words = "the store is damaged, or written by a newer Ronda"
        raise StoreError(f"the state '{shown(text)}' is not known: {words}")


STATES = _States((state.value, state) for state in State)
