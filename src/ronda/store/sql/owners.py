"""Who answers for targets: names, contacts, callbacks and tokens."""

import secrets
from hashlib import sha256
from hmac import compare_digest

from sqlalchemy import Connection, delete, insert, select, update

from ronda.errors import UrlError, UsageError
from ronda.store.sql import removing
from ronda.store.sql.engines import Database
from ronda.store.sql.locking import alone, insist
from ronda.store.sql.many import CHUNK
from ronda.store.sql.outbox import start_over
from ronda.store.sql.schema import OPERATOR, owner, tally, target, watch
from ronda.store.sql.values import Owner
from ronda.urls import normalise, scheme, shown

LONGEST_NAME = 100  # characters

_COLUMNS = [owner.c[name] for name in Owner.__struct_fields__]


class Owners:
    """The owners that there are; the operator is always among them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self, name: str, contact: str = "", callback: str = "", now: float = 0.0
    ) -> tuple[Owner, str]:
        """A new owner and his token, which is not to be had again.

        Raises:
            UsageError: the name is taken, or it or the callback cannot be used.
        """
        _check_name(name)
        _check_callback(callback)
        token, token_hash = _new_token()
        values = {"name": name, "contact": contact, "callback": callback}
        with self._database.writing() as connection:
            alone(connection)
            _check_free(connection, name)
            row = insert(owner).values(values | {"added_at": now})
            connection.execute(row.values(token_hash=token_hash))
            return _find(connection, name), token

    def list(self) -> list[Owner]:
        """All of them: the operator first, then as they came."""
        with self._database.reading() as connection:
            rows = connection.execute(select(*_COLUMNS).order_by(owner.c.id))
            return [Owner(*row) for row in rows]

    def find(self, name: str) -> Owner:
        """One by name.

        Raises:
            UsageError: there is none.
        """
        with self._database.reading() as connection:
            return _find(connection, name)

    def change(
        self,
        name: str,
        *,
        rename: str | None = None,
        contact: str | None = None,
        callback: str | None = None,
        notices_on: bool | None = None,
    ) -> Owner:
        """Change what is given; who is told elsewhere, or again, is told all anew."""
        _check_name(rename if rename is not None else name)
        _check_callback(callback or "")
        given = {
            "name": rename,
            "contact": contact,
            "callback": callback,
            "notices_on": notices_on,
        }
        with self._database.writing() as connection:
            alone(connection)
            was = _find(connection, name)
            if rename is not None and rename != name and was.id == OPERATOR:
                raise UsageError(f"the {name} keeps this name: commands count on it")
            if rename is not None and rename != name:
                _check_free(connection, rename)
            values = {
                key: value
                for key, value in given.items()
                if value is not None and value != getattr(was, key)
            }
            if values.keys() & {"callback", "notices_on"}:
                start_over(connection, was.id)
            if values:
                row = update(owner).where(owner.c.id == was.id)
                connection.execute(row.values(values))
            return _find(connection, rename or name)

    def remove(self, name: str) -> int:
        """Forget an owner; how many targets he watched, which he does no longer.

        Raises:
            UsageError: there is none, or it is the operator.
        """
        found = self.find(name)
        if found.id == OPERATOR:
            raise UsageError(f"{shown(name)} runs Ronda, and stays")
        dropped = 0
        while number := insist(self._database, _unwatch_some, found.id):
            dropped += number
        return dropped

    def of_token(self, name: str, token: str) -> Owner | None:
        """The owner of a name, if the token is his."""
        given = sha256(token.encode()).hexdigest()
        found = select(owner.c.token_hash).where(owner.c.name == name)
        with self._database.reading() as connection:
            kept = connection.scalar(found) or ""
            # In constant time, so that nobody finds it out letter by letter.
            if not kept or not compare_digest(kept, given):
                return None
            return _find(connection, name)

    def new_token(self, name: str) -> str:
        """Another token for an owner; the one he had is good for nothing."""
        token, token_hash = _new_token()
        with self._database.writing() as connection:
            found = _find(connection, name)
            row = update(owner).where(owner.c.id == found.id)
            connection.execute(row.values(token_hash=token_hash))
        return token


def _new_token() -> tuple[str, str]:
    """A token, too long and random to be guessed, and what is kept of it."""
    token = secrets.token_urlsafe(32)
    return token, sha256(token.encode()).hexdigest()


def _find(connection: Connection, name: str) -> Owner:
    found = select(*_COLUMNS).where(owner.c.name == name)
    row = connection.execute(found).one_or_none()
    if row is None:
        words = "`ronda owner list` shows all"
        raise UsageError(f"there is no owner {shown(name)}: {words}")
    return Owner(*row)


def _check_name(name: str) -> None:
    if not name or name != name.strip() or not name.isprintable():
        raise UsageError(f"not a name for an owner: {shown(name)!r}")
    if len(name) > LONGEST_NAME:
        raise UsageError(f"the name is longer than {LONGEST_NAME} characters")


def _check_free(connection: Connection, name: str) -> None:
    taken = select(owner.c.id).where(owner.c.name == name)
    if connection.scalar(taken) is not None:
        raise UsageError(f"there is an owner {shown(name)} already")


def _check_callback(url: str) -> None:
    if not url:
        return
    try:
        usable = url.isprintable() and scheme(normalise(url)) in {"http", "https"}
    except UrlError:
        usable = False
    if not usable:
        raise UsageError(f"not a callback, which is an http or https URL: {shown(url)}")


def _unwatch_some(connection: Connection, owner_id: int) -> int:
    """Let him watch some targets no longer; if there are none, he goes himself."""
    keys = (
        select(target.c.key)
        .join(watch, watch.c.target_id == target.c.id)
        .where(watch.c.owner_id == owner_id)
        .order_by(watch.c.target_id)
        .limit(CHUNK)
    )
    if some := connection.scalars(keys).all():
        return removing.unwatch(connection, owner_id, some)
    start_over(connection, owner_id)  # nothing waits for him any more
    connection.execute(delete(tally).where(tally.c.owner_id == owner_id))
    connection.execute(delete(owner).where(owner.c.id == owner_id))
    return 0
