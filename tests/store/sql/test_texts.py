"""Texts that no store can hold are stored all the same, with what is odd replaced."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from processes import Office, entry, handed
from ronda.errors import UsageError
from ronda.model import Certificate, Hop, State
from ronda.store.sql import evidence
from ronda.store.sql.adding import Adding
from ronda.store.sql.catalogue import Catalogue, Query
from ronda.store.sql.engines import Database
from ronda.store.sql.owners import Owners
from ronda.store.sql.rounds import Rounds
from ronda.store.sql.schema import (
    OPERATOR,
    history,
    label,
    metadata,
    notice,
    owner,
    request,
    round_,
    target,
    watch,
)
from ronda.store.sql.texts import Text, legible
from ronda.store.sql.watching import Watches
from watched import NOW, keys, wanted

A, B = "http://a.test/", "http://b.test/"
ODD = "é\0\udcff\U0001f600"
CLEAN = "é\ufffd\ufffd\U0001f600"


@pytest.fixture
def office(database: Database) -> Office:
    return Office(database)


@given(st.text())
def test_what_can_be_stored_stays_as_it_is(text: str) -> None:
    assert legible(text) == text.replace("\0", "\ufffd")


@given(st.text(st.characters()))
def test_whatever_it_was_it_can_be_stored(text: str) -> None:
    found = legible(text)

    found.encode()
    assert "\0" not in found
    assert legible(found) == found


def test_both_halves_of_a_pair_are_what_they_stand_for() -> None:
    assert legible("\ud83d\ude00") == "\U0001f600"


def test_no_column_has_a_type_that_lets_odd_texts_through() -> None:
    columns = [column for table in metadata.tables.values() for column in table.columns]
    texts = [column for column in columns if column.type.python_type is str]

    assert len(texts) > 30
    assert all(isinstance(column.type, Text) for column in texts)


def test_words_of_a_result_are_stored(office: Office) -> None:
    zoe = office.owner("Zoë")
    office.watch(A, owners=[zoe])
    ran = office.join()
    [due] = office.take(ran).values()

    office.write(ran, entry(due, State.BROKEN, reason=ODD, message=ODD))

    for table in (target, history, notice):
        row = office.row(table)
        assert (row.reason, row.message) == (CLEAN, CLEAN)


def test_the_same_odd_words_again_are_no_change_of_the_target(office: Office) -> None:
    office.watch(A)
    ran = office.join()
    [due] = office.take(ran).values()
    first = entry(due, State.BROKEN, message=ODD)
    office.write(ran, first)
    before = office.row(target)

    office.write(
        ran, entry(replace(due, standing=first.standing), State.BROKEN, message=ODD)
    )

    assert office.row(target) == before
    assert len(office.rows(history)) == 2


def test_evidence_is_stored(office: Office) -> None:
    office.watch(A)
    ran = office.join()
    [due] = office.take(ran).values()
    found = entry(due)
    result = replace(
        found.result,
        media_type="\udcff",
        hops=(Hop("http://a.test/\udcff", 301, "http://b.test/"),),
        certificate=Certificate(subject="\udcff", names=("a.test", "\udcff")),
        evidence="\0\udcff",
    )

    office.write(ran, replace(found, result=result))

    data = office.row(history).evidence
    said: dict[str, Any] = {"reason": result.reason, "message": result.message}
    kept = evidence.unpack(data, url=A, state=State.OK, **said)
    assert kept.media_type == "\ufffd"
    assert kept.hops == (Hop("http://a.test/\ufffd", 301, "http://b.test/"),)
    assert kept.certificate is not None
    assert kept.certificate.names == ("a.test", "\ufffd")
    assert kept.evidence == "\ufffd\ufffd"


def test_a_visit_is_handed_over(office: Office) -> None:
    office.watch(A, B)
    ran = office.join()
    due = office.take(ran)[A]
    odd = handed(due, "b.test")
    hop = Hop("http://a.test/\udcff", 301, B)

    office.write(ran, handed=(replace(odd, visit=replace(odd.visit, hops=(hop,))),))

    assert office.row(request).target_id == due.id
    [queued] = office.claims.requests(ran)
    assert queued.visit.hops == (Hop("http://a.test/\ufffd", 301, B),)


def test_spellings_and_labels_are_stored(office: Office) -> None:
    given = wanted(A, spelling=ODD, labels=(ODD, CLEAN, "shop"))

    Adding(office.database).add(OPERATOR, given, NOW)

    assert office.row(watch).spelling == CLEAN
    assert sorted(row.name for row in office.rows(label)) == ["shop", CLEAN]


def test_what_people_write_is_stored(office: Office) -> None:
    watches, owners = Watches(office.database), Owners(office.database)
    watches.register(OPERATOR, wanted(A), NOW)

    watches.disable(keys(A), ODD)
    owners.change("operator", contact=ODD)
    begun = Rounds(office.database).begin(ODD, Query(), NOW)

    assert office.row(target).why_disabled == CLEAN
    assert office.row(owner).contact == CLEAN
    assert office.row(round_).name == begun.name == CLEAN


@pytest.mark.parametrize(
    "query",
    [Query(label=ODD), Query(host=ODD), Query(text=ODD), Query(reason=ODD)],
    ids=["label", "host", "text", "reason"],
)
def test_what_is_odd_can_be_looked_for(database: Database, query: Query) -> None:
    Adding(database).add(OPERATOR, wanted(A), NOW)

    assert Catalogue(database).find(query).rows == []


def test_an_owner_with_an_odd_name_is_not_found(database: Database) -> None:
    with pytest.raises(UsageError, match="there is no owner"):
        Owners(database).find(ODD)
