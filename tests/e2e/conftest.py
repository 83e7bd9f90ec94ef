"""The command line, each test's in a folder of its own."""

from pathlib import Path

import pytest

from e2e.command import Command


@pytest.fixture
def ronda(tmp_path: Path) -> Command:
    return Command(tmp_path)
