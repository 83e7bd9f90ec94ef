"""Links to a part of a page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.model import State, Verdict
from ronda.probes import judge_fragment, verdict

GOOD = Verdict(State.OK, "http_200", "200 OK")
MOVED = Verdict(State.WARNING, "moved_permanently", "moved")
ANCHORS = frozenset({"part", "naïve", "a b", "50%"})


@pytest.mark.parametrize(
    ("fragment", "code"),
    [
        ("part", "fragment_found"),
        ("na%C3%AFve", "fragment_found"),
        ("a%20b", "fragment_found"),
        ("50%", "fragment_found"),
        ("50%25", "fragment_found"),
        ("nowhere", "fragment_missing"),
        ("Part", "fragment_missing"),
        ("", "http_200"),
        ("top", "http_200"),
        ("TOP", "http_200"),
        (":~:text=words", "http_200"),
        ("part:~:text=words", "fragment_found"),
        ("nowhere:~:text=words", "fragment_missing"),
    ],
)
def test_an_anchor_is_there_or_not(fragment: str, code: str) -> None:
    assert judge_fragment(GOOD, ANCHORS, fragment).reason == code


@pytest.mark.parametrize(
    "state", [State.BROKEN, State.TEMPORARY, State.BLOCKED, State.UNKNOWN]
)
def test_a_page_that_fails_decides(state: State) -> None:
    page = Verdict(state, "x", "x")

    assert judge_fragment(page, ANCHORS, "part") is page
    assert judge_fragment(page, None, "nowhere") is page


def test_a_warning_of_the_page_outweighs_an_anchor_that_is_there() -> None:
    assert judge_fragment(MOVED, ANCHORS, "part") is MOVED
    assert judge_fragment(MOVED, None, "part") is MOVED
    assert judge_fragment(MOVED, ANCHORS, "nowhere").reason == "fragment_missing"


def test_a_page_of_another_kind_cannot_be_read() -> None:
    assert judge_fragment(GOOD, None, "page=3") == verdict("fragment_unread")


@given(st.text(), st.frozensets(st.text()))
def test_any_text_is_judged(fragment: str, anchors: frozenset[str]) -> None:
    found = judge_fragment(GOOD, anchors, fragment)

    assert found.reason in {"http_200", "fragment_found", "fragment_missing"}
