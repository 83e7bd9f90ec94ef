"""The foreman: whoever dies is replaced, and nothing of theirs is lost."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from ronda.errors import CrewError
from ronda.simulation.loop import VirtualClock, carry_out
from ronda.workers.crew import Crew, Fate, Member
from ronda.workers.foreman import Foreman
from ronda.workers.states import Role, WorkerState

Work = Callable[[Member], Awaitable[None]]


class Shift:
    """A crew at work, in no time: what its foreman told of it."""

    def __init__(self, work: Work, count: int = 1) -> None:
        self.work = work
        self.count = count
        self.crew = Crew(strict=True)
        self.heirs: list[tuple[str, Fate, str]] = []
        self.foreman: Foreman
        self.tasks: list[asyncio.Task[None]] = []

    def carry_out(self, *others: Callable[[], Awaitable[None]]) -> "Shift":
        carry_out(self._carry_out(others), VirtualClock(), steps=10_000)
        return self

    async def _carry_out(self, others: Any) -> None:
        clock = asyncio.get_running_loop().time
        loops: dict[Role, Any] = dict.fromkeys(Role, self.work)
        self.foreman = Foreman(self.crew, loops, self._inherit, clock)
        async with asyncio.TaskGroup() as group:
            spawn = lambda work, name: group.create_task(work, name=name)  # noqa: E731
            self.tasks = self.foreman.start(Role.FETCHER, self.count, spawn)
            for other in others:
                group.create_task(other())

    def _inherit(self, member: Member, fate: Fate, error: BaseException) -> None:
        self.heirs.append((member.name, fate, type(error).__name__))

    @property
    def names(self) -> list[str]:
        return [member.name for member in self.crew.members]

    @property
    def states(self) -> set[WorkerState]:
        return {member.state for member in self.crew.members}


def dying(times: int, error: type[Exception] = ValueError) -> Work:
    """Work of which the first workers die."""
    left = times

    async def work(_: Member) -> None:
        nonlocal left
        await asyncio.sleep(1.0)
        if left:
            left -= 1
            raise error("made up")

    return work


class TestRegeneration:
    def test_who_comes_back_is_stopped(self) -> None:
        shift = Shift(dying(0), count=3).carry_out()

        assert shift.names == ["fetcher 1", "fetcher 2", "fetcher 3"]
        assert shift.states == {WorkerState.STOPPED}
        assert shift.heirs == []

    def test_who_dies_is_replaced_by_one_with_another_name(self) -> None:
        shift = Shift(dying(2), count=3).carry_out()

        assert len(shift.heirs) == shift.crew.deaths == 2
        assert shift.names == ["fetcher 3", "fetcher 4", "fetcher 5"]
        assert shift.states == {WorkerState.STOPPED}

    def test_all_at_once_too(self) -> None:
        shift = Shift(dying(10), count=10).carry_out()

        assert shift.crew.deaths == 10
        assert len(shift.names) == 10
        assert {fate for _, fate, _ in shift.heirs} == {Fate.AGAIN}

    def test_the_heir_is_enlisted_before_what_is_inherited_is_told(self) -> None:
        sizes = []
        shift = Shift(dying(1), count=2)
        inherit = shift._inherit

        def told(*values: Any) -> None:
            sizes.append(len(shift.crew.members))
            inherit(*values)

        shift._inherit = told  # type: ignore[method-assign]
        shift.carry_out()

        assert sizes == [2]

    def test_each_task_goes_by_the_name_of_its_first_worker(self) -> None:
        shift = Shift(dying(1), count=2).carry_out()

        assert [t.get_name() for t in shift.tasks] == ["fetcher 1", "fetcher 2"]

    @pytest.mark.parametrize("error", [OSError, CrewError])
    def test_what_no_other_would_survive_is_raised(
        self, error: type[Exception]
    ) -> None:
        shift = Shift(dying(1, error), count=3)
        with pytest.raises(ExceptionGroup) as raised:
            shift.carry_out()

        assert raised.group_contains(error, match="made up")
        assert shift.heirs == []


class TestCuttingOff:
    def hanging(self, times: int = 1) -> Work:
        left = times

        async def work(_: Member) -> None:
            nonlocal left
            if left:
                left -= 1
                await asyncio.Event().wait()

        return work

    def test_one_that_hangs_is_ended_and_replaced(self) -> None:
        shift = Shift(self.hanging(), count=2)

        async def cut() -> None:
            await asyncio.sleep(5.0)
            shift.foreman.cut_off(next(shift.crew.of(Role.FETCHER)))

        shift.carry_out(cut)

        assert shift.heirs == [("fetcher 1", Fate.AGAIN, "CancelledError")]
        assert shift.names == ["fetcher 2", "fetcher 3"]
        assert shift.foreman._hung == set()
        assert not any(task.cancelled() for task in shift.tasks)
        assert not any(task.cancelling() for task in shift.tasks)

    def test_the_heir_may_be_cut_off_in_its_turn(self) -> None:
        shift = Shift(self.hanging(2))

        async def cut() -> None:
            for _ in range(2):
                await asyncio.sleep(5.0)
                shift.foreman.cut_off(next(shift.crew.of(Role.FETCHER)))

        shift.carry_out(cut)

        assert [name for name, _, _ in shift.heirs] == ["fetcher 1", "fetcher 2"]
        assert shift.states == {WorkerState.STOPPED}

    def test_when_the_run_is_cut_off_nobody_is_replaced(self) -> None:
        shift = Shift(self.hanging(9), count=9)

        async def fail() -> None:
            await asyncio.sleep(5.0)
            raise OSError("made up")

        with pytest.raises(ExceptionGroup):
            shift.carry_out(fail)

        assert shift.heirs == []
        assert shift.states == {WorkerState.STOPPED}

    @pytest.mark.xfail(reason="the second cancellation is taken for the first")
    def test_not_even_one_that_is_cut_off_in_that_very_moment(self) -> None:
        shift = Shift(self.hanging(9), count=1)

        async def cut_twice() -> None:
            await asyncio.sleep(5.0)
            shift.foreman.cut_off(next(shift.crew.of(Role.FETCHER)))
            shift.tasks[0].cancel()  # as when a Ctrl-C comes in the same turn

        shift.carry_out(cut_twice)  # raises if the heir hangs for ever

        assert shift.states == {WorkerState.STOPPED}

    @pytest.mark.xfail(reason="one that survives stays marked, and eats the next")
    def test_one_that_survives_being_cut_off_can_be_stopped_later(self) -> None:
        async def stubborn(_: Member) -> None:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                await asyncio.Event().wait()

        shift = Shift(stubborn)

        async def cut_and_fail() -> None:
            await asyncio.sleep(5.0)
            shift.foreman.cut_off(next(shift.crew.of(Role.FETCHER)))
            await asyncio.sleep(5.0)
            raise OSError("made up")

        with pytest.raises(ExceptionGroup):
            shift.carry_out(cut_and_fail)
        assert shift.heirs == []


class TestALostCrew:
    @pytest.mark.xfail(reason="they are replaced for ever, and the loop never turns")
    def test_nobody_is_replaced_any_more_once_the_crew_is_lost(self) -> None:
        """A crawler or worker that dies at once, always: nobody asks if it is over."""
        deaths = 0

        async def work(_: Member) -> None:
            nonlocal deaths
            deaths += 1
            if deaths > 1000:
                raise OSError("for ever")  # so that this test ends
            raise ValueError("made up")

        Shift(work).carry_out()

        assert deaths < 1000
