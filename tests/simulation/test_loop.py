"""Time that is made up: it passes at once, and what would never end is noticed."""

import asyncio
from datetime import timedelta

import pytest

from ronda.simulation.loop import EPOCH, FIRST, StuckError, VirtualClock, carry_out


def test_a_year_of_sleep_takes_no_time() -> None:
    clock = VirtualClock()

    carry_out(asyncio.sleep(365 * 86_400), clock)

    assert clock.seconds == 365 * 86_400


def test_timers_go_off_in_order_and_at_their_moment() -> None:
    clock = VirtualClock()
    heard: list[tuple[str, float]] = []

    async def sleep(name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        heard.append((name, clock.now() - FIRST))

    async def all_of_them() -> None:
        async with asyncio.TaskGroup() as tasks:
            for name, seconds in (("late", 7.5), ("soon", 0.25), ("next", 1.0)):
                tasks.create_task(sleep(name, seconds))

    carry_out(all_of_them(), clock)

    assert heard == [("soon", 0.25), ("next", 1.0), ("late", 7.5)]


def test_a_cancelled_timer_does_not_go_off() -> None:
    clock = VirtualClock()

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(5, clock.jump, 1.0).cancel()
        loop.call_later(50, clock.jump, 1.0).cancel()
        await asyncio.sleep(10)

    carry_out(main(), clock)

    assert (clock.offset, clock.seconds) == (0.0, 10.0)


def test_a_time_limit_works_in_simulated_time() -> None:
    clock = VirtualClock()

    async def main() -> None:
        async with asyncio.timeout(3):
            await asyncio.get_running_loop().create_future()

    with pytest.raises(TimeoutError):
        carry_out(main(), clock)
    assert clock.seconds == 3


def test_who_waits_for_nothing_is_stuck() -> None:
    async def wait() -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(StuckError, match="nothing is due any more"):
        carry_out(wait(), VirtualClock())


def test_what_takes_too_long_is_stuck() -> None:
    async def for_ever() -> None:
        while True:  # noqa: ASYNC110  # polling is what is caught
            await asyncio.sleep(60)

    with pytest.raises(StuckError, match="not over after"):
        carry_out(for_ever(), VirtualClock(), seconds=3600)


def test_what_goes_round_in_circles_is_stuck() -> None:
    async def for_ever() -> None:
        while True:  # noqa: ASYNC110
            await asyncio.sleep(1e-9)

    with pytest.raises(StuckError, match="circles"):
        carry_out(for_ever(), VirtualClock(), seconds=3600, steps=1000)


def test_setting_the_date_does_not_move_monotonic_time() -> None:
    clock = VirtualClock()

    clock.jump(-3600)

    assert clock.now() == FIRST
    assert clock.utc() == EPOCH - timedelta(hours=1)
    assert clock.epoch() == clock.utc().timestamp()
