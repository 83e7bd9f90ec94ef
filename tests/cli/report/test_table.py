import csv
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.cli.report.safe import safe_result
from ronda.model import Place, Result, State


def rows(text):
    return list(csv.DictReader(StringIO(text, newline="")))


def test_the_head_names_the_columns(write):
    assert write("csv", ()) == (
        "url,verdict,reason,message,status,final_url,address,total_seconds,bytes,"
        "document,line,column,text,checked_at,attempts,depth,media_type,tag\n"
    )


def test_every_place_has_a_row(write):
    found = [(r["url"], r["document"], r["line"]) for r in rows(write("csv"))]

    assert found == [
        ("gopher://old.example/", "'-", "2"),
        ("http://example.org/", "docs/guide.md", "3"),
        ("https://example.org/fine", "docs/guide.md", "4"),
        ("https://example.org/gone", "docs/guide.md", "12"),
        ("https://example.org/gone", "https://example.org/index.html", "7"),
        ("https://never.example/", "", "0"),
        ("https://slow.example/", "docs/guide.md", "100"),
        ("https://wall.example/", "", "0"),
    ]


def test_a_row_holds_the_evidence(write):
    assert rows(write("csv"))[3] == {
        "url": "https://example.org/gone",
        "verdict": "broken",
        "reason": "http_404",
        "message": "404 Not Found",
        "status": "404",
        "final_url": "https://example.org/gone",
        "address": "192.0.2.1",
        "total_seconds": "0.125",
        "bytes": "512",
        "document": "docs/guide.md",
        "line": "12",
        "column": "5",
        "text": "the old page",
        "checked_at": "2026-01-01T10:00:00Z",
        "attempts": "1",
        "depth": "0",
        "media_type": "",
        "tag": "",
    }


def test_a_crawl_tells_how_deep_a_link_is_and_what_names_it(crawled, write):
    found = {r["url"]: r for r in rows(write("csv", *crawled))}

    logo = found["https://site.example/logo.png"]
    assert (logo["depth"], logo["tag"]) == ("2", "img")
    assert found["https://site.example/"]["media_type"] == "text/html"


def test_the_final_url_is_where_redirects_led(write):
    assert rows(write("csv"))[1]["final_url"] == "https://example.org/en/"


@pytest.mark.parametrize("formula", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_cell_is_a_formula(formula, write):
    result = Result(
        url="https://a.example/",
        verdict=State.BROKEN,
        reason="http_404",
        message=formula,
        found_in=(Place(formula, text=formula, tag=formula),),
        media_type=formula,
    )

    (row,) = rows(write("csv", (result,)))

    names = ("message", "document", "text", "media_type", "tag")
    assert {row[name] for name in names} == {f"'{formula}"}


@given(text=st.text())
def test_any_text_survives(text, tainted, write):
    result = safe_result(tainted(text))

    (row,) = rows(write("csv", (result,)))

    expected = (
        result.url,
        result.message,
        result.hops[0].to or result.url,
        result.found_in[0].document,
        result.found_in[0].text,
    )
    cells = [row[n] for n in ("url", "message", "final_url", "document", "text")]
    for cell, value in zip(cells, expected, strict=True):
        assert cell in (value, f"'{value}")
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
