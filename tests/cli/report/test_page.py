import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda import __version__
from ronda.cli.report.safe import safe_result
from ronda.model import Place, Problem, Result, State, Summary


class Page(HTMLParser):
    """The elements of a page, its text, and its data."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.words = ""
        self.data = ""
        self._reads_data = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, attrs))
        self._reads_data = ("id", "data") in attrs

    def handle_endtag(self, tag):
        self._reads_data = False

    def handle_data(self, data):
        if self._reads_data:
            self.data += data
        else:
            self.words += data

    @property
    def results(self):
        return json.loads(self.data)


def test_the_page_says_the_conclusion_and_the_numbers(write):
    words = Page(write("html")).words

    assert "1 broken link on 2 pages." in words
    assert "7 checked in 3.4 s. 1,200 excluded." in words
    assert "lists/bad.txt:3: not a URL: http://" in words
    assert f"Ronda {__version__}" in words


def test_the_page_holds_every_result(results, write):
    found = Page(write("html")).results

    assert [r["url"] for r in found] == sorted(safe_result(r).url for r in results)


def test_the_page_needs_nothing_from_outside(write):
    text = write("html")
    attributes = [a for _, attrs in Page(text).elements for a in attrs]

    assert not {name for name, _ in attributes} & {"src", "href", "srcset", "data"}
    assert "default-src 'none'" in text
    assert not re.search(r"@import|url\(", text)


def test_headings_can_be_used_without_a_mouse(write):
    elements = Page(write("html")).elements
    heads = [dict(attrs) for tag, attrs in elements if tag == "th"]

    assert len(heads) == 5
    assert all(head["scope"] == "col" for head in heads)
    assert len([1 for tag, attrs in elements if "data-key" in dict(attrs)]) == 5


def test_no_problems_leave_no_heading(write):
    assert "Problems with the input" not in write("html", summary=Summary())


@pytest.mark.parametrize(
    "text",
    [
        "</script><script>alert(1)</script>",
        "<!--<script>",
        "<!--data-->",
        "<!--version-->",
        "\u2028</SCRIPT >",
        "&lt;b&gt;",
    ],
)
def test_known_ways_out_of_the_data_are_shut(text, tainted, write):
    page = Page(write("html", (tainted(text),)))

    assert page.results[0]["message"] == text
    assert page.elements == Page(write("html", (tainted("x"),))).elements


@given(text=st.text())
def test_any_text_survives_and_stays_text(text, tainted, write):
    result = tainted(text)
    summary = Summary(
        counts={State.BROKEN: 1},
        problems=(Problem(Place("a.md", 1), text),),
        interrupted=text,
    )

    page = Page(write("html", (result,), summary))

    assert page.results[0]["message"] == safe_result(result).message
    assert page.results[0]["url"] == safe_result(result).url
    assert page.elements == Page(write("html", (tainted("x"),), SAME)).elements


SAME = Summary(
    counts={State.BROKEN: 1},
    problems=(Problem(Place("a.md", 1), "x"),),
    interrupted="x",
)


def test_what_is_at_its_default_is_left_out_of_the_data(write):
    result = Result(
        url="a:b",
        verdict=State.OK,
        reason="r",
        message="m",
        found_in=(Place("a.md"),),
    )

    assert Page(write("html", (result,))).results[0]["found_in"] == [
        {"document": "a.md"}
    ]
