"""What comes into a run: put on its way once, and what needs no request is judged."""

from typing import Any

import pytest
from fake_parts import QUICK, Play, found, page, with_check
from hypothesis import given, settings
from hypothesis import strategies as st

from ronda.config import Crawl
from ronda.frontier import Scope
from ronda.frontier.priority import Priorities
from ronda.frontier.reach import Reach
from ronda.model import Done, Place, Problem, Request, State, Verdict
from ronda.simulation.loop import VirtualClock
from ronda.workers.intake import MANY
from ronda.workers.survey import Survey

A, B = "http://a.test/", "http://b.test/"


def taken_in(*given_in: Any, **more: Any) -> Play:
    more.setdefault("clock", VirtualClock())
    return Play(given_in, **more)


class Odd:
    """A third party's handler of a scheme, which may raise anywhere."""

    def __init__(self, *raises: str, allows: bool = True) -> None:
        self._raises = raises
        self._allows = allows

    def _risk(self, what: str) -> None:
        if what in self._raises:
            raise ValueError("made up")

    def allow(self, _: str) -> bool:
        self._risk("allow")
        return self._allows

    def classify(self, _: str) -> str:
        self._risk("classify")
        return "odd"

    def begin(self, target: Any) -> Request:
        self._risk("begin")
        return Request(target.url.replace("odd:", "http://odd.test/"))

    def advance(self, *_: Any) -> Done:
        self._risk("advance")
        return Done(Verdict(State.OK, "fine", "fine"))


class TestOnce:
    @settings(max_examples=30, deadline=None)
    @given(st.lists(st.sampled_from([A, B, f"{A}x", f"{A}x#y"]), max_size=12))
    def test_however_often_a_url_stands_it_is_asked_once(self, urls: list[str]) -> None:
        play = taken_in(*found(*urls))

        pages = {url.partition("#")[0] for url in urls}
        assert sorted(play.fetch.urls) == sorted(pages)
        assert set(play.reasons) == pages

    def test_what_is_out_of_scope_is_counted_once(self) -> None:
        scope = Scope([], [B])
        play = taken_in(*found(A, B, B), scope=scope)

        assert set(play.reasons) == {A}
        assert play.summary.excluded == 1


class TestNoRequest:
    def test_a_scheme_that_nobody_handles_is_unsupported(self) -> None:
        play = taken_in(*found("odd:thing", A))

        assert play.reasons == {"odd:thing": "scheme_unsupported", A: "http_200"}
        assert play.fetch.urls == [A]

    def test_what_its_handler_does_not_allow_is_not_asked(self) -> None:
        handlers: Any = {"odd": Odd(allows=False)}
        play = taken_in(*found("odd:thing"), handlers=handlers)

        assert play.reasons == {"odd:thing": "policy_disallowed"}
        assert play.fetch.urls == []

    @pytest.mark.parametrize("where", ["allow", "classify", "begin"])
    def test_a_handler_that_raises_is_told_as_a_plug_in_that_failed(
        self, where: str
    ) -> None:
        handlers: Any = {"odd": Odd(where)}
        play = taken_in(*found("odd:thing", A), handlers=handlers)

        assert play.reasons == {"odd:thing": "plugin_failed", A: "http_200"}
        [result] = [r for r in play.results if r.url == "odd:thing"]
        assert "ValueError: made up" in result.message
        assert result.verdict is State.UNKNOWN

    def test_one_that_raises_later_is_our_own_fault(self) -> None:
        handlers: Any = {"odd": Odd("advance")}
        play = taken_in(*found("odd:thing"), handlers=handlers)

        assert play.reasons == {"odd:thing": "own_fault"}

    def test_one_that_answers_neither_is_our_own_fault_too(self) -> None:
        class Silent(Odd):
            def advance(self, *_: Any) -> Done:
                return "fine"  # type: ignore[return-value]

        handlers: Any = {"odd": Silent()}
        play = taken_in(*found("odd:thing"), handlers=handlers)

        assert play.reasons == {"odd:thing": "own_fault"}
        assert "neither Ask nor Done" in play.results[0].message

    def test_a_third_partys_request_is_charged_to_where_it_goes(self) -> None:
        handlers: Any = {"odd": Odd()}
        play = taken_in(*found("odd:thing"), handlers=handlers)

        assert play.reasons == {"odd:thing": "fine"}
        assert play.names.asked == ["odd.test"]


