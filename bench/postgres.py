"""A PostgreSQL of our own on loopback, with its usual durability."""

import os
import pwd
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import psycopg

from bench.nginx import free_port

USER = "postgres"
START_SECONDS = 30
# As an operator would set it up for a store of some gigabytes; all else, fsync and
# full_page_writes among it, is as PostgreSQL comes.
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "shared_buffers": "1GB",
    "max_wal_size": "4GB",
}


class Postgres:
    """Debian's server in a folder."""

    def __init__(self, folder: Path, settings: dict[str, str] | None = None) -> None:
        self._folder = folder
        self._settings = SETTINGS | (settings or {})
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{USER}"

    def __enter__(self) -> Self:
        home = max(Path("/usr/lib/postgresql").glob("*/bin"))
        self._folder.mkdir(exist_ok=True)
        data = self._folder / "data"
        if os.geteuid() == 0:
            shutil.chown(self._folder, USER, USER)
        if not data.exists():
            made = [home / "initdb", "--no-sync", "--auth=trust", f"--username={USER}"]
            options = ["--encoding=UTF8", "--locale=C.UTF-8", f"--pgdata={data}"]
            nowhere = subprocess.DEVNULL
            command = [*_as_user(), *made, *options]
            subprocess.run(command, check=True, stdout=nowhere, cwd="/")
        settings = self._settings | {"port": str(self.port)}
        settings |= {"unix_socket_directories": str(self._folder)}
        options = [f"--{name}={value}" for name, value in settings.items()]
        command = [*_as_user(), home / "postgres", "-D", data, *options]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stderr=log, cwd="/")
        self._wait()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process is not None:
            self._process.send_signal(2)  # SIGINT: fast, and clean
            self._process.wait()

    def _wait(self) -> None:
        until = time.monotonic() + START_SECONDS
        while True:
            try:
                psycopg.connect(self.url).close()
            except psycopg.OperationalError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)
            else:
                return


def _as_user() -> list[str]:
    """PostgreSQL refuses to be root."""
    if os.geteuid() != 0:
        return []
    group = str(pwd.getpwnam(USER).pw_gid)
    options = ["--reuid", USER, "--regid", group, "--clear-groups"]
    return [shutil.which("setpriv") or "setpriv", *options, "--pdeathsig", "INT"]
