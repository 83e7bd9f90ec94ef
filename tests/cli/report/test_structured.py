import json

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from ronda import __version__
from ronda.cli.report import FORMATS
from ronda.cli.report.safe import safe_result
from ronda.model import Result, State

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
                },
                "message": "not a URL: http://",
            },
            {
                "place": {"document": "missing.md", "line": 0, "column": 0, "text": ""},
                "message": "no such file",
            },
        ],
    }


def test_every_result_has_every_key(write):
    for result in json.loads(write("json"))["results"]:
        assert list(result) == KEYS
        assert list(result["timings"]) == [
            "name", "connect", "tls", "first_byte", "total",
        ]  # fmt: skip
        for place in result["found_in"]:
            assert list(place) == ["document", "line", "column", "text"]
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
