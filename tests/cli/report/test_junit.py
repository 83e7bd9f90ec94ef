import re
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from ronda.cli.report.safe import safe_result
from ronda.model import State, Summary

ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def parsed(text):
    return ElementTree.fromstring(text.encode())


def cases(root):
    return {case.get("name"): case for case in root.iter("testcase")}


def test_every_document_is_a_suite_and_every_place_a_case(write):
    suites = parsed(write("junit")).findall("testsuite")

    assert {suite.get("name"): len(suite) for suite in suites} == {
        "(the run)": 3,
        "(command line)": 2,
        "(standard input)": 1,
        "docs/guide.md": 4,
        "https://example.org/index.html": 1,
    }


def test_sums_are_the_sums_of_the_cases(write):
    root = parsed(write("junit"))

    for element in (root, *root):
        assert int(element.get("tests")) == len(list(element.iter("testcase")))
        assert int(element.get("failures")) == len(list(element.iter("failure")))
        assert int(element.get("errors")) == len(list(element.iter("error")))
        assert int(element.get("skipped")) == len(list(element.iter("skipped")))


def test_only_broken_links_fail(results, write):
    found = cases(parsed(write("junit", results, Summary())))
    outcome = {name: [child.tag for child in case] for name, case in found.items()}

    assert outcome == {
        "https://example.org/gone (12:5)": ["failure"],
        "https://example.org/gone (7)": ["failure"],
        "https://example.org/fine (4:1)": [],
        "http://example.org/ (3:1)": ["skipped"],
        "https://slow.example/ (100:22)": ["skipped"],
        "https://wall.example/": ["skipped"],
        "gopher://old.example/ (2)": ["skipped"],
        "https://never.example/": ["skipped"],
    }


def test_a_failure_says_what_and_where(write):
    case = cases(parsed(write("junit")))["https://example.org/gone (12:5)"]
    failure = case.find("failure")

    assert case.attrib["classname"] == "docs/guide.md"
    assert case.attrib["time"] == "0.125"
    assert failure.attrib == {"type": "http_404", "message": "404 Not Found"}
    assert failure.text == (
        "docs/guide.md:12:5: https://example.org/gone: 404 Not Found"
    )


def test_a_skipped_case_says_its_verdict(write):
    case = cases(parsed(write("junit")))["http://example.org/ (3:1)"]

    assert case.find("skipped").get("message") == (
        "warning: moved permanently -> https://example.org/en/"
    )


def test_problems_with_the_input_are_errors(write):
    found = cases(parsed(write("junit")))

    assert found["missing.md: no such file"].find("error").attrib == {
        "type": "input",
        "message": "no such file",
    }


def test_an_early_end_is_seen(write):
    case = cases(parsed(write("junit")))["every link is checked"]

    assert case.find("skipped").get("message") == "Ended early (Ctrl-C): 5 not checked."


@given(text=st.text())
def test_any_text_that_xml_can_hold_survives(text, tainted, write):
    result = tainted(text)

    root = parsed(write("junit", (result,), Summary(counts={State.BROKEN: 1})))

    (failure,) = root.iter("failure")
    assert failure.get("message") == ILLEGAL.sub("", safe_result(result).message)
    (case,) = root.iter("testcase")
    assert case.get("name") == ILLEGAL.sub("", f"{safe_result(result).url} (1:1)")
