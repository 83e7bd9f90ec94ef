"""Rounds under a virtual clock: they arrive at any time, their visits take any time."""

import asyncio
from random import Random

import pytest

from ronda.model import Service, Standing
from ronda.simulation.loop import VirtualClock, carry_out
from ronda.store.sql.values import Due
from ronda.workers.planned import Planned

WORKERS, BATCH = 50, 10
LONGEST = 30.0  # seconds that a visit takes


class Monitor:
    """Visits that take their time, and a note of when each began."""

    def __init__(self, seed: int, clock: VirtualClock, rounds: int) -> None:
        self.random = Random(seed)
        self.rounds = rounds
        self.clock = clock
        self.planned = Planned(WORKERS, BATCH, clock.epoch)
        self.planned.begin = self._begin
        self.waited: dict[int, float] = {}  # of each round: for its first visit
        self.came: dict[int, float] = {}
        self.left: dict[int, int] = {}
        self.busy = 0.0  # seconds of all visits
        self.over = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    def arrive(self, number: int, visits: int) -> None:
        self.came[number], self.left[number] = self.clock.now(), visits
        self.planned.offer(
            (Due(at, f"http://{at}/", 1, Standing(), round=number), Service(at))
            for at in range(number * 100_000, number * 100_000 + visits)
        )

    def _begin(self, due: Due, _service: Service) -> None:
        assert due.round is not None
        self.waited.setdefault(due.round, self.clock.now() - self.came[due.round])
        task = asyncio.get_running_loop().create_task(self._visit(due))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _visit(self, due: Due) -> None:
        seconds = self.random.uniform(0.1, LONGEST)
        self.busy += seconds
        await asyncio.sleep(seconds)
        assert due.round is not None
        self.left[due.round] -= 1
        self._judge()
        self.planned.left(due.url)
        if not any(self.left.values()) and len(self.left) == self.rounds:
            self.over.set()

    def _judge(self) -> None:
        """At every end: nobody has more than a share, and nobody idles for nothing."""
        standings = self.planned.standings()
        wanting = [one for one in standings if one.waiting]
        quota = WORKERS if len(wanting) <= 1 else 1 + WORKERS // len(wanting)
        running = sum(one.running for one in standings)
        for one in wanting:
            # What a round had before others came stays its own until it ends.
            assert one.running <= WORKERS
            if one.running < max(BATCH, int(0.9 * quota)):
                assert running == WORKERS, "workers idle, and a round waits"


@pytest.mark.parametrize("seed", range(20))
def test_whenever_rounds_arrive_each_begins_soon_and_all_of_them_end(seed: int) -> None:
    clock = VirtualClock()
    random = Random(seed)
    sizes = [random.choice([1, 3, 40, 600]) for _ in range(random.randint(2, 9))]

    async def play() -> Monitor:
        monitor = Monitor(seed, clock, len(sizes))
        for number, visits in enumerate(sizes, 1):
            monitor.arrive(number, visits)
            await asyncio.sleep(random.uniform(0.0, 60.0))
        await monitor.over.wait()
        return monitor

    monitor = carry_out(play(), clock)

    assert monitor.left == dict.fromkeys(range(1, len(sizes) + 1), 0)
    # With 50 workers one of them ends soon, and its place goes round.
    assert max(monitor.waited.values()) <= LONGEST
    assert monitor.planned.standings() == []
