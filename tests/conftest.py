"""The real servers of the tests: started when first used, ended with the run."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from servers.certificates import Certificates
from servers.databases import ENGINES, Databases
from servers.ftp import Ftp
from servers.ftps import Ftps
from servers.names import Names
from servers.nginx import Nginx
from servers.postgres import Postgres
from servers.rude import Rude
from servers.ssh import Ssh

# The machine may be busy: slowness is nobody's fault. All else is as Hypothesis has it,
# which in CI tries the same examples every time.
settings.register_profile(
    "ronda", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ronda")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes minutes: at the end, one worker would wait for another."""
    items.sort(key=lambda item: item.path.name != "test_torture.py")


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="session")
def nginx(
    tmp_path_factory: pytest.TempPathFactory, certificates: Certificates
) -> Iterator[Nginx]:
    with Nginx(tmp_path_factory.mktemp("nginx"), certificates) as server:
        yield server


@pytest.fixture(scope="session")
def names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Names]:
    with Names(tmp_path_factory.mktemp("names")) as server:
        yield server


@pytest.fixture(scope="session")
def ftp(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ftp]:
    with Ftp(tmp_path_factory.mktemp("ftp")) as server:
        yield server


@pytest.fixture(scope="session")
def ftps(
    tmp_path_factory: pytest.TempPathFactory, certificates: Certificates
) -> Iterator[Ftps]:
    with Ftps(tmp_path_factory.mktemp("ftps"), certificates) as server:
        yield server


@pytest.fixture(scope="session")
def ssh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ssh]:
    with Ssh(tmp_path_factory.mktemp("ssh")) as server:
        yield server


@pytest.fixture(scope="session")
def rude(certificates: Certificates) -> Iterator[Rude]:
    with Rude(certificates) as server:
        yield server


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    with Postgres() as server:
        yield server


@pytest.fixture(scope="session")
def databases(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Databases:
    """PostgreSQL is started only when a test wants it."""
    folder = tmp_path_factory.mktemp("databases")
    return Databases(folder, lambda: request.getfixturevalue("postgres"))


@pytest.fixture(params=ENGINES)
def database_url(
    request: pytest.FixtureRequest, databases: Databases, tmp_path: Path
) -> Iterator[str]:
    """An empty, migrated store: what `--db` takes."""
    with databases.fresh(request.param, tmp_path / "store" / "ronda.db") as url:
        yield url
