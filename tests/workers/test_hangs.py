"""Requests that hang: given up softly, then with their worker; counted, and told."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from fake_parts import OK, QUICK, FakeFetch, Play, found
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ronda.frontier import Lease
from ronda.frontier.host import Host
from ronda.model import Answer, Request, State
from ronda.simulation.loop import VirtualClock, carry_out
from ronda.workers.crew import Crew
from ronda.workers.hangs import GRACE, Hangs, Held
from ronda.workers.states import Role

A, B = "http://a.test/", "http://b.test/"
FIVE = replace(QUICK, fetch=replace(QUICK.fetch, timeout=5.0, retries=0))
DEADLINE = 5.0 + GRACE


class Looking:
    """What comes of some requests, in no time."""

    def __init__(self, soft: bool = True) -> None:
        self.clock = VirtualClock()
        self.given_up: list[tuple[int, float]] = []
        self.cut_off: list[tuple[int, float]] = []
        self.soft = soft
        self.hangs: Hangs

    def carry_out(self, play: Callable[["Looking"], Awaitable[None]]) -> "Looking":
        async def carried_out() -> None:
            self.hangs = Hangs(5.0, self.clock, self._give_up, self._cut_off)
            await play(self)

        carry_out(carried_out(), self.clock)
        return self

    def begin(self, trans: int) -> Held:
        now = self.clock.now()
        lease = Lease(Host("a.test"), None, now, now)  # type: ignore[arg-type]
        member = Crew().enlist(Role.FETCHER, now)
        held = Held(trans, lease, member, now + self.hangs.seconds)
        self.hangs.begin(held)
        return held

    def _give_up(self, held: Held) -> bool:
        self.given_up.append((held.trans, self.clock.seconds))
        return self.soft

    def _cut_off(self, held: Held) -> None:
        self.cut_off.append((held.trans, self.clock.seconds))


class TestDeadlines:
    def test_first_the_soft_way_and_then_the_hard_one(self) -> None:
        async def play(looking: Looking) -> None:
            looking.begin(1)
            await asyncio.sleep(100.0)

        looking = Looking().carry_out(play)

        assert looking.given_up == [(1, DEADLINE)]
        assert looking.cut_off == [(1, DEADLINE + GRACE)]
        assert looking.hangs.count == 1
        assert looking.hangs.held == {}

    def test_where_there_is_no_soft_way_at_once_the_hard_one(self) -> None:
        async def play(looking: Looking) -> None:
            looking.begin(1)
            await asyncio.sleep(100.0)

        looking = Looking(soft=False).carry_out(play)

        assert looking.cut_off == [(1, DEADLINE)]
        assert looking.hangs.count == 1

    def test_what_is_answered_in_time_is_left_alone(self) -> None:
        async def play(looking: Looking) -> None:
            for trans in range(5):
                looking.begin(trans)
                await asyncio.sleep(DEADLINE - 1.0)
                del looking.hangs.held[trans]
            await asyncio.sleep(100.0)

        looking = Looking().carry_out(play)

        assert looking.given_up == looking.cut_off == []
        assert looking.hangs.count == 0

    def test_the_hard_way_does_not_wait_for_later_requests(self) -> None:
        async def play(looking: Looking) -> None:
            looking.begin(1)
            await asyncio.sleep(DEADLINE - 1.0)
            looking.begin(2)
            await asyncio.sleep(100.0)

        looking = Looking().carry_out(play)

        assert looking.cut_off[0] == (1, DEADLINE + GRACE)

    def test_once_it_is_closed_nobody_looks(self) -> None:
        async def play(looking: Looking) -> None:
            looking.hangs.close()  # there was no request yet
            looking.begin(1)
            looking.hangs.close()
            await asyncio.sleep(100.0)

        assert Looking().carry_out(play).given_up == []

    @settings(deadline=None)
    @given(
        st.lists(
            st.tuples(st.floats(0.0, 9.0), st.none() | st.floats(0.0, 40.0)),
            max_size=12,
        )
    )
    def test_each_is_given_up_at_its_own_deadline_and_no_other(
        self, requests: list[tuple[float, float | None]]
    ) -> None:
        """Each is asked some seconds after the last, and answered or not."""
        due = {}

        async def play(looking: Looking) -> None:
            loop = asyncio.get_running_loop()
            for trans, (gap, answered) in enumerate(requests):
                await asyncio.sleep(gap)
                looking.begin(trans)
                if answered is not None:
                    loop.call_later(answered, looking.hangs.held.pop, trans, None)
                if answered is None or answered > DEADLINE:
                    due[trans] = looking.clock.seconds + DEADLINE
            await asyncio.sleep(1000.0)

        looking = Looking().carry_out(play)

        given_up = dict(looking.given_up)
        exactly = {t for t, (_, after) in enumerate(requests) if after == DEADLINE}
        assert {t for t in given_up if t not in exactly} == set(due)
        assert all(given_up[t] == pytest.approx(moment) for t, moment in due.items())
        assert looking.hangs.count == len(given_up)


class Silent(FakeFetch):
    """Some URLs are never answered: by a future, or by a coroutine."""

    def __init__(self, kind: str, *silent: str, times: int = 10**9) -> None:
        super().__init__({}, OK, None, frozenset())
        self._kind = kind
        self._silent = silent
        self._times = times
        self.loop_dropped: list[Any] = []

    def ask(self, request: Request, *where: Any) -> Any:
        if request.url not in self._silent or not self._times:
            return super().ask(request, *where)
        self._times -= 1
        self.asked.append((request.method, request.url, where[0]))
        if self._kind == "future":
            return asyncio.get_running_loop().create_future()
        return self._never()

    async def _never(self) -> Answer:
        return await asyncio.Event().wait() and OK  # type: ignore[return-value]


def hung(fetch: FakeFetch, *urls: str, **more: Any) -> Play:
    more.setdefault("settings", FIVE)
    clock = VirtualClock()
    play = Play(found(*(urls or (A, B))), clock=clock, more={"fetch": fetch}, **more)
    play.fetch = fetch
    return play


class TestARun:
    def test_a_future_is_dropped_and_answered_in_its_place(self) -> None:
        fetch = Silent("future", A)
        play = hung(fetch)

        assert play.reasons == {A: "timeout_connect", B: "http_200"}
        assert fetch.dropped == 1
        assert play.clock.seconds == DEADLINE  # type: ignore[attr-defined]
        assert play.summary.remarks == ("1 request hung, and had to be given up",)
        assert play.run.crew.deaths == 0

    def test_one_that_answers_the_second_time_is_fine(self) -> None:
        once = replace(FIVE, fetch=replace(FIVE.fetch, retries=1, retry_gap=0.01))
        play = hung(Silent("future", A, times=1), settings=once)

        assert play.reasons[A] == "http_200"

    def test_a_coroutine_is_cut_off_with_its_worker_and_asked_again(self) -> None:
        fetch = Silent("coroutine", A, times=1)
        play = hung(fetch)

        assert play.reasons == {A: "http_200", B: "http_200"}
        assert fetch.urls.count(A) == 2
        assert play.clock.seconds == DEADLINE  # type: ignore[attr-defined]
        assert play.summary.remarks == (
            "1 worker died and had to be replaced",
            "1 request hung, and had to be given up",
        )
        assert play.frontier.idle

    def test_one_that_always_hangs_ends_unknown_after_three_workers(self) -> None:
        play = hung(Silent("coroutine", A))

        [result] = [r for r in play.results if r.url == A]
        assert (result.verdict, result.reason) == (State.UNKNOWN, "worker_died")
        assert "CancelledError" in result.evidence
        assert play.clock.seconds == 3 * DEADLINE  # type: ignore[attr-defined]
        assert play.summary.left == 0

    @pytest.mark.parametrize("workers", [1, 3])
    @pytest.mark.parametrize("kind", ["future", "coroutine"])
    def test_all_of_them_at_once(self, kind: str, workers: int) -> None:
        urls = [f"http://{n}.test/" for n in range(6)]
        play = hung(Silent(kind, *urls[:3]), *urls, workers=workers)

        assert list(play.reasons.values()).count("http_200") == 3
        assert play.summary.left == 0
        assert play.run._balance.over

    def test_a_robots_txt_that_hangs_holds_nobody_up_for_ever(self) -> None:
        polite = replace(FIVE, check=replace(FIVE.check, robots=True))
        play = hung(Silent("coroutine", f"{A}robots.txt"), settings=polite)

        assert play.reasons == {A: "robots_unreachable", B: "http_200"}

    def test_a_lease_that_is_held_is_kept_alive_however_long_it_takes(self) -> None:
        """Longer than a silent lease is held: it is not asked twice."""
        slow = replace(QUICK, fetch=replace(QUICK.fetch, timeout=1e5))

        async def reply(_: Request) -> Answer:
            await asyncio.sleep(10_000.0)
            return OK

        play = Play(found(A), {A: reply}, settings=slow, clock=VirtualClock())

        assert play.reasons == {A: "http_200"}
        assert play.fetch.urls == [A]

    def test_when_the_run_is_cut_off_what_is_under_way_is_told(self) -> None:
        entries: list[dict[str, Any]] = []

        class Log:
            def add(self, **entry: Any) -> None:
                entries.append(entry)

        async def soon(_: Any) -> None:
            await asyncio.sleep(1.0)

        hung(Silent("coroutine", A), log=Log(), watch=soon, cut_off=True)

        assert [e["url"] for e in entries if e["seconds"] is None] == [A]
