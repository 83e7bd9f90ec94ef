from ronda.cli.report.style import Style
from ronda.cli.watch.table import Column, facts, lines

PLAIN = Style()
COLUMNS = (Column("state"), Column("number", right=True), Column("url"))


def test_columns_are_as_wide_as_they_must_be() -> None:
    rows = [("ok", "1", "http://a.example/"), ("temporary", "1,204", "http://b/")]

    assert list(lines(COLUMNS, rows, PLAIN)) == [
        "state      number  url",
        "ok              1  http://a.example/",
        "temporary   1,204  http://b/",
    ]


def test_a_table_without_rows_is_its_head() -> None:
    assert list(lines(COLUMNS, [], PLAIN)) == ["state  number  url"]


def test_only_what_is_a_state_has_a_colour() -> None:
    head, row = lines(COLUMNS, [("broken", "1", "broken.example")], Style(colour=True))

    assert head.startswith("\x1b[1m")
    assert row == "\x1b[31mbroken\x1b[0m       1  broken.example"


def test_a_colour_does_not_move_the_columns() -> None:
    rows = [("ok", "1", "a"), ("temporary", "22", "b")]
    plain = list(lines(COLUMNS, rows, PLAIN))
    coloured = list(lines(COLUMNS, rows, Style(colour=True)))

    for code in ("1", "32", "33", "0"):
        coloured = [line.replace(f"\x1b[{code}m", "") for line in coloured]
    assert coloured == plain


def test_what_strangers_wrote_is_one_line_without_a_password() -> None:
    columns = (Column("message", most=10), Column("url"))
    rows = [("a\x1b[31m\nlong message", "http://me:secret@a.example/\r")]

    _, row = lines(columns, rows, PLAIN)
    assert row == "a�[31m�lo…  http://a.example/�"


def test_facts_are_set_under_each_other_and_empty_ones_left_out() -> None:
    pairs = [("state", "ok"), ("since", ""), ("next check", "in 3 h")]

    assert list(facts(pairs, PLAIN)) == [
        "state       ok",
        "next check  in 3 h",
    ]
