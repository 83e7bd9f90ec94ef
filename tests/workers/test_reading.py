"""Pages on their way from fetchers to crawlers to workers."""

import asyncio
from typing import Any

import pytest
from fake_parts import OK, POLITE, QUICK, Play, Reply, found, moved, page
from msgspec.structs import replace

from ronda.config import Crawl, Frontier
from ronda.frontier.reach import Reach
from ronda.model import Answer, Request, Target
from ronda.simulation.loop import VirtualClock
from ronda.store.overflow import Overflow
from ronda.workers.crew import Crew
from ronda.workers.pages import Page
from ronda.workers.reading import HEAVY, MANY
from ronda.workers.run import Run
from ronda.workers.states import Role, WorkerState
from ronda.workers.survey import Survey

A, B = "http://a.test/", "http://b.test/"
SAVING = replace(QUICK, crawl=Crawl(save="folder"))


class Keep:
    """Writes down what is saved."""

    def __init__(self) -> None:
        self.saved: list[tuple[str, int]] = []

    def has(self, _: str) -> bool:
        return True

    async def __call__(self, visit: Any, answer: Answer) -> None:
        await asyncio.sleep(0)
        self.saved.append((visit.request.url, answer.status))


def crawled(replies: dict[str, Reply], **more: Any) -> Play:
    parts = {"reach": Reach(Crawl(), [A], 2026), "survey": Survey()}
    parts |= more.pop("more", {})
    more.setdefault("clock", VirtualClock())
    return Play(found(A, document="", reads=True), replies, more=parts, **more)


class TestSaving:
    def saved(self, replies: dict[str, Reply], **more: Any) -> set[tuple[str, int]]:
        keep = Keep()
        more.setdefault("settings", SAVING)
        self.play = crawled(replies, more={"keep": keep}, **more)
        assert len(set(keep.saved)) == len(keep.saved), "saved twice"
        assert self.play.summary.left == 0
        return set(keep.saved)

    def test_pages_and_their_parts_are_saved_and_what_is_outside_is_not(self) -> None:
        body = f'<a href="{A}1">x</a><img src="{A}i.png"><a href="{B}">y</a>'
        saved = self.saved({A: page(body)}, default=page("x"))

        assert saved == {(A, 200), (f"{A}1", 200), (f"{A}i.png", 200)}

    def test_so_is_every_redirect_on_the_way(self) -> None:
        saved = self.saved({A: moved(f"{A}there"), f"{A}there": page("x")})

        assert saved == {(A, 302), (f"{A}there", 200)}

    def test_and_what_is_broken_but_not_what_never_came(self) -> None:
        links = page(f'<a href="{A}1">x</a><a href="{A}2">y</a>')
        saved = self.saved({A: links, f"{A}1": Answer(status=404), f"{A}2": NOTHING})

        assert saved == {(A, 200), (f"{A}1", 404)}

    def test_without_anybody_who_saves_nothing_is_worked_on(self) -> None:
        play = crawled({A: page("x")}, settings=SAVING)

        assert play.run._balance.works == 0
        assert set(play.reasons) == {A}


NOTHING = Answer(error=52)


class TestInboxes:
    def test_fetchers_wait_while_crawlers_have_too_much_to_read(self) -> None:
        """A reader that takes its time: no more pages are asked for than fit."""
        links = page("".join(f'<a href="{A}{n}">x</a>' for n in range(200)))
        most = 0

        def prepare(run: Run) -> None:
            push = run._pushing.push

            async def slowly(*arguments: Any) -> Page:
                nonlocal most
                most = max(most, len(run.reading.pages))
                found = await push(*arguments)
                await asyncio.sleep(1.0)
                return found

            run._pushing.push = slowly  # type: ignore[method-assign]

        play = crawled({A: links}, default=page("x"), prepare=prepare, workers=100)

        assert len(play.reasons) == 201
        assert 1 < most <= MANY

    def test_or_too_heavy_pages(self) -> None:
        assert HEAVY <= 64 * 1024 * 1024


