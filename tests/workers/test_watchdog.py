"""What holds up the event loop is named, and counted."""

import asyncio
import sys
import threading
import time

import pytest

from ronda.workers.watchdog import Watchdog, _named

LATE, BEAT = 0.01, 0.005


def block_the_loop(seconds: float) -> None:
    time.sleep(seconds)


class TestWatching:
    def test_a_call_that_blocks_is_named_and_counted(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        async def play() -> Watchdog:
            async with Watchdog(LATE, BEAT) as dog:
                await asyncio.sleep(0)
                block_the_loop(0.05)
                await asyncio.sleep(2 * BEAT)
            return dog

        dog = asyncio.run(play())

        # A busy machine may hold it up once more.
        assert dog.count == len(caplog.records) >= 1
        assert dog.longest > 0.03
        assert "block_the_loop (test_watchdog.py, line " in caplog.text
        assert dog.words.startswith("the event loop was held up ")
        assert dog.culprit in dog.words

    def test_how_often_is_told_in_words(self) -> None:
        async def play() -> Watchdog:
            return Watchdog()

        dog = asyncio.run(play())
        dog.count, dog.longest, dog.culprit = 1, 1.25, "read (x.py, line 3)"

        assert dog.words == (
            "the event loop was held up once, for up to 1.2 s, "
            "last in read (x.py, line 3)"
        )

    def test_of_two_the_longest_is_named(self) -> None:
        async def play() -> Watchdog:
            async with Watchdog(LATE, BEAT) as dog:
                for seconds in (0.03, 0.08):
                    await asyncio.sleep(0)
                    block_the_loop(seconds)
                    await asyncio.sleep(4 * BEAT)
            return dog

        dog = asyncio.run(play())

        assert dog.count >= 2
        assert f"{dog.count} times" in dog.words
        assert dog.longest > 0.05

    def test_a_loop_that_turns_is_left_alone(self) -> None:
        async def play() -> Watchdog:
            async with Watchdog(5.0, 0.002) as dog:
                for _ in range(10):
                    await asyncio.sleep(0.001)
            return dog

        dog = asyncio.run(play())

        assert (dog.count, dog.words) == (0, "")

    def test_one_that_blocks_to_the_very_end_is_told_with_its_time(self) -> None:
        async def play() -> Watchdog:
            async with Watchdog(LATE, BEAT) as dog:
                await asyncio.sleep(0)
                block_the_loop(0.05)
            return dog

        dog = asyncio.run(play())

        assert dog.count
        assert dog.longest > 0.005

    def test_nothing_is_left_behind(self) -> None:
        async def play() -> list[threading.Thread]:
            async with Watchdog(LATE, BEAT):
                await asyncio.sleep(0)
                return [t for t in threading.enumerate() if t.name == "watchdog"]

        ours = asyncio.run(play())
        for thread in ours:
            thread.join(5.0)

        assert ours
        assert not any(thread.is_alive() for thread in ours)


class TestNames:
    def test_what_is_ours_is_named_with_what_it_called(self) -> None:
        frame = sys._getframe()
        code = compile(
            "def ours(call):\n    return call()\n", "/x/ronda/workers/mine.py", "exec"
        )
        names: dict[str, object] = {}
        exec(code, names)
        ours = names["ours"]

        def theirs() -> str:
            return _named(sys._getframe())

        assert callable(ours)
        assert ours(theirs) == "ours (mine.py, line 2), which called theirs"
        assert _named(frame).startswith("test_what_is_ours")

    def test_a_thread_that_is_gone_has_no_name(self) -> None:
        """The loop's thread may end while it is looked at."""

        async def play() -> Watchdog:
            return Watchdog(0.0, 0.0)

        dog = asyncio.run(play())
        dog._watched = -1
        over = iter([False, True])
        dog._over.wait = lambda _: next(over)  # type: ignore[assignment,method-assign]
        dog._watch()

        assert (dog.count, dog.culprit) == (1, "")
