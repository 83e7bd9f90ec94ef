"""A store for every test, on both engines: copied or emptied, as making one is slow."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from psycopg import sql

from ronda.store.sql.engines import Database
from ronda.store.sql.migrating import migrate
from ronda.store.sql.schema import metadata
from servers.postgres import Postgres

SQLITE, POSTGRESQL = ENGINES = ("sqlite", "postgresql")
USES = 50  # of one database: what was deleted takes room

# What a test might have changed besides rows.
SHAPE = sql.SQL(
    "SELECT relname::text, relkind::text, (SELECT version_num FROM ronda_version)"
    " FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1"
)
END_OTHERS = sql.SQL(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
EMPTY = sql.SQL("BEGIN; {}; {}; {}; COMMIT").format(
    sql.SQL("; ").join(
        sql.SQL("DELETE FROM {}").format(sql.Identifier(table.name))
        for table in reversed(metadata.sorted_tables)
    ),
    sql.SQL("SELECT setval(oid, 1, false) FROM pg_class WHERE relkind = 'S'"),
    sql.SQL("INSERT INTO owner (name, added_at) VALUES ('operator', 0)"),
)


class Databases:
    """Stores in which nothing is yet."""

    def __init__(self, folder: Path, postgres: Callable[[], Postgres]) -> None:
        self._folder = folder
        self._postgres = postgres
        self._templates: dict[str, str] = {}
        self._free: list[tuple[str, int]] = []  # PostgreSQL's, and how often used
        self._shape: list[tuple] = []

    @contextmanager
    def fresh(self, engine: str, path: Path) -> Iterator[str]:
        """What `--db` takes; `path` is where it is, if it is a file."""
        if engine not in self._templates:
            self._templates[engine] = self._template(engine)
        template = self._templates[engine]
        if engine == SQLITE:
            path.parent.mkdir(parents=True, exist_ok=True)
            yield shutil.copyfile(template, path).as_posix()
            return
        server = self._postgres()
        name, uses = self._free.pop() if self._free else (server.create(template), 0)
        try:
            yield server.url(name)
        finally:
            self._release(name, uses + 1)

    @contextmanager
    def empty(self, engine: str, path: Path) -> Iterator[str]:
        """The same before it was migrated: no file, or a database without tables."""
        if engine == SQLITE:
            yield str(path)
            return
        name = self._postgres().create()
        yield self._postgres().url(name)
        self._postgres().drop(name)

    def _release(self, name: str, uses: int) -> None:
        server = self._postgres()
        server.run(END_OTHERS, name)
        if uses < USES and server.run(SHAPE, name) == self._shape:
            server.run(EMPTY, name)
            self._free.append((name, uses))
        else:
            server.drop(name)

    def _template(self, engine: str) -> str:
        if engine == SQLITE:
            where = name = str(self._folder / "template.db")
        else:
            name = self._postgres().create()
            where = self._postgres().url(name)
        database = Database(where)
        migrate(database)
        database.close()
        if engine == POSTGRESQL:
            self._shape = self._postgres().run(SHAPE, name)
        return name
