"""URLs that an owner wants watched, entered into all tables in one transaction."""

from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b
from typing import Self

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import (
    Connection,
    Double,
    Exists,
    Update,
    bindparam,
    exists,
    or_,
    select,
    update,
)

from ronda.errors import StoreError
from ronda.model import State
from ronda.store.sql import loading
from ronda.store.sql.homes import homes
from ronda.store.sql.locking import held_states
from ronda.store.sql.many import among, new_ids
from ronda.store.sql.schema import EVERYBODY, label, owner, schedule, target, watch
from ronda.store.sql.tallies import move
from ronda.urls import shown

_TARGET = ("id", "key", "url", "scheme", "host_id", "added_at", "every")
_SCHEDULE = ("target_id", "server_id", "next_due")
_WATCH = ("owner_id", "target_id", "added_at", "spelling")


class Given(Struct, frozen=True, gc=False):
    """A URL that somebody wants to be watched."""

    url: str  # normalised, without its fragment
    host: str  # the politeness key
    scheme: str
    spelling: str | None = None  # as its owner writes it, if not as we do
    labels: tuple[str, ...] = ()
    # Seconds between checks; 0: by the rules, whatever was said before. None: nothing
    # is said, and what was before stays.
    every: float | None = None


class Added(Struct, frozen=True):
    """What became of URLs that were given."""

    new: int = 0
    known: int = 0  # watched by somebody already
    watched: int = 0  # new for this owner
    problems: tuple[str, ...] = ()  # one line each

    def __add__(self, other: Self) -> "Added":
        """Both together."""
        return Added(
            self.new + other.new,
            self.known + other.known,
            self.watched + other.watched,
            self.problems + other.problems,
        )


