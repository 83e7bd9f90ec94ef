"""Owners are told: over real stores, to a real receiver, by a clock that is moved."""

import asyncio
import contextlib
import hashlib
import hmac
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from sqlalchemy import delete, update
from telling import SECONDS, KilledError, Office, office, turn

from fakes import START, FakeClock
from listeners import TOKEN, joined, listener, row, waiting, watched, written
from ronda.config import Notices
from ronda.errors import StoreBusyError
from ronda.store.sql import schema
from ronda.store.sql.engines import Database
from ronda.store.sql.outbox import start_over
from ronda.store.sql.schema import OPERATOR
from ronda.workers.notifying import AT_ONCE, Notifier
from servers.receiver import Receiver, Sent

EPOCH = START.timestamp()
TOMORROW = EPOCH + 80_000  # for reconciliations that are not to come into it
Story = Callable[[Office, Receiver, FakeClock], Awaitable[None]]


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    opened = Database(database_url)
    yield opened
    opened.close()


def tell(database: Database, story: Story, settings: Notices | None = None) -> None:
    async def run() -> None:
        clock, given = FakeClock(), settings or Notices(timeout=5)
        async with (
            office(database.where, clock, given) as made,
            Receiver() as receiver,
        ):
            await story(made, receiver, clock)

    asyncio.run(run())


def urls_of(sent: Sent) -> list[str]:
    return [notice["url"] for notice in json.loads(sent.body)["notices"]]


def applied(sent: list[Sent]) -> list[str]:
    """What a receiver makes of it that knows which batches it has seen."""
    batches = {one.headers["ronda-batch"]: one for one in sent}
    return [url for one in batches.values() for url in urls_of(one)]


def different(sent: list[Sent]) -> set[tuple[str, bytes]]:
    return {(one.headers["ronda-batch"], one.body) for one in sent}


def bury(database: Database, process: int) -> None:
    with database.writing() as connection:
        gone = delete(schema.process).where(schema.process.c.id == process)
        connection.execute(gone)


def test_what_an_owner_gets_is_signed_and_can_be_checked(database: Database) -> None:
    async def story(made: Office, receiver: Receiver, clock: FakeClock) -> None:
        ann = listener(database, callback=receiver.url(), reconcile_at=TOMORROW)
        urls = written(database, ann, 1, 3)
        await turn(made.notifier(joined(database)))
        (sent,) = receiver.sent
        key = hashlib.sha256(TOKEN.encode()).hexdigest().encode()
        signed = sent.headers["ronda-timestamp"].encode() + b"." + sent.body
        expected = hmac.new(key, signed, "sha256").hexdigest()

        assert sent.headers["ronda-signature"] == f"sha256={expected}"
        assert sent.headers["ronda-timestamp"] == str(int(clock.epoch()))
        assert sent.headers["content-type"] == "application/json"
        assert sent.headers["ronda-batch"] == json.loads(sent.body)["batch"]
        assert urls_of(sent) == urls

    tell(database, story)


def test_batches_are_in_order_and_at_least_the_interval_apart(
    database: Database,
) -> None:
    async def story(made: Office, receiver: Receiver, clock: FakeClock) -> None:
        ann = listener(database, callback=receiver.url(), reconcile_at=TOMORROW)
        notifier = made.notifier(joined(database))
        for second in range(60):
            written(database, ann, 2 * second, 2 * second + 1)
            await turn(notifier)
            clock.advance(1)

        gaps = [after - before for before, after in pairwise(made.sent_at)]
        assert gaps == [15.0] * 3
        told = [url for one in receiver.sent for url in urls_of(one)]
        assert told == [f"http://h.test/{n}" for n in range(len(told))]
        assert len(told) == 2 + 3 * 30

    tell(database, story)


