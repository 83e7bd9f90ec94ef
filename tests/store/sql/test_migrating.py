"""Stores of all ages: brought up to date, used as they are, or refused."""

import multiprocessing
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import (
    Connection,
    MetaData,
    column,
    delete,
    insert,
    inspect,
    select,
    table,
    text,
)

from ronda.errors import StoreError
from ronda.model import Service
from ronda.store.sql import loading, tallies
from ronda.store.sql.catalogue import Query
from ronda.store.sql.checking import check
from ronda.store.sql.engines import Database
from ronda.store.sql.migrating import (
    FOLDER,
    VERSION_TABLE,
    ensure,
    is_current,
    migrate,
)
from ronda.store.sql.rounds import Round, Rounds
from ronda.store.sql.schema import (
    OPERATOR,
    fact,
    metadata,
    owner,
    round_,
    schedule,
    target,
)
from ronda.store.sql.services import Services
from servers.databases import ENGINES, Databases
from stores import DAY, NOW, Rows, everything

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
    _add(folder, 3, "a third step")
    _add(folder, 4, "a fourth")
    return folder


def test_migrating_an_empty_one_gives_the_tables_of_the_schema(
    empty: Database,
) -> None:
    assert migrate(empty) == [
        "0001: All tables, and the operator who is always there.",
        "0002: Services with the results of their tasks, and what rounds found.",
    ]

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
    assert migrate(database, folder=later) == ["0003: a third step.", "0004: a fourth."]

    ensure(database, folder=later)
    with database.reading() as connection:
        assert connection.scalar(select(fact.c.value)) == "kept"
        assert inspect(connection).has_table("extra4")


def test_a_store_of_the_first_version_goes_on_with_all_it_has(
    empty: Database, tmp_path: Path
) -> None:
    old = tmp_path / "first"
    shutil.copytree(FOLDER, old, ignore=shutil.ignore_patterns("v0002*", "v0003*"))
    migrate(empty, folder=old)
    kept = everything()
    with empty.writing() as connection:
        _fill(connection, kept)

    assert [step[:4] for step in migrate(empty)] == ["0002"]

    ensure(empty)
    problems = check(empty, lambda _words: None, NOW)
    assert [one for one in problems if "a process that" not in one] == []
    with empty.reading() as connection:
        found = connection.execute(select(schedule).order_by("target_id")).all()
    assert [(one.next_due, one.was_due) for one in found] == [
        (one["next_due"], None) for one in kept[schedule]
    ]
    rounds = Rounds(empty)
    assert rounds.show(3) == Round(3, "night", NOW, None, 2, 1)
    begun = rounds.begin("all", Query(), NOW + 9 * DAY)
    assert begun.total == 2
    assert rounds.stop(begun.id, NOW + 9 * DAY).stopped_at == NOW + 9 * DAY
    Services(empty).describe({"http://a.test/1": Service(0)})


def _fill(connection: Connection, kept: Rows) -> None:
    """Rows of today in the tables of then."""
    then = MetaData()
    then.reflect(connection)
    connection.execute(delete(then.tables["owner"]))
    for one in metadata.sorted_tables:
        if one.name in then.tables and one in kept:
            there = then.tables[one.name]
            names = there.columns.keys()
            rows = [{name: row[name] for name in names} for row in kept[one]]
            connection.execute(insert(there), rows)
    tallies.recount(connection)
    loading.go_on(connection, [owner, round_, target])


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
    _add(later, 5, "fails", 'op.execute("INSERT INTO extra5 VALUES (nothing)")')

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
    # A column that is added stands in SQLite's words without a line of its own.
    return {
        (name, "".join((words or "").split()))
        for name, words in rows
        if not name.startswith(VERSION_TABLE)
    }
