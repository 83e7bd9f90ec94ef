import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.cli.report.safe import SafeResults, safe_result, safe_summary
from ronda.model import Place, Problem, Result, State, Summary

ANY_TEXT = st.text(st.characters())  # with halves of surrogate pairs


def result(message="", **more):
    facts = {"url": "https://a.example/", "verdict": State.OK, "reason": "http_200"}
    return Result(**(facts | {"message": message} | more))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://bob:pass@a.example/", "https://a.example/"),
        ("https://bob:p@ss@a.example/", "https://a.example/"),
        ("see ftp://bob@a.example, please", "see ftp://a.example, please"),
        ("http://a.example and mail bob@b.example", None),
        ("mailto:bob@b.example", None),
        ("bob@b.example", None),
    ],
)
def test_words_lose_credentials_and_nothing_else(text, shown):
    assert safe_result(result(text)).message == (shown or text)


@given(text=ANY_TEXT)
def test_whatever_text_comes_can_be_encoded(text, tainted):
    safe = safe_result(tainted(text))

    safe.url.encode()
    safe.message.encode()
    safe.hops[0].to.encode()
    safe.found_in[0].document.encode()
    safe.found_in[0].text.encode()


@given(text=ANY_TEXT)
def test_what_is_safe_stays_as_it_is(text, tainted):
    safe = safe_result(tainted(text))

    if "@" not in text:
        assert safe_result(safe) == safe


def test_places_are_in_order():
    places = (Place("b", 1), Place("a", 10), Place("a", 9, 2), Place("a", 9, 1))

    assert safe_result(result(found_in=places)).found_in == places[::-1]


def test_problems_are_in_order():
    problems = (Problem(Place("b"), "x"), Problem(Place("a"), "y"))

    assert safe_summary(Summary(problems=problems)).problems == problems[::-1]


def test_results_can_be_asked_for_twice(results):
    safe = SafeResults(results)

    assert list(safe) == list(safe)
    assert len(list(safe)) == len(results)