@pytest.mark.parametrize(
    ("dies", "sends"),
    [
        ("after _take", 3),
        ("before send", 3),
        ("after send", 6),
        ("before delivered", 6),
        ("after delivered", 3),
    ],
)
def test_whenever_it_dies_nothing_is_lost_and_nothing_doubled(
    database: Database, dies: str, sends: int
) -> None:
    async def story(made: Office, receiver: Receiver, clock: FakeClock) -> None:
        ann = listener(database, callback=receiver.url(), reconcile_at=TOMORROW)
        urls = written(database, ann, 1, 9)
        while waiting(database, ann) or row(database, schema.batch, ann):
            dead = joined(database)
            with contextlib.suppress(KilledError):
                await turn(made.notifier(dead, dies))
            bury(database, dead)
            clock.advance(15)
            await turn(made.notifier(joined(database)))
            clock.advance(15)

        assert applied(receiver.sent) == urls
        assert len(receiver.sent) == sends
        assert len(different(receiver.sent)) == 3

    tell(database, story, Notices(batch=3, timeout=5))


def test_kill_9_loses_nothing_and_doubles_nothing(database: Database) -> None:
    kills = 4
    settings = {"batch": 5, "interval": 0, "timeout": 5}

    def start(process: int) -> subprocess.Popen[bytes]:
        program = str(Path(__file__).with_name("telling.py"))
        given = [database.where, str(process), json.dumps(settings)]
        folder = Path(__file__).parent.parent
        return subprocess.Popen(
            [sys.executable, program, *given], env={"PYTHONPATH": str(folder)}
        )

    async def run() -> None:
        async with asyncio.timeout(SECONDS), Receiver() as receiver:
            ann = listener(database, callback=receiver.url(), reconcile_at=4e9)
            urls = written(database, ann, 1, 300)
            for kill in range(kills):
                process = joined(database)
                child = start(process)
                try:
                    await receiver.has(len(receiver.sent) + 1)
                    if kill % 2:  # it has told, and no answer has come
                        receiver.gate.clear()
                    await receiver.has(len(receiver.sent) + 1)
                finally:
                    child.kill()
                    child.wait()
                receiver.gate.set()
                bury(database, process)
            child = start(joined(database))
            try:
                while len(applied(receiver.sent)) < len(urls):
                    await receiver.has(len(receiver.sent) + 1)
            finally:
                child.kill()
                child.wait()

            assert applied(receiver.sent) == urls

    asyncio.run(run())


def test_two_notifiers_never_send_one_batch_both(database: Database) -> None:
    async def story(made: Office, receiver: Receiver, clock: FakeClock) -> None:
        expected = {}
        for number in range(8):
            callback = receiver.url(f"/{number}")
            owner_id = listener(database, f"{number}", callback, TOMORROW)
            expected[f"/{number}"] = written(database, owner_id, 1, 12)
        one, two = (made.notifier(joined(database)) for _ in range(2))
        for _ in range(4):
            await asyncio.gather(turn(one), turn(two))
            clock.advance(15)

        keys = [sent.headers["ronda-batch"] for sent in receiver.sent]
        assert len(keys) == len(set(keys)) == 8 * 4
        for path, urls in expected.items():
            mine = [sent for sent in receiver.sent if sent.path == path]
            assert [url for sent in mine for url in urls_of(sent)] == urls

    tell(database, story, Notices(batch=3, timeout=5))


def test_one_who_is_slow_holds_up_nobody_else(database: Database) -> None:
    async def story(made: Office, receiver: Receiver, clock: FakeClock) -> None:
        slow = listener(database, "slow", receiver.url(), TOMORROW)
        written(database, slow, 1, 4)
        notifier = made.notifier(joined(database))
        receiver.gate.clear()
        await notifier.look()
        await receiver.has(1)
        async with Receiver() as other:
            quick = listener(database, "quick", other.url(), TOMORROW)
            for number in range(1, 4):
                written(database, quick, 1, 1)
                clock.advance(15)
                await notifier.look()
                await other.has(number)
                await settled(notifier, quick)

            assert len(other.sent) == 3
        assert len(receiver.sent) == 1

    tell(database, story, Notices(batch=3, timeout=30))


