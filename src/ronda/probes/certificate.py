"""What a certificate's dates mean."""

from datetime import datetime

from ronda.model import Certificate

DAY = 86_400  # seconds


def ends_soon(certificate: Certificate, now: float, days: int) -> bool:
    """Whether a certificate ends within some days."""
    try:
        ends = datetime.fromisoformat(certificate.ends_at).timestamp()
    except ValueError:  # no date, or one that nobody can read
        return False
    return ends - now < days * DAY
