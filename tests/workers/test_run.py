"""One run from its first reference to its last verdict, without a network."""

import asyncio
import logging
from collections.abc import Iterator

import pytest
from fake_parts import (
    MISSING,
    OK,
    QUICK,
    Play,
    found,
    moved,
    page,
    with_politeness,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from ronda.config import Check, Fetch, Settings
from ronda.frontier import Scope
from ronda.model import (
    Answer,
    Ask,
    Done,
    Found,
    Place,
    Problem,
    Request,
    State,
    Target,
    Visit,
)
from ronda.workers.feed import SLICE
from ronda.workers.run import Run

A, B = "http://a.test/", "http://b.test/"


class TestTheEnd:
    def test_a_run_over_nothing_ends(self) -> None:
        play = Play([])

        assert play.results == []
        assert play.summary.checked == 0

    @pytest.mark.parametrize("workers", [1, 3, 200])
    def test_every_url_has_one_verdict(self, workers: int) -> None:
        urls = [f"http://h{n % 7}.test/{n}" for n in range(100)]
        play = Play(found(*urls), workers=workers)

        assert play.reasons == dict.fromkeys(urls, "http_200")
        assert sorted(play.fetch.urls) == sorted(urls)
        assert play.summary.requests == play.summary.checked == 100
        assert play.frontier.idle

    @settings(max_examples=30, deadline=None)
    @given(
        st.lists(
            st.tuples(
                st.sampled_from(["a", "b", "c"]),
                st.integers(0, 5),
                st.sampled_from([200, 301, 302, 404, 429, 500]),
            ),
            max_size=20,
        ),
        st.integers(1, 5),
    )
    def test_whatever_is_answered_nothing_is_lost_and_nothing_twice(
        self, pages: list[tuple[str, int, int]], workers: int
    ) -> None:
        urls = [f"http://{host}.test/{number}" for host, number, _ in pages]
        replies = {
            url: moved(urls[-n], status) if status in {301, 302} else Answer(status)
            for n, (url, (_, _, status)) in enumerate(zip(urls, pages, strict=True))
        }
        play = Play(
            found(*urls),
            dict(replies),
            settings=Settings(
                Check(robots=False), fetch=Fetch(retries=1, retry_gap=0.001)
            ),
            workers=workers,
        )

        assert set(play.reasons) == set(urls)
        assert play.summary.left == 0
        assert play.run.begun == play.run.ended == len(set(urls))

    def test_a_url_is_asked_once_however_often_it_stands(self) -> None:
        play = Play([*found(A, A, B), *found(A, document="other.txt")])

        assert play.fetch.urls.count(A) == 1
        [result] = [r for r in play.results if r.url == A]
        assert result.found_in == (
            Place("list.txt", 1),
            Place("list.txt", 2),
            Place("other.txt", 1),
        )

    def test_the_parts_of_a_page_are_one_url_to_the_network(self) -> None:
        play = Play(found(f"{A}#one", f"{A}#two", A))

        assert play.fetch.urls == [A]
        assert play.reasons == {A: "http_200"}

    def test_problems_are_kept_and_the_rest_goes_on(self) -> None:
        problem = Problem(Place("list.txt", 7), "no URL")
        play = Play([problem, *found(A)])

        assert play.summary.problems == (problem,)
        assert play.reasons == {A: "http_200"}

    def test_everybody_who_listens_hears_every_result_once(self) -> None:
        play = Play(found(A, B))

        assert sorted(r.url for r in play.heard) == [A, B]


class TestRedirects:
    def test_the_next_hop_is_charged_to_its_own_host(self) -> None:
        addresses = {"a.test": "127.0.0.4", "b.test": "127.0.0.5"}
        play = Play(found(A), {A: moved(B)}, addresses=dict(addresses))

        assert play.fetch.asked == [("HEAD", A, "127.0.0.4"), ("HEAD", B, "127.0.0.5")]
        assert play.names.asked == ["a.test", "b.test"]
        assert play.reasons == {A: "redirected"}

    def test_a_host_that_may_be_asked_by_one_is_never_asked_by_two(self) -> None:
        most = 0
        under_way = 0

        async def busy(_: Request) -> Answer:
            nonlocal most, under_way
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0.001)
            under_way -= 1
            return OK

        redirects = {f"http://r{n}.test/": moved(f"{B}{n}") for n in range(10)}
        ends = {f"{B}{n}": busy for n in range(10)}
        Play(
            found(*redirects),
            {**redirects, **ends},
            settings=with_politeness(QUICK, per_host=1),
        )

        assert most == 1

    def test_a_redirect_to_a_url_of_the_list_is_asked_again_for_itself(self) -> None:
        play = Play(found(A, B), {A: moved(B, 301)})

        assert play.reasons == {A: "moved_permanently", B: "http_200"}