def test_no_more_than_so_many_owners_are_told_at_the_same_time(
    database: Database,
) -> None:
    async def story(made: Office, receiver: Receiver, _clock: FakeClock) -> None:
        for number in range(AT_ONCE + 3):
            owner_id = listener(database, f"{number}", receiver.url(), TOMORROW)
            written(database, owner_id, 1, 1)
        notifier = made.notifier(joined(database))
        receiver.gate.clear()
        await notifier.look()
        await receiver.has(AT_ONCE)

        assert await notifier.look() is None
        assert len(receiver.sent) == receiver.most_at_once == AT_ONCE

        receiver.gate.set()
        await settled(notifier)
        await turn(notifier)
        assert len(receiver.sent) == AT_ONCE + 3

    tell(database, story)


def test_no_answer_in_time_is_a_failure(database: Database) -> None:
    async def story(made: Office, _receiver: Receiver, _clock: FakeClock) -> None:
        ann = listener(database, reconcile_at=TOMORROW)
        written(database, ann, 1, 1)
        made.silent = True
        await turn(made.notifier(joined(database)))

        assert ", the last no answer in 0.01 s;" in made.said[0]

    tell(database, story, Notices(timeout=0.01, failures_to_switch_off=1))


def test_who_lost_a_batch_says_nothing_of_it(database: Database) -> None:
    async def story(made: Office, receiver: Receiver, clock: FakeClock) -> None:
        receiver.answer = lambda _: 500
        receiver.gate.clear()
        ann = listener(database, callback=receiver.url(), reconcile_at=TOMORROW)
        written(database, ann, 1, 1)
        slow = made.notifier(joined(database))
        await slow.look()
        await receiver.has(1)
        clock.advance(1000)
        made.outbox.take(joined(database), clock.epoch(), slow.settings, count=1)
        receiver.gate.set()
        await settled(slow)

        assert made.said == []

    tell(database, story, Notices(timeout=5, failures_to_switch_off=1))


def test_the_gaps_between_tries_grow_and_the_batch_stays_the_same(
    database: Database,
) -> None:
    async def story(made: Office, receiver: Receiver, clock: FakeClock) -> None:
        receiver.answer = lambda _: 500
        ann = listener(database, callback=receiver.url(), reconcile_at=TOMORROW)
        written(database, ann, 1, 3)
        notifier = made.notifier(joined(database))
        for _ in range(9):
            await go_on(notifier, clock)
            written(database, ann, 4, 4)

        gaps = [after - before for before, after in pairwise(made.sent_at)]
        assert all(before < after for before, after in pairwise(gaps))
        assert 24 <= gaps[0] <= 30
        assert len(different(receiver.sent)) == 1

    tell(database, story)


def test_who_cannot_be_told_is_switched_off_and_the_operator_told(
    database: Database,
) -> None:
    async def story(made: Office, receiver: Receiver, clock: FakeClock) -> None:
        receiver.answer = lambda _: 503
        ann = listener(database, callback=receiver.url(), reconcile_at=TOMORROW)
        written(database, ann, 1, 3)
        notifier = made.notifier(joined(database))
        while not made.said:
            await go_on(notifier, clock)
        clock.advance(100_000)
        await turn(notifier)

        assert len(receiver.sent) == 20
        (line,) = made.said
        assert line.startswith("notices to ann are switched off: ")
        assert "20 failures in a row, the last HTTP 503" in line
        (notice,) = made.outbox.kept()
        assert (notice.kind, notice.message) == ("switched_off", line)
        owner = row(database, schema.owner, ann)
        assert owner is not None
        assert owner["notices_on"] is False
        assert waiting(database, ann) == 0

    tell(database, story)


def test_three_days_of_failing_are_enough(database: Database) -> None:
    async def story(made: Office, receiver: Receiver, clock: FakeClock) -> None:
        receiver.answer = lambda _: 503
        ann = listener(database, callback=receiver.url(), reconcile_at=TOMORROW)
        written(database, ann, 1, 3)
        notifier = made.notifier(joined(database))
        while not made.said:
            await go_on(notifier, clock)

        assert "failing for 3." in made.said[0]
        assert 3 <= (made.sent_at[-1] - made.sent_at[0]) / 86_400 < 3.3

    tell(database, story, Notices(timeout=5, failures_to_switch_off=1000))


