import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda import __version__
from ronda.cli.report.safe import safe_result
from ronda.model import Place, Problem, Result, State, Summary

URI_REFERENCE = re.compile(r"(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*")


def run(text):
    (found,) = json.loads(text)["runs"]
    return found


def broken(document, line=0, column=0, url="https://a.example/"):
    return Result(
        url=url,
        verdict=State.BROKEN,
        reason="http_404",
        message="404",
        found_in=(Place(document, line, column),),
    )


def physical(result, write):
    (found,) = run(write("sarif", (result,)))["results"]
    return found["locations"][0]["physicalLocation"]


def test_the_log_is_of_version_2_1_0(write):
    log = json.loads(write("sarif"))

    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")


def test_the_tool_names_itself(write):
    driver = run(write("sarif"))["tool"]["driver"]

    assert driver["name"] == "ronda"
    assert driver["version"] == __version__


def test_rules_are_the_reasons_that_were_met(write):
    found = run(write("sarif"))
    rules = found["tool"]["driver"]["rules"]

    assert [rule["id"] for rule in rules] == sorted(
        {r["ruleId"] for r in found["results"]}
    )
    assert "http_200" not in {rule["id"] for rule in rules}
    assert all(rule["shortDescription"]["text"] for rule in rules)
    for result in found["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]


def test_the_level_follows_the_verdict(write):
    results = run(write("sarif"))["results"]
    levels = {r["properties"]["verdict"]: r["level"] for r in results}

    assert levels == {
        "broken": "error",
        "temporary": "warning",
        "warning": "warning",
        "blocked": "note",
        "unsupported": "note",
        "unknown": "note",
    }


def test_every_result_has_what_the_schema_and_code_scanning_require(write):
    for result in run(write("sarif"))["results"]:
        assert result["message"]["text"]
        (location,) = result["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"]
        region = location["physicalLocation"].get("region", {"startLine": 1})
        assert region["startLine"] >= 1
        assert region.get("startColumn", 1) >= 1


def test_every_place_is_a_result(write):
    assert len(run(write("sarif"))["results"]) == 7


def test_a_result_names_the_link_and_where_it_moved(write):
    texts = [r["message"]["text"] for r in run(write("sarif"))["results"]]

    assert "http://example.org/: moved permanently -> https://example.org/en/" in texts


@pytest.mark.parametrize(
    ("document", "uri"),
    [
        ("docs/a.md", "docs/a.md"),
        ("./docs/a.md", "docs/a.md"),
        ("../a.md", "../a.md"),
        ("my docs/ä#1.md", "my%20docs/%C3%A4%231.md"),
        ("a:b.md", "a%3Ab.md"),
        ("/elsewhere/a.md", "file:///elsewhere/a.md"),
        (str(Path.cwd() / "docs/a.md"), "docs/a.md"),
        ("https://a.example/b?c=d|e", "https://a.example/b?c=d%7Ce"),
    ],
)
def test_a_document_is_a_relative_path_or_a_url(document, uri, write):
    assert physical(broken(document), write) == {"artifactLocation": {"uri": uri}}


@pytest.mark.parametrize("document", ["", "-"])
def test_a_url_given_by_hand_stands_for_itself(document, write):
    assert physical(broken(document, 3), write) == {
        "artifactLocation": {"uri": "https://a.example/"}
    }


def test_a_region_holds_what_is_known(write):
    assert physical(broken("a.md", 3, 7), write)["region"] == {
        "startLine": 3,
        "startColumn": 7,
    }
    assert physical(broken("a.md", 3), write)["region"] == {"startLine": 3}


def test_problems_and_an_early_end_are_notifications(write):
    (invocation,) = run(write("sarif"))["invocations"]
    notices = invocation["toolExecutionNotifications"]

    assert invocation["executionSuccessful"] is False
    assert [notice["message"]["text"] for notice in notices] == [
        "not a URL: http://",
        "no such file",
        "Ended early (Ctrl-C): 5 not checked.",
    ]


def test_a_problem_on_the_command_line_has_no_location(write):
    summary = Summary(problems=(Problem(Place(""), "not a URL: x"),))
    (invocation,) = run(write("sarif", (), summary))["invocations"]

    assert invocation["toolExecutionNotifications"] == [
        {"level": "error", "message": {"text": "not a URL: x"}}
    ]


def test_a_whole_run_is_successful(write):
    (invocation,) = run(write("sarif", (), Summary()))["invocations"]

    assert invocation == {"executionSuccessful": True, "toolExecutionNotifications": []}


@given(text=st.text())
def test_any_text_survives_and_uris_are_uris(text, tainted, write):
    result = safe_result(tainted(text))

    (found,) = run(write("sarif", (result,)))["results"]

    assert found["properties"]["url"] == result.url
    location = found["locations"][0]["physicalLocation"]
    assert URI_REFERENCE.fullmatch(location["artifactLocation"]["uri"])
