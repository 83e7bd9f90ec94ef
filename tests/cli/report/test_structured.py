import json

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from ronda import __version__
from ronda.cli.report import FORMATS
from ronda.cli.report.safe import safe_result
from ronda.model import Result, Site, State, Summary

KEYS = [
    "url",
    "verdict",
    "reason",
    "message",
    "hops",
    "status",
    "address",
    "timings",
    "bytes",
    "certificate",
    "found_in",
    "checked_at",
    "attempts",
    "directives",
    "depth",
    "media_type",
    "digest",
    "evidence",
]


def test_the_object_holds_version_summary_and_results(write):
    report = json.loads(write("json"))

    assert list(report) == ["ronda", "summary", "results"]
    assert report["ronda"] == __version__
    assert len(report["results"]) == 7


def test_the_summary_counts_every_verdict(write):
    assert json.loads(write("json"))["summary"] == {
        "counts": dict.fromkeys(State, 1),
        "checked": 7,
        "excluded": 1200,
        "seconds": 3.42,
        "requests": 12,
        "interrupted": "Ctrl-C",
        "left": 5,
        "problems": [
            {
                "place": {
                    "document": "lists/bad.txt",
                    "line": 3,
                    "column": 0,
                    "text": "",
                    "tag": "",
                },
                "message": "not a URL: http://",
            },
            {
                "place": {
                    "document": "missing.md",
                    "line": 0,
                    "column": 0,
                    "text": "",
                    "tag": "",
                },
                "message": "no such file",
            },
        ],
        "remarks": [],
        "left_at": {},
        "site": None,
    }


def test_a_crawl_tells_of_its_site(crawled, write):
    summary = json.loads(write("json", *crawled))["summary"]

    assert summary["remarks"] == ["2 workers died and were replaced"]
    assert list(summary["left_at"].items()) == [("a.example", 1000), ("b.example", 20)]
    site = summary["site"]
    assert (site["pages"], site["unchanged"], site["bytes"]) == (14, 3, 1_234_567)
    assert site["slowest"][0] == {
        "url": "https://site.example/search?q=a",
        "seconds": 12.3,
    }
    assert [len(urls) for urls in site["duplicates"]] == [7, 2]
    assert site["orphans"] == [
        "https://site.example/forgotten",
        "https://site.example/lost",
    ]
    assert site["beyond"]["trap: a calendar"] == 365


def test_a_site_has_every_key_though_it_is_empty(write):
    empty = write("json", (), Summary(site=Site()))

    assert json.loads(empty)["summary"]["site"] == {
        "pages": 0,
        "unchanged": 0,
        "bytes": 0,
        "slowest": [],
        "duplicates": [],
        "orphans": [],
        "beyond": {},
    }


def test_a_page_tells_what_it_is_and_where_its_links_stand(crawled, write):
    results = {r["url"]: r for r in json.loads(write("json", *crawled))["results"]}

    home, gone = (results[f"https://site.example/{name}"] for name in ("", "gone"))
    assert (home["media_type"], home["digest"]) == ("text/html", "5e" * 32)
    assert gone["depth"] == 1
    assert {place["tag"] for place in gone["found_in"]} == {"a"}


def test_every_result_has_every_key(write):
    for result in json.loads(write("json"))["results"]:
        assert list(result) == KEYS
        assert list(result["timings"]) == [
            "name", "connect", "tls", "first_byte", "total",
        ]  # fmt: skip
        for place in result["found_in"]:
            assert list(place) == ["document", "line", "column", "text", "tag"]
        for hop in result["hops"]:
            assert list(hop) == ["url", "status", "to", "address"]


def test_a_certificate_is_null_or_whole(write):
    results = json.loads(write("json"))["results"]
    found = {result["url"]: result["certificate"] for result in results}

    assert found["https://example.org/gone"] is None
    assert found["http://example.org/"] == {
        "subject": "example.org",
        "issuer": "",
        "starts_at": "",
        "ends_at": "2026-03-01T00:00:00Z",
        "names": [],
    }


def test_lines_are_the_results_of_the_object(write):
    lines = write("jsonl").splitlines()

    assert [json.loads(line) for line in lines] == json.loads(write("json"))["results"]


def test_a_streamed_line_is_the_line_of_the_report(results, write):
    streamed = {FORMATS["jsonl"].line(result) for result in results}

    assert streamed == set(write("jsonl").splitlines())


def test_results_can_be_read_back(results, write):
    read = msgspec.json.Decoder(Result).decode_lines(write("jsonl"))

    assert read == sorted(map(safe_result, results), key=lambda result: result.url)


@given(text=st.text(st.characters()))
def test_any_text_survives(text, tainted, write):
    result = tainted(text)

    (read,) = msgspec.json.Decoder(Result).decode_lines(write("jsonl", (result,)))

    assert read == safe_result(result)
    assert len(write("jsonl", (result,)).split("\n")) == 2
