"""The names of commands, cut short or completed, and the words that go with them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.cli.console.link import Heard, quoted
from ronda.cli.console.names import command_line, completions, help_lines, wire_name
from ronda.errors import UsageError
from ronda.server.console.grammar import words
from ronda.server.console.pages import NAMES


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("JOBL", "JOBLIST"),
        ("jl", "JOBLIST"),
        ("runseq", "QUERY"),
        ("RUN", "QUERY"),
        ("REGTASK", "REGTASKS"),
        ("lt", "REGTASKS"),
        ("SERV", "QSERVICE"),
        ("taskres", "QTASK"),
        ("shutdown", "SHUTDWN"),
        ("shutd", "shutd"),  # not by a slip
        ("SX", "SHUTDWN"),
        ("x", "QUIT"),
        ("exit", "QUIT"),
        ("?", "HELP"),
        ("nosuch", "nosuch"),
    ],
)
def test_a_name_is_known_by_what_tells_it_apart(typed, name):
    assert wire_name(typed) == name


def test_what_may_be_several_names_is_a_mistake_that_names_them():
    with pytest.raises(UsageError, match="'q' may be any of QSERVICE, QTASK, QUERY, Q"):
        wire_name("q")


def test_what_follows_a_name_is_left_as_it_is():
    assert command_line("  chec  eid=3 'a  b' ") == "CHECK eid=3 'a  b'"


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("jo", ["JOBLIST "]),
        ("CHECK e", ["eid="]),
        ("chec 12 ", ["eid=", "gid="]),
        ("STOP r", ["round="]),
        ("HELP che", ["CHECK"]),
        ("nosuch e", []),
        ("q e", []),
        ("WHY e", []),
    ],
)
def test_words_are_completed(line, found):
    assert completions(line, line.split(" ")[-1]) == found


def test_without_a_letter_all_commands_are_offered():
    assert len(completions("", "")) == len(NAMES) - 1  # not the question mark


def test_help_is_given_for_a_name_cut_short():
    assert help_lines(["jobl"])[0].startswith("JOBLIST")
    with pytest.raises(UsageError, match="no such command"):
        help_lines(["nosuch"])


@given(st.lists(st.text().filter(str.isprintable), min_size=1))
def test_words_come_to_the_daemon_as_they_were_given(given_words):
    line = " ".join(map(quoted, given_words))

    assert words(line.encode()) == given_words


def test_a_word_of_several_lines_is_no_argument():
    with pytest.raises(UsageError, match="one line of text"):
        quoted("a\nSHUTDWN")


@pytest.mark.parametrize(("code", "good"), [("102", True), ("502", True), ("109", 0)])
def test_even_codes_say_yes(code, good):
    assert Heard(code, b"").is_good == bool(good)
