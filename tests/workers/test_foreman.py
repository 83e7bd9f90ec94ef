"""The foreman: whoever dies is replaced, and nothing of theirs is lost."""

import asyncio
import errno
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
from fake_parts import MISSING, OK, POLITE, QUICK, Play, Reply, found, moved, page
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ronda.config import Crawl, Frontier
from ronda.errors import CrewError, UrlError
from ronda.frontier.reach import Reach
from ronda.model import Answer, Request, State
from ronda.simulation.loop import VirtualClock, carry_out
from ronda.store.overflow import Overflow
from ronda.targets import links_of
from ronda.workers.crew import Crew, Fate, Member
from ronda.workers.foreman import Foreman
from ronda.workers.run import Run
from ronda.workers.states import Role, WorkerState
from ronda.workers.survey import Survey

A, B = "http://a.test/", "http://b.test/"
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

        assert shift.heirs == [("fetcher 1", Fate.AGAIN, "TimeoutError")]
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

    def test_not_even_one_that_is_cut_off_in_that_very_moment(self) -> None:
        shift = Shift(self.hanging(9), count=1)

        async def cut_twice() -> None:
            await asyncio.sleep(5.0)
            shift.foreman.cut_off(next(shift.crew.of(Role.FETCHER)))
            shift.tasks[0].cancel()  # as when a Ctrl-C comes in the same turn

        shift.carry_out(cut_twice)  # raises if the heir hangs for ever

        assert shift.states == {WorkerState.STOPPED}

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


# -- the same of a whole run -------------------------------------------------------


class Times:
    """Raises the first times, and then does as it is told."""

    def __init__(
        self, count: int, then: Any = None, error: Exception | None = None
    ) -> None:
        self.left = count
        self.calls = 0
        self._then = then
        self._error = error or ValueError("made up")

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        self.calls += 1
        if self.left:
            self.left -= 1
            raise self._error
        return self._then(*arguments, **named) if callable(self._then) else self._then


class Deadly:
    """A URL that kills whoever asks for it, some times."""

    def __init__(self, times: int, answer: Answer = OK) -> None:
        self._times = Times(times, answer)

    async def __call__(self, _: Request) -> Answer:
        answer: Answer = self._times()
        return answer


def played(
    replies: dict[str, Reply] | None = None,
    *urls: str,
    reads: bool = False,
    **more: Any,
) -> Play:
    wanted = urls or (A, B)
    more.setdefault("clock", VirtualClock())
    return Play(found(*wanted, reads=reads), replies or {}, **more)


def result_of(play: Play, url: str) -> Any:
    [result] = [result for result in play.results if result.url == url]
    return result


def died(play: Play) -> int:
    """How many workers died; all were replaced, and nothing is left of their work."""
    balance = play.run._balance
    assert (balance.begun, balance.pages_told) == (balance.ended, balance.pages_read)
    assert balance.works == balance.worked
    assert play.frontier.idle
    assert play.summary.left == 0
    return play.run.crew.deaths


LIST = [f"http://{n % 3}.test/{n}" for n in range(12)]


