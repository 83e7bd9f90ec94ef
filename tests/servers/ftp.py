"""An ftp server on loopback (pyftpdlib), in a process of its own.

Its own process because pyftpdlib stands on asyncore, whose import warns, and warnings
are errors in our tests.
"""

import sys
from pathlib import Path
from typing import Self
from urllib.parse import quote

from servers.process import HOST, ServerProcess

USER, PASSWORD = "ronda", "secret"
HELLO = "hello from ftp\n"
FILE_BYTES = 1_000_000
CLOSED = "closed"  # in a file's or folder's name: 550, also when the server is root


class Ftp:
    """Anonymous and password logins on the same read-only `files`."""

    def __init__(self, folder: Path) -> None:
        self.files = folder / "files"
        write_files(self.files)
        self._process = ServerProcess(self._command, log=folder / "ftp.log")
        self.port = 0

    def url(
        self,
        path: str = "/hello.txt",
        *,
        host: str = HOST,
        user: str | None = None,
        password: str = PASSWORD,
    ) -> str:
        """The ftp URL of a path; anonymous unless a user is named."""
        login = f"{quote(user)}:{quote(password)}@" if user else ""
        return f"ftp://{login}{host}:{self.port}{path}"

    def __enter__(self) -> Self:
        [self.port] = self._process.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stop()

    def _command(self, ports: list[int]) -> list[str]:
        daemon = Path(__file__).with_name("ftp_daemon.py")
        quiet = ["-P", "-W", "ignore"]
        return [sys.executable, *quiet, str(daemon), str(ports[0]), str(self.files)]


def write_files(files: Path) -> None:
    """What both ftp servers serve."""
    for folder in ("folder", "empty-folder", f"{CLOSED}-folder"):
        (files / folder).mkdir(parents=True)
    (files / "hello.txt").write_text(HELLO)
    (files / "empty.txt").touch()
    (files / "a name with spaces.txt").write_text(HELLO)
    (files / "folder" / "file.bin").write_bytes(bytes(FILE_BYTES))
    closed = files / f"{CLOSED}.txt"
    closed.write_text("not for you\n")
    closed.chmod(0o600)  # vsftpd gives strangers only what all may read