def key_of(url: str) -> int:
    """The number by which a URL is found: 64 bits of a hash, signed."""
    digest = blake2b(url.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def enter(
    connection: Connection, owner_id: int, given: Iterable[Given], now: float
) -> Added:
    """Have rows for URLs that an owner wants to be watched.

    Raises:
        MovedError: the transaction is to be begun anew.
    """
    return _Entering(connection, owner_id, now).enter(given)


class _Entering:
    """URLs of one owner in one transaction."""

    def __init__(self, connection: Connection, owner_id: int, now: float) -> None:
        if not connection.scalar(select(owner.c.id).where(owner.c.id == owner_id)):
            raise StoreError(f"there is no owner with the number {owner_id}")
        self._connection = connection
        self._owner = owner_id
        self._now = now
        self._problems: list[str] = []

    def enter(self, given: Iterable[Given]) -> Added:
        """Have rows for all of them."""
        wanted = self._distinct(given)
        ids = self._known(wanted)
        known = {ids[key]: one for key, one in wanted.items() if key in ids}
        new = self._add({key: one for key, one in wanted.items() if key not in ids})
        joined = self._join(known)
        self._watch(new | {number: known[number] for number in joined})
        self._label(new, known)
        states = Counter(joined.values())
        states[State.UNKNOWN.value] += len(new)
        changes = {(self._owner, state): number for state, number in states.items()}
        move(self._connection, changes | {(EVERYBODY, State.UNKNOWN.value): len(new)})
        return Added(len(new), len(known), states.total(), tuple(self._problems))

    def _distinct(self, given: Iterable[Given]) -> dict[int, Given]:
        """Each URL once, by its key, with all its labels."""
        wanted: dict[int, Given] = {}
        for one in given:
            key = key_of(one.url)
            first = wanted.setdefault(key, one)
            if first.url != one.url:
                self._refuse(one.url, first.url)
            elif first is not one:
                wanted[key] = replace(one, labels=(*first.labels, *one.labels))
        return wanted

    def _known(self, wanted: dict[int, Given]) -> dict[int, int]:
        """Which are there, by their keys; those that cannot be added are dropped."""
        columns = select(target.c.key, target.c.id, target.c.url)
        found = columns.where(among(self._connection, target.c.key, wanted))
        ids = {}
        for key, number, url in self._connection.execute(found):
            if wanted[key].url == url:
                ids[key] = number
            else:
                self._refuse(wanted.pop(key).url, url)
        return ids

    def _refuse(self, url: str, other: str) -> None:
        # One store of ten million URLs in four hundred thousand has such a pair.
        words = f"{shown(url)}: not added, for its key is that of {shown(other)}"
        self._problems.append(words)

    def _add(self, new: dict[int, Given]) -> dict[int, Given]:
        """Begin targets that nobody watches yet; by their numbers."""
        if not new:
            return {}
        at = homes(self._connection, {one.host for one in new.values()}, self._now)
        ids = new_ids(self._connection, target, len(new))
        targets, due, now = [], [], self._now
        for number, (key, one) in zip(ids, new.items(), strict=True):
            home = at[one.host]
            row = (number, key, one.url, one.scheme, home.host, now, one.every or None)
            targets.append(row)
            due.append((number, home.server, now))
        loading.append(self._connection, target, targets, _TARGET)
        loading.append(self._connection, schedule, due, _SCHEDULE)
        return dict(zip(ids, new.values(), strict=True))

    def _join(self, known: dict[int, Given]) -> dict[int, str]:
        """The states of targets that others watch, and this owner does not yet."""
        if not known:
            return {}
        _pace(self._connection, self._owner, known)
        _unpace(self._connection, self._owner, known)
        mine = select(watch.c.target_id, watch.c.spelling).where(
            watch.c.owner_id == self._owner,
            among(self._connection, watch.c.target_id, known),
        )
        spelt = {row.target_id: row.spelling for row in self._connection.execute(mine)}
        _spell(self._connection, self._owner, known, spelt)
        return held_states(self._connection, known.keys() - spelt.keys())

    def _watch(self, targets: dict[int, Given]) -> None:
        who, now = self._owner, self._now
        rows = [(who, number, now, one.spelling) for number, one in targets.items()]
        loading.append(self._connection, watch, rows, _WATCH)

    def _label(self, new: dict[int, Given], known: dict[int, Given]) -> None:
        """Labels are the target's, whoever gave them."""
        wanted = {
            (name, number)
            for targets in (new, known)
            for number, one in targets.items()
            for name in one.labels
        }
        if wanted and known:
            there = select(label.c.name, label.c.target_id).where(
                among(self._connection, label.c.target_id, known)
            )
            wanted -= {
                (row.name, row.target_id) for row in self._connection.execute(there)
            }
        loading.append(self._connection, label, sorted(wanted))


def _pace(connection: Connection, owner_id: int, known: dict[int, Given]) -> None:
    """How often known targets are checked: who watches one alone says it.

    Of those that watch one together, who wants it most often.
    """
    wanted = {number: one.every for number, one in known.items() if one.every}
    others = _watched_by_others(owner_id)
    slower = or_(target.c.every.is_(None), target.c.every > bindparam("seconds"))
    change = update(target).where(
        target.c.id == bindparam("number"),
        target.c.every.is_distinct_from(bindparam("seconds")),
        or_(slower, ~others),
    )
    rows = [{"number": n, "seconds": wanted[n]} for n in sorted(wanted)]
    if rows:
        connection.execute(change.values(every=bindparam("seconds")), rows)
        connection.execute(_sooner(), rows)


def _unpace(connection: Connection, owner_id: int, known: dict[int, Given]) -> None:
    """Let the rules say how often targets are checked that nobody else watches."""
    ruled = sorted(number for number, one in known.items() if one.every == 0)
    change = update(target).where(
        target.c.id == bindparam("number"),
        target.c.every.is_not(None),
        ~_watched_by_others(owner_id),
    )
    if ruled:
        rows = [{"number": number} for number in ruled]
        connection.execute(change.values(every=None), rows)


def _watched_by_others(owner_id: int) -> Exists:
    return exists().where(
        watch.c.target_id == target.c.id, watch.c.owner_id != owner_id
    )


def _sooner() -> Update:
    """A target that is good is next checked as often as was said just now."""
    moment = schedule.c.last_check_at + bindparam("seconds", type_=Double)
    so_often = exists().where(
        target.c.id == schedule.c.target_id,
        target.c.every == bindparam("seconds"),
        or_(target.c.state == "ok", target.c.state == "warning"),
    )
    later = update(schedule).where(
        schedule.c.target_id == bindparam("number"),
        schedule.c.next_due > moment,
        so_often,
    )
    return later.values(next_due=moment)


def _spell(
    connection: Connection,
    owner_id: int,
    known: dict[int, Given],
    spelt: dict[int, str | None],
) -> None:
    """Remember how the owner writes URLs now."""
    rows = [
        {"number": number, "words": known[number].spelling}
        for number, words in spelt.items()
        if words != known[number].spelling
    ]
    if rows:
        change = update(watch).where(
            watch.c.owner_id == owner_id, watch.c.target_id == bindparam("number")
        )
        connection.execute(change.values(spelling=bindparam("words")), rows)
