import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda import __version__
from ronda.cli.report.safe import safe_result
from ronda.model import Place, Problem, Result, Site, State, Summary


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


def test_a_crawl_folds_each_section(crawled, write):
    page = Page(write("html", *crawled))
    heads = re.findall(r"<summary>(.*?)</summary>", write("html", *crawled))

    assert [re.sub("<[^>]*>", "", head).strip() for head in heads] == [
        "Redirect chains 1",
        "Orphans: in a sitemap, but linked from no page 2",
        "Slowest pages",
        "Pages with the same content 2",
        "Links that were not followed, by rule 1,599",
    ]
    assert "14 pages read, 3 of them unchanged, 1.2 MB received." in page.words
    assert "2 workers died and were replaced." in page.words
    assert ("main", [("data-run", "crawl")]) in page.elements


def test_a_section_says_how_much_it_leaves_out(write):
    orphans = tuple(f"https://a.example/{n:04}" for n in range(1003))
    alike = tuple(f"https://b.example/{n:04}" for n in range(22))
    site = Site(orphans=orphans, duplicates=(alike,) * 201)

    words = Page(write("html", (), Summary(site=site))).words

    assert words.count("… and 3 more") == 1
    assert words.count("… and 2 more") == 200
    assert words.count("… and 1 more") == 1


@pytest.mark.parametrize("summary", [Summary(), Summary(site=Site())])
def test_what_is_not_there_is_not_folded(summary, write):
    tags = [tag for tag, _ in Page(write("html", (), summary)).elements]

    assert "details" not in tags


def test_a_check_is_read_from_one_side_only(write):
    elements = Page(write("html")).elements

    assert ("main", [("data-run", "check")]) in elements
    assert ("hidden", None) in next(a for _, a in elements if ("id", "sides") in a)


def test_only_safe_schemes_can_be_clicked(write):
    site = Site(orphans=("javascript:alert(1)", "data:text/html,x", "https://a/"))

    elements = Page(write("html", (), Summary(site=site))).elements

    assert [dict(a)["href"] for tag, a in elements if tag == "a"] == ["https://a/"]


@given(text=st.text())
def test_a_site_stays_text(text, tainted_crawl, write):
    wild, tame = f"https://a/{text}", "https://a/x"

    page = Page(write("html", (), tainted_crawl(wild)))

    def names(page):
        return [(tag, [name for name, _ in attrs]) for tag, attrs in page.elements]

    assert names(page) == names(Page(write("html", (), tainted_crawl(tame))))


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
