"""The end of a run: not before everything is level, and then at once."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from fake_parts import OK, POLITE, QUICK, Play, found, page
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ronda.config import Crawl, Settings
from ronda.frontier.reach import Reach
from ronda.model import Answer, Request
from ronda.simulation.loop import VirtualClock
from ronda.workers.balance import Balance
from ronda.workers.run import Run
from ronda.workers.survey import Survey

A = "http://a.test/"
PAIRS = [("begun", "ended"), ("pages_told", "pages_read"), ("works", "worked")]
SIDES = [side for pair in PAIRS for side in pair]


class TestBalance:
    @given(st.lists(st.sampled_from([*SIDES, "fed"])))
    def test_it_is_over_exactly_when_all_sides_are_level(
        self, events: list[str]
    ) -> None:
        balance, counts = Balance(), Counter[str]()
        for event in events:
            if event == "fed":
                balance.fed = True
            else:
                setattr(balance, event, getattr(balance, event) + 1)
            counts[event] += 1
            level = all(counts[one] == counts[other] for one, other in PAIRS)

            assert balance.over == (level and counts["fed"] > 0)
            assert balance.over == (not list(balance.open()))

    def test_nothing_is_over_before_the_input_was_read(self) -> None:
        assert not Balance().over

    def test_it_says_what_the_end_waits_for(self) -> None:
        balance = Balance()
        balance.begun, balance.ended = 5, 3
        balance.pages_told, balance.works = 2, 1

        assert list(balance.open()) == [
            ("input is still being read", 0),
            ("visits that have not ended", 2),
            ("pages that are not read yet", 2),
            ("pieces of work that are not done yet", 1),
        ]

    def test_when_all_is_over_it_waits_for_nothing(self) -> None:
        balance = Balance()
        balance.fed = True

        assert balance.over
        assert list(balance.open()) == []


class TestNeverEarly:
    def test_a_slow_page_with_ten_thousand_links_at_the_last_moment(self) -> None:
        links = [f"{A}{n}" for n in range(10_000)]
        seen: list[tuple[bool, list[tuple[str, int]]]] = []

        async def slow(_: Request) -> Answer:
            await asyncio.sleep(3600.0)
            seen.append((play_run[0].account.fed, play_run[0].account.open()))
            return page("".join(f"<a href={n}>" for n in range(10_000)))

        play_run: list[Run] = []
        quick = [f"http://b.test/{n}" for n in range(20)]
        play = Play(
            found(A, *quick, reads=True),
            {A: slow},
            clock=VirtualClock(),
            prepare=play_run.append,
            workers=3,
            settings=patient(),
        )

        assert seen == [(True, [("visits that have not ended", 1)])]
        assert set(play.reasons) == {A, *quick, *links}
        assert play.summary.left == 0

    @settings(max_examples=40, deadline=None)
    @given(st.lists(st.floats(0.0, 50.0), min_size=1, max_size=12), st.integers(1, 4))
    def test_whichever_of_them_is_the_slowest(
        self, seconds: list[float], workers: int
    ) -> None:
        """A chain and a fan of pages, each of which comes when it likes."""
        replies = {
            f"{A}{n}": later(
                wait, page(f'<a href="{A}{n + 1}">x</a><a href="{A}leaf{n}">y</a>')
            )
            for n, wait in enumerate(seconds)
        }
        play = Play(
            found(f"{A}0", reads=True),
            replies,
            clock=VirtualClock(),
            workers=workers,
            settings=patient(),
            more={"reach": Reach(Crawl(), [f"{A}0"], 2026), "survey": Survey()},
        )

        pages = len(seconds)
        assert len(play.reasons) == 2 * pages + 1
        assert play.summary.left == 0
        assert play.run._balance.over

    def test_not_before_the_last_page_is_saved(self) -> None:
        saved = []

        class Keep:
            def has(self, _: str) -> bool:
                return True

            async def __call__(self, visit: Any, _: Answer) -> None:
                await asyncio.sleep(60.0)
                saved.append(visit.request.url)

        clock = VirtualClock()
        play = Play(
            found(A, f"{A}2", reads=True),
            clock=clock,
            default=page("x"),
            more={"keep": Keep()},
        )

        assert sorted(saved) == [A, f"{A}2"]
        assert clock.seconds == 120.0  # one after the other
        assert play.summary.left == 0


class TestNoticed:
    """The end is noticed by an event: turns of the loop are counted, not seconds."""

    TURNS = 25  # from the last answer to the end, however large the crew is

    def turns(self, pages: dict[str, Answer], **more: Any) -> int:
        """The turns of the loop between the last answer and the end of the run."""
        turns = 0
        last = f"{A}last"

        def count() -> None:
            nonlocal turns
            turns += 1
            handles.append(asyncio.get_running_loop().call_soon(count))

        handles: list[asyncio.Handle] = []

        async def answer(_: Request) -> Answer:
            await asyncio.sleep(5.0)
            count()
            return pages.get(last, OK)

        def look_at_the_end(run: Run) -> None:
            carry_out = run.carry_out

            async def carried_out(*arguments: Any) -> None:
                await carry_out(*arguments)
                handles[-1].cancel()
                loop: Any = asyncio.get_running_loop()
                self.pending = [h for h in loop._scheduled if not h._cancelled]

            run.carry_out = carried_out  # type: ignore[method-assign]

        clock = VirtualClock()
        replies = {**pages, last: answer}
        quick = [f"{A}{n}" for n in range(5)]
        Play(
            found(*quick, last, reads=True),
            replies,
            clock=clock,
            prepare=look_at_the_end,
            **{"workers": 20, **more},
        )
        self.seconds = clock.seconds
        return turns

    @pytest.mark.parametrize("workers", [1, 20, 300])
    def test_the_last_answer_ends_the_run_in_the_same_moment(
        self, workers: int
    ) -> None:
        turns = self.turns({}, workers=workers)

        assert turns <= self.TURNS
        assert self.seconds == 5.0
        assert self.pending == []

    def test_so_does_the_last_page_that_is_read(self) -> None:
        turns = self.turns({f"{A}last": page("no links")})

        assert turns <= self.TURNS
        assert self.seconds == 5.0
        assert self.pending == []

    def test_no_timer_is_pending_after_hosts_with_gaps(self) -> None:
        play_settings = {"settings": patient(POLITE)}
        turns = self.turns({f"{A}robots.txt": Answer(status=404)}, **play_settings)

        assert turns <= self.TURNS
        assert self.pending == []


def later(seconds: float, answer: Answer) -> Callable[[Request], Any]:
    async def reply(_: Request) -> Answer:
        await asyncio.sleep(seconds)
        return answer

    return reply


def patient(settings: Settings = QUICK) -> Settings:
    """Settings by which a slow request does not count as one that hangs."""
    return replace(settings, fetch=replace(settings.fetch, timeout=1e6))
