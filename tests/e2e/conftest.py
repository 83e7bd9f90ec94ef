"""The command line, and all the servers it can be let loose on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.command import Command
from e2e.world import Servers, World, opened
from servers.certificates import Certificates


@pytest.fixture
def ronda(tmp_path: Path) -> Command:
    """It runs in a folder of the test's own."""
    return Command(tmp_path)


@pytest.fixture(scope="session")
def world(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    certificates: Certificates,
) -> Iterator[World]:
    names = Servers.__dataclass_fields__
    servers = Servers(**{name: request.getfixturevalue(name) for name in names})
    with opened(tmp_path_factory.mktemp("world"), certificates, servers) as made:
        yield made
