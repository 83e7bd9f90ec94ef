import re

from hypothesis import given
from hypothesis import strategies as st

from ronda.model import Place, Problem, Result, Site, State, Summary

SAMPLE = """\
## 1 broken link on 1 page.

| Verdict | Links |
| --- | ---: |
| **broken** | 1 |
| ok | 1,200 |

1,201 checked in 2.0 s. 1 problem with the input.

### Problems with the input

- a\\_b.md:2: not a URL: \\<x\\>

### `docs/a|b.md`

| Line | Verdict | Link | What was found |
| ---: | --- | --- | --- |
| 3:1 | **broken** | <https://a.example/?x=1\\|2> | 404 \\| Not \\*Found\\* |
"""

CRAWL = """\
| 5 | **broken** | <https://site.example/gone> | 404 Not Found |

### Where broken links stand

- **broken** <https://site.example/gone> 404 Not Found, on 12 pages
  - 7:3 <https://site.example/>
  - 9:4 <https://site.example/news>
  - 5 <https://site.example/p00>
  - 5 <https://site.example/p01>
  - 5 <https://site.example/p02>
  - 5 <https://site.example/p03>
  - 5 <https://site.example/p04>
  - 5 <https://site.example/p05>
  - 5 <https://site.example/p06>
  - 5 <https://site.example/p07>
  - … and 2 more
- temporary <https://slow.example/> no connection within 10 s, on 2 pages
  - 20:5 <https://site.example/>
  - 30:5 <https://site.example/about>

### Redirect chains

- <http://site.example/old> on 2 pages
  - 301 → <https://site.example/old>
  - 302 → <https://site.example/about> 200

### Orphans: in a sitemap, but linked from no page

- <https://site.example/forgotten>
- <https://site.example/lost>

### Slowest pages

- 12.3 s <https://site.example/search?q=a>
- 2.4 s <https://site.example/>

### Pages with the same content

- 7 pages
  - <https://site.example/print/1>
  - <https://site.example/print/2>
  - <https://site.example/print/3>
  - <https://site.example/print/4>
  - <https://site.example/print/5>
  - … and 2 more
- 2 pages
  - <https://site.example/about>
  - <https://site.example/about?a=1>

### Links that were not followed, by rule

- 1,204 `depth` (--depth)
- 365 `trap: a calendar` (--no-traps)
- 20 `query strings` (--max-queries)
- 4 `nofollow` (--ignore-nofollow)
- 3 `a rule of its own`
- 2 `content type` (--content-type)
- 1 `max pages` (--max-pages)
"""


def unescaped_bars(line):
    return len(re.findall(r"(?<!\\)\|", line))


def broken(url, **more):
    facts = {"verdict": State.BROKEN, "reason": "http_404", "message": "404"}
    return Result(url=url, **(facts | more))


def test_counts_come_first_then_a_table_a_document(write):
    result = broken(
        "https://a.example/?x=1|2",
        message="404 | Not *Found*",
        found_in=(Place("docs/a|b.md", 3, 1),),
    )
    summary = Summary(
        counts={State.OK: 1200, State.BROKEN: 1},
        seconds=2,
        problems=(Problem(Place("a_b.md", 2), "not a URL: <x>"),),
    )

    assert write("markdown", (result,), summary) == SAMPLE


def test_a_crawl_tells_of_its_site_after_its_tables(crawled, write):
    written = write("markdown", *crawled)

    assert written.endswith(CRAWL)
    assert "14 pages read, 3 of them unchanged, 1.2 MB received." in written
    assert "0.20 s" in write("markdown", *crawled, verbose=True)


def test_what_is_left_out_of_a_list_is_counted(write):
    site = Site(duplicates=(("a:1", "a:2"),) * 12)

    lines = write("markdown", (), Summary(site=site)).splitlines()

    assert lines[-2:] == ["  - `a:2`", "- … and 2 more"]


def test_a_bar_is_escaped_in_tables_alone(write):
    url = "https://a.example/?x=1|2"

    written = write("markdown", (broken(url),), Summary(site=Site(orphans=(url,))))

    assert "| <https://a.example/?x=1\\|2> |" in written
    assert written.endswith("\n- <https://a.example/?x=1|2>\n")


@given(text=st.text(min_size=1))
def test_no_text_breaks_a_list(text, tainted_crawl, write):
    lines = write("markdown", (), tainted_crawl(text)).splitlines()
    plain = write("markdown", (), tainted_crawl("x")).splitlines()

    marks = [re.match("[-# ]*", line)[0] for line in plain]
    assert len(lines) == len(plain)
    assert all(map(str.startswith, lines, marks))


def test_a_moved_link_names_its_new_address(write):
    assert "| moved permanently → <https://example.org/en/> |" in write("markdown")


def test_links_that_work_are_shown_only_when_wanted(write):
    assert "https://example.org/fine" not in write("markdown")
    assert "https://example.org/fine" in write("markdown", verbose=True)


def test_only_safe_schemes_can_be_clicked(write):
    written = write("markdown", (broken("javascript:alert(1)"),))

    assert "| `javascript:alert(1)` |" in written


def test_ticks_do_not_end_code(write):
    written = write("markdown", (broken("x:`a``b`"),))

    assert "| ``` x:`a``b` ``` |" in written


@given(text=st.text())
def test_no_text_breaks_the_table(text, tainted, write):
    lines = write("markdown", (tainted(text),), Summary()).splitlines()
    plain = write("markdown", (tainted("x"),), Summary()).splitlines()

    assert len(lines) == len(plain)
    assert unescaped_bars(lines[-1].replace(r"\\", "")) == unescaped_bars(plain[-1])
