"""The table behind all verdicts."""

import re

import pytest

from ronda.model import State
from ronda.probes import REASONS, http_verdict, verdict
from ronda.probes.reasons import status_words


@pytest.mark.parametrize("status", range(100, 1000))
def test_every_status_has_a_verdict_with_its_number(status: int) -> None:
    found = http_verdict(status)

    assert found.reason == f"http_{status}"
    assert found.message.startswith(f"{status} ")
    assert (found.state is State.OK) <= (status // 100 in {2, 3})


def test_codes_are_words_that_programs_can_read() -> None:
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", code) for code in REASONS)
    assert not any(code.startswith("http_") for code in REASONS)


def test_no_two_reasons_have_the_same_words() -> None:
    words = [reason.words for reason in REASONS.values()]

    assert len(set(words)) == len(words)


def test_a_detail_follows_the_words() -> None:
    assert verdict("slow").message == "works, but slowly"
    assert verdict("slow", "3 s").message == "works, but slowly: 3 s"


def test_unofficial_statuses_have_words_too() -> None:
    assert status_words(521) == "Origin Is Down"
    assert status_words(599) == "(no known meaning)"
