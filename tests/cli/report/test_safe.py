import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ronda.cli.report.safe import SafeResults, safe_result, safe_summary
from ronda.model import Place, Problem, Result, Site, State, Summary

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


def test_the_tag_and_type_of_a_link_are_kept():
    place = Place("https://bob@a.example/", 1, 2, "words", "img")

    safe = safe_result(result(found_in=(place,), media_type="text/html", depth=2))

    assert safe.found_in == (Place("https://a.example/", 1, 2, "words", "img"),)
    assert (safe.media_type, safe.depth) == ("text/html", 2)


def test_a_summary_without_a_site_stays_without():
    assert safe_summary(Summary()) == Summary()


def test_a_site_is_in_one_order(site):
    turned = Site(
        slowest=site.slowest[::-1],
        duplicates=tuple(urls[::-1] for urls in site.duplicates[::-1]),
        orphans=site.orphans[::-1],
        beyond=dict(reversed(site.beyond.items())),
    )
    safe, other = (safe_summary(Summary(site=s)).site for s in (site, turned))

    assert safe.slowest == other.slowest
    assert safe.duplicates == other.duplicates
    assert safe.orphans == other.orphans
    assert list(safe.beyond.items()) == list(other.beyond.items())
    assert [slow.seconds for slow in safe.slowest] == [12.3, 2.41, 0.2]
    assert [len(urls) for urls in safe.duplicates] == [7, 2]


def test_hosts_that_become_one_are_added_up():
    left = {"b.example": 4, "bob:pass@a.example": 2, "a.example": 3}

    safe = safe_summary(Summary(left_at=left)).left_at

    assert list(safe.items()) == [("a.example", 5), ("b.example", 4)]


@example(text="half a pair: \ud800")
@given(text=ANY_TEXT)
def test_whatever_a_crawl_says_can_be_encoded(text, tainted_crawl):
    msgspec.json.encode(safe_summary(tainted_crawl(text)))


def test_results_can_be_asked_for_twice(results):
    safe = SafeResults(results)

    assert list(safe) == list(safe)
    assert len(list(safe)) == len(results)