class TestNames:
    def test_a_name_that_is_missing_costs_no_request(self) -> None:
        missing = Answer(error=6)
        play = Play(found(A, f"{A}2", B), addresses={"a.test": missing})

        assert play.reasons[A] == play.reasons[f"{A}2"] == "dns_no_such_name"
        assert play.fetch.urls == [B]
        assert play.summary.requests == 1

    def test_a_name_is_looked_up_once(self) -> None:
        play = Play(found(*(f"{A}{n}" for n in range(50))))

        assert play.names.asked == ["a.test"]

    def test_more_names_than_are_looked_up_at_once_are_all_found(self) -> None:
        urls = [f"http://h{n}.test/" for n in range(300)]
        play = Play(found(*urls), addresses={"h7.test": Answer(error=6)})

        assert len(play.names.asked) == 300
        assert len(play.reasons) == 300

    def test_where_nobody_is_at_an_address_the_next_one_is_tried(self) -> None:
        nobody = Answer(error=7, errno=111)
        play = Play(
            found(A), {A: [nobody, OK]}, addresses={"a.test": "127.0.0.4 127.0.0.5"}
        )

        assert play.reasons == {A: "http_200"}
        assert [asked[2] for asked in play.fetch.asked] == ["127.0.0.4", "127.0.0.5"]

    def test_where_nobody_is_at_any_address_that_is_told(self) -> None:
        nobody = Answer(error=7, errno=111)
        urls = [f"{A}{n}" for n in range(5)]
        play = Play(
            found(*urls),
            dict.fromkeys(urls, nobody),
            addresses={"a.test": "127.0.0.4 127.0.0.5 127.0.0.6"},
        )

        assert play.reasons == dict.fromkeys(urls, "connect_refused")
        assert play.frontier.idle

    def test_an_address_needs_no_name(self) -> None:
        play = Play(found("http://127.0.0.9/", "http://[::1]/"))

        assert play.names.asked == []
        assert len(play.reasons) == 2


class TestWhatIsNotAsked:
    def test_what_is_excluded(self) -> None:
        play = Play(found(A, B), scope=Scope([], ["b.test"]))

        assert play.reasons == {A: "http_200"}
        assert play.fetch.urls == [A]
        assert play.summary.excluded == 1

    def test_a_scheme_without_a_handler(self) -> None:
        play = Play(found("gopher://a.test/"))

        assert play.reasons == {"gopher://a.test/": "scheme_unsupported"}
        assert play.fetch.asked == []

    def test_what_policy_forbids(self) -> None:
        play = Play(found("file://elsewhere/share"))

        assert play.reasons == {"file://elsewhere/share": "policy_disallowed"}
        assert play.fetch.asked == []


class TestDocuments:
    BODY = (
        '<p><a href="/one">1</a>\n<a href="http://b.test/#x">2</a>\n<a href="/">3</a>'
    )

    def test_the_links_of_a_page_that_was_named_are_checked(self) -> None:
        play = Play(found(A, reads=True), {A: page(self.BODY), f"{A}one": MISSING})

        assert play.reasons == {A: "http_200", f"{A}one": "http_404", B: "http_200"}
        [one] = [r for r in play.results if r.url == f"{A}one"]
        assert [(p.document, p.line) for p in one.found_in] == [(A, 1)]

    def test_the_links_of_other_pages_are_not(self) -> None:
        play = Play(
            found(A, reads=True), {A: page(self.BODY), f"{A}one": page("<a href=/two>")}
        )

        assert f"{A}two" not in play.reasons

    def test_the_links_are_seen_from_where_the_page_is_at_last(self) -> None:
        play = Play(
            found(A, reads=True),
            {A: moved(f"{B}deep/"), f"{B}deep/": page('<a href="one">')},
        )

        assert set(play.reasons) == {A, f"{B}deep/one"}

    @pytest.mark.parametrize("answer", [MISSING, Answer(status=500), Answer(error=7)])
    def test_an_error_page_is_not_read(self, answer: Answer) -> None:
        body = page(self.BODY)
        failed = Answer(answer.status, answer.error, body=body.body)
        play = Play(found(A, reads=True), {A: failed})

        assert set(play.reasons) == {A}


