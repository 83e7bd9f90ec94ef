"""What goes with a batch, and when it is sent again."""

import hashlib
import hmac
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.config import Notices
from ronda.model import Answer
from ronda.store.sql.taking import Batch
from ronda.workers.notices import (
    JITTER,
    fault,
    headers,
    reconcile_at,
    retry_at,
    why_given_up,
)

SETTINGS = Notices()
DAY = 86_400.0
NOW = 1_800_000_000.0


def batch(
    failures: int = 0, failing_since: float | None = None, token: str = "secret"
) -> Batch:
    return Batch(
        key="the-key",
        body='{"ä": 1}'.encode(),
        owner_id=7,
        owner="ann",
        callback="http://127.0.0.1/",
        token_hash=hashlib.sha256(token.encode()).hexdigest() if token else "",
        holder=1,
        failures=failures,
        failing_since=failing_since,
    )


def test_a_receiver_who_knows_the_token_can_check_the_signature() -> None:
    found = dict(line.split(": ", 1) for line in headers(batch(), 1234.9))
    key = hashlib.sha256(b"secret").hexdigest().encode()
    signed = f"{found['Ronda-Timestamp']}.".encode() + batch().body
    expected = hmac.new(key, signed, hashlib.sha256).hexdigest()

    assert found["Ronda-Signature"] == f"sha256={expected}"
    assert found["Ronda-Timestamp"] == "1234"
    assert found["Ronda-Batch"] == "the-key"
    assert found["Content-Type"] == "application/json"


def test_without_a_token_nothing_is_signed() -> None:
    assert len(headers(batch(token=""), NOW)) == 3


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(200), ""),
        (Answer(204), ""),
        (Answer(200, error=28, error_text="its end never came"), ""),
        (Answer(301), "HTTP 301"),
        (Answer(500), "HTTP 500"),
        (Answer(100, error=28, error_text="too slow"), "HTTP 100"),
        (Answer(error=7, error_text="nobody there"), "nobody there"),
        (Answer(error=7), "error 7"),
    ],
)
def test_what_counts_as_taken(answer: Answer, words: str) -> None:
    assert fault(answer) == words


def test_the_gaps_double_up_to_the_longest() -> None:
    gaps = [retry_at(batch(n), 0.0, SETTINGS, 0.0) for n in range(13)]

    assert gaps[:4] == [30.0, 60.0, 120.0, 240.0]
    assert gaps[9:] == [15_360.0, 21_600.0, 21_600.0, 21_600.0]


@given(failures=st.integers(0, 100_000), draw=st.floats(0, 1), now=st.floats(0, 1e10))
def test_chance_makes_a_gap_shorter_but_never_too_short(
    failures: int, draw: float, now: float
) -> None:
    full = retry_at(batch(failures), now, SETTINGS, 0.0) - now
    found = retry_at(batch(failures), now, SETTINGS, draw) - now

    assert full * (1 - JITTER) - 0.01 <= found <= full + 0.01
    assert found >= SETTINGS.interval - 0.01


def test_a_gap_is_never_shorter_than_the_interval() -> None:
    settings = Notices(interval=15.0, retry_first=1.0)

    assert retry_at(batch(), 0.0, settings, 0.5) == 15.0


@pytest.mark.parametrize(
    ("failures", "hours", "words"),
    [
        (0, 0.0, ""),
        (18, 71.9, ""),
        (19, 1.0, "20 failures in a row, the last HTTP 500"),
        (5, 72.0, "failing for 3.0 days, the last HTTP 500"),
    ],
)
def test_an_owner_is_given_up_by_number_or_by_time(
    failures: int, hours: float, words: str
) -> None:
    since = NOW - hours * 3600 if failures else None
    why = why_given_up(batch(failures, since), NOW, SETTINGS, "HTTP 500")

    assert bool(why) is bool(words)
    assert words in why
    assert "\n" not in why


def test_twenty_failures_take_about_three_days() -> None:
    spent = 0.0
    for number in range(19):
        spent = retry_at(batch(number), spent, SETTINGS, JITTER)

    assert 2.5 * DAY < spent < 3 * DAY


@given(owner_id=st.integers(1, 1 << 40), now=st.floats(0, 4e9))
def test_a_reconciliation_is_due_once_a_day(owner_id: int, now: float) -> None:
    first = reconcile_at(owner_id, now, SETTINGS)
    second = reconcile_at(owner_id, first + 1, SETTINGS)

    assert now - 0.01 <= first <= now + DAY + 0.01
    assert second - first == pytest.approx(DAY)


def test_owners_are_spread_over_the_day() -> None:
    moments = sorted(reconcile_at(n, 0.0, SETTINGS) for n in range(1, 1001))
    gaps = [b - a for a, b in pairwise(moments)]

    assert max(gaps) < 3 * DAY / 1000
