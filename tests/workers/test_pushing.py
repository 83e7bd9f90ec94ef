"""The links of a page: small pages are read at once, large ones in a thread."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from fake_parts import QUICK, Play, Reply, found, moved, page
from msgspec.structs import replace

from ronda.config import Crawl
from ronda.frontier.reach import Reach
from ronda.model import Found, Place, Problem
from ronda.simulation.loop import VirtualClock
from ronda.workers.pushing import LARGE
from ronda.workers.run import Run
from ronda.workers.survey import Survey

A, B = "http://a.test/", "http://b.test/"
PADDING = "<!--" + "x" * LARGE + "-->"


def link(url: str) -> str:
    return f'<a href="{url}">x</a>'


def crawled(replies: dict[str, Reply], *seeds: str, **more: Any) -> Play:
    wanted = seeds or (A,)
    parts = {"reach": Reach(Crawl(), wanted, 2026), "survey": Survey()}
    parts |= more.pop("more", {})
    return Play(found(*wanted, document="", reads=True), replies, more=parts, **more)


class TestLargePages:
    def test_a_large_page_is_read_in_a_thread(self) -> None:
        threads: set[str] = set()

        def read(body: bytes, url: str, _: str) -> Iterator[Found | Problem]:
            threads.add(threading.current_thread().name)
            if len(body) > LARGE:
                yield from (Found(f"{B}{n}", Place(url, n)) for n in range(5000))
                yield Problem(Place(url), "something is wrong")

        play = crawled({A: page(PADDING)}, more={"read": read}, default=page("small"))

        assert len(play.reasons) == 5001
        assert play.summary.problems == (Problem(Place(A), "something is wrong"),)
        assert "feed" in threads

    def test_what_goes_wrong_in_it_kills_the_crawler_and_is_told(self) -> None:
        def read(*_: Any) -> Iterator[Found]:
            yield Found(B, Place(A))
            raise ValueError("made up")

        play = crawled({A: page(PADDING)}, more={"read": read})

        assert B in play.reasons
        assert play.run.crew.deaths == 3
        [problem] = play.summary.problems
        assert problem.message.startswith("could not be read: ValueError: made up")

    def test_one_of_which_nothing_comes_is_given_up(self) -> None:
        release = threading.Event()

        def read(*_: Any) -> Iterator[Found]:
            release.wait(10.0)
            yield from ()

        clock = VirtualClock()
        try:
            play = crawled({A: page(PADDING)}, more={"read": read}, clock=clock)
        finally:
            release.set()

        [problem] = play.summary.problems
        assert problem.message == "no link was found in 300 s: given up"
        assert clock.seconds == 300.0
        assert play.summary.left == 0

    def test_one_at_a_time(self) -> None:
        most = under_way = 0
        lock = threading.Lock()

        def read(body: bytes, url: str, _: str) -> Iterator[Found]:
            nonlocal most, under_way
            if len(body) <= LARGE:
                return
            with lock:
                under_way += 1
                most = max(most, under_way)
            yield Found(f"{url}x", Place(url))
            time.sleep(0.01)
            with lock:
                under_way -= 1

        large = {f"{A}{n}": page(PADDING) for n in range(4)}
        play = crawled(dict(large), *large, more={"read": read})

        assert most == 1
        assert len(play.reasons) == 8


class TestWhatIsWrong:
    def test_a_page_that_was_cut_is_told(self) -> None:
        cut = replace(page(link(B)), cut=True)
        play = crawled({A: cut}, clock=VirtualClock())

        limit = QUICK.fetch.body_limit
        [problem] = play.summary.problems
        assert problem.message == (
            f"longer than {limit:,} bytes (body_limit): links may be missing"
        )
        assert not problem.grave
        assert B in play.reasons

    def test_credentials_are_not_told(self) -> None:
        secret = "http://user:secret@a.test/"
        cut = replace(page("x"), cut=True)
        play = crawled({secret: cut}, secret, clock=VirtualClock())

        [problem] = play.summary.problems
        assert "secret" not in problem.place.document


class TestDigests:
    def digest(self, **answer: Any) -> str:
        digests = {
            r.url: r.digest
            for r in crawled(
                {A: replace(page("body"), **answer)}, clock=VirtualClock()
            ).results
        }
        return digests[A]

    def test_the_body_tells_a_page_from_another(self) -> None:
        assert len(self.digest()) == 64
        assert self.digest() == self.digest()
        assert self.digest(body=b"other") != self.digest()

    def test_without_a_whole_body_there_is_none(self) -> None:
        assert self.digest(body=b"") == ""
        assert self.digest(cut=True) == ""

    def test_a_check_has_none(self) -> None:
        play = Play(found(A, reads=True), {A: page("x")}, clock=VirtualClock())

        assert play.results[0].digest == ""

    def test_a_page_that_names_its_original_is_no_duplicate(self) -> None:
        original = f'<link rel="canonical" href="{A}1">'
        play = crawled(
            {A: page(link(f"{A}1") + link(f"{A}2"))},
            default=page(original),
            clock=VirtualClock(),
        )

        assert play.summary.site is not None
        assert play.summary.site.duplicates == ()


class TestRedirects:
    def read(self, replies: dict[str, Reply], *seeds: str) -> list[str]:
        """The pages that were read, in order."""
        urls: list[str] = []

        def prepare(run: Run) -> None:
            links = run._pushing._links

            def watched(page_read: Any) -> Any:
                urls.append(page_read.visit.request.url)
                return links(page_read)

            run._pushing._links = watched  # type: ignore[method-assign]

        self.play = crawled(replies, *seeds, prepare=prepare, clock=VirtualClock())
        return urls

    def test_a_page_that_two_redirects_lead_to_is_read_once(self) -> None:
        there = f"{A}there"
        replies: dict[str, Reply] = {
            A: page(link(f"{A}1") + link(f"{A}2")),
            f"{A}1": moved(there),
            f"{A}2": moved(there),
            there: page(link(B)),
        }

        assert self.read(replies).count(there) == 1
        assert B in self.play.reasons

    @pytest.mark.parametrize("order", [1, -1])
    def test_one_that_is_linked_to_as_well_is_read_once(self, order: int) -> None:
        there = f"{A}there"
        both = [link(f"{A}1"), link(there)][::order]
        replies: dict[str, Reply] = {
            A: page("".join(both)),
            f"{A}1": moved(there),
            there: page(link(B)),
        }

        assert self.read(replies).count(there) == 1
        assert B in self.play.reasons

    def test_one_that_is_linked_to_only_later_is_not_read_again(self) -> None:
        there = f"{A}there"
        replies: dict[str, Reply] = {
            A: page(link(f"{A}1")),
            f"{A}1": moved(there),
            there: page(link(B) + link(there)),
        }

        assert self.read(replies).count(there) == 1
        assert there in self.play.reasons

    def test_one_that_was_to_be_checked_only_is_read_for_who_was_led_there(
        self,
    ) -> None:
        """A link that is not followed, and a redirect to the same page that is."""
        there = f"{A}there"
        replies: dict[str, Reply] = {
            A: page(f'<a rel="nofollow" href="{there}">x</a>' + link(f"{A}1")),
            f"{A}1": moved(there),
            there: page(link(B)),
        }

        assert self.read(replies).count(there) == 1
        assert B in self.play.reasons
