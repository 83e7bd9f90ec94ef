"""What a crawl remembers: written once a turn, and gone on with after a kill."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from fake_parts import (
    OK,
    QUICK,
    Play,
    Reply,
    found,
    page,
    with_politeness,
)
from msgspec.structs import replace

from ronda.clock import SystemClock
from ronda.config import Crawl, Frontier
from ronda.errors import UsageError
from ronda.frontier import Scope
from ronda.frontier.reach import Reach
from ronda.model import Answer, Found, Place, Request, Result, State, Target
from ronda.simulation.loop import VirtualClock
from ronda.store.crawls import CrawlStore
from ronda.store.overflow import Overflow
from ronda.workers.events import Events
from ronda.workers.memory import Memory
from ronda.workers.run import Run
from ronda.workers.survey import Survey

A, B = "http://a.test/", "http://b.test/"
RESULT = Result(url=A, verdict=State.OK, reason="http_200", message="200 OK")


class Counted(CrawlStore):
    """Counts its commits."""

    commits = 0

    def commit(self) -> None:
        self.commits += 1
        super().commit()


def links(*urls: str, etag: str = "") -> Answer:
    answer = page("".join(f'<a href="{url}">x</a>' for url in urls))
    tag = f'ETag: "{etag}"\r\n'.encode()
    return replace(answer, headers=(*answer.headers, tag)) if etag else answer


class Crawled:
    """Rounds of one crawl, each by a process of its own, with one file."""

    def __init__(self, path: Path, first: str = A) -> None:
        self.path = path
        self._first = first

    def play(
        self, replies: dict[str, Reply], *, resumes: bool = False, **more: Any
    ) -> Play:
        clock = more.setdefault("clock", VirtualClock())
        reach = Reach(Crawl(scope="any"), [self._first], 2026)
        prepare = more.pop("prepare", lambda _: None)
        with CrawlStore(self.path) as store:
            if not resumes:
                store.begin_round([self._first], clock.epoch())

            def prepared(run: Run) -> None:
                prepare(run)
                memory = run._memory
                assert isinstance(memory, Memory)
                memory.recall_hosts(run._frontier)
                if resumes:
                    run.resume(store)

            return Play(
                [Found(self._first, Place(""), reads=True)],
                replies,
                more={"reach": reach, "survey": Survey(), **more.pop("more", {})},
                late=lambda: {"memory": Memory(store, clock)},
                prepare=prepared,
                **more,
            )


@pytest.fixture
def crawl(tmp_path: Path) -> Crawled:
    return Crawled(tmp_path / "crawl.db")


def killed_after(count: int) -> Any:
    """Lets a run be cut off as soon as it has so many verdicts."""

    async def watch(run: Run) -> None:
        while run.account.done < count:  # noqa: ASYNC110  # in the very turn
            await asyncio.sleep(0)

    return {"watch": watch, "cut_off": True, "workers": 1}


class TestCommits:
    def test_all_of_one_turn_is_written_once_and_at_its_end(
        self, tmp_path: Path
    ) -> None:
        async def play() -> None:
            with Counted(tmp_path / "db") as store:
                memory = Memory(store, SystemClock())
                memory.added(Target(A, "a.test"))
                memory.page(A, links(B), "", [Found(B, Place(A))])
                memory.unchanged(A)
                memory.ended(RESULT)
                assert store.commits == 0
                assert memory.links(A) == []
                await asyncio.sleep(0)
                assert store.commits == 1
                assert [link.url for link in memory.links(A)] == [B]
                await asyncio.sleep(0)
                assert store.commits == 1
                memory.ended(RESULT)
                await asyncio.sleep(0)
                assert store.commits == 2

        asyncio.run(play())

    def test_what_a_server_says_of_a_page_is_known_next_time(
        self, tmp_path: Path
    ) -> None:
        headers = (
            b"Content-Type: Text/HTML; charset=utf-8\r\n",
            b'ETag: "1"\r\n',
            b"Last-Modified: Mon, 05 Jan 2026 00:00:00 GMT\r\n",
        )

        async def play() -> None:
            with CrawlStore(tmp_path / "db") as store:
                memory = Memory(store, SystemClock())
                memory.page(A, Answer(status=200, headers=headers, size=9), "ff", [])
                memory.commit()

                known = memory.known(A)
                assert known is not None
                assert (known.etag, known.digest) == ('"1"', "ff")
                assert known.since == "Mon, 05 Jan 2026 00:00:00 GMT"
                assert (known.media_type, known.size) == ("text/html", 9)

        asyncio.run(play())

    def test_a_full_disk_is_raised_where_nobody_else_is_told(
        self, tmp_path: Path
    ) -> None:
        class Full(CrawlStore):
            def commit(self) -> None:
                raise UsageError("--db: database or disk is full")

        async def play() -> None:
            with Full(tmp_path / "db") as store:
                Memory(store, SystemClock()).commit()

        with pytest.raises(UsageError, match="disk is full"):
            asyncio.run(play())

    def test_a_full_disk_ends_the_run_by_raising(self, tmp_path: Path) -> None:
        class Full(CrawlStore):
            def commit(self) -> None:
                raise UsageError("--db: database or disk is full")

        clock = VirtualClock()
        with Full(tmp_path / "db") as store, pytest.raises(ExceptionGroup):
            Play(
                found(A),
                clock=clock,
                late=lambda: {"memory": Memory(store, clock)},
            )


class TestHosts:
    POLITE = with_politeness(QUICK, interval=10.0, server_interval=2.0)

    def test_whom_we_asked_is_known_before_the_answer_comes(
        self, crawl: Crawled, tmp_path: Path
    ) -> None:
        told: list[dict[str, tuple[float, float]]] = []

        def reply(run_of: list[Run]) -> Any:
            async def answer(_: Request) -> Answer:
                memory: Any = run_of[0]._memory
                told.append(memory._store.hosts())
                return OK

            return answer

        run_of: list[Run] = []
        clock = VirtualClock()
        crawl.play(
            {A: reply(run_of)},
            settings=self.POLITE,
            prepare=run_of.append,
            clock=clock,
        )

        [hosts] = told
        begun = clock.epoch() - clock.seconds
        assert hosts["a.test"][0] == pytest.approx(begun + 10.0)
        assert "@127.0.0.1" in hosts

    def test_a_process_that_follows_waits_as_long_as_this_would_have(
        self, crawl: Crawled
    ) -> None:
        first = VirtualClock()
        crawl.play({A: links(f"{A}1")}, settings=self.POLITE, clock=first)
        second = VirtualClock()
        second.moment, second.offset = 1001.0, first.seconds

        play = crawl.play({A: OK}, settings=self.POLITE, clock=second)

        # Both ask `a.test` first; the second process began a second after the first
        # one had asked for the last time.
        assert play.reasons == {A: "http_200"}
        assert second.moment >= 1010.0

    def test_of_those_who_do_not_care_nothing_is_kept(
        self, crawl: Crawled, tmp_path: Path
    ) -> None:
        crawl.play({A: OK})

        with CrawlStore(tmp_path / "crawl.db") as store:
            assert store.hosts() == {}

    def test_a_host_without_an_address_is_not_remembered(
        self, crawl: Crawled, tmp_path: Path
    ) -> None:
        nobody: dict[str, Any] = {"a.test": Answer(error=6)}
        crawl.play({}, settings=self.POLITE, addresses=nobody)

        with CrawlStore(tmp_path / "crawl.db") as store:
            assert set(store.hosts()) <= {"a.test"}


HERE = "http://127.0.0.1/"  # which needs no name to be looked up


class TestResuming:
    URLS = tuple(f"{HERE}{n}" for n in range(8))
    WEB: dict[str, Reply] = {  # noqa: RUF012
        HERE: links(*URLS),
        URLS[3]: links(f"{HERE}x"),
    }

    @pytest.fixture
    def crawl(self, tmp_path: Path) -> Crawled:
        return Crawled(tmp_path / "crawl.db", HERE)

    @pytest.mark.parametrize("count", range(1, 10))
    def test_no_page_is_lost_and_none_is_asked_twice(
        self, crawl: Crawled, count: int
    ) -> None:
        """Killed after any number of verdicts."""
        first = crawl.play(self.WEB, **killed_after(count))
        with CrawlStore(crawl.path) as store:
            done = {result.url for result in store.results()}
        second = crawl.play(self.WEB, resumes=True)

        assert set(second.reasons) == {HERE, *self.URLS, f"{HERE}x"}
        assert second.summary.left == 0
        assert second.run._balance.over
        assert done.isdisjoint(second.fetch.urls)
        # What one fetcher and the crawlers had in their hands.
        assert len({*first.fetch.urls} & {*second.fetch.urls}) <= 2

    def test_places_and_depths_are_as_they_were(self, crawl: Crawled) -> None:
        crawl.play(self.WEB, **killed_after(6))
        resumed = crawl.play(self.WEB, resumes=True)
        at_once = Crawled(crawl.path.with_name("other.db"), HERE).play(self.WEB)

        def told(play: Play) -> set[tuple[Any, ...]]:
            return {
                (r.url, r.depth, r.verdict, frozenset(r.found_in)) for r in play.results
            }

        assert told(resumed) == told(at_once)

    def test_pages_that_were_let_in_count_towards_the_most(
        self, crawl: Crawled
    ) -> None:
        crawl.play(self.WEB, **killed_after(3))
        let_in: list[int] = []
        play = crawl.play(
            self.WEB, resumes=True, prepare=lambda run: let_in.append(run.account.total)
        )

        reach = play.run._parts.reach
        assert let_in == [0]
        assert reach is not None
        assert reach.granted == 1 + len(self.URLS) + 1

    def test_one_that_was_over_has_nothing_left_to_do(self, crawl: Crawled) -> None:
        first = crawl.play(self.WEB)
        second = crawl.play(self.WEB, resumes=True)

        assert second.fetch.urls == []
        assert second.reasons == first.reasons

    def test_the_survey_counts_what_an_earlier_process_read(
        self, crawl: Crawled
    ) -> None:
        crawl.play(self.WEB, default=page("x"), **killed_after(5))
        play = crawl.play(self.WEB, default=page("x"), resumes=True)

        assert play.summary.site is not None
        assert play.summary.site.pages == 10

    @pytest.mark.parametrize("part", ["survey", "reach"])
    def test_a_run_that_is_no_crawl_goes_on_too(
        self, crawl: Crawled, part: str
    ) -> None:
        crawl.play(self.WEB, **killed_after(5))
        play = crawl.play(self.WEB, more={part: None}, resumes=True)

        assert play.summary.left == 0
        assert set(play.reasons) == {HERE, *self.URLS, f"{HERE}x"}

    def test_what_finds_no_room_waits_on_disk(self, crawl: Crawled) -> None:
        overflow = Overflow()
        tight = replace(QUICK, frontier=Frontier(capacity=1))
        crawl.play(self.WEB, **killed_after(3))
        play = crawl.play(
            self.WEB, settings=tight, more={"overflow": overflow}, resumes=True
        )
        overflow.close()

        assert play.summary.left == 0
        assert set(play.reasons) == {HERE, *self.URLS, f"{HERE}x"}

    def test_links_out_of_scope_stay_out(self, crawl: Crawled) -> None:
        out = Scope([], [f"{HERE}5"])
        crawl.play(self.WEB, scope=out, **killed_after(3))
        play = crawl.play(self.WEB, resumes=True, scope=out)

        assert f"{HERE}5" not in play.reasons
        assert play.summary.left == 0

    def test_hosts_that_have_names_are_looked_up(self, tmp_path: Path) -> None:
        crawl = Crawled(tmp_path / "named.db")
        web: dict[str, Reply] = {A: links(*(f"{A}{n}" for n in range(8)))}
        crawl.play(web, **killed_after(3))
        play = crawl.play(web, resumes=True)

        assert set(play.reasons) == set(web) | {f"{A}{n}" for n in range(8)}

    def test_links_that_need_no_request_have_their_verdicts(
        self, crawl: Crawled
    ) -> None:
        web: dict[str, Reply] = {**self.WEB, HERE: links("odd:thing", *self.URLS)}
        crawl.play(web, **killed_after(4))
        play = crawl.play(web, resumes=True)

        assert play.reasons.get("odd:thing") == "scheme_unsupported"
        assert play.summary.left == 0

    def test_links_that_a_plug_in_refused_stay_refused(self, crawl: Crawled) -> None:
        class Plugin:
            def link_found(self, link: Found) -> bool:
                return not link.url.endswith("5")

        def more() -> dict[str, Any]:
            return {"events": Events([("test", Plugin())])}

        crawl.play(self.WEB, more=more(), **killed_after(4))
        play = crawl.play(self.WEB, more=more(), resumes=True)

        assert play.summary.left == 0


class TestTheNextRound:
    """Pages that are as they were move no bytes, and their links are known."""

    def test_an_unchanged_page_is_asked_for_only_if_it_is_another(
        self, crawl: Crawled
    ) -> None:
        urls = [f"{A}1", f"{A}2"]
        crawl.play({A: links(*urls, etag="7")})
        play = crawl.play({A: Answer(status=304)})

        [asked] = [r for r in play.fetch.requests if r.url == A]
        assert asked.etag == '"7"'
        assert set(play.reasons) == {A, *urls}
        assert play.summary.site is not None
        assert play.summary.site.unchanged == 1

    def test_its_places_are_told_as_they_were(self, crawl: Crawled) -> None:
        first = crawl.play({A: links(B, etag="7")})
        second = crawl.play({A: Answer(status=304)})

        def places(play: Play) -> Any:
            return {result.url: result.found_in for result in play.results}

        assert places(second) == places(first)

    def test_its_kind_and_digest_are_those_that_are_known(self, crawl: Crawled) -> None:
        first = crawl.play({A: links(B, etag="7")})
        second = crawl.play({A: Answer(status=304)})

        digests = [r.digest for play in (first, second) for r in play.results]
        assert digests[0] == digests[2] != ""

    def test_a_page_that_says_nothing_of_its_age_is_asked_for_anew(
        self, crawl: Crawled
    ) -> None:
        crawl.play({A: links(B)})
        play = crawl.play({A: links(B)})

        assert play.fetch.requests[0].etag == ""
        assert play.summary.site is not None
        assert play.summary.site.unchanged == 0

    @pytest.mark.parametrize("has", [True, False])
    def test_nor_is_one_that_is_to_be_saved_and_is_not_there(
        self, crawl: Crawled, has: bool
    ) -> None:
        class Keep:
            def has(self, _: str) -> bool:
                return has

            async def __call__(self, *_: Any) -> None:
                pass

        crawl.play({A: links(B, etag="7")})
        play = crawl.play({A: links(B, etag="7")}, more={"keep": Keep()})

        asked = next(r for r in play.fetch.requests if r.url == A)
        assert asked.etag == ('"7"' if has else "")

    def test_an_unchanged_page_that_nobody_knows_has_no_links(
        self, crawl: Crawled
    ) -> None:
        """A server that says 304 to whom never asked."""
        play = crawl.play({A: Answer(status=304)})

        assert set(play.reasons) == {A}
