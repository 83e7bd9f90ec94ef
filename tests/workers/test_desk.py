import asyncio
import threading

import pytest

from ronda.errors import StoreBusyError, StoreError
from ronda.workers import desk as module
from ronda.workers.desk import Desk


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_GAP", 0.001)
    monkeypatch.setattr(module, "LONGEST_GAP", 0.002)


class Flaky:
    """Is busy some times, and then not."""

    def __init__(self, times: int) -> None:
        self.left = times

    def __call__(self, value: str) -> str:
        self.left -= 1
        if self.left >= 0:
            raise StoreBusyError("--db x: locked")
        return value


def test_what_is_called_is_done_in_another_thread():
    async def play() -> tuple[int, int]:
        desk = Desk(lambda _words: None)
        try:
            return await desk.call(threading.get_ident), threading.get_ident()
        finally:
            desk.close()

    there, here = asyncio.run(play())

    assert there != here


def test_what_is_insisted_on_is_tried_until_it_succeeds_and_told_once():
    told: list[str] = []

    async def play() -> str:
        desk = Desk(told.append)
        try:
            return await desk.insist(Flaky(5), "done")
        finally:
            desk.close()

    assert asyncio.run(play()) == "done"
    assert len(told) == 2
    assert told[0].startswith("--db x: locked; ")
    assert told[1] == "the store can be used again"


def test_what_was_called_for_later_waits_for_what_is_insisted_on():
    order: list[str] = []

    async def play() -> None:
        desk = Desk(lambda _words: None)
        flaky = Flaky(3)
        first = asyncio.create_task(desk.insist(lambda: order.append(flaky("first"))))
        await asyncio.sleep(0)
        await desk.call(order.append, "second")
        await first
        desk.close()

    asyncio.run(play())

    assert order == ["first", "second"]


def test_an_error_that_cannot_heal_is_raised_at_once():
    def fail() -> None:
        raise StoreError("--db x: damaged")

    async def play() -> None:
        desk = Desk(lambda _words: None)
        try:
            await desk.insist(fail)
        finally:
            desk.close()

    with pytest.raises(StoreError, match="damaged"):
        asyncio.run(play())


def test_who_has_given_up_tries_no_more():
    async def play() -> None:
        desk = Desk(lambda _words: None)
        desk.give_up()
        try:
            await desk.insist(Flaky(1), "never")
        finally:
            desk.close()

    with pytest.raises(StoreBusyError):
        asyncio.run(play())