def test_an_operator_who_listens_is_told_by_his_callback(database: Database) -> None:
    async def story(made: Office, receiver: Receiver, clock: FakeClock) -> None:
        receiver.answer = lambda sent: 500 if sent.path == "/ann" else 200
        set_owner(database, OPERATOR, callback=receiver.url("/operator"))
        set_owner(database, OPERATOR, reconcile_at=TOMORROW)
        ann = listener(database, "ann", receiver.url("/ann"), TOMORROW)
        written(database, ann, 1, 1)
        notifier = made.notifier(joined(database))
        await turn(notifier)
        await turn(notifier)

        *_, told = (json.loads(one.body) for one in receiver.sent)
        assert told["owner"] == "operator"
        assert [notice["kind"] for notice in told["notices"]] == ["switched_off"]

    tell(database, story, Notices(timeout=5, failures_to_switch_off=1))


def test_a_reconciliation_tells_of_all_even_if_it_fails_on_the_way(
    database: Database,
) -> None:
    async def story(made: Office, receiver: Receiver, clock: FakeClock) -> None:
        answers = [200, 500, 200, 200]
        receiver.answer = lambda _: answers.pop(0)
        ann = listener(database, callback=receiver.url(), reconcile_at=0.0)
        urls = watched(database, ann, 2500)
        notifier = made.notifier(joined(database))
        while answers:
            await go_on(notifier, clock)

        taken = [json.loads(one.body) for one in receiver.sent]
        assert [(one["kind"], one["part"], one["last"]) for one in taken] == [
            ("reconciliation", 1, False),
            ("reconciliation", 2, False),
            ("reconciliation", 2, False),
            ("reconciliation", 3, True),
        ]
        assert applied(receiver.sent) == urls
        marks = [n["acknowledged"] for one in taken[:2] for n in one["notices"]]
        assert marks == [number % 3 == 0 for number in range(2000)]
        next_at = made.outbox.next_at()
        assert next_at is not None
        assert 0 < next_at - made.sent_at[-1] <= 86_400

    tell(database, story)


def test_who_is_switched_on_again_is_told_everything_first(
    database: Database,
) -> None:
    async def story(made: Office, receiver: Receiver, clock: FakeClock) -> None:
        receiver.answer = lambda _: 500
        ann = listener(database, callback=receiver.url(), reconcile_at=TOMORROW)
        watched(database, ann, 2)
        written(database, ann, 1, 1)
        notifier = made.notifier(joined(database))
        await turn(notifier)
        receiver.answer = lambda _: 200
        with database.writing() as connection:
            start_over(connection, ann)
        set_owner(database, ann, notices_on=True)
        await turn(notifier)

        kinds = [json.loads(one.body)["kind"] for one in receiver.sent]
        assert kinds == ["notices", "reconciliation"]

    tell(database, story, Notices(timeout=5, failures_to_switch_off=1))


# -- the task ------------------------------------------------------------------


def test_it_is_woken_by_what_is_written(database: Database) -> None:
    async def story(made: Office, receiver: Receiver, clock: FakeClock) -> None:
        ann = listener(database, callback=receiver.url(), reconcile_at=TOMORROW)
        notifier = made.notifier(joined(database))
        running = asyncio.create_task(notifier.run())
        for number in range(1, 3):
            await asyncio.to_thread(written, database, ann, number, number)
            notifier.wake()
            notifier.wake()
            await receiver.has(number)
            await settled(notifier)
            clock.advance(100)
        notifier.wake()  # too late: it ends
        await cancelled(running)

        assert applied(receiver.sent) == ["http://h.test/1", "http://h.test/2"]

    tell(database, story)


def test_at_its_end_what_is_being_sent_may_end(database: Database) -> None:
    async def story(made: Office, receiver: Receiver, clock: FakeClock) -> None:
        ann = listener(database, callback=receiver.url(), reconcile_at=TOMORROW)
        written(database, ann, 1, 2)
        receiver.gate.clear()
        running = asyncio.create_task(made.notifier(joined(database)).run())
        await receiver.has(1)
        running.cancel()
        await asyncio.sleep(0)  # the end has begun
        receiver.gate.set()
        with contextlib.suppress(asyncio.CancelledError):
            await running

        assert running.cancelled()
        assert row(database, schema.batch, ann) is None

    tell(database, story)


