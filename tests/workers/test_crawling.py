"""Whole sites: found, asked and judged, however little room there is for them."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from fake_parts import (
    MISSING,
    OK,
    POLITE,
    QUICK,
    Play,
    Reply,
    found,
    moved,
    page,
    until,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ronda.config import Crawl, Frontier, Settings
from ronda.frontier.reach import Reach
from ronda.model import Answer, Request, State, Target
from ronda.simulation.loop import VirtualClock
from ronda.store.overflow import Overflow
from ronda.workers.inbox import Inbox
from ronda.workers.run import Run
from ronda.workers.states import WorkerState
from ronda.workers.survey import Survey

A, B = "http://a.test/", "http://b.test/"


def tight(capacity: int, base: Settings = QUICK) -> Settings:
    return replace(base, frontier=Frontier(capacity=capacity))


def links(*urls: str) -> Answer:
    return page("".join(f'<a href="{url}">x</a>' for url in urls))


def crawled(
    replies: dict[str, Reply], *seeds: str, crawl: Crawl | None = None, **more: Any
) -> Play:
    """A crawl, in no time."""
    wanted = seeds or (A,)
    reach = Reach(crawl or Crawl(scope="any"), wanted, 2026)
    parts = {"reach": reach, "survey": Survey(), **more.pop("more", {})}
    if "overflow" not in parts:
        parts["overflow"] = Overflow()
    more.setdefault("clock", VirtualClock())
    try:
        return Play(found(*wanted, reads=True), replies, more=parts, **more)
    finally:
        if parts["overflow"] is not None:
            parts["overflow"].close()


def narrow(run: Run) -> None:
    """Leave room for one page between the roles."""
    run.reading.pages = Inbox(1, 1)
    run.reading.works = Inbox(1, 1)


class Keep:
    """Saves nothing, slowly."""

    def __init__(self, seconds: float = 1.0) -> None:
        self._seconds = seconds
        self.saved: list[str] = []

    def has(self, _: str) -> bool:
        return True

    async def __call__(self, visit: Any, _: Answer) -> None:
        await asyncio.sleep(self._seconds)
        self.saved.append(visit.request.url)


# -- webs ------------------------------------------------------------------------


class Web:
    """A small web: pages that link to others, redirects, faults; each in its time."""

    HOSTS = ("a", "b", "c")

    def __init__(self, pages: list[tuple[str, list[int], float]]) -> None:
        self._pages = pages
        self.urls = [self._url(n) for n in range(len(pages))]
        self.replies: dict[str, Reply] = {
            url: self._reply(n) for n, url in enumerate(self.urls)
        }

    def _url(self, number: int) -> str:
        return f"http://{self.HOSTS[number % 3]}.test/{number}"

    def _reply(self, number: int) -> Callable[[Request], Any]:
        kind, to, seconds = self._pages[number]
        names = [self.urls[n % len(self._pages)] for n in to]
        answers = {
            "page": links(*names),
            "moved": moved(names[0] if names else self.urls[0]),
            "missing": MISSING,
            "fault": Answer(status=500),
        }

        async def reply(_: Request) -> Answer:
            await asyncio.sleep(seconds)
            return answers[kind]

        return reply

    def reached(self, first: int = 0) -> set[str]:
        """The obvious: all that can be reached by links of pages, through redirects."""
        wanted, seen = [first], set[int]()
        while wanted:
            number = wanted.pop()
            if number in seen:
                continue
            seen.add(number)
            at: int | None = number
            hops = 0
            while at is not None and self._pages[at][0] == "moved" and hops < 10:
                to = self._pages[at][1]
                at, hops = (to[0] % len(self._pages) if to else 0), hops + 1
            if at is not None and self._pages[at][0] == "page":
                wanted += [n % len(self._pages) for n in self._pages[at][1]]
        return {self.urls[n] for n in seen}


PAGES = st.tuples(
    st.sampled_from(["page"] * 5 + ["moved", "missing", "fault"]),
    st.lists(st.integers(0, 29), max_size=8),
    st.sampled_from([0.0, 0.0, 0.5, 3.0]),
)
WEBS = st.lists(PAGES, min_size=1, max_size=30)


class TestNoDeadlock:
    @settings(max_examples=100, deadline=None)
    @given(WEBS, st.integers(1, 3), st.integers(1, 4), st.booleans(), st.booleans())
    def test_with_next_to_no_room_anywhere_every_url_is_judged(
        self,
        pages: list[tuple[str, list[int], float]],
        capacity: int,
        workers: int,
        robots: bool,
        keeps: bool,
    ) -> None:
        web, keep = Web(pages), Keep()
        play = crawled(
            web.replies,
            web.urls[0],
            default=MISSING,
            settings=tight(capacity, POLITE if robots else QUICK),
            workers=workers,
            prepare=narrow,
            more={"keep": keep} if keeps else {},
        )

        assert set(play.reasons) >= web.reached()
        assert play.summary.left == 0
        assert play.frontier.idle
        assert play.summary.remarks == ()  # and nobody died of it

    @settings(max_examples=30, deadline=None)
    @given(st.integers(1, 3), st.integers(2, 6), st.integers(1, 3))
    def test_when_all_push_at_once(
        self, capacity: int, pages: int, workers: int
    ) -> None:
        """Every page has many links, and all pages come in the same moment."""
        names = [f"{A}page{n}" for n in range(pages)]
        leaves = {name: [f"{name}/{n}" for n in range(40)] for name in names}
        replies: dict[str, Reply] = {A: links(*names)}
        replies |= {name: links(*leaves[name]) for name in names}
        play = crawled(
            replies, settings=tight(capacity), workers=workers, prepare=narrow
        )

        expected = {A, *names, *(leaf for each in leaves.values() for leaf in each)}
        assert set(play.reasons) == expected

    def test_links_that_find_no_room_are_held_back_and_go_on_later(self) -> None:
        urls = [f"{A}{n}" for n in range(50)]
        states: list[WorkerState] = []

        class Watched(Overflow):
            most = 0

            def push(self, target: Target) -> None:
                super().push(target)
                self.most = max(self.most, len(self))

        def watch(run: Run) -> None:
            enlist = run.crew.enlist

            def enlisted(*arguments: Any) -> Any:
                member = enlist(*arguments)
                become = type(member).become

                class Told(type(member)):  # type: ignore[misc]
                    __slots__ = ()

                    def become(self, state: WorkerState, *more: Any) -> None:
                        states.append(state)
                        become(self, state, *more)

                member.__class__ = Told
                return member

            run.crew.enlist = enlisted  # type: ignore[method-assign]

        overflow = Watched()
        play = crawled(
            {A: links(*urls)},
            settings=tight(3),
            prepare=watch,
            more={"overflow": overflow},
        )

        assert set(play.reasons) == {A, *urls}
        assert 40 < overflow.most < 50
        assert len(overflow) == 0
        assert WorkerState.PUSH_BUFFER in states

    def test_without_an_overflow_they_are_queued_all_the_same(self) -> None:
        urls = [f"{A}{n}" for n in range(50)]
        play = crawled({A: links(*urls)}, settings=tight(1), more={"overflow": None})

        assert set(play.reasons) == {A, *urls}

    def test_memory_is_bounded_by_the_capacity(self) -> None:
        most = 0
        urls = [f"{A}{n}" for n in range(500)]

        async def reply(_: Request) -> Answer:
            nonlocal most
            most = max(most, play_run[0]._frontier.queued)
            return OK

        play_run: list[Run] = []
        replies: dict[str, Reply] = dict.fromkeys(urls, reply)
        replies[A] = links(*urls)
        crawled(replies, settings=tight(20), prepare=play_run.append)

        assert 0 < most <= 20

    @pytest.mark.parametrize("capacity", [1, 2, 3, 10])
    def test_a_list_too_long_for_memory_is_read_to_its_end(self, capacity: int) -> None:
        urls = [f"http://{n % 7}.test/{n}" for n in range(200)]
        overflow = Overflow()
        play = Play(
            found(*urls),
            clock=VirtualClock(),
            settings=tight(capacity),
            more={"overflow": overflow},
        )
        overflow.close()

        assert set(play.reasons) == set(urls)


class TestRoom:
    def test_room_that_is_gone_again_kills_nobody(self) -> None:
        """A crawler is sent for; before it comes, redirects have filled the queue."""
        busy = [f"http://h{n}.test/" for n in range(5)]
        waiting = [f"{B}{n}" for n in range(20)]
        under_way: set[str] = set()
        go = asyncio.Event()

        async def reply(request: Request) -> Answer:
            under_way.add(request.url)
            await go.wait()
            name = request.url.removeprefix("http://")
            return OK if name.startswith("b") else moved(f"http://new-{name}")

        async def all_at_once(_: Run) -> None:
            # One page that is fine, and five redirects.
            await until(lambda: len(under_way) == 6)
            go.set()

        replies: dict[str, Reply] = dict.fromkeys([*busy, waiting[0]], reply)
        replies[A] = links(waiting[0], *busy, *waiting)
        play = crawled(replies, settings=tight(1), workers=6, watch=all_at_once)

        assert play.summary.left == 0
        assert play.summary.remarks == ()

    def test_held_back_links_that_are_all_turned_away_end_the_run_at_once(self) -> None:
        """The last to be done is done by a crawler, and nobody may be asked any more.

        `b.test` has no address, so that its link is judged in the turn it is taken in.
        """
        disallowed = [f"{A}x/{n}" for n in range(5)]
        robots = Answer(status=200, body=b"User-agent: *\nDisallow: /x/")
        clock = VirtualClock()
        play = crawled(
            {f"{A}robots.txt": robots, A: links(B, *disallowed)},
            settings=tight(1, POLITE),
            addresses={"b.test": Answer(error=6)},
            workers=1,
            clock=clock,
        )

        assert set(play.reasons) == {A, B, *disallowed}
        assert clock.seconds == 0.0  # no timer has to go off for it


class TestScope:
    def test_external_links_are_checked_once_and_not_followed(self) -> None:
        play = crawled(
            {A: links(B, f"{A}2"), f"{A}2": links(B), B: links(f"{B}further")},
            crawl=Crawl(scope="host"),
        )

        assert set(play.reasons) == {A, f"{A}2", B}
        assert play.fetch.urls.count(B) == 1

    def test_what_is_not_followed_is_told_by_its_rule(self) -> None:
        play = crawled(
            {A: links(f"{A}1"), f"{A}1": links(f"{A}2"), f"{A}2": links(f"{A}3")},
            crawl=Crawl(depth=1),
        )

        assert play.summary.site is not None
        assert play.summary.site.beyond == {"depth": 1}
        assert set(play.reasons) == {A, f"{A}1", f"{A}2"}

    def test_a_page_that_asks_for_it_has_no_link_followed(self) -> None:
        robots = '<meta name="robots" content="nofollow">'
        play = crawled(
            {
                A: page(f'{robots}<a href="{A}1">x</a>'),
                f"{A}1": links(f"{A}2"),
            }
        )

        assert set(play.reasons) == {A, f"{A}1"}
        assert play.summary.site is not None
        assert play.summary.site.beyond == {"nofollow": 1}

    def test_a_page_that_moved_out_of_scope_is_not_read(self) -> None:
        play = crawled(
            {A: links(f"{A}away"), f"{A}away": moved(B), B: links(f"{B}1")},
            crawl=Crawl(scope="host"),
        )

        assert set(play.reasons) == {A, f"{A}away"}
        assert play.summary.site is not None
        assert play.summary.site.beyond == {"redirect": 1}

    def test_only_pages_of_wanted_types_are_read(self) -> None:
        play = crawled(
            {A: links(f"{A}1"), f"{A}1": page(f'<a href="{A}2">x</a>', "text/odd")},
            crawl=Crawl(content_types=("text/html",)),
        )

        assert set(play.reasons) == {A, f"{A}1"}

    def test_the_sitemaps_that_a_robots_txt_names_are_read(self) -> None:
        body = b"Sitemap: /map.xml\nSitemap: http://exa mple/\n"
        robots = Answer(status=200, body=body)
        sitemap = page(
            '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
            f"<url><loc>{A}lonely</loc></url><url><loc>{A}1</loc></url></urlset>",
            "application/xml",
        )
        replies: dict[str, Reply] = {
            f"{A}robots.txt": robots,
            f"{A}map.xml": sitemap,
            A: links(f"{A}1"),
        }
        play = crawled(replies, settings=POLITE, default=page("x"))

        assert {f"{A}map.xml", f"{A}lonely"} <= set(play.reasons)
        assert play.summary.site is not None
        assert play.summary.site.orphans == (f"{A}lonely",)


class TestLimits:
    def test_so_many_bytes_and_no_more(self) -> None:
        urls = [f"{A}{n}" for n in range(30)]
        settings = replace(QUICK, crawl=Crawl(max_bytes=1000))
        replies: dict[str, Reply] = {A: replace(links(*urls), size=400)}
        play = crawled(
            replies, default=Answer(status=200, size=300), settings=settings, workers=1
        )

        assert play.summary.interrupted == "1,000 bytes were received (max_bytes)"
        assert len(play.fetch.urls) == 3
        assert play.summary.left == 28

    def test_no_more_bytes_a_second_than_allowed(self) -> None:
        urls = [f"{A}{n}" for n in range(9)]
        settings = replace(QUICK, crawl=Crawl(bandwidth=100))
        clock = VirtualClock()
        crawled(
            {A: links(*urls)},
            default=Answer(status=200, size=1000),
            settings=settings,
            workers=1,
            clock=clock,
        )

        assert clock.seconds >= 75.0

    def test_a_run_that_is_stopped_reads_what_has_come_and_tells_the_rest(self) -> None:
        async def stop(run: Run) -> None:
            while not run.account.done:  # noqa: ASYNC110  # in the very turn
                await asyncio.sleep(0)
            run.stop("somebody said so")

        urls = [f"{A}{n}" for n in range(30)]
        play = crawled({A: links(*urls)}, watch=stop, workers=1)

        assert play.summary.interrupted == "somebody said so"
        assert play.summary.left == play.run.account.total - play.run.account.done > 0
        assert play.summary.left_at == {"a.test": play.summary.left}
        assert play.run._balance.pages_told == play.run._balance.pages_read

    def test_one_that_is_stopped_before_it_begins_asks_nobody(self) -> None:
        play = crawled({}, prepare=lambda run: run.stop("somebody said so"))

        assert play.fetch.urls == []
        assert play.summary.interrupted == "somebody said so"


class TestTheView:
    def test_everybody_is_shown_with_what_they_are_on(self) -> None:
        seen: list[Any] = []
        opened: list[Any] = []

        async def reply(_: Request) -> Answer:
            seen.extend(run_of[0].account.glimpses())
            opened.extend(run_of[0].account.open())
            return OK

        run_of: list[Run] = []
        secret = "http://user:secret@a.test/"
        crawled({secret: reply}, secret, prepare=run_of.append, workers=1)

        fetcher, *crawlers = seen
        assert (fetcher.name, fetcher.state) == ("fetcher 1", WorkerState.DOWNLOADING)
        assert "secret" not in fetcher.on
        assert "a.test" in fetcher.on
        assert [glimpse.state for glimpse in crawlers] == [WorkerState.WAITING] * 2
        assert opened == [("visits that have not ended", 1)]

    def test_verdicts_are_counted_as_they_come(self) -> None:
        play = crawled({A: links(f"{A}1")}, default=MISSING)

        assert play.run.account.counts == {State.OK: 1, State.BROKEN: 1}
