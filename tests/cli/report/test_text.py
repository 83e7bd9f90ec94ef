import re

from hypothesis import given
from hypothesis import strategies as st

from ronda.cli.report.style import COLOURS
from ronda.model import Place, Result, State, Summary

ESCAPES = re.compile(r"\x1b\[\d+m|\x1b\]8;;[^\x1b]*\x1b\\")

DEFAULT = """\
lists/bad.txt:3: not a URL: http://
missing.md: no such file

(command line)
          unknown      not checked                     https://never.example/
          blocked      403 Forbidden                   https://wall.example/

(standard input)
       2  unsupported  no handler for scheme 'gopher'  gopher://old.example/

docs/guide.md
     3:1  warning      moved permanently               http://example.org/  \
-> https://example.org/en/
    12:5  broken       404 Not Found                   https://example.org/gone
  100:22  temporary    no connection within 10 s       https://slow.example/

https://example.org/index.html
       7  broken       404 Not Found                   https://example.org/gone

7 checked in 3.4 s: 1 ok, 1 warning, 1 temporary, 1 broken, 1 blocked, \
1 unsupported, 1 unknown
1,200 excluded.
2 problems with the input.
Ended early (Ctrl-C): 5 not checked.
1 broken link on 2 pages.
"""

VERBOSE = """\
docs/guide.md
     3:1  warning      moved permanently               http://example.org/  \
(200, 192.0.2.1, 1,500 ms)
                                                       301 -> https://example.org/
                                                       308 -> https://example.org/en/
     4:1  ok           200 OK                          https://example.org/fine  \
(200, 192.0.2.1, 12 ms)
"""

NO_POSITIONS = """\
(command line)
  broken       404 Not Found  https://example.org/gone

2 checked in 0.50 s: 1 ok, 1 broken
1 broken link.
"""


def test_bad_links_stand_under_their_documents(write):
    assert write("text") == DEFAULT


def test_verbose_shows_every_link_with_its_evidence(write):
    assert VERBOSE in write("text", verbose=True)


def test_links_of_the_command_line_need_no_position(write):
    facts = {"url": "https://example.org/gone", "reason": "http_404"}
    result = Result(verdict=State.BROKEN, message="404 Not Found", **facts)
    summary = Summary(counts={State.OK: 1, State.BROKEN: 1}, seconds=0.5)

    assert write("text", (result,), summary) == NO_POSITIONS


def test_a_good_run_is_two_lines(write):
    summary = Summary(counts={State.OK: 1190, State.WARNING: 0}, seconds=3.4)

    assert write("text", (), summary) == (
        "1,190 checked in 3.4 s: 1,190 ok\nNothing broken.\n"
    )


def test_colours_and_hyperlinks_change_no_word(write):
    coloured = write("text", verbose=True, colour=True, hyperlinks=True)

    assert ESCAPES.sub("", coloured) == write("text", verbose=True)


def test_every_verdict_has_its_colour(write):
    coloured = write("text", verbose=True, colour=True)

    assert all(f"\x1b[{COLOURS[s]}m{s.ljust(11)}\x1b[0m" in coloured for s in State)


def test_hyperlinks_are_for_web_addresses_only(write):
    linked = write("text", hyperlinks=True)

    assert "\x1b]8;;https://slow.example/\x1b\\https://slow.example/" in linked
    assert "\x1b]8;;gopher:" not in linked


def test_a_long_message_does_not_push_other_links_away(write):
    facts = {"verdict": State.BROKEN, "reason": "r"}
    results = (
        Result(url="https://a.example/", message="m" * 300, **facts),
        Result(url="https://b.example/", message="short", **facts),
    )

    _, long, short, *_ = write("text", results, Summary(), width=50).splitlines()

    assert long.endswith("m  https://a.example/")
    assert short == f"  broken       {'short':20}  https://b.example/"


def test_a_long_list_is_not_cut(write):
    facts = {"verdict": State.BROKEN, "reason": "r", "message": "m"}
    results = tuple(
        Result(url=f"https://a.example/{n}", found_in=(Place("list.txt", n),), **facts)
        for n in range(1, 2001)
    )

    lines = write("text", results).splitlines()

    assert [f"{n}" for n in range(1, 2001)] == [
        line.split()[0] for line in lines if "broken  " in line
    ]


@given(text=st.text())
def test_no_text_can_steer_the_terminal(text, tainted, write, summary):
    for verbose in (False, True):
        lines = write("text", (tainted(text),), summary, verbose=verbose).split("\n")

        assert all(line.isprintable() for line in lines)