def test_at_its_end_what_does_not_end_in_time_is_kept(database: Database) -> None:
    async def story(made: Office, receiver: Receiver, clock: FakeClock) -> None:
        ann = listener(database, callback=receiver.url(), reconcile_at=TOMORROW)
        written(database, ann, 1, 2)
        receiver.gate.clear()
        notifier = made.notifier(joined(database))
        notifier.hurry(0.05)
        running = asyncio.create_task(notifier.run())
        await receiver.has(1)
        await cancelled(running)
        stored = row(database, schema.batch, ann)

        assert stored is not None
        assert stored["key"] == receiver.sent[0].headers["ronda-batch"]

    tell(database, story)


def test_who_is_in_a_hurry_waits_for_nobody(database: Database) -> None:
    async def story(made: Office, receiver: Receiver, clock: FakeClock) -> None:
        ann = listener(database, callback=receiver.url(), reconcile_at=TOMORROW)
        written(database, ann, 1, 2)
        receiver.gate.clear()
        notifier = made.notifier(joined(database))
        running = asyncio.create_task(notifier.run())
        await receiver.has(1)
        running.cancel()
        await asyncio.sleep(0)  # the end has begun, with all its grace
        notifier.hurry(0.0)
        await cancelled(running)

        assert row(database, schema.batch, ann) is not None

    tell(database, story)


def test_a_store_that_is_busy_is_waited_for(database: Database) -> None:
    async def story(made: Office, receiver: Receiver, clock: FakeClock) -> None:
        ann = listener(database, callback=receiver.url(), reconcile_at=TOMORROW)
        written(database, ann, 1, 2)
        notifier = made.notifier(joined(database))
        for _ in range(2):
            made.busy = StoreBusyError("--db x: locked by another program")
            assert await notifier.look() == clock.epoch() + 5
        await turn(notifier)

        assert len(receiver.sent) == 1
        assert made.said == [
            "notices wait for the store: --db x: locked by another program"
        ]

    tell(database, story)


def test_a_store_that_is_busy_when_a_batch_was_taken_gets_it_sent_again(
    database: Database,
) -> None:
    async def story(made: Office, receiver: Receiver, clock: FakeClock) -> None:
        ann = listener(database, callback=receiver.url(), reconcile_at=TOMORROW)
        urls = written(database, ann, 1, 2)
        notifier = made.notifier(joined(database))
        receiver.gate.clear()
        await notifier.look()
        await receiver.has(1)
        made.busy = StoreBusyError("--db x: the disk is full")
        receiver.gate.set()
        await settled(notifier)
        clock.advance(100)
        await turn(notifier)

        assert len(receiver.sent) == 2
        assert applied(receiver.sent) == urls
        assert row(database, schema.batch, ann) is None

    tell(database, story)


def test_a_fault_of_ours_ends_it(database: Database) -> None:
    async def story(made: Office, receiver: Receiver, clock: FakeClock) -> None:
        ann = listener(database, callback=receiver.url(), reconcile_at=TOMORROW)
        written(database, ann, 1, 2)

        with pytest.raises(KilledError):
            await made.notifier(joined(database), "after send").run()

    tell(database, story)


async def go_on(notifier: Notifier, clock: FakeClock) -> None:
    """Look, and let the time pass to when there is something to do."""
    until = await turn(notifier)
    if until is not None and until > clock.epoch():
        clock.advance(until - clock.epoch() + 1e-3)


async def settled(notifier: Notifier, *owners: int) -> None:
    """What was begun has come to its end; for some owners, or all."""
    wanted = owners or tuple(notifier._sending)
    while tasks := [notifier._sending[n] for n in wanted if n in notifier._sending]:
        await asyncio.wait(tasks)


async def cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


def set_owner(database: Database, owner_id: int, **values: object) -> None:
    with database.writing() as connection:
        changed = update(schema.owner).where(schema.owner.c.id == owner_id)
        connection.execute(changed.values(values))
