"""Debian's PostgreSQL on a loopback port, with a database for whoever wants one."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from itertools import count
from pathlib import Path
from typing import Self

import psycopg
from psycopg import sql

from servers.process import HOST, START_SECONDS, ServerProcess, require

USER = "postgres"
GUARDED = "guarded"  # a role that is asked for its password, once a test makes it
SETTINGS = {
    "listen_addresses": HOST,
    "fsync": "off",  # the machine does not crash in a test, only programs do
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "max_connections": "60",
    "autovacuum": "off",
    "lc_messages": "C",
}


class Postgres:
    """One PostgreSQL; its port stays the same when it is stopped and started again."""

    def __init__(self, settings: dict[str, str] | None = None) -> None:
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_version)
        self._initdb = require("initdb", *found[-1:])
        self._program = require("postgres", *found[-1:])
        self._settings = SETTINGS | (settings or {})
        # Not in pytest's folders: those are closed to the user that it must run as.
        self.folder = Path(tempfile.mkdtemp(prefix="ronda-postgres-"))
        self._data = self.folder / "data"
        self._process = ServerProcess(self._command, log=self.folder / "postgres.log")
        self._names = count(1)
        self.port = 0

    def url(self, name: str = USER, *, user: str = USER, password: str = "") -> str:
        """What `--db` takes."""
        secret = f":{password}" if password else ""
        return f"postgresql://{user}{secret}@{HOST}:{self.port}/{name}"

    def run(self, statement: sql.SQL | sql.Composed, name: str = USER) -> list[tuple]:
        """Run one statement outside of a transaction; its rows, if it has any."""
        with psycopg.connect(self.url(name), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def create(self, template: str = "template1") -> str:
        """Make a database like `template`, and name it."""
        name = f"test{next(self._names)}"
        # By files: a quarter of the time that its other way takes.
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy")
        self.run(statement.format(sql.Identifier(name), sql.Identifier(template)))
        return name

    def drop(self, name: str) -> None:
        """Remove a database, whoever is still connected to it."""
        statement = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
        self.run(statement.format(sql.Identifier(name)))

    def cut(self) -> None:
        """End all connections to it."""
        self.run(
            sql.SQL(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
            )
        )

    def stop(self) -> None:
        """Stop it as an administrator does: connections end, what is written stays."""
        self._process.send(signal.SIGINT)
        self._process.end()

    def kill(self) -> None:
        """Stop all of its processes at once; the next start has to recover."""
        self._process.send(signal.SIGQUIT)
        self._process.end()

    def start(self) -> None:
        """Start it again where it was."""
        self._process.restart()
        self._wait()

    def __enter__(self) -> Self:
        try:
            self._initialise()
            [self.port] = self._process.start()
            self._wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.runs():
            self._process.send(signal.SIGINT)
        self._process.stop()
        shutil.rmtree(self.folder)

    def _initialise(self) -> None:
        if os.geteuid() == 0:
            shutil.chown(self.folder, USER, USER)
        options = ["--no-sync", "--auth=trust", f"--username={USER}", "--encoding=UTF8"]
        # Words sort as in a dictionary, as on most machines: what counts on the order
        # of bytes is found out.
        options += ["--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en-US"]
        made = subprocess.run(
            [*self._as_user(), self._initdb, f"--pgdata={self._data}", *options],
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
        )
        assert made.returncode == 0, made.stderr
        access = self._data / "pg_hba.conf"
        lines = f"host all {GUARDED} all scram-sha-256\n" + access.read_text()
        access.write_text(lines)

    def _command(self, ports: list[int]) -> list[str]:
        settings = self._settings | {
            "port": str(ports[0]),
            "unix_socket_directories": str(self.folder),
        }
        options = [f"--{name}={value}" for name, value in settings.items()]
        return [*self._as_user(), self._program, "-D", str(self._data), *options]

    def _as_user(self) -> list[str]:
        """PostgreSQL refuses to be root."""
        if os.geteuid() != 0:
            return []
        group = str(pwd.getpwnam(USER).pw_gid)
        # A change of user forgets the signal for the death of the parent: it is set
        # here once more.
        options = ["--reuid", USER, "--regid", group, "--clear-groups"]
        return [require("setpriv"), *options, "--pdeathsig", "INT"]

    def _wait(self) -> None:
        """Until it takes questions: its port is open before that."""
        until = time.monotonic() + START_SECONDS
        while True:
            try:
                psycopg.connect(self.url()).close()
            except psycopg.OperationalError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.02)
            else:
                return


def _version(folder: Path) -> float:
    return float(folder.parent.name)
