"""Plug-ins with a blocking check, and tries after a temporary fault."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.config import Settings
from ronda.model import Answer, Ask, Done, Request, State, Target, Verdict, Via, Visit
from ronda.probes import SCHEMES, Handlers, Unsupported
from ronda.probes.handler import Called, retry
from ronda.probes.registry import as_handler

URL = "odd://host/path"


class Plugin:
    """As a third party writes it."""

    def allow(self, url: str) -> bool:
        return "forbidden" not in url

    def classify(self, url: str) -> str:
        return "shelf"

    def check(self, url: str) -> tuple[str, str]:
        return "ok", url


class Whole:
    """A third party's handler that asks through us."""

    def allow(self, url: str) -> bool:
        return True

    def classify(self, url: str) -> str:
        return "h"

    def begin(self, target: Target) -> Request:
        return Request(target.url)

    def advance(self, visit: Visit, answer: Answer, now: float) -> Ask | Done:
        return Done(Verdict(State.OK, "plugin", ""))


def said(state: object) -> Verdict:
    called = Called(Plugin())
    target = Target(URL, "class:shelf")
    visit = Visit(target, called.begin(target), target.host)
    step = called.advance(visit, Answer(called=(state, "words")), 0.0)  # type: ignore[arg-type]
    assert isinstance(step, Done)
    return step.verdict


class TestCalled:
    @pytest.mark.parametrize(
        ("state", "meant"),
        [
            *((state.value, state) for state in State),
            # as the link-management server of old said it
            ("ok", State.OK),
            ("unavailable", State.BROKEN),
            ("temporary unavailable", State.TEMPORARY),
            ("unsupported protocol", State.UNSUPPORTED),
            (None, State.UNKNOWN),
        ],
    )
    def test_a_state_is_understood(self, state: str | None, meant: State) -> None:
        assert said(state) == Verdict(meant, "plugin", "words")

    @pytest.mark.parametrize("state", ["fine", "", "OK", 1, True])
    def test_any_other_state_is_the_plug_in_s_fault(self, state: object) -> None:
        found = said(state)

        assert (found.state, found.reason) == (State.UNKNOWN, "plugin_failed")
        assert repr(state) in found.message

    def test_a_plug_in_that_failed_does_not_count_against_the_link(self) -> None:
        called = Called(Plugin())
        target = Target(URL, "class:shelf")
        visit = Visit(target, called.begin(target), target.host)
        step = called.advance(visit, Answer(error_text="RuntimeError: no"), 0.0)

        assert isinstance(step, Done)
        assert step.verdict.state is State.UNKNOWN
        assert "RuntimeError: no" in step.verdict.message

    def test_it_is_asked_by_a_call_and_charged_to_its_own_class(self) -> None:
        called = Called(Plugin())

        assert called.begin(Target(URL, "x")).via is Via.CALL
        assert called.classify(URL) == "class:shelf"
        assert not called.allow("odd://forbidden")


class TestRegistry:
    def test_a_class_an_instance_and_a_module_will_do(self) -> None:
        assert isinstance(as_handler(Plugin), Called)
        assert isinstance(as_handler(Plugin()), Called)
        assert isinstance(as_handler(Whole), Whole)

    def test_every_scheme_of_the_table_has_a_handler(self) -> None:
        handlers = Handlers(Settings())

        for scheme in SCHEMES:
            assert not isinstance(handlers[scheme], Unsupported)
            assert handlers[scheme] is handlers[scheme]
            assert handlers.called(scheme) is None

    def test_an_unknown_scheme_is_unsupported_and_never_asked(self) -> None:
        handler = Handlers(Settings())["gopher"]
        target = Target("gopher://a.test/", "")
        step = handler.advance(Visit(target, Request(""), ""), Answer(), 0.0)

        assert not handler.allow("gopher://a.test/")
        assert isinstance(step, Done)
        assert step.verdict.state is State.UNSUPPORTED


class TestRetry:
    @given(
        state=st.sampled_from(State),
        attempts=st.integers(1, 12),
        tries=st.integers(0, 10),
        gap=st.floats(0, 10),
    )
    def test_only_a_temporary_fault_with_tries_left_is_tried_again(
        self, state: State, attempts: int, tries: int, gap: float
    ) -> None:
        visit = Visit(Target(URL, "h"), Request(URL), "h", attempts=attempts)
        step = retry(visit, Verdict(state, "x", "x"), tries, gap)

        if state is State.TEMPORARY and attempts <= tries:
            assert isinstance(step, Ask)
            assert step.visit.attempts == attempts + 1
            assert step.delay == gap * 2 ** (attempts - 1)
        else:
            assert isinstance(step, Done)
