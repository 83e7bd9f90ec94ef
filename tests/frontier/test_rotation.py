"""Rounds take turns: the seed's rules, and that nobody starves."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from ronda.frontier.rotation import BEGUN, Rotation

MANY = 10_000


def rotation(workers: int = 50, batch: int = 10, **rounds: int) -> Rotation[str]:
    made: Rotation[str] = Rotation(workers, batch)
    for name, count in rounds.items():
        made.add(int(name[1:]), (f"{name}/{n}" for n in range(count)))
    return made


def by_round(begun: list[tuple[int, str]]) -> Counter[int]:
    return Counter(number for number, _ in begun)


def test_one_round_has_all_workers_but_a_tenth() -> None:
    made = rotation(r1=100)

    assert made.quota == 50
    assert by_round(made.begin(MANY)) == {1: 45}


def test_several_rounds_have_the_quota_of_the_seed() -> None:
    made = rotation(r1=100, r2=100, r3=100)

    assert made.quota == 1 + 50 // 3
    assert made.most == max(10, int(0.9 * 17))


def test_a_round_begins_a_batch_and_then_it_is_the_next_ones_turn() -> None:
    made = rotation(r1=100, r2=100)

    begun = [number for number, _ in made.begin(40)]

    assert begun == [1] * 10 + [2] * 10 + [1] * 10 + [2] * 10


def test_visits_of_a_round_begin_in_their_order() -> None:
    made = rotation(r1=5)

    assert [item for _, item in made.begin(MANY)] == [f"r1/{n}" for n in range(5)]


def test_what_is_freed_goes_to_whose_turn_it_is() -> None:
    made = rotation(workers=2, batch=10, r1=10, r2=10)
    assert by_round(made.begin(MANY)) == {1: 2}

    made.ended(1)

    assert by_round(made.begin(MANY)) == {2: 1}


def test_a_round_with_nothing_left_is_pending_until_its_visits_end() -> None:
    made = rotation(r1=3)
    made.begin(MANY)

    [standing] = made
    assert standing.is_pending
    assert (standing.waiting, standing.running, standing.ended) == (0, 3, 0)
    for _ in range(3):
        made.ended(1)
    assert list(made) == []


def test_a_pending_round_does_not_count_for_the_quota() -> None:
    made = rotation(r1=3, r2=100)
    made.begin(3)

    assert made.quota == 50


def test_a_new_round_lowers_the_quota_and_the_end_of_one_raises_it() -> None:
    made = rotation(r1=100)
    made.begin(MANY)
    made.add(2, ["r2/0"])

    assert made.quota == 26
    assert by_round(made.begin(MANY)) == {2: 1}
    assert made.quota == 50


def test_what_is_dropped_never_begins_and_the_turn_stays_where_it_was() -> None:
    made = rotation(workers=10, batch=1, r1=5, r2=5, r3=5)
    assert [number for number, _ in made.begin(2)] == [1, 2]

    assert made.drop(1) == ["r1/1", "r1/2", "r1/3", "r1/4"]

    assert [number for number, _ in made.begin(2)] == [3, 2]
    assert made.drop(9) == []
    made.ended(1)
    assert 1 not in made


def test_what_comes_later_for_a_pending_round_is_begun_too() -> None:
    made = rotation(r1=1)
    made.begin(MANY)
    made.add(1, ["more"])

    assert made.begin(MANY) == [(1, "more")]


def test_it_says_whether_another_could_begin() -> None:
    made = rotation(workers=2, batch=1, r1=5)
    assert made.is_free
    made.begin(MANY)

    assert not made.is_free


@given(
    workers=st.integers(1, 60),
    batch=st.integers(1, 12),
    rounds=st.lists(st.integers(1, 80), min_size=1, max_size=8),
    seed=st.randoms(use_true_random=False),
)
@settings(max_examples=200)
def test_no_round_starves_and_shares_stay_within_a_batch_of_the_quota(
    workers: int, batch: int, rounds: list[int], seed: object
) -> None:
    made: Rotation[int] = Rotation(workers, batch)
    for number, count in enumerate(rounds):
        made.add(number, range(count))
    running: list[int] = []
    done: Counter[int] = Counter()
    since: Counter[int] = Counter()  # visits of others that began since its last
    left = dict(enumerate(rounds))
    while any(left.values()):
        most = made.most
        begun = made.begin(MANY)
        assert begun or running, "workers are free, and nothing begins"
        for number, _ in begun:
            running.append(number)
            left[number] -= 1
            for other, count in left.items():
                since[other] = 0 if other == number or not count else since[other] + 1
        for number in set(running):
            # The quota grows when rounds leave, so what is running is below the newest.
            assert running.count(number) <= max(most, made.most, batch)
        assert max(since.values()) <= len(rounds) * max(batch, workers)
        ends = seed.randrange(len(running))  # type: ignore[attr-defined]
        number = running.pop(ends)
        made.ended(number)
        done[number] += 1
    for number in running:
        made.ended(number)
        done[number] += 1

    assert done == Counter(dict(enumerate(rounds)))
    assert list(made) == []


def test_one_that_waits_for_its_host_leaves_its_worker_to_others() -> None:
    made = rotation(workers=2, batch=1, r1=3, r2=3)
    assert by_round(made.begin(MANY)) == {1: 1, 2: 1}

    made.suspend(1)

    assert by_round(made.begin(MANY)) == {1: 1}
    made.resume(1)
    assert made.running == 3
    made.ended(2)
    assert made.begin(MANY) == []


def test_not_any_number_may_wait_for_their_hosts() -> None:
    made = rotation(workers=1, batch=1, r1=100)
    begun = 0
    while made.begin(MANY):
        made.suspend(1)
        begun += 1

    assert begun == BEGUN
    [standing] = made
    assert (standing.running, standing.waiting) == (BEGUN, 100 - BEGUN)


class Arrivals(RuleBasedStateMachine):
    """Rounds come, go and are dropped in any order; the counts always agree."""

    def __init__(self) -> None:
        super().__init__()
        self.made: Rotation[int] = Rotation(7, 3)
        self.waiting: Counter[int] = Counter()
        self.running: list[int] = []
        self.suspended: list[int] = []

    @rule(number=st.integers(0, 5), count=st.integers(0, 9))
    def arrive(self, number: int, count: int) -> None:
        self.made.add(number, range(count))
        self.waiting[number] += count

    @rule(limit=st.integers(1, 20))
    def begin(self, limit: int) -> None:
        before = len(self.running)
        for number, _ in self.made.begin(limit):
            self.waiting[number] -= 1
            self.running.append(number)
        assert len(self.running) <= max(7, before)

    @precondition(lambda self: self.running)
    @rule(place=st.integers(0, 100))
    def end(self, place: int) -> None:
        self.made.ended(self.running.pop(place % len(self.running)))

    @precondition(lambda self: self.running)
    @rule(place=st.integers(0, 100))
    def suspend(self, place: int) -> None:
        number = self.running.pop(place % len(self.running))
        self.made.suspend(number)
        self.suspended.append(number)

    @precondition(lambda self: self.suspended)
    @rule(place=st.integers(0, 100))
    def resume(self, place: int) -> None:
        number = self.suspended.pop(place % len(self.suspended))
        self.made.resume(number)
        self.running.append(number)

    @rule(number=st.integers(0, 5))
    def drop(self, number: int) -> None:
        assert len(self.made.drop(number)) == self.waiting[number]
        self.waiting[number] = 0

    @invariant()
    def agree(self) -> None:
        running = Counter(self.running + self.suspended)
        standings = {one.round: one for one in self.made}
        for number in range(6):
            found = standings.get(number)
            assert (found.waiting if found else 0) == self.waiting[number]
            assert (found.running if found else 0) == running[number]
        assert self.made.running == len(self.running)
        assert self.made.suspended == len(self.suspended)

    @invariant()
    def free_workers_are_used(self) -> None:
        if not self.made.is_free:
            return
        assert any(self.waiting.values())
        assert self.made.running < 7


TestArrivals = pytest.mark.filterwarnings("error")(Arrivals.TestCase)
