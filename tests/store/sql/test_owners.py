"""Owners: names that are unique, tokens that nobody can read, an operator who stays."""

from hashlib import sha256

import pytest
from sqlalchemy import insert, select

from ronda.errors import UsageError
from ronda.store.sql import schema
from ronda.store.sql.engines import Database
from ronda.store.sql.owners import LONGEST_NAME, Owners
from ronda.store.sql.schema import OPERATOR
from ronda.store.sql.watching import Watches
from watched import NOW, is_counted_right, number, rows, wanted

A, B = "http://a.test/1", "http://a.test/2"


@pytest.fixture
def owners(database: Database) -> Owners:
    return Owners(database)


def test_an_owner_is_added_with_a_token_of_which_only_a_hash_is_kept(
    database: Database, owners: Owners
) -> None:
    owner, token = owners.add("press", "press@x.test", "https://x.test/links", NOW)

    assert owner.name == "press"
    assert owner.added_at == NOW
    assert len(token) >= 43  # 256 bits
    [_, (kept,)] = sorted(rows(database, schema.owner.c.token_hash))
    assert kept == sha256(token.encode()).hexdigest()


def test_the_operator_comes_first_in_the_list(owners: Owners) -> None:
    owners.add("b")
    owners.add("a")

    assert [owner.name for owner in owners.list()] == ["operator", "b", "a"]


def test_a_new_token_takes_the_place_of_the_old_one(
    database: Database, owners: Owners
) -> None:
    _, token = owners.add("press")

    new = owners.new_token("press")

    [_, (kept,)] = sorted(rows(database, schema.owner.c.token_hash))
    assert new != token
    assert kept == sha256(new.encode()).hexdigest()


def test_a_name_is_taken_once(owners: Owners) -> None:
    owners.add("press")

    with pytest.raises(UsageError, match="there is an owner press already"):
        owners.add("press")
    with pytest.raises(UsageError, match="there is an owner operator already"):
        owners.change("press", rename="operator")


@pytest.mark.parametrize(
    "name",
    ["", " press", "press\n", "a\tb", "x" * (LONGEST_NAME + 1), "a\0b", "a\udcff"],
    ids=["empty", "space", "newline", "tab", "long", "NUL", "not UTF-8"],
)
def test_some_names_cannot_be_used(owners: Owners, name: str) -> None:
    with pytest.raises(UsageError):
        owners.add(name)
    with pytest.raises(UsageError):
        owners.change("operator", rename=name)


@pytest.mark.parametrize(
    "url", ["x", "ftp://x.test/", "/links", "http://", "http://x.test/\0"]
)
def test_a_callback_is_a_url_of_the_web(owners: Owners, url: str) -> None:
    with pytest.raises(UsageError, match="not a callback"):
        owners.add("press", callback=url)
    with pytest.raises(UsageError, match="not a callback"):
        owners.change("operator", callback=url)
    assert len(owners.list()) == 1


def test_who_is_not_there_is_not_found(owners: Owners) -> None:
    for act in (owners.find, owners.remove, owners.new_token, owners.change):
        with pytest.raises(UsageError, match="there is no owner nobody"):
            act("nobody")


def test_what_is_given_is_changed_and_the_rest_stays(owners: Owners) -> None:
    owners.add("press", "old@x.test", "https://x.test/links")

    changed = owners.change("press", rename="desk", contact="")

    assert changed == owners.find("desk")
    assert (changed.contact, changed.callback) == ("", "https://x.test/links")
    assert owners.change("desk") == changed
    assert owners.change("desk", rename="desk") == changed


def test_who_is_told_elsewhere_is_told_all_anew(
    database: Database, owners: Owners
) -> None:
    owner, _ = owners.add("press", callback="https://x.test/links")
    for change in ({"callback": "https://y.test/"}, {"notices_on": False}):
        _wait(database, owner.id)
        owners.change("press", contact="somebody")
        assert number(database, schema.notice) == 1

        owners.change("press", **change)
        assert number(database, schema.notice) == 0
    assert not owners.find("press").notices_on


def test_an_owner_who_is_removed_leaves_only_what_others_watch(
    database: Database, owners: Owners
) -> None:
    owner, _ = owners.add("press", callback="https://x.test/links")
    watches = Watches(database)
    watches.register(owner.id, wanted(A, B), NOW)
    watches.register(OPERATOR, wanted(B), NOW)
    _wait(database, owner.id)

    assert owners.remove("press") == 2

    assert [one.name for one in owners.list()] == ["operator"]
    assert rows(database, schema.target.c.url) == [(B,)]
    assert number(database, schema.notice) == 0
    assert rows(database, schema.tally.c.owner_id)[-1] == (OPERATOR,)
    assert is_counted_right(database)
    assert owners.add("press")[0].id > owner.id


def test_the_operator_keeps_his_name(owners: Owners) -> None:
    with pytest.raises(UsageError, match="the operator keeps this name"):
        owners.change("operator", rename="boss")
    assert owners.change("operator", rename="operator").name == "operator"


def test_the_operator_stays(owners: Owners) -> None:
    with pytest.raises(UsageError, match="operator runs Ronda, and stays"):
        owners.remove("operator")


def _wait(database: Database, owner_id: int) -> None:
    """Let a notice wait for an owner."""
    row = {"owner_id": owner_id, "kind": "change", "url": A, "state": "ok", "at": NOW}
    row |= {"was": "broken", "reason": "", "message": ""}
    with database.writing() as connection:
        connection.execute(insert(schema.notice).values(row))
        assert connection.scalar(select(schema.notice.c.owner_id)) == owner_id