class TestHoldingBack:
    def test_only_targets_are_held_back(self) -> None:
        """A visit under way goes on, however full it is."""
        overflow = Overflow()
        kept: list[bool] = []

        def prepare(run: Run) -> None:
            run._frontier.queued = 10**9
            target = Target(A, "a.test")
            kept.append(run.reading.hold_back(run.begin(target)))
            run._frontier.queued = 0

        settings = replace(QUICK, frontier=Frontier(capacity=1))
        crawled({}, prepare=prepare, settings=settings, more={"overflow": overflow})
        overflow.close()

        assert kept == [False]

    def test_they_keep_their_order(self) -> None:
        urls = [f"{A}{n}" for n in range(30)]
        overflow = Overflow()
        play = crawled(
            {A: page("".join(f'<a href="{url}">x</a>' for url in urls))},
            settings=replace(QUICK, frontier=Frontier(capacity=2)),
            more={"overflow": overflow},
            workers=1,
        )
        overflow.close()

        assert play.fetch.urls == [A, *urls]

    def test_without_an_overflow_a_crawler_finds_nothing_to_let_go_on(self) -> None:
        def prepare(run: Run) -> None:
            member = Crew(strict=True).enlist(Role.CRAWLER, 0.0)
            member.become(WorkerState.WAITING, 0.0)
            run.reading.let_go_on(run._entrance.put, member)
            states.append(member.state)

        states: list[WorkerState] = []
        play = crawled({}, prepare=prepare)

        assert states == [WorkerState.PUSH_BUFFER]
        assert set(play.reasons) == {A}


class TestRobots:
    DAY = 86_400.0

    def test_rules_are_asked_for_again_after_a_day(self) -> None:
        """What is queued by then has to pass the gate again."""
        urls = [f"{A}{n}" for n in range(4)]
        slow = replace(POLITE, fetch=replace(POLITE.fetch, timeout=1e6))
        allowed = Answer(status=200, body=b"User-agent: *\nAllow: /")
        forbidden = Answer(status=200, body=b"User-agent: *\nDisallow: /")

        async def reply(_: Request) -> Answer:
            await asyncio.sleep(0.6 * self.DAY)
            return OK

        replies: dict[str, Reply] = dict.fromkeys(urls, reply)
        replies[f"{A}robots.txt"] = [allowed, forbidden]
        play = Play(
            found(*urls), replies, settings=slow, clock=VirtualClock(), workers=1
        )

        reasons = [play.reasons[url] for url in urls]
        assert reasons == ["http_200"] * 2 + ["robots_disallow"] * 2
        assert play.fetch.urls.count(f"{A}robots.txt") == 2

    def test_sitemaps_of_strangers_are_not_followed(self) -> None:
        robots = Answer(status=200, body=b"Sitemap: /map.xml")
        replies: dict[str, Reply] = {
            f"{A}robots.txt": Answer(status=404),
            f"{B}robots.txt": robots,
            A: page(f'<a href="{B}">x</a>'),
        }
        play = crawled(replies, settings=POLITE)

        assert set(play.reasons) == {A, B}


class TestNames:
    def test_a_name_that_is_found_only_just_now_is_tried_again(self) -> None:
        """Its address was not known when it was handed out, and is now."""
        play_run: list[Run] = []

        def prepare(run: Run) -> None:
            play_run.append(run)
            failure = run._addresses.failure
            told = iter([None])

            def late(name: str) -> Answer | None:
                return next(told, failure(name))

            run._addresses.failure = late  # type: ignore[method-assign]

        play = Play(
            found(A),
            prepare=prepare,
            clock=VirtualClock(),
            addresses={"a.test": Answer(error=6)},
        )

        assert play.reasons == {A: "dns_no_such_name"}
        assert play.fetch.urls == []


@pytest.mark.parametrize("workers", [1, 4])
def test_nobody_is_left_in_the_middle_of_anything(workers: int) -> None:
    links = page("".join(f'<a href="{A}{n}">x</a>' for n in range(20)))
    play = crawled({A: links}, default=page("x"), workers=workers)

    assert {m.state for m in play.run.crew.members} == {WorkerState.STOPPED}
    assert all(member.hands is None for member in play.run.crew.members)
    assert sum(m.cycles for m in play.run.crew.of(Role.CRAWLER)) == 21
    assert sum(m.cycles for m in play.run.crew.of(Role.FETCHER)) == 21
