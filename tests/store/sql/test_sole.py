from pathlib import Path

import pytest

from ronda.errors import StoreError
from ronda.store.sql.engines import Database
from ronda.store.sql.sole import sole


@pytest.fixture
def file(tmp_path: Path):
    found = Database(str(tmp_path / "ronda.db"))
    yield found
    found.close()


def test_a_second_daemon_on_one_file_is_refused(file: Database):
    with (
        sole(file, share=False),
        pytest.raises(StoreError, match=r"process \d+ serves it already; stop"),
        sole(file, share=False),
    ):
        pass


def test_who_shares_is_refused_by_who_does_not(file: Database):
    with (
        sole(file, share=False),
        pytest.raises(StoreError, match="does not share"),
        sole(file, share=True),
    ):
        pass


def test_those_who_share_share(file: Database):
    with sole(file, share=True), sole(file, share=True):
        pass


def test_a_file_is_free_again_after_its_daemon(file: Database):
    with sole(file, share=False):
        pass
    with sole(file, share=False):
        pass


def test_a_folder_that_cannot_be_written_is_told(file: Database, tmp_path: Path):
    (tmp_path / "ronda.db.lock").mkdir()

    with pytest.raises(StoreError, match="directory"), sole(file, share=False):
        pass


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_postgresql_is_there_to_be_shared(database: Database):
    with sole(database, share=False), sole(database, share=False):
        pass
