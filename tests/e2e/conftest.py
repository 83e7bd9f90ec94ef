"""The command line, and all the servers it can be let loose on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e import watched
from e2e.command import Command
from e2e.forks import Forked
from e2e.watched import A, B, C, Watch
from e2e.world import Servers, World, opened
from ronda.model import State
from servers.certificates import Certificates


@pytest.fixture
def ronda(tmp_path: Path) -> Command:
    """It runs in a folder of the test's own."""
    return Forked(tmp_path)


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


@pytest.fixture
def watch(tmp_path: Path, database_url: str) -> Watch:
    return Watch(Forked(tmp_path), database_url)


@pytest.fixture
def small(tmp_path: Path) -> Watch:
    """For what no engine makes a difference to: a file that is not there yet."""
    return Watch(Forked(tmp_path), str(tmp_path / "small.db"))


@pytest.fixture
def seen(watch: Watch) -> Watch:
    """A store of three targets that were checked."""
    watched.add(watch.db, A, B, C)
    watched.check(watch.db, {A: State.OK, B: State.BROKEN, C: State.WARNING}, ago=60)
    return watch
