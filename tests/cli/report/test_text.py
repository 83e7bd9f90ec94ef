import re

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ronda.cli.report.style import COLOURS
from ronda.model import Hop, Place, Result, Site, State, Summary

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

CRAWL = """\
https://site.example/p09
     5  broken       404 Not Found              https://site.example/gone

Where broken links stand
  broken     https://site.example/gone  404 Not Found, on 12 pages
    7:3  https://site.example/
    9:4  https://site.example/news
      5  https://site.example/p00
      5  https://site.example/p01
      5  https://site.example/p02
      5  https://site.example/p03
      5  https://site.example/p04
      5  https://site.example/p05
      5  https://site.example/p06
      5  https://site.example/p07
         … and 2 more
  temporary  https://slow.example/  no connection within 10 s, on 2 pages
    20:5  https://site.example/
    30:5  https://site.example/about

Redirect chains
  http://site.example/old  on 2 pages
    301  -> https://site.example/old
    302  -> https://site.example/about  200

Orphans: in a sitemap, but linked from no page
  https://site.example/forgotten
  https://site.example/lost

Slowest pages
  12.3 s  https://site.example/search?q=a
   2.4 s  https://site.example/

Pages with the same content
  7 pages
    https://site.example/print/1
    https://site.example/print/2
    https://site.example/print/3
    https://site.example/print/4
    https://site.example/print/5
    … and 2 more
  2 pages
    https://site.example/about
    https://site.example/about?a=1

Links that were not followed, by rule
  1,204  depth  (--depth)
    365  trap: a calendar  (--no-traps)
     20  query strings  (--max-queries)
      4  nofollow  (--ignore-nofollow)
      3  a rule of its own
      2  content type  (--content-type)
      1  max pages  (--max-pages)

6 checked in 14.2 s: 2 ok, 1 warning, 1 temporary, 2 broken
14 pages read, 3 of them unchanged, 1.2 MB received.
2 workers died and were replaced.
Ended early (Ctrl-C): 1,025 not checked.
Left: a.example 1,000, b.example 20, others 5.
2 broken links on 13 pages.
"""

CRAWL_VERBOSE = """\
Slowest pages
  12.3 s  https://site.example/search?q=a
   2.4 s  https://site.example/
  0.20 s  https://site.example/about
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


def test_verbose_shows_a_fault_of_ours_line_by_line(write):
    trace = "Traceback:\n  File a.py\nKeyError: https://bob:pass@a.example/\x1b[2J"
    facts = {"url": "a:b", "reason": "r", "message": "m", "evidence": trace}
    results = (Result(verdict=State.UNKNOWN, **facts),)

    lines = write("text", results, Summary(), verbose=True).splitlines()

    assert [line.strip() for line in lines[2:5]] == [
        "Traceback:",
        "File a.py",
        "KeyError: https://a.example/�[2J",
    ]
    assert "Traceback" not in write("text", results, Summary())


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


def test_a_crawl_tells_of_its_site_after_its_links(crawled, write):
    assert write("text", *crawled).endswith(CRAWL)


def test_verbose_tells_more_of_a_site(crawled, write):
    assert CRAWL_VERBOSE in write("text", *crawled, verbose=True)


def test_a_crawl_with_nothing_to_tell_is_three_lines(write):
    summary = Summary(counts={State.OK: 1}, seconds=1, site=Site(pages=1, bytes=12))

    assert write("text", (), summary) == (
        "1 checked in 1.0 s: 1 ok\n1 page read, 12 bytes received.\nNothing broken.\n"
    )


def test_chains_that_are_left_out_are_counted(write):
    facts = {"verdict": State.OK, "reason": "r", "message": "m"}
    hops = (Hop("http://a/", 301, "https://a/"),)
    results = tuple(Result(url=f"u{n}", hops=hops, **facts) for n in range(22))

    lines = write("text", results, Summary(site=Site())).splitlines()

    assert lines[:3] == ["Redirect chains", "  u0", "    301  -> https://a/"]
    assert "  … and 2 more" in lines


def test_colours_and_hyperlinks_change_no_word(crawled, write):
    for run in ((), crawled):
        coloured = write("text", *run, verbose=True, colour=True, hyperlinks=True)

        assert ESCAPES.sub("", coloured) == write("text", *run, verbose=True)


def test_one_blank_line_stands_between_sections(crawled, write):
    written = write("text", *crawled)

    assert "\n\n\n" not in written
    assert not written.startswith("\n")


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
def test_no_site_can_steer_the_terminal(text, tainted, tainted_crawl, write):
    result = replace(tainted(text), found_in=(Place(text, 1), Place("b"), Place("c")))
    written = write("text", (result,), tainted_crawl(text))

    assert all(line.isprintable() for line in written.split("\n"))


@given(text=st.text())
def test_no_text_can_steer_the_terminal(text, tainted, write, summary):
    for verbose in (False, True):
        lines = write("text", (tainted(text),), summary, verbose=verbose).split("\n")

        assert all(line.isprintable() for line in lines)
