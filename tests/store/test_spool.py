"""The memory of one run."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ronda.model import Certificate, Hop, Place, Result, State, Timings
from ronda.store import Spool
from ronda.store.spool import MOST, TAGS

texts = st.text(max_size=20)
wild = st.text(st.characters(), max_size=20)  # half surrogate pairs too
numbers = st.integers(0, 10**9)
seconds = st.floats(0, 1e6)
tags = st.sampled_from(["", "a", "img", "css"]) | texts
places = st.builds(
    Place, document=wild, line=numbers, column=numbers, text=wild, tag=tags
)
results = st.builds(
    Result,
    url=texts,
    verdict=st.sampled_from(State),
    reason=texts,
    message=texts,
    hops=st.lists(
        st.builds(Hop, url=texts, status=numbers, to=texts, address=texts), max_size=3
    ).map(tuple),
    status=numbers,
    address=texts,
    timings=st.builds(Timings, seconds, seconds, seconds, seconds, seconds),
    bytes=numbers,
    certificate=st.none()
    | st.builds(
        Certificate,
        subject=texts,
        issuer=texts,
        starts_at=texts,
        ends_at=texts,
        names=st.lists(texts, max_size=3).map(tuple),
    ),
    found_in=st.just(()),
    checked_at=texts,
    attempts=numbers,
)


@pytest.fixture
def spool() -> Iterator[Spool]:
    with Spool() as opened:
        yield opened


def result(url: str) -> Result:
    return Result(url=url, verdict=State.OK, reason="http_200", message="200 OK")


@settings(deadline=None)  # files on a busy machine
@given(st.lists(results, max_size=8))
def test_results_come_back_as_they_were_in_the_order_they_came(
    kept: list[Result],
) -> None:
    with Spool() as spool:
        for one in kept:
            spool.record(one)

        assert list(spool) == kept
        assert list(spool) == kept  # and once more


@settings(deadline=None)  # files on a busy machine
@given(st.lists(st.tuples(st.sampled_from("abcd"), places), max_size=30))
def test_every_url_has_its_places_in_the_order_they_were_found(
    noted: list[tuple[str, Place]],
) -> None:
    with Spool() as spool:
        new = [spool.note(url, place) for url, place in noted]

        first = {url: number for number, (url, _) in reversed(list(enumerate(noted)))}
        assert new == [first[url] == n for n, (url, _) in enumerate(noted)]
        assert len(spool) == len(first)
        for url in "abcd":
            assert (url in spool) is (url in first)
            assert spool.places(url) == tuple(p for u, p in noted if u == url)


@settings(deadline=None)  # files on a busy machine
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("note"), st.sampled_from("ab"), places),
            st.tuples(st.just("record"), st.sampled_from("ab"), st.none()),
            st.tuples(st.just("places"), st.sampled_from("ab"), st.none()),
            st.tuples(st.just("all"), st.none(), st.none()),
        ),
        max_size=30,
    )
)
def test_reading_never_disturbs_writing(
    steps: list[tuple[str, str, Place | None]],
) -> None:
    noted: dict[str, list[Place]] = {"a": [], "b": []}
    kept: list[str] = []
    with Spool() as spool:
        for verb, url, place in steps:
            match verb:
                case "note":
                    assert place is not None
                    spool.note(url, place)
                    noted[url].append(place)
                case "record":
                    spool.record(result(url))
                    kept.append(url)
                case "places":
                    assert spool.places(url) == tuple(noted[url])
                case _:
                    assert [r.url for r in spool] == kept

        assert [r.url for r in spool] == kept
        assert [r.found_in for r in spool] == [tuple(noted[url]) for url in kept]


def test_results_come_back_with_their_places(spool: Spool) -> None:
    spool.note("a", Place("one.md", 3))
    spool.record(result("a"))
    spool.note("a", Place("two.md", 4))  # found again after it was checked

    [found] = spool
    assert found.found_in == (Place("one.md", 3), Place("two.md", 4))


def test_a_url_that_was_never_noted_has_no_places(spool: Spool) -> None:
    assert spool.places("nowhere") == ()
    assert "nowhere" not in spool


def test_places_longer_than_the_buffer_come_back(spool: Spool) -> None:
    long = [Place("d" * 100_000, line) for line in range(1, 6)]
    for place in long:
        spool.note("a", place)

    assert spool.places("a") == tuple(long)


def test_of_a_million_places_of_one_url_the_first_are_kept() -> None:
    with Spool() as spool:
        for line in range(1, MOST + 3):
            spool.note("http://a.test/", Place("a.html", line))

        places = spool.places("http://a.test/")
        assert len(places) == MOST
        assert (places[0].line, places[-1].line) == (1, MOST)


def test_a_document_is_named_once_however_many_links_it_has(spool: Spool) -> None:
    name = "http://a.test/" + "long" * 1000
    for line in range(1, 101):
        spool.note(f"http://a.test/{line}", Place("".join([name]), line))

    assert spool._places.size < len(name) + 100 * 40
    assert spool.places("http://a.test/100") == (Place(name, 100),)


def test_names_of_elements_that_are_made_up_for_ever_are_left_out(
    spool: Spool,
) -> None:
    for number in range(2 * TAGS):
        spool.note(f"http://a.test/{number}", Place("a.html", tag=f"x-{number}"))

    assert spool.places("http://a.test/1")[0].tag == "x-1"
    assert spool.places(f"http://a.test/{2 * TAGS - 1}")[0].tag == ""


def test_results_may_be_recorded_while_others_are_read(spool: Spool) -> None:
    spool.record(result("a"))
    for found in spool:
        if found.url == "a":
            spool.record(result("b"))

    assert [found.url for found in spool] == ["a", "b"]
