"""What is asked of the catalogue: as a value, and as conditions of SQL."""

from collections.abc import Iterator
from typing import Any, Literal

from msgspec import Struct
from sqlalchemy import ColumnElement, Select, exists, not_, or_, select

from ronda.model import State
from ronda.store.sql.containing import Contains
from ronda.store.sql.schema import (
    history,
    host,
    label,
    owner,
    schedule,
    target,
    watch,
)

Sort = Literal["added", "changed", "checked"]
Choose = Literal["", "new", "failed", "unanswered"]
FAILING = (State.BROKEN.value, State.TEMPORARY.value, State.BLOCKED.value)


class Query(Struct, frozen=True, kw_only=True):
    """Which targets, in which order; None: whatever it is."""

    state: State | None = None
    owner: str | None = None  # the name
    host: str | None = None
    label: str | None = None
    scheme: str | None = None
    reason: str | None = None
    checked_after: float | None = None  # last checked at this moment or later
    checked_before: float | None = None  # before it, or never
    changed_after: float | None = None  # and so for the last change of the state
    changed_before: float | None = None
    text: str | None = None  # stands in the URL, in letters of whichever case
    enabled: bool | None = None
    acknowledged: bool | None = None  # by the owner who asks, or else by anybody
    flapping: bool | None = None
    kind: str | None = None
    # Never checked, failed the last time, or gave no answer then; empty: whichever.
    choose: Choose = ""
    sort: Sort = "added"
    descending: bool = False
    after: str = ""  # `next` of the page before
    limit: int = 100

    @property
    def is_of_checks(self) -> bool:
        """Whether it takes a schedule to answer it."""
        asked = (self.checked_after, self.checked_before, self.flapping)
        of_order = self.sort == "checked" or bool(self.choose)
        return of_order or any(one is not None for one in asked)

    @property
    def is_of_targets(self) -> bool:
        """Whether it takes the targets themselves, and not only what is theirs."""
        asked = (self.state, self.host, self.scheme, self.reason, self.text)
        moments = (self.changed_after, self.changed_before)
        marks = (self.enabled, self.acknowledged, self.kind)
        return any(one is not None for one in (*asked, *moments, *marks))


def chosen(query: Query) -> Select[tuple[int]] | None:
    """The ids of all targets that a query means; None: of all there are."""
    who = select(owner.c.id).where(owner.c.name == query.owner).scalar_subquery()
    where = select(host.c.id).where(host.c.name == query.host).scalar_subquery()
    asks = None if query.owner is None else who
    wanted = list(conditions(query, asks, where))
    if query.owner is not None:
        wanted.append(watched_by(who))
    if not wanted:
        return None
    joined = target.join(schedule, schedule.c.target_id == target.c.id)
    return select(target.c.id).select_from(joined).where(*wanted)


def conditions(
    query: Query, owner_id: Any, host_id: Any
) -> Iterator[ColumnElement[bool]]:
    """What is to be true of a target and its schedule, but for who watches it.

    Args:
        query: what is asked.
        owner_id: of the owner who asks, if the query or the caller names one.
        host_id: of the host, if the query names one.
    """
    columns = {"state": target.c.state, "scheme": target.c.scheme}
    for name, column in (columns | {"reason": target.c.reason}).items():
        if (value := getattr(query, name)) is not None:
            yield column == value
    if query.host is not None:
        yield target.c.host_id == host_id
    if query.label is not None:
        yield exists().where(
            label.c.name == query.label, label.c.target_id == target.c.id
        )
    if query.text:
        yield Contains(query.text)
    yield from _moments(query)
    if query.enabled is not None:
        yield target.c.enabled == query.enabled
    if query.kind is not None:
        yield target.c.kind == query.kind
    if query.choose:
        yield _chosen(query.choose)
    if query.flapping is not None:
        yield schedule.c.flapping == query.flapping
    if query.acknowledged is not None:
        known = _acknowledged(owner_id)
        yield known if query.acknowledged else not_(known)


def _chosen(choose: Choose) -> ColumnElement[bool]:
    """By what the last check of a target found."""
    if choose == "new":
        return schedule.c.last_check_at == 0
    if choose == "failed":
        # Of a failure that is not confirmed yet its state does not tell.
        return or_(target.c.state.in_(FAILING), schedule.c.failures > 0)
    unanswered: ColumnElement[bool] = exists().where(
        history.c.id == schedule.c.last_result,
        history.c.status == 0,
        history.c.state.in_(FAILING),
    )
    return unanswered


def watched_by(owner_id: Any) -> ColumnElement[bool]:
    """Whether an owner watches a target."""
    found: ColumnElement[bool] = exists().where(
        watch.c.owner_id == owner_id, watch.c.target_id == target.c.id
    )
    return found


def _moments(query: Query) -> Iterator[ColumnElement[bool]]:
    if query.checked_after is not None:
        yield schedule.c.last_check_at >= query.checked_after
    if query.checked_before is not None:
        yield schedule.c.last_check_at < query.checked_before
    if query.changed_after is not None:
        yield target.c.last_change_at >= query.changed_after
    if query.changed_before is not None:
        yield target.c.last_change_at < query.changed_before


def _acknowledged(owner_id: Any) -> ColumnElement[bool]:
    found = exists().where(
        watch.c.target_id == target.c.id, watch.c.acknowledged == target.c.state
    )
    return found if owner_id is None else found.where(watch.c.owner_id == owner_id)
