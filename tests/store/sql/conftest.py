"""Every store test runs on SQLite and on PostgreSQL."""

from collections.abc import Iterator

import pytest

from ronda.store.sql.engines import Database


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """A store of the test's own, migrated, with nothing in it but the operator."""
    opened = Database(database_url)
    yield opened
    opened.close()
