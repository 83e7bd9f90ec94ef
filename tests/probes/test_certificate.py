"""What a certificate's dates mean."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.model import Certificate
from ronda.probes.certificate import ends_soon

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("ends_at", "soon"),
    [
        ("2026-03-14T23:59:59Z", True),
        ("2026-03-15T00:00:00Z", False),
        ("2026-02-01T00:00:00Z", True),
        ("9999-12-31T23:59:59Z", False),
        ("", False),
    ],
)
def test_a_certificate_ends_within_two_weeks_or_not(ends_at: str, soon: bool) -> None:
    assert ends_soon(Certificate(ends_at=ends_at), NOW.timestamp(), 14) is soon


@given(seconds=st.integers(-(10**8), 10**8), days=st.integers(0, 400))
def test_it_is_soon_when_fewer_days_are_left(seconds: int, days: int) -> None:
    ends = NOW + timedelta(seconds=seconds)
    certificate = Certificate(ends_at=ends.isoformat().replace("+00:00", "Z"))

    assert ends_soon(certificate, NOW.timestamp(), days) is (seconds < days * 86_400)


def test_a_date_that_nobody_can_read_is_not_soon() -> None:
    odd = Certificate(ends_at="Bad time value")

    assert not ends_soon(odd, NOW.timestamp(), 14)
