"""One run from its first reference to its last verdict, without a network."""

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_parts import (
    MISSING,
    NOBODY,
    OK,
    POLITE,
    QUICK,
    FakeLog,
    Play,
    Reply,
    found,
    moved,
    page,
    until,
    with_check,
    with_politeness,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from ronda.config import Check, Fetch, Settings
from ronda.config import Guard as GuardSettings
from ronda.fetch import Guard
from ronda.frontier import Scope, Wait
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
from ronda.store import RequestLog
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
        assert play.run._balance.begun == play.run._balance.ended == len(set(urls))

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

    def test_those_under_way_when_a_host_moves_are_asked_where_it_moved_to(
        self,
    ) -> None:
        urls = [f"{A}{n}" for n in range(5)]
        play = Play(
            found(*urls),
            addresses={"a.test": "127.0.0.4 127.0.0.5"},
            nobody=frozenset({"127.0.0.4"}),
        )

        assert play.reasons == dict.fromkeys(urls, "http_200")

    def test_where_nobody_is_anywhere_each_address_is_tried_once(self) -> None:
        play = Play(
            found(A),
            {A: [NOBODY] * 30 + [OK]},  # else it would never end
            addresses={"a.test": "127.0.0.4 127.0.0.5"},
            names_hold=0.0,
        )

        assert [asked[2] for asked in play.fetch.asked] == ["127.0.0.4", "127.0.0.5"]
        assert play.reasons == {A: "connect_refused"}

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


class TestReading:
    def test_a_long_and_slow_first_host_does_not_keep_later_ones_waiting(self) -> None:
        asked = asyncio.Event()

        async def slow(_: Request) -> Answer:
            await asked.wait()  # until the last of the list was asked
            return OK

        async def last(_: Request) -> Answer:
            asked.set()
            return OK

        urls = [f"{A}{n}" for n in range(3 * SLICE)]
        play = Play(
            found(*urls, B),
            {**dict.fromkeys(urls, slow), B: last},
            settings=with_politeness(QUICK, per_host=2),
        )

        assert len(play.reasons) == len(urls) + 1


def public(play: Play) -> dict[str, bool]:
    """Which URLs were asked at public addresses only."""
    return {request.url: request.public for request in play.fetch.requests}


class TestZones:
    STRANGER = "93.184.216.34"
    FREE = with_politeness(QUICK, interval=0.0, server_interval=0.0, factor=0.0)

    def play(self, *urls: str, reads: bool = False, **replies: Reply) -> Play:
        """Where a.test is a stranger, and b.test our own."""
        return Play(
            found(*urls, reads=reads),
            {{"a": A, "b": B, "ax": f"{A}x"}[key]: r for key, r in replies.items()},
            settings=self.FREE,
            addresses={"a.test": self.STRANGER},
            guard=Guard(GuardSettings()),
        )

    def test_what_the_operator_names_may_be_anywhere(self) -> None:
        assert public(self.play(A, B)) == {A: False, B: False}

    def test_a_hop_from_a_public_address_may_lead_to_public_ones_only(self) -> None:
        play = self.play(A, a=moved(f"{A}x"))

        assert public(play) == {A: False, f"{A}x": True}

    def test_a_hop_from_public_to_private_is_refused(self) -> None:
        play = self.play(A, a=moved(B))

        assert play.reasons == {A: "address_refused"}
        assert B not in play.fetch.urls

    def test_a_hop_from_private_to_public_is_not(self) -> None:
        play = self.play(B, b=moved(A))

        assert play.reasons == {B: "redirected"}

    def test_a_way_from_private_to_public_does_not_lead_back(self) -> None:
        play = self.play(B, b=moved(A), a=moved(f"{B}x"))

        assert play.reasons == {B: "address_refused"}

    @pytest.mark.parametrize("first", [MISSING, Answer(status=500), Answer(error=52)])
    def test_every_further_request_of_the_visit_keeps_to_public_addresses(
        self, first: Answer
    ) -> None:
        play = self.play(A, a=[first, first, OK])

        first_zone, *zones = [request.public for request in play.fetch.requests]
        assert not first_zone
        assert zones
        assert all(zones)

    def test_at_our_own_address_they_need_not(self) -> None:
        play = self.play(B, b=[MISSING, OK])

        assert [request.public for request in play.fetch.requests] == [False, False]

    def test_the_links_of_a_public_page_may_lead_to_public_addresses_only(self) -> None:
        play = self.play(A, reads=True, a=page(f'<a href="{B}"><a href="/x">'))

        assert play.reasons[B] == "address_refused"
        assert public(play) == {A: False, f"{A}x": True}

    def test_the_links_of_our_own_page_may_lead_anywhere(self) -> None:
        play = self.play(B, reads=True, b=page(f'<a href="{A}"><a href="/x">'))

        assert public(play) == {A: False, B: False, f"{B}x": False}

    def test_where_a_page_is_at_last_decides(self) -> None:
        links = page(f'<a href="{B}x">')
        play = self.play(B, reads=True, b=moved(A), a=links)

        assert play.reasons[f"{B}x"] == "address_refused"

    def test_the_robots_txt_for_a_strangers_link_is_asked_there_only_too(self) -> None:
        polite = with_check(self.FREE, robots=True)
        play = Play(
            found(A, reads=True),
            {A: page(f'<a href="{B}">')},
            settings=polite,
            addresses={"a.test": self.STRANGER, "b.test": self.STRANGER},
        )

        assert public(play)[f"{B}robots.txt"]
        assert not public(play)[f"{A}robots.txt"]


class TestFiles:
    FILE = "file:///srv/page.html"

    @pytest.mark.parametrize("address", ["127.0.0.1", "93.184.216.34"])
    def test_a_page_of_the_network_may_not_lead_to_files(self, address: str) -> None:
        play = Play(
            found(A, reads=True),
            {A: page('<a href="file:///etc/passwd">')},
            addresses={"a.test": address},
        )

        assert play.reasons["file:///etc/passwd"] == "file_refused"
        assert play.fetch.urls == [A]

    @pytest.mark.parametrize("fragments", [True, False])
    def test_nor_to_parts_of_them(self, fragments: bool) -> None:
        settings = with_check(QUICK, fragments=fragments)
        links = '<a href="file:///x#a">1</a> <a href="file:///x#b">2</a>'
        play = Play(found(A, reads=True), {A: page(links)}, settings=settings)

        refused = {url for url, why in play.reasons.items() if why == "file_refused"}
        files = ["file:///x#a", "file:///x#b"] if fragments else ["file:///x"]
        assert refused == set(files)
        assert play.summary.left == 0
        assert all(result.found_in for result in play.results)

    def test_a_file_that_the_operator_named_may(self) -> None:
        play = Play(
            found(self.FILE, reads=True),
            {self.FILE: page('<a href="other.html"><a href="http://b.test/">')},
        )

        assert play.reasons == {
            self.FILE: "file_found",
            "file:///srv/other.html": "file_found",
            B: "http_200",
        }
        assert not any(public(play).values())

    def test_a_redirect_may_not(self) -> None:
        play = Play(found(A), {A: moved("file:///etc/passwd")})

        assert play.reasons == {A: "redirect_scheme"}
        assert play.fetch.urls == [A]


class TestRests:
    TWO = with_politeness(QUICK, failures_to_rest=2, per_host=1, rest=60.0)

    def test_what_waits_for_a_host_that_rests_is_not_asked(self) -> None:
        urls = [f"{A}{n}" for n in range(9)]
        play = Play(found(*urls), dict.fromkeys(urls, NOBODY), settings=self.TWO)

        assert play.fetch.urls == urls[:2]
        assert play.reasons == {
            **dict.fromkeys(urls[:2], "connect_refused"),
            **dict.fromkeys(urls[2:], "host_resting"),
        }

    def test_it_is_told_why_and_that_it_may_heal(self) -> None:
        urls = [f"{A}{n}" for n in range(3)]
        play = Play(found(*urls), dict.fromkeys(urls, NOBODY), settings=self.TWO)

        [rested] = [r for r in play.results if r.reason == "host_resting"]
        assert rested.verdict is State.TEMPORARY
        assert rested.message == (
            "the host rests; not asked: 2 connections failed in a row, "
            "the last: connection refused; "
            "left alone for 60 s"
        )

    def test_other_hosts_are_asked_all_the_same(self) -> None:
        urls = [f"{A}{n}" for n in range(9)]
        play = Play(found(*urls, B), dict.fromkeys(urls, NOBODY), settings=self.TWO)

        assert play.reasons[B] == "http_200"

    def test_a_visit_that_would_be_tried_again_ends_with_its_own_fault(self) -> None:
        silent = Answer(error=28)
        settings = with_politeness(QUICK, failures_to_rest=1)
        play = Play(found(A), {A: silent}, settings=settings)

        assert play.reasons == {A: "timeout_connect"}
        assert play.fetch.urls == [A]

    def test_links_that_lead_to_a_host_that_rests_are_told_so_too(self) -> None:
        dead = [f"{B}{n}" for n in range(2)]
        urls = [A, *dead]
        settings = with_politeness(QUICK, failures_to_rest=2)
        under_way = asyncio.Event()

        async def later(_: Request) -> Answer:
            await under_way.wait()
            return moved(f"{B}there")

        async def watch(run: Run) -> None:
            await until(lambda: run.account.done == 2)
            under_way.set()

        replies: dict[str, Reply] = {**dict.fromkeys(dead, NOBODY), A: later}
        play = Play(found(*urls), replies, settings=settings, watch=watch)

        assert play.reasons[A] == "host_resting"
        assert f"{B}there" not in play.fetch.urls

    def test_one_that_asks_for_a_long_time_is_left_alone(self) -> None:
        busy = Answer(status=503, headers=(b"Retry-After: 9999\r\n",))
        urls = [f"{A}{n}" for n in range(4)]
        play = Play(found(*urls), dict.fromkeys(urls, busy), settings=self.TWO)

        assert play.fetch.urls == urls[:1]
        messages = {result.url: result.message for result in play.results}
        assert messages[urls[0]] == ("503 Service Unavailable; asks us to wait 9,999 s")
        assert messages[urls[1]] == (
            "the host rests; not asked: it asks us to wait 9,999 s"
        )

    def test_one_that_asks_for_a_short_time_is_waited_for(self) -> None:
        busy = Answer(status=429, headers=(b"Retry-After: 0\r\n",))
        play = Play(found(A), {A: [busy, OK]}, settings=self.TWO)

        assert play.reasons == {A: "http_200"}
        assert len(play.fetch.asked) == 2

    def test_a_robots_txt_that_cannot_be_had_for_a_rest_ends_its_pages(self) -> None:
        settings = with_politeness(POLITE, failures_to_rest=1)
        other = "http://a.test:81/"
        play = Play(
            found(A, other),
            {f"{A}robots.txt": NOBODY, f"{other}robots.txt": NOBODY},
            settings=settings,
            workers=1,
        )

        assert sorted(play.reasons.values()) == ["connect_refused", "host_resting"]
        assert len(play.fetch.urls) == 1


class TestLeases:
    def test_a_robots_txt_whose_lease_was_taken_back_loses_nobody_at_the_gate(
        self,
    ) -> None:
        asked, again = asyncio.Event(), asyncio.Event()

        async def robots(_: Request) -> Answer:
            if asked.is_set():
                again.set()
            asked.set()
            await again.wait()
            return MISSING

        async def fall_silent(run: Run) -> None:
            await asked.wait()
            run._hangs.held.clear()  # as if the worker had been lost

        urls = [f"{A}{n}" for n in range(5)]
        play = Play(
            found(*urls),
            {f"{A}robots.txt": robots},
            settings=POLITE,
            lease_seconds=0.05,
            watch=fall_silent,
        )

        assert play.reasons == dict.fromkeys(urls, "http_200")
        assert play.fetch.urls.count(f"{A}robots.txt") == 2
        assert play.run._balance.begun == play.run._balance.ended


class TestTheLog:
    def kinds(self, log: FakeLog) -> list[tuple[str, str, str]]:
        return [(e["kind"], e["method"], e["url"]) for e in log.entries]

    def test_every_request_is_told_with_what_it_was_for(self) -> None:
        log = FakeLog()
        Play(
            found(A, B),
            {
                A: [moved(f"{A}there")],
                f"{A}there": [Answer(status=404), Answer(status=500), OK],
                f"{A}robots.txt": MISSING,
                f"{B}robots.txt": moved(f"{B}rules"),
                f"{B}rules": MISSING,
            },
            settings=POLITE,
            workers=1,
            log=log,
        )

        assert sorted(self.kinds(log)) == sorted(
            [
                ("robots", "GET", f"{A}robots.txt"),
                ("robots", "GET", f"{B}robots.txt"),
                ("robots", "GET", f"{B}rules"),
                ("page", "HEAD", A),
                ("page", "HEAD", B),
                ("hop", "HEAD", f"{A}there"),
                ("get", "GET", f"{A}there"),
                ("retry", "GET", f"{A}there"),
            ]
        )

    def test_the_two_keys_and_the_answer_are_told(self) -> None:
        log = FakeLog()
        Play(found(A), default=MISSING, addresses={"a.test": "127.0.0.9"}, log=log)

        first = log.entries[0]
        assert (first["host"], first["server"]) == ("a.test", "127.0.0.9")
        assert (first["status"], first["error"]) == (404, 0)

    def test_the_gap_and_its_rule_are_told(self) -> None:
        log = FakeLog()
        settings = with_politeness(QUICK, interval=0.05)
        Play(found(A, f"{A}2"), settings=settings, log=log)

        first, second = log.entries
        assert (first["gap"], first["rule"]) == (0.0, "")
        assert second["gap"] >= 0.05
        assert second["rule"] == "interval"
        assert second["at"] - first["at"] >= second["gap"] - 0.001

    def test_no_credentials_are_told(self, tmp_path: Path) -> None:
        path = tmp_path / "log"
        secret = "http://user:secret@a.test/"
        with RequestLog(path) as log:
            Play(found(secret), {secret: moved("/there")}, settings=POLITE, log=log)

        lines = path.read_text().splitlines()
        assert len(lines) == 3
        assert "secret" not in path.read_text()

    def test_what_is_cut_off_has_no_seconds(self) -> None:
        log, under_way = FakeLog(), asyncio.Event()

        async def never(_: Request) -> Answer:
            under_way.set()
            await asyncio.Event().wait()
            return OK

        async def watch(run: Run) -> None:
            await under_way.wait()

        Play(found(A), {A: never}, log=log, watch=watch, cut_off=True)

        [entry] = log.entries
        assert (entry["url"], entry["seconds"]) == (A, None)
        assert (entry["status"], entry["error"]) == (0, 0)

    def test_what_was_answered_has(self) -> None:
        log = FakeLog()
        Play(found(A), log=log)

        [entry] = log.entries
        assert entry["seconds"] >= 0

    def test_nothing_is_told_of_what_was_not_asked(self) -> None:
        log = FakeLog()
        Play(
            found(A, B, "http://10.0.0.1/"),
            {A: NOBODY},
            addresses={"b.test": Answer(error=6)},
            guard=Guard(GuardSettings(public_only=True)),
            log=log,
        )

        assert log.entries == []


class TestWhy:
    def asked(self, *questions: str, **more: Any) -> list[list[Wait]]:
        """What a run says while its first answer is under way, and when it is over."""
        under_way, release = asyncio.Event(), asyncio.Event()
        said: list[list[Wait]] = []

        async def wait(_: Request) -> Answer:
            under_way.set()
            await release.wait()
            return OK

        async def ask(run: Run) -> None:
            await under_way.wait()
            await until(lambda: run.account.fed)
            said.extend(run.account.why(question) for question in questions)
            said.append(run.account.waiting(9))
            release.set()

        replies = {f"{A}0": wait, f"{A}robots.txt": wait}
        urls = [f"{A}{n}" for n in range(4)]
        self.play = Play(found(*urls), replies, workers=1, watch=ask, **more)
        return said

    def test_a_host_and_a_url_of_it_wait_by_the_same_rule(self) -> None:
        settings = with_politeness(QUICK, per_host=1)
        questions = ("a.test", "A.test:8080", f"{A}3")
        by_host, with_port, by_url, _ = self.asked(*questions, settings=settings)

        [host], [url] = by_host, by_url
        assert with_port == by_host
        assert (host.rule, host.queued, host.active) == ("per-host", 3, 1)
        assert (url.rule, url.detail) == ("per-host", "2 before it")

    def test_what_waits_for_a_robots_txt_says_so(self) -> None:
        [robots, asked], _ = self.asked("a.test", settings=POLITE)

        assert (robots.rule, robots.queued) == ("robots", 4)
        assert asked.rule == "asked"

    def test_the_longest_queues_are_told_with_their_rules(self) -> None:
        settings = with_politeness(QUICK, per_host=1)
        [[longest]] = self.asked(settings=settings)

        assert (longest.host, longest.rule) == ("a.test", "per-host")

    @pytest.mark.parametrize("text", ["b.test", "http://b.test/", "no host at all"])
    def test_of_what_is_not_known_nothing_is_told(self, text: str) -> None:
        assert self.asked(text)[0] == []

    def test_what_has_its_verdict_waits_for_nothing(self) -> None:
        self.asked()

        assert [wait.rule for wait in self.play.run.account.why(f"{A}0#part")] == [
            "done"
        ]
        assert self.play.run.account.why("a.test") == []