class TestFetchersOfARun:
    @pytest.mark.parametrize("times", [1, 2])
    @pytest.mark.parametrize("workers", [1, 8])
    def test_one_that_dies_asking_loses_nothing(self, times: int, workers: int) -> None:
        play = played({A: Deadly(times)}, A, B, workers=workers)

        assert play.reasons == {A: "http_200", B: "http_200"}
        assert died(play) == times
        assert play.fetch.urls.count(A) == times + 1

    def test_what_kills_three_ends_unknown_with_the_traceback(self) -> None:
        play = played({A: Deadly(99)}, A, *LIST, workers=2)

        result = result_of(play, A)
        assert (result.verdict, result.reason) == (State.UNKNOWN, "worker_died")
        assert "ValueError: made up" in result.message
        assert result.evidence.startswith("Traceback (most recent call last)")
        assert result.evidence.rstrip().endswith("ValueError: made up")
        assert died(play) == 3
        assert {play.reasons[url] for url in LIST} == {"http_200"}
        assert play.summary.interrupted == ""
        assert play.summary.remarks == ("3 workers died and had to be replaced",)

    def test_a_redirect_that_kills_is_asked_again_from_where_it_was(self) -> None:
        play = played({A: moved(B), B: Deadly(2)}, A)

        assert play.reasons == {A: "redirected"}
        assert died(play) == 2
        assert play.fetch.urls == [A, B, B, B]

    @pytest.mark.parametrize(("times", "reason"), [(2, "http_200"), (99, None)])
    def test_a_robots_txt_that_kills_holds_nobody_up(
        self, times: int, reason: str | None
    ) -> None:
        urls = [f"{A}{n}" for n in range(5)]
        replies: dict[str, Reply] = {f"{A}robots.txt": Deadly(times, MISSING)}
        play = played(replies, *urls, B, settings=POLITE, default=OK)

        expected = reason or "robots_unreachable"
        assert {play.reasons[url] for url in urls} == {expected}
        assert play.reasons[B] == "http_200"
        assert died(play) == min(times, 3)

    def test_all_of_them_may_die_at_once(self) -> None:
        go = asyncio.Event()
        under_way = 0

        async def reply(_: Request) -> Answer:
            nonlocal under_way
            under_way += 1
            if under_way == len(LIST):
                go.set()
            if under_way <= len(LIST):
                await go.wait()
                raise ValueError("made up")
            return OK

        play = played(dict.fromkeys(LIST, reply), *LIST, workers=len(LIST))

        assert set(play.reasons.values()) == {"http_200"}
        assert died(play) == len(LIST)

    @pytest.mark.parametrize("method", ["heed", "came_late"])
    def test_one_that_dies_settling_loses_nothing(self, method: str) -> None:
        def prepare(run: Run) -> None:
            feedback: Any = run._feedback
            setattr(feedback, method, Times(1, getattr(feedback, method)))

        play = played(prepare=prepare)

        assert play.reasons == {A: "http_200", B: "http_200"}
        assert died(play) == (method == "heed")

    def test_one_that_dies_after_its_lease_has_ended_loses_nothing(self) -> None:
        def prepare(run: Run) -> None:
            run._conclude = Times(1, run._conclude)  # type: ignore[method-assign]

        play = played(prepare=prepare)

        assert play.reasons == {A: "http_200", B: "http_200"}
        assert died(play) == 1

    def test_and_gives_it_up_after_three_of_them(self) -> None:
        def prepare(run: Run) -> None:
            conclude = run._conclude

            def fatal(lease: Any, visit: Any, *more: Any) -> Any:
                if visit.target.url == A:
                    raise ValueError("made up")
                return conclude(lease, visit, *more)

            run._conclude = fatal  # type: ignore[method-assign]

        play = played(prepare=prepare)

        assert play.reasons == {A: "worker_died", B: "http_200"}
        assert died(play) == 3

    def test_one_that_dies_handing_over_a_page_loses_nothing(self) -> None:
        def prepare(run: Run) -> None:
            reading: Any = run.reading
            reading.hand_over = Times(1, reading.hand_over)

        play = played({A: page(f'<a href="{B}">x</a>')}, A, reads=True, prepare=prepare)

        assert play.reasons == {A: "http_200", B: "http_200"}
        assert died(play) == 1

    def test_one_that_dies_beginning_a_visit_loses_nothing(self) -> None:
        """A handler whose `begin` raises, three times."""

        class Bad:
            def __init__(self, good: Any) -> None:
                self._good = good

            def __getattr__(self, name: str) -> Any:
                return getattr(self._good, name)

            def begin(self, target: Any) -> Request:
                if target.url == A:
                    raise ValueError("made up")
                request: Request = self._good.begin(target)
                return request

        def prepare(run: Run) -> None:
            run.handlers._web = Bad(run.handlers._web)  # type: ignore[assignment]

        play = played(prepare=prepare)

        assert play.reasons == {A: "worker_died", B: "http_200"}
        assert died(play) == 3

    def test_one_that_dies_after_its_lease_was_taken_back_doubles_nothing(self) -> None:
        again = asyncio.Event()

        async def reply(_: Request) -> Answer:
            if not again.is_set():
                again.set()
                await asyncio.sleep(1.0)
                raise ValueError("made up")
            await asyncio.sleep(2.0)
            return OK

        async def fall_silent(run: Run) -> None:
            await again.wait()
            run._hangs.held.clear()  # as if the worker had been lost

        play = played({A: reply}, A, lease_seconds=0.5, watch=fall_silent)

        assert play.reasons == {A: "http_200"}
        assert died(play) == 1

    def test_one_that_dies_telling_those_who_waited_loses_none(self) -> None:
        """A robots.txt has come; of all who waited for it, the first one kills."""
        urls = [f"{A}{n}" for n in range(5)]
        robots = Answer(status=200, body=b"User-agent: *\nDisallow: /")

        def prepare(run: Run) -> None:
            run._entrance._turn_away = Times(1, run._entrance._turn_away)  # type: ignore[method-assign]

        play = played(
            {f"{A}robots.txt": robots}, *urls, settings=POLITE, prepare=prepare
        )

        reasons = sorted(play.reasons.values())
        assert set(play.reasons) == set(urls)
        assert reasons == ["own_fault", *["robots_disallow"] * 4]
        assert died(play) == 0

    def test_one_that_dies_recording_a_page_it_was_led_to_loses_no_link(self) -> None:
        def prepare(run: Run) -> None:
            record = run._book.record
            run._book.record = Times(1, record)  # type: ignore[method-assign]

        there = f"{A}there"
        play = played(
            {A: moved(there), there: page(f'<a href="{B}">x</a>')},
            A,
            reads=True,
            prepare=prepare,
            more={"reach": Reach(Crawl(), [A], 2026), "survey": Survey()},
        )

        assert set(play.reasons) == {A, B}
        assert died(play) == 1


