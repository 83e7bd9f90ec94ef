"""Plug-ins with a blocking check, and tries after a temporary fault."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ronda.config import Settings
from ronda.model import Answer, Ask, Done, Request, State, Target, Verdict, Via, Visit
from ronda.probes import SCHEMES, Handlers, Unsupported
from ronda.probes.handler import Called, afresh, retry
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

    def test_a_further_try_says_what_the_verdict_is_without_it(self) -> None:
        visit = Visit(Target(URL, "h"), Request(URL), "h")
        found = Verdict(State.TEMPORARY, "x", "x")
        step = retry(visit, found, tries=1, gap=1.0)

        assert isinstance(step, Ask)
        assert step.otherwise is found

    def test_a_further_try_is_the_same_but_on_a_new_connection(self) -> None:
        request = Request(URL, "GET", public=True)
        visit = Visit(Target(URL, "h"), request, "h")
        step = retry(visit, Verdict(State.TEMPORARY, "x", "x"), tries=1, gap=1.0)

        assert isinstance(step, Ask)
        assert step.visit.request == replace(request, fresh=True)


class TestAfresh:
    DIED = Answer(error=56, error_text="Connection died, and so on")

    def test_what_died_on_a_kept_connection_is_asked_again_and_costs_no_try(
        self,
    ) -> None:
        visit = Visit(Target(URL, "h"), Request(URL), "h", attempts=3)
        step = afresh(visit, self.DIED)

        assert step == Ask(replace(visit, request=Request(URL, fresh=True)))

    def test_but_only_once(self) -> None:
        visit = Visit(Target(URL, "h"), Request(URL, fresh=True), "h")

        assert afresh(visit, self.DIED) is None

    @pytest.mark.parametrize(
        "answer", [Answer(200), Answer(error=52), Answer(error=56, error_text="reset")]
    )
    def test_any_other_answer_is_judged(self, answer: Answer) -> None:
        assert afresh(Visit(Target(URL, "h"), Request(URL), "h"), answer) is None

    @pytest.mark.parametrize("scheme", ["http", "https", "ftp", "ftps", "sftp"])
    def test_so_do_all_schemes_that_keep_connections(self, scheme: str) -> None:
        target = Target(f"{scheme}://a.test/", "a.test")
        handler = Handlers(Settings())[scheme]
        visit = Visit(target, handler.begin(target), "a.test")
        step = handler.advance(visit, self.DIED, 0.0)

        assert step == Ask(replace(visit, request=replace(visit.request, fresh=True)))
