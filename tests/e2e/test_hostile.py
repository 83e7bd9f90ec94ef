"""What would freeze, cheat or crash a careless checker."""

import os
import socket
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from e2e import odd
from e2e.command import Command
from servers.rude import Rude


def served(body: bytes, kind: str, extra: str = "") -> odd.Talk:
    """A server that gives robots.txt with a body and a type, and 200 to the rest."""

    def talk(connection: socket.socket) -> None:
        while (request := odd.read_head(connection))[0]:
            method, path = request
            data = body if path == "/robots.txt" else b"fine"
            data = b"" if method == "HEAD" else data
            connection.sendall(
                f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{extra}"
                f"Content-Length: {len(data)}\r\n\r\n".encode()
                + data
            )

    return talk


class TestFiles:
    def test_a_link_to_a_pipe_is_not_opened(self, ronda: Command) -> None:
        os.mkfifo(ronda.folder / "pipe")
        (ronda.folder / "a.md").write_text("[a](pipe)\n")

        ended = ronda.json("a.md")

        [result] = ended.results.values()
        assert (result["verdict"], result["reason"]) == ("blocked", "file_denied")


class TestPipes:
    def test_a_large_document_comes_whole_through_a_pipe(
        self, ronda: Command, rude: Rude
    ) -> None:
        urls = [rude.url(f"/ok?{n}") for n in (1, 2)]
        text = f"[a]({urls[0]})\n{'words ' * 200_000}\n[b]({urls[1]})\n"

        ended = ronda.json("--no-robots", "-", stdin=text.encode())

        assert set(ended.results) == set(urls)

    def test_a_named_pipe_is_read_beside_the_loop(
        self, ronda: Command, rude: Rude
    ) -> None:
        os.mkfifo(ronda.folder / "list")
        url = rude.url("/ok")
        process = ronda.start("check", "--no-robots", "list")
        (ronda.folder / "list").write_text(f"{url}\n")
        out, _ = process.communicate(timeout=30)

        assert b"1 checked" in out


class TestRobots:
    def test_it_is_obeyed_whatever_its_type(self, ronda: Command) -> None:
        rules = b"User-agent: *\nDisallow: /\n"
        with odd.serving(served(rules, "application/octet-stream"), None) as port:
            url = f"http://127.0.0.1:{port}/page"
            ended = ronda.json(urls=[url])

        assert ended.results[url]["reason"] == "robots_disallow"

    def test_a_fault_of_its_own_is_not_laid_on_the_pages(self, ronda: Command) -> None:
        talk = served(b"junk", "text/plain", "Content-Encoding: gzip\r\n")
        with odd.serving(talk, None) as port:
            url = f"http://127.0.0.1:{port}/page"
            ended = ronda.json("--retries", "0", urls=[url])

        assert ended.results[url]["reason"] == "robots_unreachable"


class TestSettings:
    @pytest.mark.parametrize(
        "options",
        [
            ("--user-agent", "Rönda"),
            ("--header", "X: é"),
            ("--timeout", "inf"),
            ("--timeout", "0.0001"),
            ("--name-server", "999.1.1.1"),
            ("--name-server", ":"),
            ("--ssh-key", "nowhere"),
            ("--accept", "599-500"),
        ],
    )
    def test_what_cannot_be_is_one_line_and_code_2(
        self, ronda: Command, options: tuple[str, str]
    ) -> None:
        ended = ronda("check", *options, "urls.txt")

        assert ended.code == 2
        assert ended.err.startswith("ronda: ")
        assert ended.err.count("\n") == 1


class TestShown:
    def test_quiet_problems_neither_steer_the_terminal_nor_tell_passwords(
        self, ronda: Command
    ) -> None:
        lines = b"\x1b[31mred\nhttp://user:secret@[::1\n"

        ended = ronda("check", "-q", "-", stdin=lines)

        assert "\x1b" not in ended.err
        assert "secret" not in ended.err
        assert ended.err.count("\n") == 2

    def test_a_report_is_written_to_a_screen_of_plain_ascii(
        self, ronda: Command, rude: Rude
    ) -> None:
        (ronda.folder / "a.md").write_text(f"[café]({rude.url('/ok')})\n")

        ended = ronda.json("--no-robots", "a.md", env={"PYTHONIOENCODING": "ascii"})

        assert ended.code == 0
        assert "Traceback" not in ended.err


class TestDescriptors:
    def test_few_of_them_are_no_fault_of_the_targets(
        self, ronda: Command, rude: Rude
    ) -> None:
        urls = [rude.url(f"/ok?few={n}") for n in range(120)]
        prefix = ("sh", "-c", 'ulimit -n 80; exec "$@"', "sh")

        ended = ronda.json("--no-robots", urls=urls, prefix=prefix)

        assert {r["reason"] for r in ended.results.values()} == {"http_200"}


class TestProcesses:
    def test_children_finish_what_they_ask_when_the_group_is_told_to_end(
        self, ronda: Command, rude: Rude
    ) -> None:
        url = rude.url(rude.fresh("/slow-headers"))
        name = ronda.listed([url])
        options = [
            "--no-robots",
            "--processes",
            "2",
            "--timeout",
            "3",
            "--retries",
            "0",
        ]
        process = ronda.start("check", *options, name, start_new_session=True)
        while not rude.hits[url.removeprefix(rude.url(""))]:
            if process.poll() is not None:
                pytest.fail("it ended before it asked")
        os.killpg(process.pid, 15)
        out, _ = process.communicate(timeout=30)

        assert b"has died" not in out


SAN = x509.ObjectIdentifier("2.5.29.17")
CAFE = bytes.fromhex("3006 8204 636166e9")  # the name caf\xe9, as DER


def with_an_odd_name(folder: Path) -> ssl.SSLContext:
    """A server's TLS whose certificate has a name that is no UTF-8."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "odd")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), 1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=99))
        .add_extension(x509.UnrecognizedExtension(SAN, CAFE), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file = folder / "odd.pem"
    file.write_bytes(pem + made.public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_certificate_with_an_odd_name_does_not_stop_the_run(
    ronda: Command, processes: str
) -> None:
    context = with_an_odd_name(ronda.folder)
    with odd.serving(odd.plain, context) as port:
        url = f"https://127.0.0.1:{port}/"
        options = ("--insecure", "--no-robots", "--processes", processes)
        ended = ronda.json(*options, urls=[url])

    assert ended.results[url]["reason"] == "http_200"
    assert ended.results[url]["certificate"]["subject"] == "CN = odd"
