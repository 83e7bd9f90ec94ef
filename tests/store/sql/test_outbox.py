"""Notices become batches: frozen before they are sent, gone only when taken."""

import threading
from collections.abc import Iterator

import msgspec
import pytest
from sqlalchemy import delete, insert, select, update

from listeners import joined, listener, row, waiting, watched, written
from ronda.config import Notices
from ronda.store.sql import schema
from ronda.store.sql.batches import Body
from ronda.store.sql.engines import Database
from ronda.store.sql.outbox import KEPT, Outbox, start_over
from ronda.store.sql.schema import OPERATOR
from ronda.store.sql.taking import MARGIN, Batch, Taking

NOW = 10_000.0
SETTINGS = Notices(batch=3)
NEXT = {"next_at": NOW + 15, "reconcile_at": NOW + 86_400}


@pytest.fixture
def outbox(database: Database) -> Outbox:
    return Outbox(database)


@pytest.fixture
def process(database: Database) -> int:
    return joined(database)


def taken(
    outbox: Outbox, process: int, now: float = NOW, settings: Notices = SETTINGS
) -> list[Batch]:
    return outbox.take(process, now, settings, count=100)


def told(batch: Batch) -> Body:
    return msgspec.json.decode(batch.body, type=Body)


def told_urls(batch: Batch) -> list[str]:
    return [notice.url for notice in told(batch).notices]


# -- freezing ------------------------------------------------------------------


def test_a_batch_holds_the_first_notices_of_an_owner_in_order(
    database: Database, outbox: Outbox, process: int
) -> None:
    ann = listener(database)
    urls = written(database, ann, 1, 5)
    (batch,) = taken(outbox, process)

    assert told_urls(batch) == urls[:3]
    assert waiting(database, ann) == 2


def test_a_batch_says_what_has_become_of_what(
    database: Database, outbox: Outbox, process: int
) -> None:
    written(database, listener(database), 1, 1)
    (batch,) = taken(outbox, process)

    assert msgspec.json.decode(batch.body) == {
        "batch": batch.key,
        "owner": "ann",
        "kind": "notices",
        "made_at": "1970-01-01T02:46:40.000Z",
        "notices": [
            {
                "kind": "change",
                "url": "http://h.test/1",
                "state": "broken",
                "was": "ok",
                "reason": "http_404",
                "message": "Not found: ä",
                "at": "1970-01-01T00:16:40.500Z",
            }
        ],
    }


def test_a_batch_stands_in_the_store_as_it_is_sent(
    database: Database, outbox: Outbox, process: int
) -> None:
    ann = listener(database)
    written(database, ann, 1, 2)
    (batch,) = taken(outbox, process)
    stored = row(database, schema.batch, ann)

    assert stored is not None
    assert (stored["key"], bytes(stored["body"])) == (batch.key, batch.body)  # type: ignore[call-overload]
    assert (stored["number"], stored["holder"]) == (2, process)


def test_each_owner_has_a_batch_of_his_own(
    database: Database, outbox: Outbox, process: int
) -> None:
    owners = [listener(database, name) for name in ("ann", "bob")]
    for owner_id in owners:
        written(database, owner_id, owner_id, owner_id)

    assert {batch.owner_id: told_urls(batch) for batch in taken(outbox, process)} == {
        owner_id: [f"http://h.test/{owner_id}"] for owner_id in owners
    }


def test_no_more_are_taken_than_asked_for_and_none_of_those_being_told(
    database: Database, outbox: Outbox, process: int
) -> None:
    owners = [listener(database, name) for name in ("ann", "bob", "cid")]
    for owner_id in owners:
        written(database, owner_id, 1, 1)
    found = outbox.take(process, NOW, SETTINGS, count=1, besides=owners[:1])

    assert [batch.owner_id for batch in found] == owners[1:2]


@pytest.mark.parametrize("values", [{"callback": ""}, {"notices_on": False}])
def test_nothing_is_sent_to_who_does_not_listen(
    database: Database, outbox: Outbox, process: int, values: dict[str, object]
) -> None:
    ann = listener(database)
    written(database, ann, 1, 1)
    with database.writing() as connection:
        connection.execute(
            update(schema.owner).where(schema.owner.c.id == ann).values(values)
        )

    assert taken(outbox, process) == []
    assert outbox.next_at() is None


# -- who sends it, and when ----------------------------------------------------