class TestALostCrewOfARun:
    def test_a_crew_that_cannot_be_rebuilt_ends_the_run_with_the_reason(self) -> None:
        def prepare(run: Run) -> None:
            run._frontier.take = Times(10**9)  # type: ignore[method-assign]

        play = played(prepare=prepare)

        assert play.summary.interrupted.startswith(
            "the crew could not be rebuilt: ValueError: made up"
        )
        assert play.summary.left == 2
        assert {m.state for m in play.run.crew.members} == {WorkerState.STOPPED}

    def test_one_that_recovers_goes_on(self) -> None:
        def prepare(run: Run) -> None:
            take = run._frontier.take
            run._frontier.take = Times(20, take)  # type: ignore[method-assign]

        play = played({}, *LIST, prepare=prepare)

        assert set(play.reasons) == set(LIST)
        assert died(play) == 20

    @pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), CrewError("x")])
    def test_a_full_disk_ends_the_run_by_raising(self, error: Exception) -> None:
        def prepare(run: Run) -> None:
            run._book.record = Times(99, error=error)  # type: ignore[method-assign]

        with pytest.raises(ExceptionGroup) as raised:
            played(prepare=prepare)

        assert raised.group_contains(type(error))

    @pytest.mark.parametrize("error", [TimeoutError("x"), UrlError("x")])
    def test_the_fault_of_one_request_does_not(self, error: Exception) -> None:
        async def reply(_: Request) -> Answer:
            raise error

        play = played({A: reply})

        assert play.reasons == {A: "worker_died", B: "http_200"}

    def test_many_that_kill_do_not_lose_the_crew(self) -> None:
        """Each of them ends unknown: it is they that kill, and the rest is asked."""
        deadly = [f"{A}{n}" for n in range(20)]
        play = played(dict.fromkeys(deadly, Deadly(10**9)), *deadly, B, workers=1)

        assert play.reasons[B] == "http_200"
        assert set(play.reasons) == {*deadly, B}


class TestCrawlersOfARun:
    PAGE = page(f'<a href="{B}1">x</a><a href="{B}2">y</a>')

    def read(self, times: int, error: Exception | None = None) -> Play:
        links = partial(links_of, check=QUICK.check)
        mishap = Times(times, error=error)

        def read(*arguments: Any) -> Any:
            for number, link in enumerate(links(*arguments)):
                if number == 1:
                    mishap()
                yield link

        return played({A: self.PAGE}, A, reads=True, more={"read": read})

    @pytest.mark.parametrize("times", [1, 2])
    def test_one_that_dies_reading_loses_no_link(self, times: int) -> None:
        play = self.read(times)

        assert set(play.reasons) == {A, f"{B}1", f"{B}2"}
        assert died(play) == times
        assert play.summary.problems == ()

    def test_a_page_that_kills_three_is_told_and_the_run_goes_on(self) -> None:
        play = self.read(99)

        assert set(play.reasons) == {A, f"{B}1"}  # what was found before is kept
        assert died(play) == 3
        [problem] = play.summary.problems
        assert problem.place.document == A
        assert problem.message.startswith("could not be read: ValueError: made up")
        assert not problem.grave

    @pytest.mark.parametrize("times", [1, 2, 99])
    def test_one_that_dies_letting_links_go_on_loses_none(self, times: int) -> None:
        urls = [f"{A}{n}" for n in range(10)]
        deadly = urls[5]  # for whoever lets it go on, some times

        def prepare(run: Run) -> None:
            put, mishap = run._entrance.put, Times(times)

            def fatal(item: Any, *more: Any) -> None:
                if item.url == deadly and run.crew.deaths < times:
                    mishap()
                put(item, *more)

            run._entrance.put = fatal  # type: ignore[method-assign]

        overflow = Overflow()
        links = page("".join(f'<a href="{url}">x</a>' for url in urls))
        tight = replace(QUICK, frontier=Frontier(capacity=3))
        try:
            play = played(
                {A: links},
                A,
                reads=True,
                settings=tight,
                prepare=prepare,
                more={"overflow": overflow},
            )
        finally:
            overflow.close()

        assert set(play.reasons) == {A, *urls}
        assert died(play) == min(times, 3)
        assert play.reasons[deadly] == ("http_200" if times < 3 else "worker_died")

    @pytest.mark.parametrize("method", ["next_page", "next_work"])
    def test_a_role_that_cannot_be_rebuilt_ends_the_run_with_the_reason(
        self, method: str
    ) -> None:
        """Pages pile up before it, and whoever hands them over must not wait."""

        class Keep:
            def has(self, _: str) -> bool:
                return True

            async def __call__(self, *_: Any) -> None:
                pass

        def prepare(run: Run) -> None:
            setattr(run.reading, method, Times(10**9))

        urls = [f"{A}{n}" for n in range(100)]
        play = played(
            {}, *urls, reads=True, prepare=prepare, more={"keep": Keep()}, workers=2
        )

        assert play.summary.interrupted.startswith("the crew could not be rebuilt")

    def test_the_fault_of_one_page_does_not_end_the_run(self) -> None:
        play = self.read(99, UrlError("made up"))

        assert set(play.reasons) == {A, f"{B}1"}
        assert died(play) == 3


