"""The store's tables brought to the version that this Ronda knows, or refused."""

from enum import Enum, auto
from pathlib import Path

from sqlalchemy import Connection, column, inspect, select, table

from ronda.errors import StoreError
from ronda.store.sql.engines import Database
from ronda.store.sql.sqlite import APPLICATION

FOLDER = Path(__file__).with_name("migrations")
VERSION_TABLE = "ronda_version"  # not Alembic's usual name: others use that too


class Age(Enum):
    """How a database stands to this Ronda."""

    EMPTY = auto()
    OLDER = auto()
    CURRENT = auto()
    NEWER = auto()
    FOREIGN = auto()


def ensure(database: Database, *, folder: Path = FOLDER) -> None:
    """Have a store that can be used; an empty database becomes one.

    Raises:
        StoreError: it is older or newer than this Ronda, or not a store at all.
    """
    with database.reading() as connection:
        age = _age(connection, folder)
    if age is Age.EMPTY:
        migrate(database, folder=folder)
    elif age is Age.OLDER:
        words = "written by an older Ronda: run `ronda db migrate`"
        raise StoreError(f"--db {database.shown}: {words}")
    else:
        _refuse(database, age)


def is_current(database: Database, *, folder: Path = FOLDER) -> bool:
    """Whether there is nothing to migrate."""
    with database.reading() as connection:
        age = _age(connection, folder)
    _refuse(database, age)
    return age is Age.CURRENT


def migrate(database: Database, *, folder: Path = FOLDER) -> list[str]:
    """Take the steps that are missing, all of them or none; they are named."""
    with database.writing() as connection:
        if database.is_postgres:
            # Of two that begin at once, the second finds the work of the first.
            lock = f"SELECT pg_advisory_xact_lock({APPLICATION})"
            connection.exec_driver_sql(lock)
        age = _age(connection, folder)
        _refuse(database, age)
        if age is Age.CURRENT:
            return []
        return _upgrade(connection, folder, "" if age is Age.EMPTY else _at(connection))


def newest(folder: Path = FOLDER) -> str:
    """The version that this Ronda knows; versions can be compared."""
    # Without Alembic: they are numbers of four digits, and files are named by them.
    return max(file.name[1:5] for file in (folder / "versions").glob("v*.py"))


def _upgrade(connection: Connection, folder: Path, version: str) -> list[str]:
    # Hardly ever needed, and slow to load.
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415
    from alembic.script import ScriptDirectory  # noqa: PLC0415

    attributes = {"connection": connection, "version_table": VERSION_TABLE}
    config = Config(attributes=attributes)
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    steps = ScriptDirectory.from_config(config).walk_revisions(version or "base")
    taken = [step for step in steps if step.revision != version]
    command.upgrade(config, "head")
    return [f"{step.revision}: {step.doc}" for step in reversed(taken)]


def _refuse(database: Database, age: Age) -> None:
    if age is Age.NEWER:
        words = "written by a newer Ronda: use that one"
    elif age is Age.FOREIGN:
        words = "holds the tables of another program"
    else:
        return
    raise StoreError(f"--db {database.shown}: {words}")


def _age(connection: Connection, folder: Path) -> Age:
    tables = inspect(connection).get_table_names()
    if not tables:
        return Age.EMPTY
    if VERSION_TABLE not in tables:
        return Age.FOREIGN
    version, ours = _at(connection), newest(folder)
    if version == ours:
        return Age.CURRENT
    return Age.OLDER if version < ours else Age.NEWER


def _at(connection: Connection) -> str:
    versions = table(VERSION_TABLE, column("version_num"))
    found: str = connection.execute(select(versions.c.version_num)).scalar_one()
    return found
