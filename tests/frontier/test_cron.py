"""The next moment that five fields name, on every clock."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ronda.config import PlannedRound
from ronda.errors import SettingsError
from ronda.frontier.cron import NAMED, next_after
from ronda.frontier.timetable import Begin, Timetable

LISBON = ZoneInfo("Europe/Lisbon")  # forward 2026-03-29 01:00, back 2026-10-25 02:00
MINUTE = timedelta(minutes=1)


def at(text: str, zone: ZoneInfo | None = None) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone or UTC)


def following(expression: str, moment: datetime, count: int) -> list[str]:
    found = []
    for _ in range(count):
        moment = next_after(expression, moment)
        found.append(moment.isoformat(" ", "minutes"))
    return found


# -- what the fields mean -------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("* * * * *", "2026-01-01 00:01"),
        ("30 2 * * *", "2026-01-01 02:30"),
        ("0 0 * * *", "2026-01-02 00:00"),
        ("*/20 * * * *", "2026-01-01 00:20"),
        ("10-40/15 3 * * *", "2026-01-01 03:10"),
        ("5,59 23 * * *", "2026-01-01 23:05"),
        ("0 12 * mar *", "2026-03-01 12:00"),
        ("0 12 31 4-7 *", "2026-05-31 12:00"),
        ("0 0 29 feb *", "2028-02-29 00:00"),
        ("0 0 29 2 */3", "2032-02-29 00:00"),  # a Sunday
        ("0 9 * * MON-Fri", "2026-01-01 09:00"),
        ("0 9 * * sat", "2026-01-03 09:00"),
        ("0 9 * * 0", "2026-01-04 09:00"),
        ("0 9 * * 7", "2026-01-04 09:00"),
        ("0 9 * * fri-sun", "2026-01-02 09:00"),
        ("  0   9 * *\t7 ", "2026-01-04 09:00"),
        ("@hourly", "2026-01-01 01:00"),
        ("@daily", "2026-01-02 00:00"),
        ("@midnight", "2026-01-02 00:00"),
        ("@weekly", "2026-01-04 00:00"),
        ("@monthly", "2026-02-01 00:00"),
        ("@Yearly", "2027-01-01 00:00"),
        ("@annually", "2027-01-01 00:00"),
    ],
)
def test_an_expression_names_a_moment(expression, expected):
    assert next_after(expression, at("2026-01-01 00:00")) == at(expected)


def test_either_field_of_days_is_enough_when_both_are_given():
    assert following("0 0 13 * fri", at("2026-01-01"), 5) == [
        "2026-01-02 00:00+00:00",
        "2026-01-09 00:00+00:00",
        "2026-01-13 00:00+00:00",
        "2026-01-16 00:00+00:00",
        "2026-01-23 00:00+00:00",
    ]


@pytest.mark.parametrize("expression", ["0 0 13 * */5", "0 0 */13 * fri"])
def test_both_fields_of_days_must_fit_when_one_begins_with_a_star(expression):
    found = next_after(expression, at("2026-01-01"))

    assert found.day in {1, 13, 14, 27}
    assert found.isoweekday() in {5, 7}
    assert found.isoweekday() == 5 or expression.endswith("*/5")


def test_the_moment_itself_is_not_the_next_one_whatever_its_seconds():
    assert next_after("30 2 * * *", at("2026-01-01 02:30")) == at("2026-01-02 02:30")
    assert next_after("30 2 * * *", at("2026-01-01 02:30:59")) == at("2026-01-02 02:30")
    assert next_after("30 2 * * *", at("2026-01-01 02:29:59")) == at("2026-01-01 02:30")


# -- what is wrong --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("60 * * * *", "minute: '60' is not a number from 0 to 59"),
        ("-1 * * * *", "minute: '' is not a number from 0 to 59"),
        ("* 24 * * *", "hour: '24' is not a number from 0 to 23"),
        ("* * 0 * *", "day of the month: '0' is not a number from 1 to 31"),
        (
            "* * * 13 *",
            "month: '13' is not a number from 1 to 12 or a name such as feb",
        ),
        ("* * * mai *", "month: 'mai' is not a number from 1 to 12"),
        ("* * * * 8", "day of the week: '8' is not a number from 0 to 7"),
        ("* * * * fri-mon", "day of the week: 'fri-mon' goes backwards"),
        ("30-10 * * * *", "minute: '30-10' goes backwards"),
        ("*/0 * * * *", "minute: '0' is no step"),
        ("*/x * * * *", "minute: 'x' is no step"),
        ("*/60 * * * *", "minute: '60' is no step"),
        ("5/15 * * * *", "minute: '5/15': a step needs * or a range: write 5-59/15"),
        ("1,,2 * * * *", "minute: '' is not a number"),
        ("0000000061 * * * *", "minute: '0000000061' is not a number"),
        ("٣ * * * *", "minute: '٣' is not a number"),
        ("1.5 * * * *", "minute: '1.5' is not a number"),
        ("0 0 30 2 *", "day of the month: none of these months has such a day"),
        ("0 0 31 2,4 */2", "day of the month: none of these months has such a day"),
        (
            "* * * *",
            "' has 4 fields, not 5 (minute, hour, day of the month, month, day",
        ),
        ("* * * * * *", "' has 6 fields, not 5"),
        ("", "'' has 0 fields, not 5"),
        ("@reboot", "'@reboot' is not one of @yearly, @annually, @monthly"),
    ],
)
def test_a_wrong_expression_is_told_in_one_line_with_its_field(expression, words):
    with pytest.raises(SettingsError) as caught:
        next_after(expression, at("2026-01-01"))

    assert words in str(caught.value)
    assert f"'{expression}'" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_very_long_wrong_expression_is_cut():
    with pytest.raises(SettingsError) as caught:
        next_after("9" * 5000 + " * * * *", at("2026-01-01"))

    assert len(str(caught.value)) < 400


def test_another_time_zone_than_that_of_the_moment_can_be_named():
    found = next_after("30 1 * * *", at("2026-07-01 12:00"), "Europe/Lisbon")

    assert found == at("2026-07-02 00:30")
    assert found.tzinfo == LISBON


def test_a_time_zone_that_nobody_knows_is_told():
    with pytest.raises(SettingsError, match=r"^'Mars/Base' is no time zone that this"):
        next_after("@daily", at("2026-07-01"), "Mars/Base")


# -- clocks that jump -----------------------------------------------------------------


def test_a_time_that_does_not_exist_is_the_next_one_that_does():
    assert following("30 1 * * *", at("2026-03-28 00:00", LISBON), 3) == [
        "2026-03-28 01:30+00:00",
        "2026-03-29 02:00+01:00",
        "2026-03-30 01:30+01:00",
    ]


def test_all_times_that_a_gap_swallows_are_one():
    assert following("*/20 0-2 * * *", at("2026-03-29 00:30", LISBON), 3) == [
        "2026-03-29 00:40+00:00",
        "2026-03-29 02:00+01:00",
        "2026-03-29 02:20+01:00",
    ]


def test_a_time_that_comes_twice_counts_the_first_time():
    assert following("30 1 * * *", at("2026-10-24 12:00", LISBON), 2) == [
        "2026-10-25 01:30+01:00",
        "2026-10-26 01:30+00:00",
    ]


def test_the_second_pass_over_an_hour_is_not_counted_when_asked_in_it():
    second = at("2026-10-25 01:10", LISBON).replace(fold=1)

    assert following("*/20 * * * *", second, 1) == ["2026-10-25 02:00+00:00"]


def test_a_day_that_a_country_skipped_is_the_next_day():
    apia = ZoneInfo("Pacific/Apia")  # had no 2011-12-30

    assert following("0 12 30 12 *", at("2011-12-01 00:00", apia), 1) == [
        "2011-12-31 00:00+14:00"
    ]


def test_a_gap_of_half_an_hour_is_known_too():
    island = ZoneInfo("Australia/Lord_Howe")  # forward by 30 minutes at 02:00

    assert following("15 2 * * *", at("2026-10-03 12:00", island), 1) == [
        "2026-10-04 02:30+11:00"
    ]


# -- against a slow version -----------------------------------------------------------

ZONES = ("UTC", "Europe/Lisbon", "America/New_York", "Australia/Lord_Howe")


def fields(first: int, last: int) -> st.SearchStrategy[str]:
    number = st.integers(first, last)
    ranges = st.tuples(number, number).map(lambda pair: f"{min(pair)}-{max(pair)}")
    step = st.tuples(st.one_of(st.just("*"), ranges), st.integers(1, last))
    item = st.one_of(
        number.map(str), ranges, step.map(lambda pair: f"{pair[0]}/{pair[1]}")
    )
    return st.one_of(st.just("*"), st.lists(item, min_size=1, max_size=3).map(",".join))


expressions = st.one_of(
    st.sampled_from(sorted(set(NAMED) - {"@yearly", "@annually", "@monthly"})),
    st.tuples(
        fields(0, 59), fields(0, 23), fields(1, 28), st.just("*"), fields(0, 7)
    ).map(" ".join),
)
# Days before a clock jumps, and days on which nothing happens.
starts = st.builds(
    lambda day, minutes, zone: (
        datetime.fromisoformat(day).replace(tzinfo=UTC) + minutes * MINUTE
    ).astimezone(ZoneInfo(zone)),
    st.sampled_from(
        ["2026-03-28", "2026-10-24", "2026-03-07", "2026-10-31", "2026-06-01"]
    ),
    st.integers(0, 2 * 1440),
    st.sampled_from(ZONES),
)


def allowed(text: str, number: int, first: int, last: int) -> bool:
    """Whether a field, read as the manual page of cron tells it, names a number."""
    for item in text.split(","):
        body, _, step = item.partition("/")
        low, _, high = (f"{first}-{last}" if body == "*" else body).partition("-")
        if number in range(int(low), int(high or low) + 1, int(step or 1)):
            return True
    return False


def shows(expression: str, wall: datetime) -> bool:
    minute, hour, day, month, week = NAMED.get(expression, expression).split()
    weekday = wall.isoweekday() % 7
    in_month = allowed(day, wall.day, 1, 31)
    in_week = allowed(week, weekday, 0, 7) or (weekday == 0 and allowed(week, 7, 0, 7))
    starred = day.startswith("*") or week.startswith("*")
    return (
        allowed(minute, wall.minute, 0, 59)
        and allowed(hour, wall.hour, 0, 23)
        and allowed(month, wall.month, 1, 12)
        and ((in_month and in_week) if starred else (in_month or in_week))
    )


def slowly(expression: str, moment: datetime, minutes: int) -> datetime | None:
    """Every minute that passes, with all that the clock on the wall skips in it."""
    zone = moment.tzinfo
    passing = moment.astimezone(UTC).replace(second=0, microsecond=0)
    for _ in range(minutes):
        before = passing.astimezone(zone).replace(tzinfo=None)
        passing += MINUTE
        local = passing.astimezone(zone)
        wall = local.replace(tzinfo=None, fold=0)
        if local.fold:
            continue  # shown for the second time
        walls = [wall]
        while before + MINUTE < walls[-1]:
            walls.append(walls[-1] - MINUTE)
        if any(shows(expression, each) for each in walls):
            return local
    return None


@settings(max_examples=100, deadline=None)
@given(expressions, starts)
def test_the_next_moment_is_the_one_that_a_slow_walk_finds(expression, start):
    minutes = 4 * 1440
    found = next_after(expression, start)
    expected = slowly(expression, start, minutes)

    if expected is None:
        assert found.astimezone(UTC) > start.astimezone(UTC) + minutes * MINUTE
    else:
        assert found.astimezone(UTC) == expected.astimezone(UTC)
        assert found.isoformat() == expected.isoformat()


# -- the rows of the settings ---------------------------------------------------------


NIGHT = PlannedRound("night", "30 2 * * *")
OFTEN = PlannedRound("often", "* * * * *")


def moment(text: str) -> float:
    return at(text).timestamp()


def test_a_round_is_due_once_its_moment_has_come():
    table = Timetable([NIGHT])
    since = moment("2026-05-01 00:00")

    assert table.due({}, since, moment("2026-05-01 02:29:59")) == []
    assert table.due({}, since, moment("2026-05-01 02:30")) == [
        Begin(NIGHT, moment("2026-05-01 02:30"))
    ]


def test_a_round_that_has_begun_is_not_due_again_before_its_next_moment():
    table = Timetable([NIGHT])
    begun = {"night": moment("2026-05-01 02:30")}

    assert table.due(begun, 0.0, moment("2026-05-02 02:29")) == []
    [found] = table.due(begun, 0.0, moment("2026-05-02 02:30"))
    assert found.at == moment("2026-05-02 02:30")


@pytest.mark.parametrize("row", [NIGHT, OFTEN, PlannedRound("rare", "0 0 29 2 *")])
def test_of_moments_that_were_missed_only_the_newest_is_due(row):
    begun = {row.name: moment("2001-01-01 00:00")}

    [found] = Timetable([row]).due(begun, 0.0, moment("2026-05-03 12:34:56"))
    assert (
        found.at
        == {
            "night": moment("2026-05-03 02:30"),
            "often": moment("2026-05-03 12:34"),
            "rare": moment("2024-02-29 00:00"),
        }[row.name]
    )


def test_the_next_moment_is_that_of_the_round_that_comes_first():
    table = Timetable([NIGHT, PlannedRound("noon", "0 12 * * *")])

    assert table.next_at(moment("2026-07-01 00:00")) == moment("2026-07-01 02:30")
    assert table.next_at(moment("2026-07-01 02:30")) == moment("2026-07-01 12:00")
    assert Timetable([]).next_at(0.0) is None


def test_rounds_keep_to_the_clock_of_their_time_zone():
    row = PlannedRound("early", "0 1 * * *", timezone="Europe/Lisbon")

    found = Timetable([row]).next_at(moment("2026-07-01 12:00"))
    assert found == moment("2026-07-02 00:00")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (
            PlannedRound("b", "0 25 * * *"),
            "rounds[1].cron: '0 25 * * *': hour: '25' is",
        ),
        (PlannedRound("b", ""), "rounds[1].cron: '' has 0 fields"),
        (
            PlannedRound("b", "@daily", timezone="Mars/Base"),
            "rounds[1].timezone: 'Mars",
        ),
        (PlannedRound("b", "@daily", timezone="../etc"), "rounds[1].timezone: '../etc"),
        (PlannedRound("b", "@daily", timezone=""), "rounds[1].timezone: '' is no time"),
        (
            PlannedRound("b", "@daily", timezone="Europe"),
            "rounds[1].timezone: 'Europe'",
        ),
    ],
    ids=["hour", "empty", "unknown", "path", "no-zone", "folder"],
)
def test_a_wrong_row_is_named(row, words):
    with pytest.raises(SettingsError) as caught:
        Timetable([NIGHT, row])

    assert str(caught.value).startswith(words)
