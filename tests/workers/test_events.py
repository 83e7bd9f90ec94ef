"""Plug-ins: told what happens; only False is no; one that fails is told of once."""

from importlib.metadata import EntryPoint, EntryPoints
from typing import Any

import pytest
from fake_parts import OK, POLITE, Play, found, page
from hypothesis import given, settings
from hypothesis import strategies as st

from ronda.errors import SettingsError
from ronda.model import Found, Place, Request, Summary
from ronda.simulation.loop import VirtualClock
from ronda.workers import events as module
from ronda.workers.events import HOOKS, Events, load

A, B = "http://a.test/", "http://b.test/"
LINK = Found(A, Place(""))
CALLS: dict[str, tuple[Any, ...]] = {
    "before_request": (Request(A),),
    "after_request": (Request(A), OK),
    "link_found": (LINK,),
    "page_parsed": (A, OK),
    "run_ended": (Summary(),),
}


class Plugin:
    """Writes down what it is told, and says something."""

    def __init__(self, says: Any = None, error: Exception | None = None) -> None:
        self.told: list[tuple[str, tuple[Any, ...]]] = []
        self._says = says
        self._error = error

    def _hear(self, hook: str, *values: Any) -> Any:
        self.told.append((hook, values))
        if self._error is not None:
            raise self._error
        return self._says

    def before_request(self, *values: Any) -> Any:
        return self._hear("before_request", *values)

    def after_request(self, *values: Any) -> Any:
        return self._hear("after_request", *values)

    def link_found(self, *values: Any) -> Any:
        return self._hear("link_found", *values)

    def page_parsed(self, *values: Any) -> Any:
        return self._hear("page_parsed", *values)

    def run_ended(self, *values: Any) -> Any:
        return self._hear("run_ended", *values)


class TestHooks:
    @pytest.mark.parametrize("hook", HOOKS)
    def test_every_plug_in_is_told_in_order(self, hook: str) -> None:
        plugins = [Plugin(), Plugin()]
        events = Events([("one", plugins[0]), ("two", plugins[1])])

        getattr(events, hook)(*CALLS[hook])

        assert [plugin.told for plugin in plugins] == [[(hook, CALLS[hook])]] * 2

    @pytest.mark.parametrize("hook", ["before_request", "link_found"])
    @settings(deadline=None)
    @given(says=st.lists(st.sampled_from([None, True, False, 0, "", "no", [], 1])))
    def test_only_false_is_no(self, hook: str, says: list[Any]) -> None:
        events = Events((str(n), Plugin(said)) for n, said in enumerate(says))

        allowed = getattr(events, hook)(*CALLS[hook])

        assert allowed is not any(said is False for said in says)

    @pytest.mark.parametrize("hook", HOOKS)
    def test_without_plug_ins_all_is_allowed_and_nobody_told(self, hook: str) -> None:
        events = Events(())

        assert not events
        assert getattr(events, hook)(*CALLS[hook]) in {True, None}

    def test_one_that_knows_some_hooks_is_told_of_these(self) -> None:
        class Some:
            asked = 0

            def before_request(self, _: Request) -> None:
                self.asked += 1

            link_found = "no method"

        plugin = Some()
        events = Events([("some", plugin)])

        assert events
        assert events.link_found(LINK)
        assert events.before_request(Request(A))
        assert plugin.asked == 1

    def test_one_that_knows_none_is_a_wrong_setting(self) -> None:
        with pytest.raises(SettingsError, match="'x' has none of before_request"):
            Events([("x", object())])


