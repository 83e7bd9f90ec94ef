"""Databases that can be used, and those that cannot: one line for each, no password."""

import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from psycopg import sql
from sqlalchemy import func, select

from ronda.errors import StoreBusyError, StoreError
from ronda.store.sql.engines import Database, default_path
from ronda.store.sql.migrating import ensure
from ronda.store.sql.schema import fact
from servers.postgres import GUARDED, Postgres
from servers.process import FreePort

PASSWORD = "se:cret@1"
WORD = {"name": "word", "value": "kept"}


def refusal(where: str, *, patience: float = 0.0) -> StoreError:
    """What is said of a database that cannot be used: one line."""
    with pytest.raises(StoreError) as caught:
        ensure(Database(where, patience=patience))
    words = str(caught.value)
    assert words.startswith("--db ")
    assert "\n" not in words
    return caught.value


@pytest.fixture(scope="module")
def guarded(postgres: Postgres) -> Iterator[None]:
    """A role with a password."""
    role = sql.Identifier(GUARDED)
    create = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}")
    postgres.run(create.format(role, sql.Literal("right")))
    yield
    postgres.run(sql.SQL("DROP ROLE {}").format(role))


class TestTransactions:
    def test_what_was_written_is_there(self, database: Database) -> None:
        with database.writing() as connection:
            connection.execute(fact.insert(), WORD)

        with database.reading() as connection:
            assert connection.scalar(select(fact.c.value)) == "kept"

    def test_an_error_undoes_all_of_it(self, database: Database) -> None:
        with suppress(ZeroDivisionError), database.writing() as connection:
            connection.execute(fact.insert(), WORD)
            raise ZeroDivisionError

        with database.reading() as connection:
            assert connection.scalar(select(func.count()).select_from(fact)) == 0

    def test_one_error_of_the_driver_is_one_line(self, database: Database) -> None:
        with pytest.raises(StoreError) as caught, database.writing() as connection:
            connection.execute(fact.insert(), [WORD, WORD])

        assert not isinstance(caught.value, StoreBusyError)
        assert "\n" not in str(caught.value)

    def test_what_is_read_in_one_transaction_stays_while_others_write(
        self, database: Database
    ) -> None:
        with database.reading() as reader:
            reader.execute(select(fact)).all()
            with database.writing() as writer:
                writer.execute(fact.insert(), WORD)
            found = reader.execute(select(fact.c.name)).all()

        assert found == []

    def test_the_clock_is_that_of_the_machine(self, database: Database) -> None:
        database.set_clock()

        assert database.epoch() == pytest.approx(time.time(), abs=60)

    def test_a_jump_of_the_machines_clock_is_none_of_postgresqls(
        self, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        right = time.time()
        database.set_clock()
        monkeypatch.setattr(time, "time", lambda: right - 3600)

        expected = right if database.is_postgres else right - 3600
        assert database.epoch() == pytest.approx(expected, abs=60)


class TestFiles:
    def test_a_file_is_for_its_user_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "a ?#%20.db"
        database = Database(str(path))
        ensure(database)

        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in _all(path)}
        database.close()
        assert set(modes) == {path.name, f"{path.name}-wal", f"{path.name}-shm"}
        assert set(modes.values()) == {0o600}

    def test_the_default_is_in_the_users_folder_for_state(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
        Database().close()

        assert default_path() == tmp_path / "state" / "ronda" / "ronda.db"
        assert default_path().is_file()
        assert stat.S_IMODE(default_path().parent.stat().st_mode) == 0o700

    def test_a_name_that_sqlite_reads_otherwise_is_a_file_too(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        database = Database(":memory:")
        ensure(database)
        database.close()

        assert Path(":memory:").stat().st_size > 0

    def test_no_folder_is_made_for_a_slip_in_a_name(self, tmp_path: Path) -> None:
        error = refusal(str(tmp_path / "slip" / "ronda.db"))

        assert str(error).endswith(f"there is no folder {tmp_path / 'slip'}")
        assert not (tmp_path / "slip").exists()

    def test_a_folder_is_refused(self, tmp_path: Path) -> None:
        assert "not a file" in str(refusal(str(tmp_path)))

    def test_what_is_not_a_database_is_refused_and_left_alone(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "notes.txt"
        path.write_text("not a database, but long enough to be one\n" * 100)

        assert "not a database" in str(refusal(str(path)))
        assert path.read_text().startswith("not a database, but")

    @pytest.mark.parametrize("application", [0, 1234])
    def test_the_file_of_another_program_is_refused_and_left_alone(
        self, tmp_path: Path, application: int
    ) -> None:
        path = tmp_path / "other.db"
        with closing(sqlite3.connect(path)) as other:
            other.execute(f"PRAGMA application_id = {application}")
            other.execute("CREATE TABLE target (anything)")
        before = path.read_bytes()

        assert "of another program" in str(refusal(str(path)))
        assert path.read_bytes() == before

    def test_the_file_of_a_crawl_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "crawl.db"
        with closing(sqlite3.connect(path)) as crawl:
            crawl.execute(f"PRAGMA application_id = {0x526F6E64}")
            crawl.execute("CREATE TABLE meta (anything)")

        assert "holds a crawl" in str(refusal(str(path)))

    @pytest.mark.parametrize(
        ("file", "around", "words"),
        [
            (0o000, 0o777, "it cannot be read by this user"),
            (0o444, 0o777, "it cannot be written by this user"),
            (0o666, 0o555, "its folder cannot be written by this user"),
        ],
    )
    def test_a_file_that_cannot_be_written_is_refused(
        self, file: int, around: int, words: str
    ) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "ronda.db"
            Database(str(path)).close()
            path.chmod(file)
            Path(folder).chmod(around)

            told = _words_for_nobody(path)
            Path(folder).chmod(0o755)

        assert told == f"--db {path}: {words}"

    def test_another_that_writes_too_long_is_told(self, tmp_path: Path) -> None:
        path = tmp_path / "ronda.db"
        database = Database(str(path), patience=0.0)
        ensure(database)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreBusyError, match="locked by another"):
                _write(database, WORD)
            with database.reading() as connection:  # readers do not mind
                connection.execute(select(fact)).all()
            other.execute("ROLLBACK")

        _write(database, WORD)
        database.close()

    def test_a_full_disk_undoes_the_transaction_and_heals(self, tmp_path: Path) -> None:
        database = Database(str(tmp_path / "ronda.db"))
        ensure(database)
        large = {"name": "large", "value": "x" * 100_000}
        with database.reading() as connection:
            connection.exec_driver_sql("PRAGMA max_page_count = 1")

        with pytest.raises(StoreBusyError, match="the disk is full"):
            _write(database, WORD, large)
        with database.reading() as connection:
            connection.exec_driver_sql("PRAGMA max_page_count = 1000000")
        _write(database, large)

        with database.reading() as connection:
            assert connection.scalars(select(fact.c.name)).all() == ["large"]
        database.close()

    def test_a_damaged_file_is_told(self, tmp_path: Path) -> None:
        path = tmp_path / "ronda.db"
        database = Database(str(path))
        ensure(database)
        database.close()
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * (path.stat().st_size - 4096))

        error = refusal(str(path))
        assert "damaged: move it away, and `ronda db restore" in str(error)
        assert not isinstance(error, StoreBusyError)


class TestServers:
    @pytest.mark.usefixtures("guarded")
    def test_a_wrong_password_is_told_without_it(self, postgres: Postgres) -> None:
        error = refusal(postgres.url(user=GUARDED, password="se%3Acret%401"))

        assert "password authentication failed" in str(error)
        assert "se%3A" not in str(error)
        assert not isinstance(error, StoreBusyError)

    @pytest.mark.usefixtures("guarded")
    def test_the_right_password_lets_in(self, postgres: Postgres) -> None:
        database = Database(postgres.url(user=GUARDED, password="right"))
        with database.reading() as connection:
            assert connection.scalar(select(1)) == 1
        database.close()

    def test_a_database_that_is_not_there_is_told(self, postgres: Postgres) -> None:
        error = refusal(postgres.url("missing"))

        assert str(error).endswith(': database "missing" does not exist')
        assert not isinstance(error, StoreBusyError)

    def test_a_server_that_is_down_may_come_back(self) -> None:
        port = FreePort()
        error = refusal(f"postgresql://ronda@127.0.0.1:{port.number}/ronda")
        port.release()

        assert str(error).endswith(": Connection refused")
        assert isinstance(error, StoreBusyError)

    @pytest.mark.parametrize(
        "where",
        [
            f"postgresql://ronda:{PASSWORD}@127.0.0.1:none/ronda",
            f"mysql://ronda:{PASSWORD}@127.0.0.1/ronda",
            f"postgresql:ronda:{PASSWORD}?password={PASSWORD}",
            f"postgresql://ronda@127.0.0.1:none/ronda?password={PASSWORD}&x=y",
        ],
        ids=["port", "engine", "form", "option"],
    )
    def test_a_url_that_is_none_is_told_without_its_password(self, where: str) -> None:
        words = str(refusal(where))

        assert "postgresql://" in words
        assert "cret" not in words

    def test_an_unknown_option_is_told(self, postgres: Postgres) -> None:
        error = refusal(postgres.url() + "?colour=red")

        assert "colour" in str(error)
        assert not isinstance(error, StoreBusyError)

    def test_options_of_the_url_go_before_ours(self, postgres: Postgres) -> None:
        database = Database(postgres.url() + "?application_name=other")
        with database.reading() as connection:
            name = connection.exec_driver_sql("SHOW application_name").scalar()
        database.close()

        assert name == "other"

    @pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
    def test_a_connection_that_is_cut_undoes_the_transaction(
        self, database: Database, postgres: Postgres
    ) -> None:
        with pytest.raises(StoreBusyError):
            _write(database, WORD, WORD | {"name": "other"}, between=postgres.cut)

        with database.reading() as connection:  # over a new connection
            assert connection.execute(select(fact)).all() == []

    @pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
    def test_an_idle_connection_that_was_cut_is_not_noticed(
        self, database: Database, postgres: Postgres
    ) -> None:
        with database.reading() as connection:
            connection.execute(select(fact)).all()
        postgres.cut()

        _write(database, WORD)

    @pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
    def test_errors_of_a_cursor_of_the_driver_are_one_line_too(
        self, database: Database
    ) -> None:
        with database.reading() as connection:
            driver = connection.connection.driver_connection
        assert driver is not None

        with pytest.raises(StoreError, match="does not exist"), database.in_one_line():
            driver.execute("SELECT * FROM nothing")


def _write(
    database: Database, *rows: dict[str, str], between: Callable[[], object] = int
) -> None:
    """Write rows in one transaction; something else happens after each."""
    with database.writing() as connection:
        for row in rows:
            connection.execute(fact.insert(), row)
            between()


def _all(path: Path) -> list[Path]:
    return [file for file in path.parent.iterdir() if file.name.startswith(path.name)]


def _words_for_nobody(path: Path) -> str:
    """What a user is told who may not write; root may always."""
    if os.geteuid() != 0:
        return str(refusal(str(path)))
    script = (
        "import os, sys\n"
        "from ronda.errors import StoreError\n"
        "from ronda.store.sql.engines import Database\n"
        "os.setuid(65534)\n"
        "try:\n"
        "    Database(sys.argv[1])\n"
        "except StoreError as error:\n"
        "    print(error, end='')\n"
    )
    command = [sys.executable, "-c", script, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
