import pytest

from ronda.cli.report import words
from ronda.model import Hop, Place, Problem, Result, Site, State, Summary


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0.00 s"),
        (0.344, "0.34 s"),
        (3.44, "3.4 s"),
        (59.94, "59.9 s"),
        (59.97, "1 min 0 s"),
        (125, "2 min 5 s"),
        (3599.6, "1 h 0 min"),
        (3840, "1 h 4 min"),
    ],
)
def test_a_time_span_is_as_exact_as_it_is_long(seconds, shown):
    assert words.duration(seconds) == shown


@pytest.mark.parametrize(
    ("place", "shown"),
    [(Place("a"), ""), (Place("a", 3), "3"), (Place("a", 3, 9), "3:9")],
)
def test_a_position_says_what_is_known(place, shown):
    assert words.position(place) == shown


def test_a_problem_names_its_place():
    assert words.problem_line(Problem(Place("a.md", 3), "bad")) == "a.md:3: bad"
    assert words.problem_line(Problem(Place("-"), "bad")) == "(standard input): bad"


def test_only_warnings_have_a_plural():
    assert words.state_words(State.WARNING, 1) == "1 warning"
    assert words.state_words(State.WARNING, 2) == "2 warnings"
    assert words.state_words(State.BROKEN, 1204) == "1,204 broken"


def test_a_message_that_names_the_new_address_is_not_repeated():
    hops = (Hop("http://a/", 301, "https://a/"),)
    facts = {"url": "http://a/", "verdict": State.WARNING, "reason": "r", "hops": hops}

    assert words.finding(Result(message="moved", **facts)) == "moved -> https://a/"
    said = Result(message="moved to https://a/", **facts)
    assert words.finding(said) == "moved to https://a/"


def broken(*documents):
    places = tuple(Place(document) for document in documents)
    return Result(
        url="a:b", verdict=State.BROKEN, reason="r", message="m", found_in=places
    )


@pytest.mark.parametrize(
    ("results", "summary", "sentence"),
    [
        ([], Summary(), "Nothing was checked."),
        ([], Summary(counts={State.OK: 1}), "Nothing broken."),
        ([], Summary(counts={State.OK: 1}, left=2), "Nothing broken so far."),
        ([broken()], Summary(counts={State.BROKEN: 1}), "1 broken link."),
        (
            [broken("a")],
            Summary(counts={State.BROKEN: 1}),
            "1 broken link on 1 page.",
        ),
        (
            [broken("a", "b", ""), broken("a", "-")],
            Summary(counts={State.BROKEN: 2}),
            "2 broken links on 2 pages.",
        ),
    ],
)
def test_the_conclusion_is_one_sentence(results, summary, sentence):
    assert words.conclusion(results, summary) == sentence


def test_a_clean_run_needs_no_remark():
    assert words.remarks(Summary(counts={State.OK: 9})) == []


def test_remarks_say_what_is_missing_and_why(summary):
    assert words.remarks(summary) == [
        "1,200 excluded.",
        "2 problems with the input.",
        "Ended early (Ctrl-C): 5 not checked.",
    ]


def test_what_was_mended_is_a_sentence_of_its_own():
    remarks = ("2 workers died and were replaced", "The disk was full.")

    assert words.remarks(Summary(remarks=remarks)) == [
        "2 workers died and were replaced.",
        "The disk was full.",
    ]


@pytest.mark.parametrize(
    ("left", "hosts", "line"),
    [
        (1020, {"a.example": 1000, "b.example": 20}, "a.example 1,000, b.example 20"),
        (7, {"a.example": 4}, "a.example 4, others 3"),
        (
            78,
            {f"{n}": 12 - n for n in range(12)},
            "0 12, 1 11, 2 10, 3 9, 4 8, 5 7, 6 6, 7 5, 8 4, 9 3, others 3",
        ),
    ],
)
def test_a_run_that_ends_early_says_whose_targets_it_left(left, hosts, line):
    remarks = words.remarks(Summary(left=left, left_at=hosts))

    assert remarks == [f"Ended early: {left:,} not checked.", f"Left: {line}."]


@pytest.mark.parametrize(
    ("site", "line"),
    [
        (Site(), "0 pages read, 0 bytes received."),
        (Site(pages=1, bytes=1), "1 page read, 1 byte received."),
        (
            Site(pages=1204, unchanged=1, bytes=2_000_000),
            "1,204 pages read, 1 of them unchanged, 2.0 MB received.",
        ),
    ],
)
def test_a_crawl_says_how_much_it_read(site, line):
    assert words.remarks(Summary(site=site)) == [line]


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (12_345_678_901, "12.3 GB"),
        (5 * 10**15, "5,000.0 TB"),
    ],
)
def test_a_size_is_said_in_the_unit_that_fits(count, shown):
    assert words.size(count) == shown


def test_a_page_counts_once_and_the_command_line_is_none():
    places = (Place("", 1), Place("a", 1), Place("a", 2), Place("-", 3), Place("b", 4))
    result = Result(
        url="a:b", verdict=State.OK, reason="r", message="m", found_in=places
    )

    assert words.pages(result) == (Place("a", 1), Place("b", 4))


def test_every_verdict_has_its_urgency():
    assert sorted(words.BY_URGENCY) == sorted(State)
