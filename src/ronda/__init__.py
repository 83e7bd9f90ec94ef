"""Ronda: a polite watchman for everything reachable by URL."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ronda.app.library import Ronda as open  # noqa: A004, N813  # ronda.open(…)

__version__ = "0.1.0"
__all__ = ["__version__", "open"]


def __getattr__(name: str) -> object:
    """Load the library when it is wanted: the command line is to start at once."""
    if name != "open":
        raise AttributeError(f"module 'ronda' has no attribute '{name}'")
    from ronda.app.library import Ronda  # noqa: PLC0415

    return Ronda
