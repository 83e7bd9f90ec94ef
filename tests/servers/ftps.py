"""vsftpd on loopback: ftp with explicit TLS, and ftps with TLS from the first byte."""

from pathlib import Path
from typing import Self

from servers.certificates import Certificates
from servers.ftp import write_files
from servers.process import HOST, ServerProcess, require

OPTIONS = (
    "listen=YES",
    f"listen_address={HOST}",
    f"pasv_address={HOST}",
    "background=NO",
    "run_as_launching_user=YES",  # no root needed, and none made use of
    "seccomp_sandbox=NO",  # does not work in every container
    "anonymous_enable=YES",
    "no_anon_password=YES",
    "local_enable=NO",
    "xferlog_enable=NO",
    "ssl_enable=YES",
    "allow_anon_ssl=YES",
    "require_ssl_reuse=NO",
    "ssl_ciphers=HIGH",
)


class Ftps:
    """Anonymous logins on read-only `files`, with the good certificate."""

    def __init__(self, folder: Path, certificates: Certificates) -> None:
        self._program = require("vsftpd")
        self._folder = folder
        self._certificate = certificates["good"]
        self.files = folder / "files"
        write_files(self.files)
        self._explicit = ServerProcess(
            lambda ports: self._command(ports[0], "NO"), log=folder / "explicit.log"
        )
        self._implicit = ServerProcess(
            lambda ports: self._command(ports[0], "YES"), log=folder / "implicit.log"
        )
        self.explicit_port = 0
        self.implicit_port = 0

    def url(self, path: str = "/hello.txt", *, host: str = HOST) -> str:
        """The ftps URL (implicit TLS) of a path."""
        return f"ftps://{host}:{self.implicit_port}{path}"

    def explicit_url(self, path: str = "/hello.txt", *, host: str = HOST) -> str:
        """The ftp URL of a path on the server that knows AUTH TLS, but needs it not."""
        return f"ftp://{host}:{self.explicit_port}{path}"

    def __enter__(self) -> Self:
        try:
            [self.explicit_port] = self._explicit.start()
            [self.implicit_port] = self._implicit.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._explicit.stop()
        self._implicit.stop()

    def _command(self, port: int, implicit: str) -> list[str]:
        configuration = self._folder / f"vsftpd-{port}.conf"
        options = [
            *OPTIONS,
            f"listen_port={port}",
            f"implicit_ssl={implicit}",
            f"anon_root={self.files}",
            f"rsa_cert_file={self._certificate.chain}",
            f"rsa_private_key_file={self._certificate.key}",
            "force_anon_logins_ssl=NO",
            "force_anon_data_ssl=NO",
            f"secure_chroot_dir={self._folder}",
        ]
        configuration.write_text("\n".join(options) + "\n")
        return [self._program, str(configuration)]
