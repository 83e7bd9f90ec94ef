"""References as they are read."""

import asyncio
import threading
import time
from collections.abc import Iterator

import pytest

from ronda.workers.feed import AHEAD, SLICE, Feed, ThreadedFeed

SECONDS = 20.0  # guards against hanging; nothing takes as long
Feeds = type[Feed[int]] | type[ThreadedFeed[int]]
BOTH = pytest.mark.parametrize("kind", [Feed, ThreadedFeed])


async def drained(feed: Feed[int] | ThreadedFeed[int]) -> list[list[int]]:
    async with asyncio.timeout(SECONDS):
        return [batch async for batch in feed]


@BOTH
@pytest.mark.parametrize("count", [0, 1, SLICE, SLICE + 1, AHEAD, 3 * AHEAD + 1])
def test_everything_comes_once_and_in_order(kind: Feeds, count: int) -> None:
    async def run() -> list[list[int]]:
        return await drained(kind(iter(range(count))))

    batches = asyncio.run(run())
    assert [item for batch in batches for item in batch] == list(range(count))


@BOTH
def test_an_error_of_the_source_is_raised_where_it_is_read(kind: Feeds) -> None:
    def source() -> Iterator[int]:
        yield 1
        raise ValueError("it broke")

    async def run() -> list[list[int]]:
        return await drained(kind(source()))

    with pytest.raises(ValueError, match="it broke"):
        asyncio.run(run())


def test_a_thread_does_not_read_far_ahead() -> None:
    read = 0

    def source() -> Iterator[int]:
        nonlocal read
        for number in range(AHEAD * 5):
            read = number
            yield number

    async def run() -> int:
        async for _ in ThreadedFeed(source()):
            await asyncio.sleep(0.1)  # it has time to read on
            return read
        return -1

    assert asyncio.run(run()) <= AHEAD * 2


def test_what_is_there_is_handed_over_while_the_next_is_waited_for() -> None:
    more = threading.Event()

    def source() -> Iterator[int]:
        yield 1
        more.wait(SECONDS)
        yield 2

    async def run() -> list[list[int]]:
        batches = []
        async with asyncio.timeout(SECONDS):
            async for batch in ThreadedFeed(source()):
                batches.append(batch)
                more.set()
        return [batch for batch in batches if batch]

    assert asyncio.run(run()) == [[1], [2]]


def test_room_that_is_made_just_before_the_thread_waits_is_seen() -> None:
    class Unlucky(threading.Event):
        """Lets the other side have its turn just before it is cleared."""

        def clear(self) -> None:
            until = time.monotonic() + 1
            while feeds[0]._buffer and time.monotonic() < until:
                time.sleep(0.001)
            super().clear()

    feeds: list[ThreadedFeed[int]] = []

    async def run() -> int:
        feed: ThreadedFeed[int] = ThreadedFeed(range(AHEAD + 10))
        feed._room = Unlucky()
        feeds.append(feed)
        async with asyncio.timeout(30):
            return sum([len(batch) async for batch in feed])

    assert asyncio.run(run()) == AHEAD + 10
