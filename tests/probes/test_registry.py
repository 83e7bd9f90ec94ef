"""Whose code judges a scheme."""

import pytest

from ronda.config import Check, Settings
from ronda.errors import SettingsError
from ronda.model import Answer, Done, State, Target, Via, Visit
from ronda.probes import Handlers, Unsupported
from ronda.probes.registry import as_handler


def check(url: str) -> tuple[str, str]:
    """A third party's blocking check."""
    return "unavailable", f"nobody at {url}"


def test_a_function_is_plug_in_enough() -> None:
    handler = as_handler(check)
    target = Target("isbn:978", handler.classify("isbn:978"))
    request = handler.begin(target)
    answer = Answer(called=check(target.url))

    step = handler.advance(Visit(target, request, target.host), answer, 0.0)

    assert handler.allow("isbn:978")
    assert (target.host, request.via) == ("class:isbn", Via.CALL)
    assert isinstance(step, Done)
    assert step.verdict.state is State.BROKEN


def test_a_scheme_without_a_handler_is_not_allowed() -> None:
    handler = Handlers(Settings()).of("nobody:knows")

    assert isinstance(handler, Unsupported)
    assert not handler.allow("nobody:knows")


def test_http_and_https_have_one_handler_each_time_they_are_asked_for() -> None:
    handlers = Handlers(Settings())

    assert handlers.of("http://a.test/") is handlers.of("https://b.test/")


def test_a_wrong_list_of_what_to_accept_is_found_before_anything_is_asked() -> None:
    with pytest.raises(SettingsError, match=r"check\.accept"):
        Handlers(Settings(check=Check(accept=("nonsense",))))
