"""What goes with a batch of notices, and when it is sent again: decided, not done."""

import hmac
from math import floor

from ronda.config import Notices
from ronda.model import Answer
from ronda.store.sql.taking import Batch

JITTER = 0.2  # of a gap that chance may take away: not all who fail come back at once
_LONGEST = 100  # characters of an error's words
_DOUBLINGS = 64  # after as many, every gap is the longest
_GOLDEN = 0.6180339887498949  # multiples of it lie evenly between whole numbers


def headers(batch: Batch, now: float) -> tuple[str, ...]:
    """Who it is from and which batch it is; signed, where the owner has a token."""
    moment = str(int(now))
    found = (
        "Content-Type: application/json",
        f"Ronda-Batch: {batch.key}",
        f"Ronda-Timestamp: {moment}",
    )
    if not batch.token_hash:
        return found
    return *found, f"Ronda-Signature: {signature(batch, moment)}"


def signature(batch: Batch, moment: str) -> str:
    """HMAC-SHA256 over the moment, a dot and the body, by the hash of the token."""
    words = f"{moment}.".encode() + batch.body
    return "sha256=" + hmac.new(batch.token_hash.encode(), words, "sha256").hexdigest()


def fault(answer: Answer) -> str:
    """Why a batch was not taken; "" when it was."""
    if 200 <= answer.status < 300:
        return ""
    if answer.status:
        return f"HTTP {answer.status}"
    return answer.error_text[:_LONGEST] or f"error {answer.error}"


def retry_at(batch: Batch, now: float, settings: Notices, draw: float) -> float:
    """When a batch that was not taken is sent again.

    Args:
        batch: as it was taken, before it failed.
        now: the moment.
        settings: the gaps.
        draw: chance, from 0 to 1.
    """
    doubled = settings.retry_first * 2.0 ** min(batch.failures, _DOUBLINGS)
    gap = min(doubled, settings.retry_longest)
    return now + max(settings.interval, gap * (1 - JITTER * draw))


def why_given_up(batch: Batch, now: float, settings: Notices, words: str) -> str:
    """Why an owner is no longer told, once a batch has failed; "" when he is."""
    failures = batch.failures + 1
    since = now if batch.failing_since is None else batch.failing_since
    if failures >= settings.failures_to_switch_off:
        why = f"{failures} failures in a row"
    elif now - since >= settings.give_up:
        why = f"failing for {_days(now - since)}"
    else:
        return ""
    name = batch.owner
    return (
        f"notices to {name} are switched off: {why}, the last {words}; "
        f"to switch them on again: ronda owner notices {name} --on"
    )


def reconcile_at(owner_id: int, now: float, settings: Notices) -> float:
    """When an owner's next reconciliation is due: owners are spread over the day."""
    period = settings.reconcile
    share = owner_id * _GOLDEN % 1.0
    return (floor(now / period - share) + 1 + share) * period


def _days(seconds: float) -> str:
    days = seconds / 86_400
    return f"{days:.1f} days" if days >= 1 else f"{seconds / 3600:.1f} hours"