def test_a_batch_is_held_by_one_process(database: Database, outbox: Outbox) -> None:
    first, second = joined(database), joined(database)
    written(database, listener(database), 1, 5)
    taken(outbox, first)

    assert taken(outbox, second, NOW + 15) == []


def test_a_batch_that_another_has_just_made_is_left_alone(
    database: Database, outbox: Outbox
) -> None:
    first, second = joined(database), joined(database)
    ann = listener(database)
    written(database, ann, 1, 5)
    with database.reading() as connection:
        found = select(schema.owner).where(schema.owner.c.id == ann)
        before = connection.execute(found).one()
    taken(outbox, first)

    with database.writing() as connection:
        assert Taking(connection, second, NOW, SETTINGS).batch(before) is None
    assert waiting(database, ann) == 2


def test_an_owner_whom_there_is_nothing_left_to_tell_gets_no_batch(
    database: Database, process: int
) -> None:
    ann = listener(database)
    with database.writing() as connection:
        found = select(schema.owner).where(schema.owner.c.id == ann)
        owner = connection.execute(found).one()

        assert Taking(connection, process, NOW, SETTINGS).batch(owner) is None


def test_a_batch_nothing_is_heard_of_is_sent_by_another_as_it_is(
    database: Database, outbox: Outbox
) -> None:
    first, second = joined(database), joined(database)
    written(database, listener(database), 1, 5)
    (before,) = taken(outbox, first)
    later = NOW + SETTINGS.timeout + MARGIN
    (after,) = taken(outbox, second, later)

    assert (after.key, after.body) == (before.key, before.body)
    assert taken(outbox, first, later + 1) == []


def test_a_batch_of_a_process_that_is_gone_is_sent_after_the_interval(
    database: Database, outbox: Outbox
) -> None:
    first, second = joined(database), joined(database)
    written(database, listener(database), 1, 1)
    (before,) = taken(outbox, first)
    with database.writing() as connection:
        connection.execute(delete(schema.process).where(schema.process.c.id == first))

    assert taken(outbox, second, NOW + 14.9) == []
    assert [batch.key for batch in taken(outbox, second, NOW + 15)] == [before.key]


def test_who_lost_a_batch_cannot_say_what_became_of_it(
    database: Database, outbox: Outbox
) -> None:
    first, second = joined(database), joined(database)
    ann = listener(database)
    written(database, ann, 1, 1)
    (lost,) = taken(outbox, first)
    taken(outbox, second, NOW + 1000)

    assert not outbox.delivered(lost, NOW, **NEXT)
    assert not outbox.failed(lost, NOW, NOW)
    assert not outbox.switch_off(lost, NOW, "words")
    stored = row(database, schema.batch, ann)
    assert stored is not None
    assert stored["holder"] == second


def test_what_was_delivered_is_gone_and_the_rest_follows_after_the_interval(
    database: Database, outbox: Outbox, process: int
) -> None:
    ann = listener(database)
    urls = written(database, ann, 1, 5)
    (batch,) = taken(outbox, process)

    assert outbox.delivered(batch, NOW, **NEXT)
    assert row(database, schema.batch, ann) is None
    assert outbox.next_at() == NOW + 15
    assert taken(outbox, process, NOW + 14.9) == []
    (rest,) = taken(outbox, process, NOW + 15)
    assert told_urls(rest) == urls[3:]
    assert rest.key != batch.key


def test_a_failure_is_counted_until_one_is_delivered(
    database: Database, outbox: Outbox, process: int
) -> None:
    ann = listener(database)
    written(database, ann, 1, 1)
    for number in range(2):
        at = NOW + 100 * number
        (batch,) = taken(outbox, process, at)
        outbox.failed(batch, at, at + 100)
    (again,) = taken(outbox, process, NOW + 200)
    failing = row(database, schema.owner, ann)
    outbox.delivered(again, NOW + 200, **NEXT)
    well = row(database, schema.owner, ann)

    assert (again.key, again.failures, again.failing_since) == (batch.key, 2, NOW)
    assert failing is not None
    assert (failing["failures"], failing["failing_since"]) == (2, NOW)
    assert well is not None
    assert (well["failures"], well["failing_since"]) == (0, None)


def test_the_next_moment_is_that_of_the_first_who_has_something_to_be_told(
    database: Database, outbox: Outbox, process: int
) -> None:
    first = listener(database, "ann", reconcile_at=NOW + 5000)
    assert outbox.next_at() == NOW + 5000

    written(database, first, 1, 1)
    assert outbox.next_at() == 0.0

    (batch,) = taken(outbox, process)
    assert outbox.next_at() == NOW + SETTINGS.timeout + MARGIN

    outbox.failed(batch, NOW, NOW + 700)
    assert outbox.next_at() == NOW + 700

    listener(database, "bob", reconcile_at=NOW + 600)
    assert outbox.next_at() == NOW + 600


