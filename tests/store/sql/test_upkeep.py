"""A store looked over, pruned, copied and made anew from its copy."""

import gzip
import io
import sqlite3
import stat
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Table, delete, func, insert, select, update

from ronda.errors import StoreError
from ronda.store.sql import pruning, schema, tallies
from ronda.store.sql.engines import Database
from ronda.store.sql.migrating import VERSION_TABLE, is_current
from ronda.store.sql.schema import (
    fact,
    history,
    host,
    hour,
    label,
    request,
    robots,
    round_,
    round_result,
    schedule,
    server,
    service,
    tally,
    target,
    task_result,
    watch,
)
from ronda.store.sql.transfer import Transfer
from ronda.store.sql.upkeep import Upkeep
from servers.databases import ENGINES, Databases
from stores import DAY, HOUR, NOW, everything, fill

MONTH = 30 * DAY
YESTERDAY = int((NOW - DAY) // HOUR)  # the hour


@pytest.fixture
def filled(database: Database) -> Database:
    """A store with something of everything."""
    fill(database, everything())
    return database


@pytest.fixture(params=ENGINES)
def other(
    request: pytest.FixtureRequest, databases: Databases, tmp_path: Path
) -> Iterator[Database]:
    """A second store, empty."""
    with databases.fresh(request.param, tmp_path / "other" / "ronda.db") as where:
        database = Database(where)
        yield database
        database.close()


class TestCheck:
    def test_a_store_in_order_has_no_problems(self, filled: Database) -> None:
        assert Upkeep(filled).check() == []

    def test_an_empty_store_is_in_order(self, database: Database) -> None:
        assert Upkeep(database).check() == []

    def test_it_tells_what_it_looks_at(self, filled: Database) -> None:
        told: list[str] = []
        Upkeep(filled).check(told.append)

        assert "tallies" in told
        assert "targets that nobody watches" in told

    @pytest.mark.parametrize(
        ("change", "problem"),
        [
            (
                update(tally).where(tally.c.owner_id == 2, tally.c.state == "ok"),
                "the tally says 7 targets of Zoë are ok, not 1",
            ),
            (
                update(tally).where(tally.c.owner_id == 0, tally.c.state == "broken"),
                "the tally says 7 targets are broken, not 1",
            ),
            (
                delete(tally).where(tally.c.owner_id == 1),
                "the tally says 0 targets of operator are ok, not 1",
            ),
            (
                update(watch)
                .where(watch.c.owner_id == 2, watch.c.target_id == 1)
                .values(target_id=9),
                "1 rows in watch of a target that is not there, such as number 9",
            ),
            (
                update(label).where(label.c.name == "a").values(target_id=9),
                "1 rows in label of a target that is not there, such as number 9",
            ),
            (
                insert(schedule).values(target_id=9, server_id=1),
                "1 rows in schedule of a target that is not there, such as number 9",
            ),
            (
                update(service).values(target_id=9),
                "1 rows in service of a target that is not there, such as number 9",
            ),
            (
                update(task_result).values(target_id=9),
                "3 rows in task_result of a target that is not there, such as",
            ),
            (
                update(round_result)
                .where(round_result.c.target_id == 2)
                .values(round_id=9),
                "1 results of a round that is not there, such as number 2",
            ),
            (
                update(watch).where(watch.c.target_id == 2).values(owner_id=9),
                "1 targets watched by an owner who is not there, such as number 2",
            ),
            (
                update(schedule).where(schedule.c.target_id == 1).values(server_id=9),
                "1 targets scheduled at a server that is not there, such as number 1",
            ),
            (
                delete(schedule).where(schedule.c.target_id == 2),
                "1 targets without a schedule, such as number 2",
            ),
            (
                update(schedule).where(schedule.c.target_id == 1).values(server_id=2),
                "1 targets scheduled at another server than their host's, such as",
            ),
            (
                update(schedule).where(schedule.c.target_id == 1).values(last_result=6),
                "1 targets whose last result is another's, such as number 1",
            ),
            (
                update(schedule).where(schedule.c.target_id == 1).values(last_result=7),
                "1 targets whose last result is missing, such as number 1",
            ),
            (
                update(schedule)
                .where(schedule.c.target_id == 1)
                .values(last_result=None),
                "1 targets that were checked and have no result, such as number 1",
            ),
            (
                update(history).where(history.c.id == 6).values(standing="ok"),
                "1 targets in another state than their last result left, such as",
            ),
            (
                update(history).where(history.c.id == 3).values(previous=5),
                "1 results before the one that they follow, such as number 3",
            ),
            (
                update(history).where(history.c.id == 5).values(previous=2),
                "1 results that follow one of another target, such as number 5",
            ),
            (
                delete(history).where(history.c.id == 3),
                "1 results whose one before is missing, such as number 5",
            ),
            (
                update(hour).where(hour.c.first_id == 5).values(last_id=5),
                f"1 hours that do not name all of their results: {YESTERDAY}",
            ),
            (
                delete(hour).where(hour.c.first_id == 3),
                f"1 hours that do not name all of their results: {YESTERDAY - 9 * 24}",
            ),
            (
                update(server).where(server.c.id == 1).values(due_at=NOW + 2 * HOUR),
                "1 servers that come after their first target is due, such as number 1",
            ),
            (
                update(server).where(server.c.id == 1).values(due_at=None),
                "1 servers that come after their first target is due, such as number 1",
            ),
            (
                delete(schema.process),
                "1 servers held by a process that is not there, such as number 2",
            ),
            (
                update(round_).values(done=3),
                "1 rounds with more done than there is, such as number 3",
            ),
        ],
        ids=[
            "tally",
            "tally of all",
            "no tally",
            "lost watch",
            "lost label",
            "lost schedule",
            "lost service",
            "lost task",
            "lost round",
            "lost owner",
            "lost server",
            "schedule",
            "server",
            "result of another",
            "no such result",
            "no result",
            "state",
            "backward",
            "stranger",
            "lost",
            "short hour",
            "no hour",
            "late",
            "never",
            "holder",
            "round",
        ],
    )
    def test_what_does_not_agree_is_a_problem(
        self, filled: Database, change: Any, problem: str
    ) -> None:
        is_tally = "tally" in problem and not change.is_delete
        _change(filled, change.values(number=7) if is_tally else change)

        found = Upkeep(filled).check()
        assert any(words.startswith(problem) for words in found), found

    def test_targets_that_nobody_watches_are_a_problem(self, filled: Database) -> None:
        _change(filled, delete(watch).where(watch.c.target_id == 2), recount=True)

        [problem] = Upkeep(filled).check()
        assert problem == "1 targets that nobody watches, such as number 2"

    def test_a_server_that_may_not_be_asked_yet_may_be_late(
        self, filled: Database
    ) -> None:
        later = {"due_at": NOW + 9 * HOUR, "next_at": NOW + 9 * HOUR}
        _change(filled, update(server).where(server.c.id == 1).values(later))

        assert Upkeep(filled).check() == []

    def test_visits_that_wait_for_a_server_that_is_not_due_are_a_problem(
        self, filled: Database
    ) -> None:
        free = {"due_at": None, "holder": None}
        _change(filled, update(server).where(server.c.id == 2).values(free))
        _change(filled, update(schedule).values(next_due=None))

        [problem] = Upkeep(filled).check()
        assert problem == "1 servers not due, for which visits wait, such as number 2"

    def test_a_damaged_file_is_a_problem(self, tmp_path: Path) -> None:
        path = tmp_path / "ronda.db"
        database = Database(str(path))
        Upkeep(database)
        with closing(sqlite3.connect(path)) as file:
            file.execute("CREATE TABLE extra (word TEXT)")
            file.execute("CREATE INDEX words ON extra (word)")
            file.executemany("INSERT INTO extra VALUES (?)", [("a",), ("b",)])
            file.commit()
            file.execute("PRAGMA writable_schema = ON")
            file.execute("DELETE FROM sqlite_schema WHERE name = 'extra'")
            file.commit()

        problems = Upkeep(database).check()
        database.close()
        assert problems
        assert all("\n" not in problem for problem in problems)

    @pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
    def test_a_row_that_names_nothing_is_a_problem(self, filled: Database) -> None:
        assert filled.path
        with closing(sqlite3.connect(filled.path)) as file:  # it does not mind
            file.execute("UPDATE host SET server_id = 77 WHERE id = 1")
            file.commit()

        assert "host 1 names what is not in server" in Upkeep(filled).check()


class TestPrune:
    def test_old_results_go_and_the_last_of_each_target_stays(
        self, filled: Database
    ) -> None:
        _change(
            filled, update(schedule).where(schedule.c.target_id == 1), last_result=3
        )
        _change(filled, update(history).where(history.c.id == 5), target_id=99)

        pruned = Upkeep(filled).prune(NOW, 5 * DAY)

        assert pruned.results == 3
        assert _ids(filled, history) == [3, 5, 6]

    def test_what_is_left_is_in_order(self, filled: Database) -> None:
        pruned = Upkeep(filled).prune(NOW, 5 * DAY)

        assert pruned.results == 4
        assert _ids(filled, history) == [5, 6]
        assert Upkeep(filled).check() == []

    def test_twice_finds_nothing_more(self, filled: Database) -> None:
        Upkeep(filled).prune(NOW, 5 * DAY)

        assert Upkeep(filled).prune(NOW, 5 * DAY) == pruning.Pruned(0, 0, 0, 0)

    def test_the_newest_result_of_all_stays_even_if_nobody_needs_it(
        self, filled: Database
    ) -> None:
        """Or SQLite would use its number again."""
        _change(filled, update(schedule), last_result=None)

        Upkeep(filled).prune(NOW + MONTH, DAY)

        assert _ids(filled, history) == [6]

    def test_many_go_in_slices(
        self, filled: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pruning, "SLICE", 10)
        monkeypatch.setattr(pruning, "PAUSE", 0.0)
        with filled.writing() as connection:
            connection.execute(delete(history))
            connection.execute(delete(hour))
            row = {"target_id": 1, "task": "url", "standing": "ok", "reason": ""}
            row |= {"evidence": b""}
            old = [
                {"id": n, "at": NOW - MONTH, "state": "ok", **row} for n in range(1, 96)
            ]
            new = {"id": 2000, "at": NOW, "state": "ok", **row}
            connection.execute(insert(history), [*old, new])
            hours = [
                {"hour": int(at // HOUR), "first_id": low, "last_id": high}
                for at, low, high in ((NOW - MONTH, 1, 95), (NOW, 2000, 2000))
            ]
            connection.execute(insert(hour), hours)

        assert Upkeep(filled).prune(NOW, 9 * DAY).results == 94
        # The last result of the target.
        assert _ids(filled, history) == [5, 2000]

    def test_hosts_and_servers_that_nobody_needs_go(self, filled: Database) -> None:
        old = {"asked_at": NOW - 2 * DAY}
        with filled.writing() as connection:
            addresses = ("alone", "used", "recent", "held", "resting", "waiting")
            rows = [
                {"id": n, "address": address, **old}
                for n, address in enumerate(addresses, 11)
            ]
            connection.execute(insert(server), rows)
            connection.execute(
                insert(host),
                [
                    {"id": n, "name": address, "server_id": n, **old}
                    for n, address in enumerate(addresses, 11)
                    if address != "waiting"
                ],
            )
            for table, name, change in (
                (target, None, {"host_id": 12}),
                (host, "recent", {"asked_at": NOW - HOUR}),
                (server, "held", {"holder": 9}),
                (host, "resting", {"rests_until": NOW + HOUR}),
                (request, None, {"server_id": 16}),
            ):
                query = update(table).values(change)
                if name:
                    column = host.c.name if table is host else server.c.address
                    query = query.where(column == name)
                connection.execute(query)
            connection.execute(update(schedule).values(server_id=12))

        pruned = Upkeep(filled).prune(NOW, MONTH)

        assert (pruned.hosts, pruned.servers) == (1, 1)
        assert _ids(filled, host) == [1, 2, 12, 13, 14, 15]
        assert _ids(filled, server) == [1, 2, 12, 13, 14, 15, 16]

    @pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
    def test_hosts_that_somebody_is_about_to_use_stay(
        self, filled: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Who has said so in a transaction is not waited for, nor hindered."""
        monkeypatch.setattr(pruning, "ATTEMPTS", 1)
        row = {"name": "old", "server_id": 1, "asked_at": NOW - MONTH}
        _change(filled, insert(host).values(row))
        with filled.writing() as connection:
            connection.execute(update(host).where(host.c.id == 1).values(gap=1.0))

            assert Upkeep(filled).prune(NOW, MONTH).hosts == 0

        assert Upkeep(filled).prune(NOW, MONTH).hosts == 1

    def test_robots_files_go_after_a_month(self, filled: Database) -> None:
        _change(
            filled,
            insert(robots),
            authority="http://old.test",
            body=b"",
            at=NOW - MONTH - 1,
        )

        assert Upkeep(filled).prune(NOW, MONTH).robots == 1
        with filled.reading() as connection:
            left = connection.scalars(select(robots.c.authority)).all()
        assert left == ["http://a.test"]

    def test_old_rounds_go_with_what_they_found(
        self, filled: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """But for the newest of each name, by which the next is known to be due."""
        monkeypatch.setattr(pruning, "SLICE", 2)
        old = {"name": "night", "ended_at": NOW - MONTH}
        rounds = [
            {"id": 4, "started_at": NOW - 3 * MONTH, **old},
            {"id": 5, "started_at": NOW - 2 * MONTH, **old},
            {"id": 6, "started_at": NOW - 2 * MONTH, **old, "name": "noon"},
            {"id": 7, "started_at": NOW - 2 * MONTH, **old, "ended_at": None},
            {"id": 8, "started_at": NOW - 4 * MONTH, **old},
        ]
        rounds[3]["name"] = "open"
        words = dict.fromkeys(("state", "reason", "task", "message"), "x")
        found = [
            {"round_id": n, "target_id": t, "at": NOW, **words}
            for n in (4, 6, 7)
            for t in range(5)
        ]
        with filled.writing() as connection:
            connection.execute(insert(round_), rounds)
            connection.execute(insert(round_result), found)

        assert Upkeep(filled).prune(NOW, DAY).rounds == 2
        assert _ids(filled, round_) == [3, 6, 7, 8]
        with filled.reading() as connection:
            left = connection.scalars(select(round_result.c.round_id).distinct())
            assert sorted(left) == [3, 7]

    def test_space_is_given_back(self, filled: Database) -> None:
        _change(filled, insert(fact), name="large", value="x" * 3_000_000)
        _change(filled, delete(fact).where(fact.c.name == "large"))
        before = _size(filled)

        Upkeep(filled).prune(NOW, MONTH, compact=True)

        assert _size(filled) < before
        assert Upkeep(filled).check() == []

    def test_others_write_meanwhile(
        self, filled: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pruning, "SLICE", 1)
        writer = Database(filled.where)
        written = []

        def write(_: float) -> None:
            _change(writer, insert(label), name=f"{len(written)}", target_id=1)
            written.append(1)

        monkeypatch.setattr(pruning.time, "sleep", write)
        Upkeep(filled).prune(NOW, 5 * DAY)
        writer.close()

        assert len(written) == 4


class TestCopies:
    def test_a_backup_makes_the_same_store_again(
        self, filled: Database, other: Database, tmp_path: Path
    ) -> None:
        path = tmp_path / "a copy %20?#.bak"
        Upkeep(filled).backup(path)

        if other.is_postgres and not filled.is_postgres:
            with pytest.raises(StoreError, match="a copy of an SQLite store"):
                Upkeep(other).restore(path)
            return
        Upkeep(other).restore(path)

        assert _export(other) == _export(filled)
        assert Upkeep(other).check() == []
        assert is_current(other)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert list(tmp_path.glob("*.part")) == []

    def test_an_export_can_be_restored_too(
        self, filled: Database, other: Database, tmp_path: Path
    ) -> None:
        path = tmp_path / "export.jsonl"
        path.write_bytes(_export(filled))

        Upkeep(other).restore(path)

        assert _export(other) == _export(filled)

    def test_a_backup_holds_what_was_written_last(
        self, filled: Database, tmp_path: Path, databases: Databases
    ) -> None:
        """Also when it is still in the log of SQLite, and others have it open."""
        with filled.reading() as reader:
            reader.execute(select(fact)).all()
            _change(filled, insert(fact), name="last", value="word")
            Upkeep(filled).backup(tmp_path / "copy")

        engine = "postgresql" if filled.is_postgres else "sqlite"
        with databases.fresh(engine, tmp_path / "again.db") as where:
            again = Database(where)
            Upkeep(again).restore(tmp_path / "copy")
            with again.reading() as connection:
                names = connection.scalars(select(fact.c.name)).all()
            again.close()
        assert "last" in names

    def test_a_file_that_is_there_is_not_overwritten(
        self, filled: Database, tmp_path: Path
    ) -> None:
        path = tmp_path / "copy"
        path.write_text("mine")

        with pytest.raises(StoreError, match=r"copy: is there already$"):
            Upkeep(filled).backup(path)
        assert path.read_text() == "mine"

    def test_a_folder_that_is_not_there_is_told(
        self, filled: Database, tmp_path: Path
    ) -> None:
        path = tmp_path / "missing" / "copy"

        with pytest.raises(StoreError, match=r"copy: No such file or directory$"):
            Upkeep(filled).backup(path)
        with pytest.raises(StoreError, match=r"copy: No such file or directory$"):
            Upkeep(filled).restore(path)

    def test_a_store_that_is_not_empty_is_not_restored_into(
        self, filled: Database, tmp_path: Path
    ) -> None:
        path = tmp_path / "copy"
        Upkeep(filled).backup(path)
        before = _export(filled)

        with pytest.raises(StoreError, match="not empty"):
            Upkeep(filled).restore(path)
        assert _export(filled) == before

    def test_what_is_no_backup_is_refused(
        self, database: Database, tmp_path: Path
    ) -> None:
        path = tmp_path / "notes.txt"
        path.write_text("notes\n")

        with pytest.raises(StoreError, match="line 1: not an export of Ronda's"):
            Upkeep(database).restore(path)

    @pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
    def test_a_packed_backup_that_is_damaged_is_refused(
        self, filled: Database, other: Database, tmp_path: Path
    ) -> None:
        path = tmp_path / "copy"
        Upkeep(filled).backup(path)
        whole = path.read_bytes()
        empty = _export(other)
        for damaged in (whole[:-200], whole[:100] + b"?" * 50 + whole[150:]):
            path.write_bytes(damaged)
            with pytest.raises(StoreError, match="copy: damaged: ") as caught:
                Upkeep(other).restore(path)
            assert "\n" not in str(caught.value)

        assert _export(other) == empty
        assert gzip.decompress(whole)

    @pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
    @pytest.mark.parametrize("other", ["sqlite"], indirect=True)
    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ("PRAGMA application_id = 7", "not a backup of Ronda's"),
            (f"UPDATE {VERSION_TABLE} SET version_num = '9999'", "by a newer Ronda"),
            (f"DROP TABLE {VERSION_TABLE}", "no such table"),
            (None, "damaged"),
        ],
        ids=["program", "newer", "no version", "damaged"],
    )
    def test_a_file_that_is_not_to_be_used_is_refused(
        self,
        filled: Database,
        other: Database,
        tmp_path: Path,
        change: str | None,
        words: str,
    ) -> None:
        path = tmp_path / "copy"
        Upkeep(filled).backup(path)
        if change is not None:
            with closing(sqlite3.connect(path, isolation_level=None)) as file:
                file.execute(change)
        else:
            whole = path.read_bytes()
            path.write_bytes(whole[:8192] + b"\xff" * 4096 + whole[12288:])
        before = _export(other)

        with pytest.raises(StoreError, match=words) as caught:
            Upkeep(other).restore(path)
        assert "\n" not in str(caught.value)
        assert _export(other) == before

    def test_what_a_process_held_is_inherited(
        self, filled: Database, other: Database, tmp_path: Path
    ) -> None:
        Upkeep(filled).backup(tmp_path / "copy")
        if other.is_postgres == filled.is_postgres:
            Upkeep(other).restore(tmp_path / "copy")

            with other.reading() as connection:
                held = select(server.c.holder, server.c.inherited).order_by("id")
                assert connection.execute(held).all() == [(None, False), (None, True)]
                assert connection.scalars(select(schema.process)).all() == []

    def test_a_backup_can_be_made_while_others_write(
        self, filled: Database, tmp_path: Path
    ) -> None:
        writer = Database(filled.where)
        done = threading.Event()
        numbers = []

        def write() -> None:
            while not done.is_set() and len(numbers) < 500:
                name = str(len(numbers))
                _change(writer, insert(fact), name=name, value="")
                numbers.append(name)

        thread = threading.Thread(target=write)
        thread.start()
        for number in range(3):
            Upkeep(filled).backup(tmp_path / f"copy{number}")
        done.set()
        thread.join()
        writer.close()

        assert len(list(tmp_path.glob("copy*"))) == 3
        assert Upkeep(filled).check() == []


def _change(
    database: Database, change: Any, *, recount: bool = False, **values: Any
) -> None:
    with database.writing() as connection:
        connection.execute(change.values(values) if values else change)
        if recount:
            tallies.recount(connection)


def _ids(database: Database, table: Table) -> list[int]:
    with database.reading() as connection:
        return list(connection.scalars(select(table.c.id).order_by(table.c.id)))


def _size(database: Database) -> int:
    with database.reading() as connection:
        if database.path is None:
            return connection.scalar(func.pg_total_relation_size("fact")) or 0
        pages: int = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        return pages


def _export(database: Database) -> bytes:
    to = io.BytesIO()
    Transfer(database).export(to)
    return to.getvalue()
