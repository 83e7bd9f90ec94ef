"""Visits with a plan: begun by the turns of their rounds, counted out when they end."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from ronda.model import Service, Standing
from ronda.store.sql.values import Due
from ronda.workers.planned import AHEAD, AT_ONCE, Planned


def due(number: int, round_: int | None = None) -> Due:
    return Due(number, f"http://h{number}.test/", 1, Standing(), round=round_)


def some(count: int, round_: int | None = None, first: int = 0) -> list[Any]:
    numbers = range(first, first + count)
    return [(due(number, round_), Service(number)) for number in numbers]


class Story:
    """What began, in order; whoever plays ends it."""

    def __init__(self, workers: int = 3, batch: int = 2, at_once: int = 100) -> None:
        self.planned = Planned(workers, batch, lambda: 1000.0, lambda _url: at_once)
        self.begun: list[int] = []
        self.dropped: list[str] = []
        self.planned.begin = self._begin
        self.planned.dropped = self.dropped.append
        self.ends_at_once = False

    def _begin(self, one: Due, _service: Service) -> None:
        self.begun.append(one.id)
        if self.ends_at_once:
            self.planned.left(one.url)


def play(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(story())


def test_no_more_begin_than_there_are_workers() -> None:
    async def story() -> None:
        played = Story(workers=3)
        played.planned.offer(some(10))

        assert played.begun == [0, 1]  # nine tenths of three
        assert played.planned.waiting == 8
        assert [one.due.id for one in played.planned.running()] == [0, 1]

    play(story)


def test_the_end_of_one_lets_the_next_begin() -> None:
    async def story() -> None:
        played = Story(workers=3)
        played.planned.offer(some(10))

        played.planned.left("http://h0.test/")

        assert played.begun == [0, 1, 2]

    play(story)


def test_ten_thousand_that_end_at_once_neither_recurse_nor_hold_up_the_loop() -> None:
    async def story() -> None:
        played = Story(workers=50, batch=10)
        played.ends_at_once = True
        turns = 0
        played.planned.offer(some(10_000))
        assert len(played.begun) <= AT_ONCE
        while len(played.begun) < 10_000:
            await asyncio.sleep(0)
            turns += 1

        assert turns >= 10_000 / AT_ONCE - 1
        assert played.planned.running() == []
        assert played.planned.standings() == []

    play(story)


def test_rounds_take_turns() -> None:
    async def story() -> None:
        played = Story(workers=10, batch=2)
        played.planned.offer([*some(4, 1), *some(4, 2, first=100)])

        assert played.begun == [0, 1, 100, 101, 2, 3, 102, 103]

    play(story)


def test_a_round_that_was_stopped_begins_nothing_more() -> None:
    async def story() -> None:
        played = Story(workers=2, batch=2)
        played.planned.offer([*some(4, 1), *some(2, None, first=100)])
        assert played.begun == [0, 1]

        played.planned.keep({7})

        assert played.dropped == ["http://h2.test/", "http://h3.test/"]
        played.planned.left("http://h0.test/")
        assert played.begun == [0, 1, 100]

    play(story)


def test_a_round_that_is_under_way_is_kept() -> None:
    async def story() -> None:
        played = Story(workers=1)
        played.planned.offer(some(4, 1))

        played.planned.keep({1})

        assert played.dropped == []
        assert played.planned.waiting == 3

    play(story)


def test_what_was_begun_elsewhere_is_nobodys_turn() -> None:
    async def story() -> None:
        played = Story()
        played.planned.left("http://elsewhere.test/")

        assert played.planned.running() == []

    play(story)


def test_it_is_known_which_task_is_under_way() -> None:
    async def story() -> None:
        played = Story()
        played.planned.offer(some(1))
        played.planned.waits("http://h0.test/", "url_status_codes")
        played.planned.waits("http://elsewhere.test/", "url_status_codes")

        [one] = played.planned.running()
        assert (one.task, one.begun_at) == ("url_status_codes", 1000.0)

    play(story)


def test_one_that_waits_for_its_host_lets_others_begin() -> None:
    async def story() -> None:
        played = Story(workers=2, batch=1)
        played.planned.offer(some(5))
        assert played.begun == [0]

        played.planned.waits("http://h0.test/", "one")
        played.planned.waits("http://h0.test/", "one")

        assert played.begun == [0, 1]
        assert played.planned.busy == 1
        played.planned.asks("http://h0.test/")
        played.planned.asks("http://h0.test/")
        assert played.planned.busy == 2
        played.planned.left("http://h0.test/")
        assert played.planned.busy == 1
        played.planned.waits("http://h1.test/", "one")
        played.planned.left("http://h1.test/")
        assert played.begun == [0, 1, 2]

    play(story)


def test_a_slow_host_keeps_nobody_else_from_his_turn() -> None:
    """A hundred services of one host came first, then one of another."""

    async def story() -> None:
        played = Story(workers=50, batch=10, at_once=2)
        slow = [
            (Due(n, f"http://slow.test/{n}", 1, Standing()), Service(n))
            for n in range(100)
        ]
        played.planned.offer(slow)
        assert played.begun == [0, 1]
        played.planned.offer(some(1, first=500))
        assert played.begun == [0, 1, 500]

        played.planned.left("http://slow.test/0")

        assert played.begun == [0, 1, 500, 2]
        assert played.planned.waiting == 97

    play(story)


def test_what_waits_for_its_host_is_forgotten_with_its_round() -> None:
    async def story() -> None:
        played = Story(workers=50, batch=10, at_once=1)
        one_host = [
            (Due(n, f"http://one.test/{n}", 1, Standing(), round=1 + n % 2), Service(n))
            for n in range(6)
        ]
        played.planned.offer(one_host)
        assert played.begun == [0]

        played.planned.keep({2})

        assert played.dropped == ["http://one.test/2", "http://one.test/4"]
        assert played.planned.is_stopped("http://one.test/0")
        played.planned.left("http://one.test/0")
        assert played.begun == [0, 1]
        assert not played.planned.is_stopped("http://one.test/1")
        for number in (1, 3, 5):
            played.planned.left(f"http://one.test/{number}")
        assert played.planned.standings() == []
        assert played.planned.waiting == 0

    play(story)


def test_one_that_cannot_begin_takes_nobody_with_it() -> None:
    async def story() -> None:
        played = Story(workers=10, batch=10)
        begin = played.planned.begin

        def fails(one: Due, service: Service) -> None:
            if one.id == 1:
                raise ValueError("oh")
            begin(one, service)

        played.planned.begin = fails
        played.planned.offer(some(4))

        assert played.begun == [0, 2, 3]
        assert played.dropped == ["http://h1.test/"]
        assert len(played.planned.running()) == 3

    play(story)


def test_when_much_waits_no_more_is_wanted_until_there_is_room() -> None:
    async def story() -> None:
        played = Story(workers=3, batch=2)
        told: list[int] = []
        played.planned.hungry = lambda: told.append(played.planned.waiting)
        played.planned.offer(some(AHEAD + 2, 1))
        assert played.planned.waiting == AHEAD
        assert played.planned.is_full

        played.planned.left("http://h0.test/")

        assert told == [AHEAD - 1]
        assert not played.planned.is_full
        played.planned.offer(some(10, 2, first=10_000))
        played.planned.keep({2})
        assert told == [AHEAD - 1, 9]

    play(story)


def test_at_the_end_nothing_more_begins() -> None:
    async def story() -> None:
        played = Story()
        played.planned.stopped = True
        played.planned.offer(some(3))

        assert played.begun == []

    play(story)