class TestFragments:
    SETTINGS = Settings(Check(robots=False, fragments=True))

    def test_each_part_is_judged_once_and_the_page_asked_once(self) -> None:
        urls = [f"{A}#part", f"{A}#nowhere", f"{A}#part"]
        play = Play(
            found(*urls), {A: page("<p id=part>")}, settings=self.SETTINGS, workers=2
        )

        assert play.reasons == {
            f"{A}#part": "fragment_found",
            f"{A}#nowhere": "fragment_missing",
        }
        assert play.fetch.asked == [("GET", A, "127.0.0.1")]

    @pytest.mark.parametrize("urls", [(A, f"{A}#x"), (f"{A}#x", A)])
    def test_a_page_and_its_part_have_a_verdict_each_by_one_visit(
        self, urls: tuple[str, str]
    ) -> None:
        play = Play(found(*urls), {A: page("")}, settings=self.SETTINGS)

        assert play.fetch.urls == [A]
        assert set(play.reasons) == {A, f"{A}#x"}

    def test_a_part_that_is_found_later_is_judged_by_the_page_as_it_was(self) -> None:
        links = f'<a href="{A}#part">1</a><a href="{A}#nowhere">2</a>'
        play = Play(
            found(A, B, reads=True),
            {A: page("<p id=part>"), B: page(links)},
            settings=self.SETTINGS,
            workers=1,
        )

        assert play.reasons[f"{A}#part"] == "fragment_found"
        assert play.reasons[f"{A}#nowhere"] == "fragment_missing"
        assert play.fetch.urls == [A, B]

    def test_a_part_of_a_page_that_failed_shares_its_fault(self) -> None:
        play = Play(found(f"{A}#part"), {A: MISSING}, settings=self.SETTINGS)

        assert play.reasons == {f"{A}#part": "http_404"}
        assert play.summary.counts == {State.BROKEN: 1}

    def test_a_part_of_what_is_refused_is_refused(self) -> None:
        play = Play(found("gopher://a.test/#part"), settings=self.SETTINGS)

        assert play.reasons == {"gopher://a.test/#part": "scheme_unsupported"}
        assert play.summary.left == 0


class Raises:
    """A handler that cannot judge."""

    def allow(self, url: str) -> bool:
        return True

    def classify(self, url: str) -> str:
        return "a.test"

    def begin(self, target: Target) -> Request:
        return Request(target.url)

    def advance(self, visit: Visit, answer: Answer, now: float) -> Ask | Done:
        raise KeyError("odd")


class TestFaultsOfOurOwn:
    def test_a_handler_that_raises_is_our_fault_and_the_rest_goes_on(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.CRITICAL)
        play = Play(found("odd://a.test/", A), handlers={"odd": Raises()})

        assert play.reasons == {"odd://a.test/": "own_fault", A: "http_200"}
        [broken] = [r for r in play.results if r.reason == "own_fault"]
        assert broken.verdict is State.UNKNOWN
        assert "KeyError: 'odd'" in broken.message

    def test_a_request_longer_than_its_lease_is_answered_all_the_same(self) -> None:
        async def slow(_: Request) -> Answer:
            await asyncio.sleep(0.3)
            return OK

        async def give_up(run: Run) -> None:
            await asyncio.sleep(1)
            run.stop("it never ends")

        play = Play(found(A), {A: slow}, lease_seconds=0.1, watch=give_up)

        assert play.reasons == {A: "http_200"}
        assert (play.summary.interrupted, len(play.fetch.asked)) == ("", 1)

    def test_a_source_that_raises_ends_the_run_with_its_error(self) -> None:
        def source() -> Iterator[Found]:
            yield from found(A)
            raise ValueError("the source broke")

        with pytest.raises(ExceptionGroup) as raised:
            Play(source())

        assert raised.group_contains(ValueError, match="the source broke")


class TestStopping:
    def test_nothing_is_taken_any_more_and_what_is_left_is_counted(self) -> None:
        under_way, release = asyncio.Barrier(4), asyncio.Event()

        async def wait(_: Request) -> Answer:
            await under_way.wait()
            await release.wait()
            return OK

        async def stop(run: Run) -> None:
            await under_way.wait()  # three workers ask, and one stops them
            run.stop("interrupted")
            release.set()

        urls = [f"{A}{n}" for n in range(50)]
        play = Play(found(*urls), dict.fromkeys(urls, wait), workers=3, watch=stop)

        assert len(play.results) == len(play.fetch.asked) == 3
        assert (play.summary.interrupted, play.summary.left) == ("interrupted", 47)

    def test_idle_workers_end_too(self) -> None:
        async def stop(run: Run) -> None:
            await asyncio.sleep(0.05)
            run.stop("out of time")

        play = Play(
            found(A),
            {A: [Answer(status=429, headers=(b"Retry-After: 50\r\n",))]},
            watch=stop,
        )

        assert play.summary.interrupted == "out of time"
        assert play.summary.left == 1

    def test_a_source_that_never_ends_is_left(self) -> None:
        def endless() -> Iterator[Found]:
            number = 0
            while True:
                number += 1
                yield Found(f"{A}{number}", Place("endless", number))

        async def stop(run: Run) -> None:
            await asyncio.sleep(0.05)
            run.stop("interrupted")

        play = Play(endless(), watch=stop)

        assert play.summary.interrupted == "interrupted"


class TestBounds:
    def test_a_long_list_is_read_only_as_there_is_room(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        plenty = 500
        monkeypatch.setattr("ronda.workers.run.PLENTY", plenty)
        most = 0

        def many() -> Iterator[Found]:
            nonlocal most
            for number in range(20_000):
                most = max(most, play_run[0]._frontier.queued if play_run else 0)
                yield Found(f"http://h{number % 100}.test/{number}", Place("l", number))

        play_run: list[Run] = []

        async def watch(run: Run) -> None:
            play_run.append(run)

        play = Play(many(), watch=watch, workers=1)

        assert play.summary.checked == 20_000
        assert most <= plenty + SLICE
