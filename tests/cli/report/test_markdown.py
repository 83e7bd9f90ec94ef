import re

from hypothesis import given
from hypothesis import strategies as st

from ronda.model import Place, Problem, Result, State, Summary

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
""".replace("a|b", "a\\|b")


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
