"""How a file is spoken to."""

from pathlib import Path

from ronda.store.sql import sqlite
from ronda.store.sql.engines import Database


def test_no_connection_takes_more_memory_than_its_cache(tmp_path: Path) -> None:
    """A file that is mapped would count as memory, as much of it as was looked at."""
    database = Database(str(tmp_path / "store.db"))
    with database.reading() as connection:
        pragmas = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("mmap_size", "cache_size")
        }
    database.close()

    assert pragmas == {"mmap_size": 0, "cache_size": -sqlite.CACHE_KB}


def test_the_connection_that_was_used_last_is_used_again(tmp_path: Path) -> None:
    """What it has cached holds still; that of another would have to be read again."""
    database = Database(str(tmp_path / "store.db"))
    first, second = database.engine.connect(), database.engine.connect()
    used = second.connection.dbapi_connection
    first.close()
    second.close()
    with database.engine.connect() as third:
        again = third.connection.dbapi_connection
    database.close()

    assert again is used
