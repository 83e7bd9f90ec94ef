"""What one role hands to another: bounded, in order, and nobody is forgotten."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ronda.simulation.loop import StuckError, VirtualClock, carry_out
from ronda.workers.inbox import Inbox


def played(coroutine: Coroutine[Any, Any, None]) -> None:
    """Carry out a coroutine; one that would wait for ever is an error at once."""
    carry_out(coroutine, VirtualClock())


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


class TestBounds:
    def test_whoever_puts_waits_while_there_are_too_many(self) -> None:
        async def play() -> None:
            inbox: Inbox[int] = Inbox(2, 1000)
            putting = asyncio.create_task(puts(inbox, range(5)))
            await turns()
            assert (len(inbox), inbox.full) == (2, True)

            assert [await inbox.get() for _ in range(5)] == [0, 1, 2, 3, 4]
            await putting
            assert len(inbox) == 0

        played(play())

    def test_whoever_puts_waits_while_they_are_too_heavy(self) -> None:
        async def play() -> None:
            inbox: Inbox[int] = Inbox(100, 10)
            putting = asyncio.create_task(puts(inbox, range(3), weight=10))
            await turns()
            assert (len(inbox), inbox.full) == (1, True)

            assert [await inbox.get() for _ in range(3)] == [0, 1, 2]
            await putting

        played(play())

    def test_one_that_is_too_heavy_by_itself_comes_through(self) -> None:
        async def play() -> None:
            inbox: Inbox[str] = Inbox(100, 10)
            await inbox.put("light", 1)
            await inbox.put("heavy", 10**9)
            assert inbox.full
            waiting = asyncio.create_task(inbox.put("last", 1))

            assert await inbox.get() == "light"
            await turns()
            assert not waiting.done()  # what is heavy is still there
            assert await inbox.get() == "heavy"
            assert await inbox.get() == "last"

        played(play())

    def test_what_must_not_be_lost_needs_no_room(self) -> None:
        async def play() -> None:
            inbox: Inbox[int] = Inbox(1, 1)
            for number in range(5):
                inbox.add(number, 1)

            assert [await inbox.get() for _ in range(5)] == [0, 1, 2, 3, 4]

        played(play())

    @settings(deadline=None)
    @given(
        st.lists(st.integers(0, 20), max_size=40),
        st.integers(1, 4),
        st.integers(1, 30),
        st.integers(1, 3),
    )
    def test_it_is_never_fuller_than_one_item_allows_and_keeps_the_order(
        self, weights: list[int], most: int, heaviest: int, putters: int
    ) -> None:
        async def play() -> None:
            inbox: Inbox[tuple[int, int, int]] = Inbox(most, heaviest)
            shares = [list(enumerate(weights))[n::putters] for n in range(putters)]

            async def put_all(number: int) -> None:
                for place, weight in shares[number]:
                    await inbox.put((number, place, weight), weight)
                    assert len(inbox) <= most
                    assert inbox._weight - weight < heaviest

            putting = [asyncio.create_task(put_all(n)) for n in range(putters)]
            got = [await inbox.get() for _ in weights]
            await asyncio.gather(*putting)

            assert inbox._weight == 0
            for number, share in enumerate(shares):
                mine = [item[1] for item in got if item and item[0] == number]
                assert mine == [place for place, _ in share]

        played(play())


class TestClosing:
    def test_it_lets_everybody_go(self) -> None:
        async def play() -> None:
            empty: Inbox[int] = Inbox(1, 1000)
            takers = [asyncio.create_task(empty.get()) for _ in range(3)]
            full: Inbox[int] = Inbox(1, 1000)
            full.add(0)
            putters = [asyncio.create_task(full.put(n)) for n in (1, 2, 3)]
            await turns()

            empty.close()
            full.close()

            assert await asyncio.gather(*takers) == [None] * 3
            await asyncio.gather(*putters)
            assert [await full.get() for _ in range(5)] == [0, 1, 2, 3, None]

        played(play())

    def test_nobody_waits_at_one_that_is_closed(self) -> None:
        async def play() -> None:
            inbox: Inbox[int] = Inbox(1, 1)
            inbox.close()
            await inbox.put(1, 1)
            await inbox.put(2, 1)

            assert [await inbox.get() for _ in range(3)] == [1, 2, None]

        played(play())


class TestCancelling:
    def test_one_who_is_woken_and_cancelled_at_once_passes_the_call_on(self) -> None:
        async def play() -> None:
            inbox: Inbox[int] = Inbox(5, 5)
            first = asyncio.create_task(inbox.get())
            second = asyncio.create_task(inbox.get())
            await turns()

            inbox.add(1)  # which wakes the first
            first.cancel()

            assert await second == 1

        played(play())

    def test_so_does_one_who_puts(self) -> None:
        async def play() -> None:
            inbox: Inbox[int] = Inbox(1, 5)
            inbox.add(0)
            first = asyncio.create_task(inbox.put(1))
            second = asyncio.create_task(inbox.put(2))
            await turns()

            assert await inbox.get() == 0  # which wakes the first
            first.cancel()
            await second

            assert await inbox.get() == 2

        played(play())

    def test_one_who_was_cancelled_before_is_not_woken(self) -> None:
        async def play() -> None:
            inbox: Inbox[int] = Inbox(5, 5)
            first = asyncio.create_task(inbox.get())
            second = asyncio.create_task(inbox.get())
            await turns()

            first.cancel()
            inbox.add(1)

            assert await second == 1
            assert first.cancelled()

        played(play())

    @settings(max_examples=300, deadline=None)
    @given(
        st.lists(
            st.tuples(
                st.sampled_from(["put", "get", "cancel", "turn"]), st.integers(0, 50)
            ),
            max_size=60,
        ),
        st.integers(1, 3),
        st.integers(1, 10),
    )
    def test_whatever_comes_between_nobody_waits_for_what_is_there(
        self, steps: list[tuple[str, int]], most: int, heaviest: int
    ) -> None:
        """Puts, gets and cancellations in any order: nothing is lost or doubled."""

        async def play() -> None:
            inbox: Inbox[int] = Inbox(most, heaviest)
            getters: list[asyncio.Task[int | None]] = []
            putters: list[asyncio.Task[None]] = []
            for number, (step, value) in enumerate(steps):
                if step == "put":
                    put = inbox.put(number, value % 5)
                    putters.append(asyncio.create_task(put, name=str(number)))
                elif step == "get":
                    getters.append(asyncio.create_task(inbox.get()))
                elif step == "cancel" and getters + putters:
                    [*getters, *putters][value % len(getters + putters)].cancel()
                else:
                    await asyncio.sleep(0)
            await turns(len(steps) + 5)

            # Nobody who could go on is left waiting.
            assert not (len(inbox) and any(not task.done() for task in getters))
            assert inbox.full or all(task.done() for task in putters)
            got = [task.result() for task in getters if has_result(task)]
            kept = [item for item, _ in inbox._items]
            put_in = [int(task.get_name()) for task in putters if has_result(task)]
            assert sorted([*got, *kept]) == put_in
            inbox.close()
            await asyncio.gather(*getters, *putters, return_exceptions=True)

        played(play())


def has_result(task: "asyncio.Task[Any]") -> bool:
    return task.done() and not task.cancelled()


async def puts(inbox: Inbox[int], numbers: Any, weight: int = 0) -> None:
    for number in numbers:
        await inbox.put(number, weight)


def test_that_somebody_waits_for_ever_would_be_noticed() -> None:
    inbox: Inbox[int] = Inbox(1, 1)
    with pytest.raises(StuckError):
        carry_out(inbox.get(), VirtualClock())