@pytest.fixture
def impatient(database: Database) -> Iterator[Outbox]:
    """One that would rather fail than wait for a lock."""
    sign = "&" if "?" in database.where else "?"
    own = Database(f"{database.where}{sign}options=-clock_timeout%3D2000")
    yield Outbox(own)
    own.close()


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_notice_that_is_committed_late_is_not_lost(
    database: Database, impatient: Outbox, process: int
) -> None:
    ann = listener(database)
    with database.writing() as late:
        values = {"kind": "change", "state": "ok", "was": "", "reason": "", "at": 1.0}
        values |= {"owner_id": ann, "url": "http://late.test/", "message": ""}
        late.execute(insert(schema.notice).values(values))  # has the lower number
        urls = written(database, ann, 1, 2)
        (batch,) = taken(impatient, process)  # nor does it wait for the other
    impatient.delivered(batch, NOW, **NEXT)
    (next_,) = taken(impatient, process, NOW + 15)

    assert told_urls(batch) == urls
    assert told_urls(next_) == ["http://late.test/"]


def test_processes_that_race_never_hold_one_batch_together(
    database: Database,
) -> None:
    owners = [listener(database, f"owner {n}") for n in range(12)]
    for owner_id in owners:
        written(database, owner_id, 1, 4)
    held: list[int] = []

    def race(start: threading.Barrier, process: int) -> None:
        own = Database(database.where)
        start.wait()
        for _ in range(4):
            batches = Outbox(own).take(process, NOW, SETTINGS, count=4)
            held.extend(batch.owner_id for batch in batches)
        own.close()

    start = threading.Barrier(4)
    threads = [
        threading.Thread(target=race, args=(start, joined(database))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(held) == owners


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_the_ledger_may_write_notices_while_batches_are_taken(
    database: Database, impatient: Outbox, process: int
) -> None:
    ann = listener(database)
    written(database, ann, 1, 1)
    with database.writing() as ledger:
        locked = select(schema.owner.c.id).where(schema.owner.c.id == ann)
        ledger.execute(locked.with_for_update(key_share=True, read=True))

        assert len(taken(impatient, process)) == 1


# -- giving up -----------------------------------------------------------------


def test_switching_off_drops_what_waits_and_tells_the_operator(
    database: Database, outbox: Outbox, process: int
) -> None:
    ann = listener(database, callback="http://me:secret@127.0.0.1:9/told")
    written(database, ann, 1, 5)
    (batch,) = taken(outbox, process)

    assert outbox.switch_off(batch, NOW, "notices to ann are switched off")
    assert waiting(database, ann) == 0
    assert row(database, schema.batch, ann) is None
    owner = row(database, schema.owner, ann)
    assert owner is not None
    assert (owner["notices_on"], owner["failures"]) == (False, 1)
    (notice,) = outbox.kept()
    assert (notice.kind, notice.message) == (
        "switched_off",
        "notices to ann are switched off",
    )
    assert notice.url == "http://127.0.0.1:9/told"


def test_an_operator_who_is_switched_off_keeps_what_he_was_to_be_told(
    database: Database, outbox: Outbox, process: int
) -> None:
    _set_operator(database, callback="http://127.0.0.1:9/", reconcile_at=1e12)
    written(database, OPERATOR, 1, 4)
    (batch,) = taken(outbox, process)
    outbox.switch_off(batch, NOW, "words")

    assert [notice.url.rpartition("/")[2] for notice in outbox.kept()] == [
        *("", "4"),  # that he is switched off, and what was in no batch yet
        *("3", "2", "1"),  # what was in one
    ]
    assert len(outbox.kept(limit=2)) == 2


def test_of_an_operator_without_callback_the_newest_notices_are_kept(
    database: Database, outbox: Outbox
) -> None:
    urls = written(database, OPERATOR, 1, KEPT + 7)
    outbox.tidy(NOW, SETTINGS)

    assert [notice.url for notice in outbox.kept()] == urls[:6:-1]
    assert waiting(database, OPERATOR) == KEPT


def test_of_an_operator_who_listens_no_notice_is_dropped(
    database: Database, outbox: Outbox
) -> None:
    _set_operator(database, callback="http://127.0.0.1:9/")
    written(database, OPERATOR, 1, KEPT + 7)
    outbox.tidy(NOW, SETTINGS)

    assert waiting(database, OPERATOR) == KEPT + 7


def test_a_clock_that_was_days_ahead_leaves_nobody_waiting_for_days(
    database: Database, outbox: Outbox, process: int
) -> None:
    ann = listener(database, reconcile_at=0.0)
    ahead = NOW + 3 * 86_400
    (batch,) = taken(outbox, process, ahead)
    outbox.delivered(batch, ahead, next_at=ahead + 15, reconcile_at=ahead + 86_400)
    written(database, ann, 1, 1)
    outbox.tidy(NOW, SETTINGS)

    assert len(taken(outbox, process)) == 1
    owner = row(database, schema.owner, ann)
    assert owner is not None
    assert owner["reconcile_at"] == NOW


# -- reconciliation ------------------------------------------------------------


def test_a_reconciliation_tells_of_every_target_in_parts(
    database: Database, outbox: Outbox, process: int
) -> None:
    ann = listener(database, reconcile_at=NOW)
    urls = watched(database, ann, 8)
    parts = []
    at = NOW
    while found := taken(outbox, process, at):
        parts.append(told(found[0]))
        outbox.delivered(found[0], at, next_at=at + 15, reconcile_at=NOW + 86_400)
        at += 15

    assert [(part.kind, part.part, part.last) for part in parts] == [
        ("reconciliation", 1, False),
        ("reconciliation", 2, False),
        ("reconciliation", 3, True),
    ]
    assert [notice.url for part in parts for notice in part.notices] == urls
    owner = row(database, schema.owner, ann)
    assert owner is not None
    assert (owner["reconciled_at"], owner["reconcile_at"]) == (at - 15, NOW + 86_400)
    assert (owner["reconciled_to"], owner["reconciled_parts"]) == (None, 0)


def test_a_reconciliation_says_how_a_target_stands(
    database: Database, outbox: Outbox, process: int
) -> None:
    watched(database, listener(database, reconcile_at=NOW), 2)
    (batch,) = taken(outbox, process)
    first, second = msgspec.json.decode(batch.body)["notices"]

    assert first == {
        "kind": "state",
        "url": "HTTP://H.test/0",
        "state": "broken",
        "was": "",
        "reason": "http_404",
        "message": "Not found",
        "at": "1970-01-01T00:08:20.000Z",
        "enabled": True,
        "acknowledged": True,
    }
    assert second["acknowledged"] is False


def test_who_watches_nothing_is_told_so(
    database: Database, outbox: Outbox, process: int
) -> None:
    listener(database, reconcile_at=NOW)
    (batch,) = taken(outbox, process)

    assert (told(batch).notices, told(batch).last) == ([], True)


def test_notices_go_between_the_parts_of_a_reconciliation(
    database: Database, outbox: Outbox, process: int
) -> None:
    ann = listener(database, reconcile_at=NOW)
    watched(database, ann, 4)
    (first,) = taken(outbox, process)
    urls = written(database, ann, 100, 101)
    outbox.delivered(first, NOW, **NEXT)
    (second,) = taken(outbox, process, NOW + 15)
    outbox.delivered(second, NOW + 15, next_at=NOW + 30, reconcile_at=NOW + 86_400)
    (third,) = taken(outbox, process, NOW + 30)

    assert told_urls(second) == urls
    assert (told(third).part, told_urls(third)) == (2, ["http://h.test/3"])


def test_to_start_over_drops_what_waits_and_reconciles_from_the_first_part(
    database: Database, outbox: Outbox, process: int
) -> None:
    ann = listener(database, reconcile_at=NOW)
    watched(database, ann, 5)
    (first,) = taken(outbox, process)
    outbox.delivered(first, NOW, **NEXT)
    (second,) = taken(outbox, process, NOW + 15)
    outbox.failed(second, NOW, NOW + 1e6)
    written(database, ann, 1, 2)
    with database.writing() as connection:
        start_over(connection, ann)
    (anew,) = taken(outbox, process, NOW + 16)

    assert waiting(database, ann) == 0
    assert (told(second).part, told(anew).part) == (2, 1)
    assert (anew.failures, anew.failing_since) == (0, None)


def _set_operator(database: Database, **values: object) -> None:
    with database.writing() as connection:
        operator = update(schema.owner).where(schema.owner.c.id == OPERATOR)
        connection.execute(operator.values(values))
