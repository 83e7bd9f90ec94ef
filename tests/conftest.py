"""The real servers of the tests: started when first used, ended with the run."""

from collections.abc import Iterator

import pytest

from servers.certificates import Certificates
from servers.ftp import Ftp
from servers.ftps import Ftps
from servers.names import Names
from servers.nginx import Nginx
from servers.rude import Rude
from servers.ssh import Ssh


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