class TestFailures:
    @pytest.mark.parametrize("hook", HOOKS)
    def test_one_that_raises_is_told_of_once_and_not_called_again(
        self, hook: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        bad, good = Plugin(error=ValueError("made up")), Plugin()
        events = Events([("bad", bad), ("good", good)])

        said = [getattr(events, hook)(*CALLS[hook]) for _ in range(3)]

        assert said == [said[0]] * 3  # nothing is refused for its sake
        assert False not in said
        assert (len(bad.told), len(good.told)) == (1, 3)
        assert events.failures == {f"bad.{hook}": "ValueError: made up"}
        assert len(caplog.records) == 1

    def test_its_other_hooks_are_called_all_the_same(self) -> None:
        bad = Plugin(error=ValueError("made up"))
        events = Events([("bad", bad)])
        for hook in HOOKS:
            getattr(events, hook)(*CALLS[hook])

        assert [hook for hook, _ in bad.told] == list(HOOKS)


class TestLoading:
    @pytest.fixture(autouse=True)
    def known(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Plug-ins of another package: there is no other way to have one installed."""
        points = EntryPoints(
            EntryPoint(name, f"{__name__}:{name}", module.ENTRY_POINTS)
            for name in ("Plugin", "MADE", "Broken", "missing")
        )

        def entry_points(group: str) -> EntryPoints:
            assert group == "ronda.events"
            return points

        monkeypatch.setattr("importlib.metadata.entry_points", entry_points)

    def test_none_is_none(self) -> None:
        assert not load(())

    def test_a_class_is_made_and_anything_else_taken_as_it_is(self) -> None:
        events = load(["Plugin", "MADE"])
        events.page_parsed(A, OK)

        assert events
        assert MADE.told == [("page_parsed", (A, OK))]

    def test_one_that_is_not_there_is_told_with_those_that_are(self) -> None:
        known = "known: Broken, MADE, Plugin, missing"
        with pytest.raises(SettingsError, match=f"no plug-in 'other'; {known}"):
            load(["other"])

    @pytest.mark.parametrize(
        ("name", "words"),
        [("Broken", "ValueError: made up"), ("missing", "AttributeError: ")],
    )
    def test_one_that_cannot_be_loaded_is_told(self, name: str, words: str) -> None:
        match = f"crawl.plugins: '{name}' cannot be loaded: {words}"
        with pytest.raises(SettingsError, match=match):
            load([name])


class Broken:
    def __init__(self) -> None:
        raise ValueError("made up")


MADE = Plugin()


class TestOfARun:
    def play(self, *plugins: Any, **more: Any) -> Play:
        events = Events((str(n), plugin) for n, plugin in enumerate(plugins))
        replies = {A: page(f'<a href="{B}">x</a>')}
        return Play(
            found(A, reads=True),
            replies,
            clock=VirtualClock(),
            more={"events": events},
            **more,
        )

    def test_everything_that_happens_is_told(self) -> None:
        plugin = Plugin()
        play = self.play(plugin)
        play.run.end(play.summary)

        assert [hook for hook, _ in plugin.told] == [
            "link_found",
            "before_request",
            "after_request",
            "link_found",
            "page_parsed",
            "before_request",
            "after_request",
            "run_ended",
        ]

    def test_a_run_without_any_tells_nobody(self) -> None:
        play = self.play()
        play.run.end(play.summary)

        assert set(play.reasons) == {A, B}

    def test_a_request_that_one_refuses_is_not_made(self) -> None:
        class Refusing:
            def before_request(self, request: Request) -> bool:
                return request.url != B

        play = self.play(Refusing())

        assert play.fetch.urls == [A]
        assert set(play.reasons) == {A, B}
        assert play.reasons[B] not in {"http_200", "worker_died"}
        assert play.summary.requests == 1

    def test_neither_is_a_robots_txt(self) -> None:
        class Refusing:
            def before_request(self, request: Request) -> bool:
                return not request.url.endswith("robots.txt")

        play = self.play(Refusing(), settings=POLITE)

        assert play.fetch.urls == []
        assert set(play.reasons) == {A}
        assert play.summary.left == 0

    def test_a_link_that_one_refuses_is_left_out(self) -> None:
        class Refusing:
            def link_found(self, link: Found) -> bool:
                return link.url != B

        play = self.play(Refusing())

        assert set(play.reasons) == {A}
        assert play.summary.excluded == 1

    def test_one_that_fails_is_told_of_at_the_end(self) -> None:
        play = self.play(Plugin(error=ValueError("made up")))

        assert set(play.reasons) == {A, B}
        assert len(play.summary.remarks) == 4
        assert play.summary.remarks[0] == (
            "the plug-in 0.link_found failed, and was not called again: "
            "ValueError: made up"
        )

    def test_an_answer_that_is_not_asked_for_is_not_told(self) -> None:
        plugin = Plugin(says=False)
        events = Events([("x", plugin)])
        assert not events.before_request(Request(A))

        class Refusing:
            def before_request(self, _: Request) -> bool:
                return False

            def after_request(self, *_: Any) -> None:
                answered.append(1)

        answered: list[int] = []
        self.play(Refusing())

        assert answered == []
