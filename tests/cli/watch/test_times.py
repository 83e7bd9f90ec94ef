import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.cli.watch import times
from ronda.errors import UsageError

NOW = 1_700_000_000.0  # 2023-11-14T22:13:20Z


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("10m", 600),
        ("6h", 21_600),
        ("7d", 604_800),
        ("1.5h", 5400),
        (" 6 H ", 21_600),
        ("36600d", 36_600 * 86_400),
    ],
)
def test_a_time_span_is_a_number_and_a_unit(text: str, seconds: float) -> None:
    assert times.seconds(text) == seconds


@pytest.mark.parametrize(
    "text",
    ["", "6", "h", "6 hours", "-6h", "+6h", "6w", "1e3s", "inf", "nans", "٣h", "6h6h"],
)
def test_anything_else_is_no_time_span(text: str) -> None:
    with pytest.raises(UsageError, match="write 90s, 10m, 6h or 7d"):
        times.seconds(text)


@pytest.mark.parametrize("text", ["0s", "0.0d", "36601d", f"{'9' * 400}s"])
def test_a_time_span_is_neither_nothing_nor_for_ever(text: str) -> None:
    with pytest.raises(UsageError, match="out of range"):
        times.seconds(text)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("7d", NOW - 604_800),
        ("90s", NOW - 90),
        ("2023-11-14", 1_699_920_000),
        ("2023-11-14T22:13:20", NOW),
        ("2023-11-14 22:13:20", NOW),
        ("2023-11-14T22:13:20Z", NOW),
        ("2023-11-14T23:13:20+01:00", NOW),
        ("1970-01-01", 0),
    ],
)
def test_a_moment_is_an_iso_date_in_utc_or_a_time_span_ago(
    text: str, at: float
) -> None:
    assert times.moment(text, NOW) == at


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2023-13-01", "2023-02-30", "14.11.2023", "1700000000"]
)
def test_anything_else_is_no_moment(text: str) -> None:
    with pytest.raises(UsageError, match="is no moment; write 2026-01-31"):
        times.moment(text, NOW)


@given(st.text())
def test_any_text_is_a_moment_or_one_clear_line(text: str) -> None:
    try:
        times.moment(text, NOW)
    except UsageError as error:
        message = str(error)
        assert message.isprintable()
        assert len(message) < 200


@given(st.integers(1, 4_000_000_000))
def test_what_is_printed_for_programs_can_be_given_back(at: int) -> None:
    text = times.iso(float(at))

    assert text is not None
    assert times.moment(text, NOW) == at


@pytest.mark.parametrize("never", [None, 0.0])
def test_never_is_null_for_programs_and_a_dash_for_people(never: float | None) -> None:
    assert times.iso(never) is None
    assert times.stamp(never) == "-"
    assert times.ago(never, NOW) == "-"


@pytest.mark.parametrize(
    ("at", "words"),
    [
        (NOW, "now"),
        (NOW - 45, "45 s ago"),
        (NOW - 600, "10 min ago"),
        (NOW - 7200, "2 h ago"),
        (NOW - 3 * 86_400, "3 d ago"),
        (NOW + 600, "in 10 min"),
    ],
)
def test_a_moment_is_told_by_its_distance(at: float, words: str) -> None:
    assert times.ago(at, NOW) == words


@given(st.floats(0, 1e9))
def test_every_length_has_a_number_and_a_unit(span: float) -> None:
    number, unit = times.length(span).split()

    assert int(number) >= 0
    assert unit in {"s", "min", "h", "d"}


def test_people_see_moments_in_utc() -> None:
    assert times.stamp(NOW) == "2023-11-14 22:13:20"


@pytest.mark.parametrize(
    ("span", "words"),
    [
        (0.5, "0.5 s"),
        (60.0, "1 min"),
        (90.0, "90 s"),
        (5400.0, "90 min"),
        (21_600.0, "6 h"),
        (129_600.0, "36 h"),
        (604_800.0, "7 d"),
    ],
)
def test_what_was_set_is_told_without_rounding(span: float, words: str) -> None:
    assert times.exact(span) == words
