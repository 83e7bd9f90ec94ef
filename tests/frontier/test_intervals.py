"""What the rows of the schedule say of one target."""

import pytest

from ronda.config import Intervals
from ronda.errors import SettingsError
from ronda.frontier.intervals import DAY, HOUR, LATELY, NEVER, Rules, Schedule

URL = "https://docs.example.org/guide/page.pdf?x=1"


def ok(*rows: Intervals, url: str = URL, owners=(), labels=()) -> float:
    return Schedule(rows).rules(url, owners, labels).ok


# -- whom a row speaks for ------------------------------------------------------------


@pytest.mark.parametrize("rows", [(), (Intervals(),)], ids=["none", "empty"])
def test_without_rows_that_say_anything_the_defaults_hold(rows):
    assert Schedule(rows).rules(URL, ("a",), ("b",)) == Rules()


def test_a_row_for_everything_speaks_for_everything():
    assert ok(Intervals(ok=5.0)) == 5.0


@pytest.mark.parametrize(
    "match",
    [
        "docs.example.org",
        "*.example.org",
        "*.Example.ORG",
        "docs.*",
        "https://docs.",
        "https://docs.example.org/guide/",
        "*/guide/*",
        "*x=1",
        r"re:\.pdf\b",
    ],
)
def test_a_row_names_a_host_a_pattern_of_hosts_or_one_of_urls(match):
    assert ok(Intervals(match, ok=5.0)) == 5.0


@pytest.mark.parametrize(
    "match", ["example.org", "*.example", "guide", "*.pdf", "http://docs.", "re:^docs"]
)
def test_a_row_that_does_not_match_says_nothing(match):
    assert ok(Intervals(match, ok=5.0)) == DAY


@pytest.mark.parametrize(
    ("owners", "labels", "expected"),
    [
        (("a",), ("x",), 5.0),
        (("a",), ("x", "y"), 5.0),
        (("a",), (), DAY),
        (("a",), ("y",), DAY),
        (("b",), ("x",), DAY),
        ((), ("x",), DAY),
    ],
)
def test_a_row_speaks_for_an_owner_and_a_label(owners, labels, expected):
    rows = (Intervals(), Intervals("*.example.org", "a", "x", ok=5.0))

    assert ok(*rows, owners=owners, labels=labels) == expected


# -- which row goes over which --------------------------------------------------------


def test_a_later_row_goes_over_an_earlier_one():
    rows = [Intervals("*.org", ok=1.0), Intervals("docs.*", ok=2.0)]

    assert ok(*rows) == 2.0
    assert ok(*reversed(rows)) == 1.0


def test_a_row_sets_only_what_it_names():
    found = Schedule(
        [Intervals(ok=1.0, broken=2.0), Intervals("docs.*", ok=3.0, confirm=9)]
    ).rules(URL)

    assert found == Rules(ok=3.0, broken=2.0, confirm=9)


@pytest.mark.parametrize(
    "row",
    [
        Intervals("docs.*", ok=2.0),
        Intervals(owner="a", ok=2.0),
        Intervals(label="x", ok=2.0),
    ],
    ids=["match", "owner", "label"],
)
def test_rows_for_everybody_come_first_wherever_they_stand(row):
    assert ok(row, Intervals(ok=1.0), owners=("a",), labels=("x",)) == 2.0


# -- many owners and labels -----------------------------------------------------------


def test_the_shortest_time_of_all_owners_holds():
    rows = [
        Intervals(ok=HOUR),
        Intervals(owner="a", ok=50.0, broken=9.0),
        Intervals(owner="b", ok=70.0, broken=8.0),
    ]
    found = Schedule(rows).rules(URL, ("a", "b"))

    assert (found.ok, found.broken) == (50.0, 8.0)


def test_an_owner_without_a_row_relies_on_the_general_ones():
    rows = [Intervals(ok=HOUR), Intervals(owner="a", ok=DAY)]

    assert ok(*rows, owners=("a",)) == DAY
    assert ok(*rows, owners=("a", "b")) == HOUR


def test_a_label_without_a_row_says_nothing_of_the_schedule():
    rows = [Intervals(ok=HOUR), Intervals(label="archive", ok=DAY)]

    assert ok(*rows, owners=("a",), labels=("archive", "draft")) == DAY


def test_the_shortest_time_of_all_labels_holds():
    rows = [Intervals(label="x", ok=9.0), Intervals(label="y", ok=8.0)]

    assert ok(*rows, labels=("x", "y")) == 8.0
    assert ok(*reversed(rows), labels=("y", "x")) == 8.0


def test_of_numbers_the_largest_holds_and_never_is_the_largest():
    rows = [
        Intervals(owner="a", confirm=3, flaps=9, failures_to_disable=4),
        Intervals(owner="b", confirm=5, flaps=2, failures_to_disable=7),
    ]
    schedule = Schedule(rows)

    both = schedule.rules(URL, ("a", "b"))
    assert (both.confirm, both.flaps, both.failures_to_disable) == (5, 9, 7)
    assert schedule.rules(URL, ("a", "c")).failures_to_disable == NEVER


def test_whole_numbers_given_for_times_are_times_all_the_same():
    rows = [Intervals(owner="a", ok=9), Intervals(owner="b", ok=8)]

    assert ok(*rows, owners=("a", "b")) == 8


@pytest.mark.parametrize(
    ("rows", "needed"),
    [
        ([Intervals()], False),
        ([Intervals("a.example", ok=1.0)], False),
        ([Intervals(owner="a")], True),
        ([Intervals(label="x")], True),
    ],
    ids=["general", "host", "owner", "label"],
)
def test_owners_and_labels_are_wanted_only_where_rows_name_them(rows, needed):
    assert Schedule(rows).needs_details is needed


# -- and besides ----------------------------------------------------------------------


def test_targets_that_are_alike_share_their_rules():
    schedule = Schedule([Intervals(), Intervals("*.example.org", ok=1.0)])

    one = schedule.rules("https://a.example.org/")
    assert one is schedule.rules("https://b.example.org/", ("somebody",))
    assert one is not schedule.rules("https://b.example.net/")


def test_rules_are_right_however_many_owners_have_rows():
    rows = [Intervals(owner=f"o{n}", ok=float(n + 1)) for n in range(LATELY + 50)]
    schedule = Schedule(rows)

    for _ in range(2):
        for n in range(LATELY + 50):
            assert schedule.rules(URL, (f"o{n}",)).ok == n + 1


def test_a_wrong_pattern_is_named_with_its_row():
    with pytest.raises(SettingsError) as caught:
        Schedule([Intervals(), Intervals("re:(")])

    assert str(caught.value).startswith(
        "schedule[1].match: 're:(' is not a regular expression: "
    )
