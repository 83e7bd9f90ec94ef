"""Proof that the PostgreSQL of the tests goes down and comes up as they count on."""

import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from servers.postgres import Postgres
from servers.process import HOST

END_SECONDS = 10.0


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with Postgres() as server:
        yield server


@pytest.mark.parametrize("way", [Postgres.stop, Postgres.kill])
def test_what_is_written_outlives_its_end(server: Postgres, way: object) -> None:
    name = server.create()
    server.run(sql.SQL("CREATE TABLE seen AS SELECT 7 AS number"), name)
    port = server.port

    assert callable(way)
    way(server)
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(server.url(name))
    server.start()

    assert server.port == port
    assert server.run(sql.SQL("SELECT number FROM seen"), name) == [(7,)]


def test_connections_are_cut(server: Postgres) -> None:
    with psycopg.connect(server.url()) as connection:
        server.cut()

        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")


def test_a_database_is_a_copy_of_its_template(server: Postgres) -> None:
    template = server.create()
    server.run(sql.SQL("CREATE TABLE seen AS SELECT 7 AS number"), template)

    copy = server.create(template)
    server.run(sql.SQL("DELETE FROM seen"), copy)

    assert server.run(sql.SQL("SELECT number FROM seen"), template) == [(7,)]
    server.drop(copy)
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(server.url(copy))


def test_it_ends_when_its_tests_are_killed() -> None:
    script = (
        "import time\n"
        "from servers.postgres import Postgres\n"
        "with Postgres() as server:\n"
        "    print(server.port, server.folder, flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[1],
    ) as run:
        assert run.stdout is not None
        port, folder = run.stdout.readline().split()
        run.send_signal(signal.SIGKILL)

    assert _closes(int(port))
    # What it leaves: there was nobody to clean up.
    shutil.rmtree(folder, ignore_errors=True)


def _closes(port: int) -> bool:
    until = time.monotonic() + END_SECONDS
    while time.monotonic() < until:
        try:
            socket.create_connection((HOST, port), END_SECONDS).close()
        except ConnectionRefusedError:
            return True
        time.sleep(0.01)
    return False