class TestWorkersOfARun:
    class Keep:
        def __init__(self, times: int, error: Exception | None = None) -> None:
            self._mishap = Times(times, error=error)
            self.saved: list[str] = []

        def has(self, _: str) -> bool:
            return True

        async def __call__(self, visit: Any, _: Answer) -> None:
            await asyncio.sleep(1.0)
            self._mishap()
            self.saved.append(visit.request.url)

    def saved(self, keep: Any) -> Play:
        return played(
            {A: page("a"), B: page("b")}, A, B, reads=True, more={"keep": keep}
        )

    @pytest.mark.parametrize("times", [1, 2])
    def test_one_that_dies_saving_loses_no_page(self, times: int) -> None:
        keep = self.Keep(times)
        play = self.saved(keep)

        assert sorted(keep.saved) == [A, B]
        assert died(play) == times

    def test_a_page_that_kills_three_is_told_and_the_next_is_saved(self) -> None:
        keep = self.Keep(5)
        play = self.saved(keep)

        [problem] = play.summary.problems
        assert problem.message.startswith("could not be saved: ValueError: made up")
        assert len(keep.saved) == 1
        assert died(play) == 5
        assert set(play.reasons) == {A, B}

    def test_a_file_that_cannot_be_written_is_told_as_grave(self) -> None:
        keep = self.Keep(1, OSError(errno.EISDIR, "Is a directory"))
        play = self.saved(keep)

        [problem] = play.summary.problems
        assert problem.message == "could not be saved: Is a directory"
        assert problem.grave
        assert died(play) == 0

    def test_one_that_takes_too_long_is_told_and_given_up(self) -> None:
        class Slow(self.Keep):  # type: ignore[name-defined,misc]
            async def __call__(self, visit: Any, answer: Answer) -> None:
                await asyncio.sleep(0 if visit.request.url == B else 10_000.0)
                await super().__call__(visit, answer)

        keep = Slow(0)
        play = self.saved(keep)

        assert keep.saved == [B]
        [problem] = play.summary.problems
        assert problem.message == "it was not saved in 300 s: given up"
        assert died(play) == 0


class TestAnybody:
    """Whoever dies of whatever, and however often: nothing is lost, all ends."""

    @settings(max_examples=60, deadline=None)
    @given(
        st.lists(st.integers(0, 4), min_size=1, max_size=8),
        st.lists(st.integers(0, 4), max_size=8),
        st.integers(1, 4),
        st.booleans(),
    )
    def test_every_url_is_judged_once(
        self, asking: list[int], reading: list[int], workers: int, robots: bool
    ) -> None:
        chain = [f"http://{n % 3}.test/{n}" for n in range(len(asking))]
        mishaps = {
            url: Times(times) for url, times in zip(chain, reading, strict=False)
        }
        links = partial(links_of, check=QUICK.check)

        def read(body: bytes, url: str, kind: str) -> Any:
            yield from links(body, url, kind)
            if url in mishaps:
                mishaps[url]()

        replies: dict[str, Reply] = {
            url: Deadly(times, page(f'<a href="{after}">x</a>'))
            for url, times, after in zip(chain, asking, [*chain[1:], B], strict=True)
        }
        survey, polite = Survey(), POLITE if robots else QUICK
        play = played(
            replies,
            chain[0],
            reads=True,
            workers=workers,
            settings=polite,
            default=MISSING,
            more={
                "read": read,
                "survey": survey,
                "reach": Reach(Crawl(scope="any"), chain[:1], 2026),
            },
        )

        assert play.summary.interrupted == ""
        reached = 0
        while reached < len(asking) and asking[reached] < 3:
            reached += 1
        ok = dict.fromkeys(chain[:reached], "http_200")
        assert ok.items() <= play.reasons.items()
        if reached < len(asking):
            assert play.reasons[chain[reached]] == "worker_died"
        died(play)
