"""The states of workers: which may follow which, and what is final."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ronda.errors import CrewError
from ronda.workers.crew import Crew, Member
from ronda.workers.states import LEGAL, Role, WorkerState

S = WorkerState
FINAL = (S.DIED, S.STOPPED)

# The cycles of the seed document, as this crew goes through them.
FIRST = [S.IDLE, S.WAITING, S.BEFORE_WORK]
AGAIN = [S.SLEEPING, S.WAITING, S.BEFORE_WORK]
ASKED = [S.DOWNLOADING, S.DOWNLOADED]
PUSHED = [S.PUSHING, S.PUSHED]
HELD_BACK = [S.PUSHING, S.PUSH_BUFFER, S.PUSHED]
LET_GO_ON = [S.WAITING, S.PUSH_BUFFER, S.SLEEPING, S.WAITING]
CYCLES = {
    "fetcher, first": [*FIRST, *ASKED, *PUSHED, *AGAIN],
    "fetcher, with nothing to push": [*FIRST, *ASKED, *AGAIN],
    "crawler, first": [*FIRST, S.WORKING, *PUSHED, *AGAIN],
    "crawler, with no room for its links": [*FIRST, S.WORKING, *HELD_BACK, *AGAIN],
    "crawler, once there is room": [S.IDLE, *LET_GO_ON],
    "worker": [*FIRST, S.WORKING, *AGAIN],
}
# As they stand there; * is what may be left out.
SEED = {
    "fetcher, first": "0-1-3-4-6-7-8-9-5-1",
    "fetcher, then": "*2-1-*2-3-4-6-7-8-*9-*2",
    "crawler, first": "0-1-3-4-8-9-5-1",
    "crawler, then": "*2-1-*2-3-4-*8-*9-*2",
}
NUMBERS = [S.IDLE, S.WAITING, S.PUSH_BUFFER, S.BEFORE_WORK, S.WORKING, S.SLEEPING]
NUMBERS += [S.DOWNLOADING, S.DOWNLOADED, S.PUSHING, S.PUSHED, S.DIED]


def member(state: WorkerState, *, strict: bool) -> tuple[Crew, Member]:
    crew = Crew(strict=strict)
    found = crew.enlist(Role.FETCHER, 0.0)
    found.state = state
    return crew, found


class TestCycles:
    @pytest.mark.parametrize("name", CYCLES)
    def test_every_cycle_of_a_role_is_legal(self, name: str) -> None:
        first, *others = CYCLES[name]
        _, found = member(first, strict=True)
        for state in others:
            found.become(state, 1.0)

        assert found.state is others[-1]

    @pytest.mark.parametrize("name", SEED)
    def test_the_seeds_own_cycles_are_legal(self, name: str) -> None:
        """With all that may be left out, and without it."""
        parts = SEED[name].split("-")
        for kept in (parts, [part for part in parts if "*" not in part]):
            states = [NUMBERS[int(part.strip("*"))] for part in kept]
            for before, after in pairwise(states):
                assert after in LEGAL[before], f"{before} to {after}"

    @pytest.mark.parametrize("name", CYCLES)
    def test_a_worker_may_die_or_be_stopped_at_any_moment(self, name: str) -> None:
        for state in CYCLES[name]:
            for end in FINAL:
                _, found = member(state, strict=True)
                found.become(end, 1.0)

    def test_every_state_but_the_first_can_be_reached_from_it(self) -> None:
        reached = {S.IDLE}
        for _ in S:
            reached |= {after for state in reached for after in LEGAL[state]}

        assert reached == set(S)

    def test_each_state_that_is_legal_occurs_in_a_cycle(self) -> None:
        steps = {step for cycle in CYCLES.values() for step in pairwise(cycle)}
        legal = {(a, b) for a in S for b in LEGAL[a] if b not in FINAL}

        for cycle in SEED.values():
            numbers = [int(part.strip("*")) for part in cycle.split("-")]
            steps |= set(pairwise(NUMBERS[number] for number in numbers))
        # What may be left out at the end of a cycle, as from 4 to the last 2.
        assert legal - steps <= {
            (S.PUSH_BUFFER, S.SLEEPING),
            (S.PUSH_BUFFER, S.PUSHED),
            (S.WORKING, S.PUSH_BUFFER),
        }


class TestTheTable:
    @settings(deadline=None)
    @given(st.sampled_from(S), st.sampled_from(S))
    def test_what_is_not_in_it_is_an_error_where_it_is_strict(
        self, state: WorkerState, after: WorkerState
    ) -> None:
        crew, found = member(state, strict=True)
        if after in LEGAL[state]:
            found.become(after, 1.0)
            assert found.state is after
        else:
            with pytest.raises(CrewError, match=f"fetcher 1 went from {state} to"):
                found.become(after, 1.0)
        assert crew.illegal == 0

    @pytest.mark.parametrize("state", S)
    @pytest.mark.parametrize("after", S)
    def test_and_a_counted_warning_where_it_is_not(
        self, state: WorkerState, after: WorkerState, caplog: pytest.LogCaptureFixture
    ) -> None:
        crew, found = member(state, strict=False)
        found.become(after, 1.0)

        illegal = after not in LEGAL[state]
        assert crew.illegal == len(caplog.records) == illegal
        assert found.state is after  # it goes on all the same

    @pytest.mark.parametrize("state", FINAL)
    def test_nothing_follows_death_or_the_end(self, state: WorkerState) -> None:
        assert LEGAL[state] == frozenset()

    def test_nobody_goes_from_a_state_to_the_same(self) -> None:
        assert not any(state in LEGAL[state] for state in S)
