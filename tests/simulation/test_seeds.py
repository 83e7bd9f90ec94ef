"""Random webs by the hundred: whatever happens, the rules hold.

A failure names its seed; `ronda simulate --check 1 --seed N` repeats it.
"""

from typing import Any

import pytest
from msgspec.structs import replace

from ronda.config import Politeness
from ronda.frontier import Frontier, Item, Policy
from ronda.simulation.checking import check_some
from ronda.simulation.invariants import broken
from ronda.simulation.stage import Stage
from ronda.simulation.trials import trial

SEEDS, CHUNK = 240, 12


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_every_rule_holds_in_every_web(
    first: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("CRITICAL")  # workers die on purpose
    for seed in range(first, first + CHUNK):
        found = broken(trial(seed))

        words = "\n".join([f"ronda simulate --check 1 --seed {seed}", *found])
        assert not found, words


def test_the_same_seed_is_the_same_trial() -> None:
    assert trial(7) == trial(7)
    assert trial(7) != trial(8)


def test_a_round_that_cannot_end_is_told() -> None:
    short = replace(trial(1), seconds=0.5)

    (words,) = broken(short)

    assert words.startswith("it does not end: not over after")


class Hasty(Stage):
    """Its frontier keeps no gap."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        rude = Politeness(interval=0.0, server_interval=0.0, factor=0.0)
        self.frontier = Frontier(Policy([rude]).limits)


class Forgetful(Frontier):
    """Loses every tenth of what is put into it, and still counts it."""

    def put(self, item: Item, now: float, delay: float = 0.0) -> None:
        super().put(item, now, delay)
        if self.queued % 10 == 0:
            self.recall(item.host)


class Losing(Stage):
    """Its frontier loses something."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.frontier = Forgetful(self.policy.limits)


class Failing(Stage):
    """Its frontier has a bug."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.frontier.put = None  # type: ignore[assignment, method-assign]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (Hasty, "s early"),
        (Losing, "it does not end: nothing is due any more"),
        (Failing, "it fails: TypeError"),
    ],
)
def test_a_round_that_breaks_a_rule_is_told(make: type[Stage], words: str) -> None:
    row = Politeness(interval=1.0)
    quiet = trial(1)
    quiet = replace(
        quiet,
        traits=replace(quiet.traits, crashes=0.0, hangs=0.0, errors=0.0),
        settings=replace(quiet.settings, politeness=(row,)),
    )

    assert broken(quiet) == []
    assert any(words in found for found in broken(quiet, make))


def test_trials_tell_what_they_broke_by_seed() -> None:
    told: list[object] = []

    check_some(range(3, 5), told.append)

    assert [(one.seed, one.broken) for one in told] == [(3, ()), (4, ())]  # type: ignore[attr-defined]
