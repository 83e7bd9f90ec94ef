"""The program of `ftp.py`: serves a folder on a port until it is ended."""

import logging
import sys

from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.filesystems import AbstractedFS
from pyftpdlib.handlers import FTPHandler
from pyftpdlib.servers import FTPServer

READ_ONLY = "elr"


class Files(AbstractedFS):  # type: ignore[misc]
    """What is called closed is closed, also to root."""

    def open(self, filename: str, mode: str) -> object:
        self._refuse(filename)
        return super().open(filename, mode)

    def chdir(self, path: str) -> None:
        self._refuse(path)
        super().chdir(path)

    def listdir(self, path: str) -> list[str]:
        self._refuse(path)
        names: list[str] = super().listdir(path)
        return names

    def _refuse(self, path: str) -> None:
        if "closed" in path.removeprefix(self.root):
            raise PermissionError(13, "Permission denied", path)


def main(port: int, files: str) -> None:
    logging.basicConfig(level=logging.INFO)
    authorizer = DummyAuthorizer()
    authorizer.add_anonymous(files, perm=READ_ONLY)
    authorizer.add_user("ronda", "secret", files, perm=READ_ONLY)
    FTPHandler.authorizer = authorizer
    FTPHandler.abstracted_fs = Files
    FTPHandler.auth_failed_timeout = 0  # a wrong password is told at once
    with FTPServer(("127.0.0.1", port), FTPHandler) as server:
        server.max_cons = 256
        server.serve_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
