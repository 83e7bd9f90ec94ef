"""Many trials, shared out over processes; whatever breaks is told with its seed."""

import logging
from collections.abc import Iterator

from msgspec import Struct

from ronda.simulation.invariants import broken
from ronda.simulation.processes import Tell, share_out
from ronda.simulation.trials import trial


class Checked(Struct, frozen=True):
    """What came of the trial of a seed."""

    seed: int
    broken: tuple[str, ...] = ()  # rules, in words; there must be none


def check(first: int, count: int, processes: int) -> Iterator[Checked]:
    """Carry out the trials of some seeds in a row, in whatever order they end."""
    shares = [
        range(first + part, first + count, processes) for part in range(processes)
    ]
    for _, checked in share_out(check_some, shares):
        yield checked


def check_some(seeds: range, tell: Tell) -> None:
    """The trials of one process."""
    logging.disable()  # workers die on purpose
    try:
        for seed in seeds:
            tell(Checked(seed, tuple(broken(trial(seed)))))
    finally:
        logging.disable(logging.NOTSET)
