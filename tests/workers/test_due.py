"""What a daemon says that it waits for."""

import asyncio
from math import inf
from typing import Any

import pytest

from fakes import FakeClock
from ronda.workers.due import DueFeed


class NothingHeld:
    """The holdings of a process that asks nobody."""

    under_way = 0
    all_busy = True

    def hungry(self) -> list[Any]:
        return []

    def looks(self) -> None:
        pass

    def look_again(self) -> None:
        pass


class IdleWatch:
    holdings = NothingHeld()

    def look(self) -> None:
        pass


class Desk:
    """Answers that nothing is due for some seconds."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def insist(self, *_: Any) -> Any:
        return [], [], self._seconds, {}


def feed(seconds: float, clock: FakeClock) -> DueFeed:
    watch: Any = IdleWatch()
    desk: Any = Desk(seconds)
    store: Any = None
    return DueFeed(watch, store, desk, clock, 20, lambda _robots: None)


@pytest.mark.parametrize(
    ("seconds", "passed", "words"),
    [
        (58.2, 0.0, ("seconds until the next target is due", 59)),
        (58.2, 8.0, ("seconds until the next target is due", 51)),
        (58.2, 60.0, ("looking for targets that are due", 0)),
        (inf, 0.0, ("no target is planned for this process", 0)),
    ],
)
def test_it_says_what_it_waits_for(
    seconds: float, passed: float, words: tuple[str, int]
) -> None:
    async def wait() -> None:
        clock = FakeClock()
        found = feed(seconds, clock)
        assert found.waits() == ("looking for targets that are due", 0)
        reading = asyncio.ensure_future(anext(aiter(found), None))
        await asyncio.sleep(0)
        clock.advance(passed)

        assert found.waits() == words

        found.stop()
        assert await reading is None
        assert found.waits() == ("nothing more is begun", 0)

    asyncio.run(wait())
