"""Which targets a round of the settings takes."""

from ronda.config import PlannedRound
from ronda.store.sql.catalogue import Query


def words_of(row: PlannedRound) -> str:
    """The same in words for people."""
    named = {
        "owner": row.owner,
        "label": row.label,
        "state": row.state,
        "host": row.host,
        "kind": row.kind,
        "choose": row.choose,
        "not checked for": f"{row.stale:g} s" if row.stale else "",
    }
    return ", ".join(f"{name} {what}" for name, what in named.items() if what) or "all"


def chosen(row: PlannedRound, now: float) -> Query:
    """What a row of the settings asks of the catalogue, as of a moment."""
    return Query(
        owner=row.owner or None,
        label=row.label or None,
        state=row.state,
        host=row.host or None,
        kind=row.kind or None,
        choose=row.choose,
        checked_before=now - row.stale if row.stale else None,
    )
