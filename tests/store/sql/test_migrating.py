"""Stores of all ages: brought up to date, used as they are, or refused."""

import multiprocessing
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import column, insert, inspect, select, table, text

from ronda.errors import StoreError
from ronda.store.sql.engines import Database
from ronda.store.sql.migrating import (
    FOLDER,
    VERSION_TABLE,
    ensure,
    is_current,
    migrate,
)
from ronda.store.sql.schema import OPERATOR, fact, metadata, owner
from servers.databases import ENGINES, Databases

STEP = """
'''{words}.'''

from alembic import op

revision = "{number:04}"
down_revision = "{before:04}"


def upgrade():
    op.execute("CREATE TABLE extra{number} (word TEXT)")
    {more}
"""


@pytest.fixture(params=ENGINES)
def empty(
    request: pytest.FixtureRequest, databases: Databases, tmp_path: Path
) -> Iterator[Database]:
    """A database in which nothing is yet."""
    with databases.empty(request.param, tmp_path / "empty.db") as where:
        database = Database(where)
        yield database
        database.close()


@pytest.fixture
def later(tmp_path: Path) -> Path:
    """The steps of a Ronda to come: two more."""
    folder = tmp_path / "later 100% %(here)s"
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    _add(folder, 2, "a second step")
    _add(folder, 3, "a third")
    return folder


def test_migrating_an_empty_one_gives_the_tables_of_the_schema(
    empty: Database,
) -> None:
    assert migrate(empty) == ["0001: All tables, and the operator who is always there."]

    with empty.reading() as connection:
        options = {
            "compare_type": True,
            # Of SQLite's own words the next test compares more than Alembic can.
            "compare_server_default": empty.is_postgres,
            "version_table": VERSION_TABLE,
        }
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, metadata) == []


def test_the_schema_says_of_its_tables_what_the_steps_made(
    empty: Database, databases: Databases, tmp_path: Path
) -> None:
    """What Alembic does not compare: fill factors, tables without row ids."""
    migrate(empty)
    engine = "postgresql" if empty.is_postgres else "sqlite"
    with databases.empty(engine, tmp_path / "other.db") as where:
        other = Database(where)
        with other.writing() as connection:
            metadata.create_all(connection)

        assert _options(empty) == _options(other)
        other.close()


def test_the_operator_is_always_there_and_the_next_owner_is_another(
    empty: Database,
) -> None:
    ensure(empty)

    with empty.writing() as connection:
        connection.execute(insert(owner).values(name="second", added_at=0.0))
        rows = connection.execute(select(owner.c.id, owner.c.name).order_by("id")).all()
    assert rows == [(OPERATOR, "operator"), (OPERATOR + 1, "second")]


def test_migrating_twice_does_nothing(empty: Database) -> None:
    assert migrate(empty) != []
    assert is_current(empty)

    assert migrate(empty) == []
    ensure(empty)


def test_an_older_one_is_told_to_migrate_and_keeps_what_it_has(
    database: Database, later: Path
) -> None:
    with database.writing() as connection:
        connection.execute(insert(fact).values(name="word", value="kept"))

    assert not is_current(database, folder=later)
    with pytest.raises(StoreError, match=r"by an older Ronda: run `ronda db migrate`$"):
        ensure(database, folder=later)
    assert migrate(database, folder=later) == ["0002: a second step.", "0003: a third."]

    ensure(database, folder=later)
    with database.reading() as connection:
        assert connection.scalar(select(fact.c.value)) == "kept"
        assert inspect(connection).has_table("extra3")


def test_a_newer_one_is_refused(database: Database, later: Path) -> None:
    migrate(database, folder=later)

    for use in (ensure, is_current, migrate):
        with pytest.raises(
            StoreError, match=r"written by a newer Ronda: use that one$"
        ):
            use(database)


def test_a_step_that_fails_leaves_the_store_as_it_was(
    database: Database, later: Path
) -> None:
    _add(later, 4, "fails", 'op.execute("INSERT INTO extra4 VALUES (nothing)")')

    with pytest.raises(StoreError) as caught:
        migrate(database, folder=later)

    assert "\n" not in str(caught.value)
    assert is_current(database)  # as this Ronda knows it
    with database.reading() as connection:
        names = inspect(connection).get_table_names()
    assert not [name for name in names if name.startswith("extra")]


def test_the_tables_of_another_program_are_refused(empty: Database) -> None:
    with empty.writing() as connection:
        connection.execute(text("CREATE TABLE target (anything TEXT)"))

    for use in (ensure, is_current, migrate):
        with pytest.raises(StoreError, match=r"of another program$"):
            use(empty)


def test_many_that_begin_at_once_make_one_store(empty: Database) -> None:
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(4)
    if empty.path:  # the file too is made by whoever is first
        empty.path.unlink()
    starters = [
        context.Process(target=_start, args=(empty.where, barrier)) for _ in range(4)
    ]
    for starter in starters:
        starter.start()
    for starter in starters:
        starter.join()

    assert [starter.exitcode for starter in starters] == [0] * 4
    again = Database(empty.where)
    with again.reading() as connection:
        versions = table(VERSION_TABLE, column("version_num"))
        assert len(connection.execute(select(versions)).all()) == 1
        assert len(connection.execute(select(owner)).all()) == 1
    again.close()


def _start(where: str, barrier: "multiprocessing.synchronize.Barrier") -> None:
    barrier.wait()
    database = Database(where)
    ensure(database)
    database.close()


def _add(folder: Path, number: int, words: str, more: str = "") -> None:
    step = STEP.format(number=number, before=number - 1, words=words, more=more)
    (folder / "versions" / f"v{number:04}_step.py").write_text(step.lstrip())


def _options(database: Database) -> set[tuple[str, ...]]:
    query = (
        "SELECT relname, reloptions::text FROM pg_class WHERE relkind IN ('r', 'i')"
        " AND relnamespace = 'public'::regnamespace"
        if database.is_postgres
        else "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"
    )
    with database.reading() as connection:
        rows = connection.execute(text(query)).all()
    return {tuple(row) for row in rows if not row[0].startswith(VERSION_TABLE)}