class TestProblems:
    def test_of_too_many_it_is_told_that_there_are_more(self) -> None:
        problems = [Problem(Place("x", n), "no URL") for n in range(MANY + 50)]
        play = taken_in(*problems, *found(A))

        told = play.summary.problems
        assert len(told) == MANY + 1
        assert told[-1].message == "there are more problems; only the first are told"
        assert told[-1].place == Place("x", MANY)
        assert set(play.reasons) == {A}

    def test_those_of_a_page_are_told_with_it(self) -> None:
        play = taken_in(
            *found(A, reads=True), replies={A: page('<a href="http://[">x</a>')}
        )

        [problem] = play.summary.problems
        assert problem.place.document == A


class TestLinks:
    def crawled(self, body: str, **more: Any) -> dict[str, Any]:
        """What is started for the links of a page."""
        started: dict[str, Any] = {}

        def prepare(run: Any) -> None:
            start = run._intake._start

            def watched(item: Any) -> None:
                started[item.url] = item
                start(item)

            run._intake._start = watched

        parts = {
            "reach": Reach(more.pop("crawl", Crawl()), [A], 2026),
            "survey": Survey(),
            "priorities": more.pop("priorities", Priorities(())),
        }
        self.play = taken_in(
            *found(A, reads=True),
            replies={A: page(body)},
            prepare=prepare,
            more=parts,
            **more,
        )
        return started

    def test_a_link_is_one_deeper_than_its_page(self) -> None:
        started = self.crawled(f'<a href="{A}1">x</a><a href="{B}">y</a>')

        assert (started[A].depth, started[A].outside) == (0, 0)
        assert (started[f"{A}1"].depth, started[f"{A}1"].outside) == (1, 0)
        assert (started[B].depth, started[B].outside) == (1, 1)
        assert (started[f"{A}1"].reads, started[B].reads) == (True, False)

    def test_pages_come_before_assets_and_those_with_a_bonus_before_both(self) -> None:
        started = self.crawled(
            f'<img src="{A}i.png"><a href="{A}1">x</a><a href="{A}good">y</a>',
            priorities=Priorities(("*/good=+9",)),
        )

        ranks = [started[f"{A}{name}"].rank for name in ("good", "1", "i.png")]
        assert ranks == sorted(ranks)
        assert len(set(ranks)) == 3

    def test_links_that_are_not_followed_are_counted_by_rule(self) -> None:
        self.crawled(f'<a rel="nofollow" href="{A}1">x</a>')

        assert self.play.run._intake.beyond == {"nofollow": 1}

    def test_a_file_that_a_page_of_the_network_names_is_refused(self) -> None:
        self.crawled('<a href="file:///etc/passwd">x</a>')

        assert self.play.reasons["file:///etc/passwd"] == "file_refused"

    def test_once_only(self) -> None:
        self.crawled('<a href="file:///x">x</a><a href="file:///x">y</a>')

        [refused] = [r for r in self.play.results if r.reason == "file_refused"]
        assert len(refused.found_in) == 2


def test_with_fragments_each_part_has_its_verdict() -> None:
    play = taken_in(
        *found(f"{A}#there", f"{A}#gone"),
        replies={A: page('<p id="there">')},
        settings=with_check(QUICK, fragments=True),
    )

    assert set(play.reasons) == {f"{A}#there", f"{A}#gone"}
    assert play.reasons[f"{A}#there"] == "fragment_found"
