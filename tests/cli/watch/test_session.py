import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ronda.cli.watch.session import require
from ronda.errors import StoreError

NOBODY = 65534


@pytest.fixture
def closed() -> Iterator[Path]:
    """A file in a folder that is closed to who asks; root would enter it."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o000 if os.geteuid() else 0o700)
        before = os.geteuid()
        if before == 0:
            os.seteuid(NOBODY)
        yield Path(folder) / "ronda.db"
        os.seteuid(before)
        Path(folder).chmod(0o700)


def test_a_store_in_a_closed_folder_is_named(closed: Path) -> None:
    with pytest.raises(StoreError, match=f"--db {closed}: Permission denied"):
        require(str(closed))
