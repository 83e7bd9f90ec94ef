"""All the servers at once, and what the command line must know of them."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from e2e import odd, plugins
from e2e.command import Command
from e2e.forks import Forked
from servers.certificates import Certificates
from servers.ftp import Ftp
from servers.ftps import Ftps
from servers.names import Names
from servers.nginx import Nginx
from servers.process import HOST
from servers.rude import Rude
from servers.ssh import Ssh


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """All the servers, and a folder with files and keys."""

    nginx: Nginx
    rude: Rude
    names: Names
    ftp: Ftp
    ftps: Ftps
    ssh: Ssh
    ports: dict[str, int]  # of the odd servers
    ronda: Command
    authorities: Path
    plugins: str

    def odd(self, name: str, scheme: str = "http", path: str = "/") -> str:
        return f"{scheme}://{HOST}:{self.ports[name]}{path}"

    def file(self, name: str) -> str:
        return (self.ronda.folder / name).as_uri()

    @property
    def options(self) -> list[str]:
        """Impatient, without retries, with our own names and authorities."""
        return [
            *("--timeout", "2", "--connect-timeout", "1", "--retries", "0"),
            *("--ca-file", str(self.authorities), "--name-server", self.names.server),
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Servers:
    """The real ones of the test kit."""

    nginx: Nginx
    rude: Rude
    names: Names
    ftp: Ftp
    ftps: Ftps
    ssh: Ssh


@contextmanager
def opened(
    folder: Path, certificates: Certificates, servers: Servers
) -> Iterator[World]:
    """The odd servers started, the files written."""
    (folder / "clients").mkdir()
    clients, authority = odd.for_clients_only(folder / "clients")
    trusted = folder / "authorities.pem"
    trusted.write_bytes(certificates.authority.read_bytes() + authority.read_bytes())
    (folder / "there.txt").write_text("here\n")
    (folder / "closed.txt").write_text("not for you\n")
    (folder / "closed.txt").chmod(0)
    # Where libcurl would look for a key by itself, which it must not.
    (folder / ".ssh").mkdir(mode=0o700)
    (folder / ".ssh" / "id_rsa").write_bytes(servers.ssh.key.read_bytes())
    good = certificates["good"]
    with ExitStack() as stack:
        ports = {
            name: stack.enter_context(odd.serving(talk, context))
            for name, talk, context in (
                ("no robots", odd.no_robots, None),
                ("http2", odd.resets_streams, odd.tls(good, "h2")),
                ("hesitant", odd.hesitant, None),
                ("clients", odd.plain, odd.tls(clients)),
                ("ftp", odd.no_data_connection, None),
                ("socks", odd.fails_over_socks, None),
                ("ssh", odd.leaves_in_the_key_exchange, None),
            )
        }
        yield World(
            nginx=servers.nginx,
            rude=servers.rude,
            names=servers.names,
            ftp=servers.ftp,
            ftps=servers.ftps,
            ssh=servers.ssh,
            ports=ports,
            ronda=Forked(folder),
            authorities=trusted,
            plugins=plugins.install(folder / "plugins"),
        )
