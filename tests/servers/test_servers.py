"""Proof that each part of the kit does what tests will rely on."""

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest

from fakes import FakeClock
from servers.certificates import KINDS, Certificates
from servers.ftp import PASSWORD, USER, Ftp
from servers.ftps import Ftps
from servers.names import (
    AAAA,
    MX,
    NO_ERROR,
    NO_SUCH_NAME,
    SERVER_FAILED,
    A,
    Names,
)
from servers.nginx import Nginx
from servers.process import ADDRESSES, HOST, FreePort, require
from servers.rude import TALK_SECONDS, Rude
from servers.ssh import Ssh

# curl's exit codes
REFUSED, TIMED_OUT, EMPTY, RECEIVE, HANDSHAKE, CERTIFICATE = 7, 28, 52, 56, 35, 60
SHORT, BAD_ENCODING, LOGIN, FORBIDDEN_FOLDER, NOT_FOUND = 18, 61, 67, 9, 78
BAD_ANSWER, UNSUPPORTED = 8, 1
TOO_BIG = (27, RECEIVE, 100)  # it depends on curl's version
PATIENCE = "0.3"  # seconds, for what never answers


class Reply(NamedTuple):
    """What curl said."""

    exit_code: int
    status: int
    version: str
    head: str
    body: bytes
    error: str

    def header(self, name: str) -> str | None:
        found = re.search(rf"(?im)^{name}: *(.*?)\r?$", self.head)
        return found[1] if found else None


Curl = Callable[..., Reply]


@pytest.fixture
def curl(tmp_path: Path, certificates: Certificates) -> Curl:
    program = require("curl")

    def ask(url: str, *options: str) -> Reply:
        head, body = tmp_path / "head", tmp_path / "body"
        head.unlink(missing_ok=True)
        body.unlink(missing_ok=True)
        command = [program, "-q", "-sS", "--noproxy", "*", "-m", "10"]
        files = ["-D", str(head), "-o", str(body), "-w", "%{http_code} %{http_version}"]
        trust = ["--cacert", str(certificates.authority)]
        done = subprocess.run(
            [*command, *files, *trust, *options, url],
            capture_output=True,
            text=True,
            check=False,
        )
        status, version = done.stdout.split()
        return Reply(
            exit_code=done.returncode,
            status=int(status),
            version=version,
            head=head.read_text("latin-1") if head.exists() else "",
            body=body.read_bytes() if body.exists() else b"",
            error=done.stderr,
        )

    return ask


class TestProcess:
    def test_no_two_held_ports_are_alike(self) -> None:
        held = [FreePort() for _ in range(50)]
        numbers = {port.number for port in held}
        for port in held:
            port.release()

        assert len(numbers) == 50

    def test_a_missing_program_skips(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("CI", raising=False)

        with pytest.raises(pytest.skip.Exception, match="nginy is not installed: run"):
            require("nginy")

    def test_a_missing_program_fails_in_ci(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CI", "1")

        with pytest.raises(pytest.fail.Exception, match="nginy is not installed: run"):
            require("nginy")

    @pytest.mark.parametrize("server", [Ftp, Names, Ssh])
    def test_a_server_ends_when_its_tests_are_killed(
        self, tmp_path: Path, server: type[Ftp | Names | Ssh]
    ) -> None:
        script = (
            "import sys, time, pathlib\n"
            f"from {server.__module__} import {server.__name__}\n"
            f"with {server.__name__}(pathlib.Path(sys.argv[1])) as server:\n"
            "    print(server.port, flush=True)\n"
            "    time.sleep(60)\n"
        )
        tests = str(Path(__file__).parents[1])
        with subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": tests},
        ) as run:
            assert run.stdout is not None
            port = int(run.stdout.readline())
            run.send_signal(signal.SIGKILL)

        assert _closes(port)


class TestNginx:
    @pytest.mark.parametrize("address", [ADDRESSES[0], ADDRESSES[-1]])
    def test_it_listens_on_many_addresses(
        self, nginx: Nginx, curl: Curl, address: str
    ) -> None:
        reply = curl(nginx.url("/page.html", host=address))

        assert (reply.status, reply.version) == (200, "1.1")
        assert b'id="part"' in reply.body

    @pytest.mark.parametrize("kind", ["good", "ending", "http2", "tls12"])
    def test_a_valid_certificate_is_trusted(
        self, nginx: Nginx, curl: Curl, kind: str
    ) -> None:
        reply = curl(nginx.url(port=kind))

        assert reply.status == 200
        assert reply.version == ("2" if kind == "http2" else "1.1")

    @pytest.mark.parametrize(
        ("kind", "words"),
        [
            ("expired", "certificate has expired"),
            ("not_yet_valid", "certificate is not yet valid"),
            ("self_signed", "self.signed certificate"),
            ("wrong_name", "no alternative certificate subject name"),
            ("incomplete", "unable to get local issuer certificate"),
        ],
    )
    def test_a_bad_certificate_is_refused(
        self, nginx: Nginx, curl: Curl, kind: str, words: str
    ) -> None:
        reply = curl(nginx.url(port=kind))

        assert reply.exit_code == CERTIFICATE
        assert re.search(words, reply.error)

    def test_tls12_knows_nothing_newer(self, nginx: Nginx, curl: Curl) -> None:
        assert curl(nginx.url(port="tls12"), "--tlsv1.3").exit_code == HANDSHAKE

    @pytest.mark.parametrize("name", ["www.ronda.test", "localhost"])
    def test_the_good_certificate_is_good_for_names(
        self, nginx: Nginx, curl: Curl, name: str
    ) -> None:
        pin = f"{name}:{nginx.ports['good']}:{HOST}"

        assert curl(nginx.url(host=name, port="good"), "--resolve", pin).status == 200

    def test_every_status_can_be_had(self, nginx: Nginx) -> None:
        connection = http.client.HTTPConnection(HOST, nginx.ports["http"], timeout=5)
        found = []
        for code in range(200, 600):
            connection.request("GET", f"/status/{code}")
            answer = connection.getresponse()
            answer.read()
            found.append(answer.status)
        connection.close()

        assert found == list(range(200, 600))

    @pytest.mark.parametrize(
        ("path", "size"),
        [("/file.bin", 1_000_000), ("/big", 10_000_000), ("/empty", 0)],
    )
    def test_files_have_their_size(
        self, nginx: Nginx, curl: Curl, path: str, size: int
    ) -> None:
        reply = curl(nginx.url(path))

        assert (reply.status, len(reply.body)) == (200, size)

    def test_ranges_are_served_or_not(self, nginx: Nginx, curl: Curl) -> None:
        ranged = curl(nginx.url("/file.bin"), "-r", "0-9")
        whole = curl(nginx.url("/no-range/file.bin"), "-r", "0-9")

        assert (ranged.status, len(ranged.body)) == (206, 10)
        assert (whole.status, len(whole.body)) == (200, 1_000_000)

    @pytest.mark.parametrize(
        ("path", "status", "end"),
        [
            ("/redirect/301/page.html", 301, "http://127.0.0.1:{http}/page.html"),
            ("/redirect/302/page.html?a=b", 302, "{host}/page.html?a=b"),
            ("/redirect/303/empty", 303, "{host}/empty"),
            ("/redirect/307/page.html", 307, "{host}/page.html"),
            ("/redirect/308/page.html", 308, "{host}/page.html"),
            ("/redirect-relative", 301, "/page.html"),
            ("/redirect-404", 301, "{host}/status/404"),
            ("/redirect-host", 301, "http://127.0.0.2:{http}/page.html"),
            ("/redirect-https", 301, "https://127.0.0.1:{good}/page.html"),
            ("/redirect-fragment", 302, "{host}/page.html#part"),
            ("/redirect-private", 302, "{host}/private/page.html"),
            ("/loop/a", 302, "{host}/loop/b"),
            ("/loop/b", 302, "{host}/loop/a"),
            ("/self", 301, "{host}/self"),
            ("/folder", 301, "{host}/folder/"),
        ],
    )
    def test_redirects_lead_where_they_say(
        self, nginx: Nginx, curl: Curl, path: str, status: int, end: str
    ) -> None:
        reply = curl(nginx.url(path))

        expected = end.format(
            **nginx.ports, host=f"http://127.0.0.1:{nginx.ports['http']}"
        )
        assert (reply.status, reply.header("Location")) == (status, expected)

    @pytest.mark.parametrize(
        ("path", "hops"),
        [("/chain/1", 5), ("/chain-long/1", 25), ("/chain-mixed/1", 3)],
    )
    def test_chains_end_at_the_page(
        self, nginx: Nginx, curl: Curl, path: str, hops: int
    ) -> None:
        reply = curl(nginx.url(path), "-L", "--max-redirs", "30")

        assert reply.head.count("Location:") == hops
        assert reply.status == 200

    def test_a_loop_never_ends(self, nginx: Nginx, curl: Curl) -> None:
        too_many = 47

        assert curl(nginx.url("/loop/a"), "-L").exit_code == too_many

    @pytest.mark.parametrize("path", ["/throttled", "/unavailable"])
    def test_the_busy_say_when_to_come_back(
        self, nginx: Nginx, curl: Curl, path: str
    ) -> None:
        reply = curl(nginx.url(path))

        assert reply.status == {"/throttled": 429, "/unavailable": 503}[path]
        assert reply.header("Retry-After") == "1"

    def test_the_guarded_page_opens_with_the_password(
        self, nginx: Nginx, curl: Curl
    ) -> None:
        url = nginx.url("/auth/page.html")
        closed, opened = curl(url), curl(url, "-u", "ronda:secret")

        assert (closed.status, opened.status) == (401, 200)
        assert closed.header("WWW-Authenticate") == 'Basic realm="ronda"'

    def test_the_forbidden_page_does_not_open(self, nginx: Nginx, curl: Curl) -> None:
        assert curl(nginx.url("/forbidden/page.html")).status == 403

    @pytest.mark.parametrize("code", [400, 403, 404, 405, 500, 501, 503])
    def test_head_is_refused_and_get_is_not(
        self, nginx: Nginx, curl: Curl, code: int
    ) -> None:
        url = nginx.url(f"/no-head/{code}")

        assert curl(url, "-I").status == code
        assert curl(url).status == 200
        assert curl(url, "-r", "0-0").status == 206

    def test_the_challenge_is_one(self, nginx: Nginx, curl: Curl) -> None:
        reply = curl(nginx.url("/challenge"))

        assert (reply.status, reply.header("cf-mitigated")) == (403, "challenge")
        assert b"Just a moment" in reply.body

    def test_the_packed_page_is_packed(self, nginx: Nginx, curl: Curl) -> None:
        reply = curl(nginx.url("/gzip/page.html"), "--compressed")

        assert reply.header("Content-Encoding") == "gzip"
        assert b"A page" in reply.body

    def test_robots_keep_one_folder_private(self, nginx: Nginx, curl: Curl) -> None:
        assert curl(nginx.url("/robots.txt")).body.endswith(b"Disallow: /private/\n")
        assert curl(nginx.url("/private/page.html")).status == 200

    def test_what_was_asked_is_known_at_once(self, nginx: Nginx) -> None:
        mark = nginx.mark()
        connection = http.client.HTTPConnection(
            "127.0.0.7", nginx.ports["http"], timeout=5
        )
        for number in range(50):
            connection.request("GET", f"/empty?{number}", headers={"Host": "h7"})
            connection.getresponse().read()
        connection.close()

        asked = nginx.requests("/empty", since=mark)
        assert [request.target for request in asked] == [
            f"/empty?{number}" for number in range(50)
        ]
        assert {(r.method, r.address, r.host, r.status) for r in asked} == {
            ("GET", "127.0.0.7", "h7", 200)
        }
        assert len({request.connection for request in asked}) == 1
        assert abs(asked[0].at - time.time()) < 60


class TestNames:
    @pytest.mark.parametrize(
        ("name", "addresses"),
        [
            ("h1", ["127.0.0.1"]),
            ("h20", ["127.0.0.20"]),
            ("shared-1", ["127.0.0.3"]),
            ("shared-3", ["127.0.0.3"]),
            ("two", ["127.0.0.4", "127.0.0.5"]),
            ("alias", ["127.0.0.1"]),
            ("münchen", ["127.0.0.1"]),
            ("private", ["10.0.0.1"]),
        ],
    )
    def test_a_name_has_its_addresses(
        self, names: Names, name: str, addresses: list[str]
    ) -> None:
        code, records = names.query(f"{name}.ronda.test")

        assert code == NO_ERROR
        assert all(socket.inet_aton(address) in records for address in addresses)

    def test_six_has_only_a_long_address(self, names: Names) -> None:
        long = socket.inet_pton(socket.AF_INET6, "::1")

        assert long in names.query("six.ronda.test", AAAA)[1]
        assert names.query("six.ronda.test", A) == (NO_ERROR, b"")

    def test_mail_goes_to_the_exchange(self, names: Names) -> None:
        assert b"\x02h1\x05ronda\x04test" in names.query("mail.ronda.test", MX)[1]
        assert b"\x07nowhere" in names.query("lost-mx.ronda.test", MX)[1]

    def test_a_name_may_have_no_exchange(self, names: Names) -> None:
        assert names.query("no-mx.ronda.test", MX) == (NO_ERROR, b"")
        assert names.query("no-mx.ronda.test", A)[1]

    def test_the_null_exchange_is_the_root(self, names: Names) -> None:
        assert names.query("null-mx.ronda.test", MX)[1].endswith(b"\0\3\0\0\0")

    def test_what_is_not_known_does_not_exist(self, names: Names) -> None:
        assert names.query("nowhere.ronda.test") == (NO_SUCH_NAME, b"")

    def test_a_name_may_have_no_address(self, names: Names) -> None:
        assert names.query("no-address.ronda.test") == (NO_ERROR, b"")

    def test_the_broken_server_fails(self, names: Names) -> None:
        assert names.query("broken.ronda.test") == (SERVER_FAILED, b"")

    def test_the_silent_server_says_nothing(self, names: Names) -> None:
        with pytest.raises(TimeoutError):
            names.query("silent.ronda.test", timeout=0.3)

    def test_a_name_is_there_once_added(self, names: Names) -> None:
        names.add("new.ronda.test", "127.0.0.99")

        assert b"\x7f\0\0\x63" in names.query("new.ronda.test")[1]


class TestFtp:
    def test_a_stranger_reads_a_file(self, ftp: Ftp, curl: Curl) -> None:
        assert curl(ftp.url()).body == b"hello from ftp\n"

    def test_a_folder_is_listed(self, ftp: Ftp, curl: Curl) -> None:
        assert b"file.bin" in curl(ftp.url("/folder/")).body
        assert curl(ftp.url("/empty-folder/")).exit_code == 0

    def test_a_user_reads_a_file(self, ftp: Ftp, curl: Curl) -> None:
        reply = curl(ftp.url("/folder/file.bin", user=USER, password=PASSWORD))

        assert len(reply.body) == 1_000_000

    @pytest.mark.parametrize(
        ("path", "user", "exit_code"),
        [
            ("/nowhere.txt", None, NOT_FOUND),
            ("/closed.txt", None, NOT_FOUND),  # 550 says no more
            ("/nowhere/", None, FORBIDDEN_FOLDER),
            ("/closed-folder/", None, FORBIDDEN_FOLDER),
            ("/hello.txt", "nobody", LOGIN),
        ],
    )
    def test_what_is_not_to_be_had_is_refused(
        self, ftp: Ftp, curl: Curl, path: str, user: str | None, exit_code: int
    ) -> None:
        assert curl(ftp.url(path, user=user)).exit_code == exit_code

    def test_tls_from_the_first_byte(self, ftps: Ftps, curl: Curl) -> None:
        assert curl(ftps.url()).body == b"hello from ftp\n"
        assert b"file.bin" in curl(ftps.url("/folder/")).body

    def test_tls_when_asked_for(self, ftps: Ftps, curl: Curl) -> None:
        assert curl(ftps.explicit_url(), "--ssl-reqd").body == b"hello from ftp\n"
        assert curl(ftps.explicit_url()).body == b"hello from ftp\n"

    def test_the_plain_server_knows_no_tls(self, ftp: Ftp, curl: Curl) -> None:
        no_tls = 64

        assert curl(ftp.url(), "--ssl-reqd").exit_code == no_tls


class TestSsh:
    def test_the_key_opens(self, ssh: Ssh, tmp_path: Path) -> None:
        got = tmp_path / "got"
        options = ["-o", f"UserKnownHostsFile={ssh.known_hosts}", "-o", "BatchMode=yes"]
        identity = ["-F", "none", "-i", str(ssh.key), "-P", str(ssh.port)]
        source = f"{ssh.user}@{HOST}:{ssh.files}/hello.txt"
        command = [require("sftp"), "-q", *options, *identity, source, str(got)]
        subprocess.run(command, check=True, capture_output=True)

        assert got.read_text() == "hello from sftp\n"

    @pytest.mark.parametrize(
        ("path", "exit_code"), [("/hello.txt", 0), ("/nowhere.txt", NOT_FOUND)]
    )
    def test_curl_reads_by_sftp(
        self, ssh: Ssh, curl: Curl, path: str, exit_code: int
    ) -> None:
        keys = ["--key", str(ssh.key), "--pubkey", str(ssh.public_key)]

        assert curl(ssh.url(path), "--insecure", *keys).exit_code == exit_code

    def test_without_the_key_it_stays_closed(self, ssh: Ssh, curl: Curl) -> None:
        assert curl(ssh.url(), "--insecure").exit_code == LOGIN


class TestRude:
    @pytest.mark.parametrize(
        ("path", "head", "get"),
        [
            ("/ok", 0, 0),
            ("/empty-reply", EMPTY, EMPTY),
            ("/reset", RECEIVE, RECEIVE),
            ("/garbage", UNSUPPORTED, UNSUPPORTED),
            ("/http09", UNSUPPORTED, UNSUPPORTED),
            ("/hang", TIMED_OUT, TIMED_OUT),
            ("/slow-headers", TIMED_OUT, TIMED_OUT),
            ("/slow-body", 0, TIMED_OUT),
            ("/short-body", 0, SHORT),
            ("/bad-chunk", 0, RECEIVE),
            ("/bad-gzip", 0, BAD_ENCODING),
            ("/no-colon-header", BAD_ANSWER, BAD_ANSWER),
            ("/head-hangs", TIMED_OUT, 0),
            ("/head-empty", EMPTY, 0),
            ("/head-resets", RECEIVE, 0),
        ],
    )
    def test_a_fault_is_what_it_says(
        self, rude: Rude, curl: Curl, path: str, head: int, get: int
    ) -> None:
        path = rude.fresh(path)

        assert curl(rude.url(path), "-I", *_patience(head)).exit_code == head
        assert curl(rude.url(path), "--compressed", *_patience(get)).exit_code == get
        assert rude.methods(path) == ["HEAD", "GET"]

    @pytest.mark.parametrize("path", ["/endless-headers", "/flood-1xx", "/big-header"])
    def test_too_much_is_too_much(self, rude: Rude, curl: Curl, path: str) -> None:
        assert curl(rude.url(path)).exit_code in TOO_BIG

    def test_the_endless_body_goes_on(self, rude: Rude, curl: Curl) -> None:
        too_large = 63
        reply = curl(rude.url("/endless-body"), "--max-filesize", "5000000")
        read = len(reply.body)

        # Older versions of curl mind the size only when it is announced.
        assert reply.exit_code == too_large or (
            reply.exit_code in {SHORT, RECEIVE} and read > 5_000_000
        )

    def test_two_lengths_are_told(self, rude: Rude) -> None:
        assert _ask(rude, "/double-length").count(b"Content-Length") == 2

    @pytest.mark.parametrize(
        ("path", "statuses"),
        [
            ("/status/999", [999]),
            ("/status/299", [299]),
            ("/status/600", [600]),
            ("/nowhere", [404]),
            ("/head-lies-404", [200]),
            ("/flaky/2", [503, 503, 200]),
            ("/retry-after/1", [429, 200]),
            ("/retry-after-date/1", [503, 200]),
            ("/challenge", [403]),
        ],
    )
    def test_a_path_has_its_statuses(
        self, rude: Rude, curl: Curl, path: str, statuses: list[int]
    ) -> None:
        path = rude.fresh(path)

        assert [curl(rude.url(path)).status for _ in statuses] == statuses
        assert len(rude.hits[path]) == len(statuses)

    def test_head_lies(self, rude: Rude, curl: Curl) -> None:
        assert curl(rude.url("/head-lies-404"), "-I").status == 404

    def test_the_wait_is_told_in_seconds_or_as_a_date(
        self, rude: Rude, curl: Curl
    ) -> None:
        seconds = curl(rude.url(rude.fresh("/retry-after/7")))
        date = curl(rude.url(rude.fresh("/retry-after-date/7")))

        assert seconds.header("Retry-After") == "7"
        assert str(date.header("Retry-After")).endswith(" GMT")

    @pytest.mark.parametrize(
        ("path", "location"),
        [
            ("/redirect-bad", "http://[::1"),
            ("/redirect-empty", None),
            ("/redirect-file", "file:///etc/passwd"),
            ("/redirect-gopher", "gopher://127.0.0.1/1"),
        ],
    )
    def test_a_redirect_leads_astray(
        self, rude: Rude, curl: Curl, path: str, location: str | None
    ) -> None:
        reply = curl(rude.url(path))

        assert reply.status in {301, 302}
        assert reply.header("Location") == location

    def test_only_a_cookie_ends_the_loop(self, rude: Rude, curl: Curl) -> None:
        too_many = 47
        url = rude.url("/cookie-loop")

        assert curl(url, "-L", "--max-redirs", "3").exit_code == too_many
        assert curl(url, "-L", "--max-redirs", "3", "-b", "").status == 200

    @pytest.mark.parametrize("path", ["/keepalive-closes", "/keepalive-drops"])
    def test_a_kept_connection_is_not_kept(self, rude: Rude, path: str) -> None:
        request = f"GET {path} HTTP/1.1\r\nHost: rude\r\n\r\n".encode()
        with socket.create_connection((HOST, rude.port), 5) as client:
            client.sendall(request)
            stream = client.makefile("rb")
            head = b"".join(iter(stream.readline, b"\r\n"))
            stream.read(int(re.search(rb"Length: (\d+)", head)[1]))  # type: ignore[index]
            if path == "/keepalive-drops":
                client.sendall(request)
            rest = stream.read()
            stream.close()

        assert b"Connection: keep-alive" in head
        assert rest == b""

    def test_the_headers_of_a_request_are_kept(self, rude: Rude, curl: Curl) -> None:
        path = rude.fresh("/ok")
        curl(rude.url(path), "-A", "Ronda/1")

        [hit] = rude.hits[path]
        assert hit.headers["user-agent"] == "Ronda/1"

    @pytest.mark.parametrize(
        ("fault", "exit_code"),
        [
            ("silent", TIMED_OUT),
            ("plain", HANDSHAKE),
            ("old", HANDSHAKE),
            ("alert", HANDSHAKE),
            ("cut", HANDSHAKE),
            ("reset", HANDSHAKE),
        ],
    )
    def test_a_handshake_fails(
        self, rude: Rude, curl: Curl, fault: str, exit_code: int
    ) -> None:
        reply = curl(rude.tls_url(fault), "--tlsv1.2", *_patience(exit_code))

        assert reply.exit_code == exit_code

    def test_nobody_listens(self, rude: Rude, curl: Curl) -> None:
        assert curl(rude.refused_url()).exit_code == REFUSED

    def test_there_is_no_way(self, rude: Rude) -> None:
        address, port = rude.unreachable_url().split("/")[2].split(":")

        with pytest.raises(OSError, match="Network is unreachable"):
            socket.create_connection((address, int(port)), 1).close()

    def test_a_full_queue_lets_nobody_in(self, rude: Rude, curl: Curl) -> None:
        reply = curl(rude.full_url(), "--connect-timeout", PATIENCE)

        assert reply.exit_code == TIMED_OUT

    def test_many_may_hang_and_it_still_ends_at_once(
        self, certificates: Certificates
    ) -> None:
        with Rude(certificates) as rude:
            clients = [
                socket.create_connection((HOST, rude.port), 5) for _ in range(50)
            ]
            for client in clients:
                client.sendall(b"GET /hang HTTP/1.1\r\n\r\n")
            began = time.monotonic()
        seconds = time.monotonic() - began
        for client in clients:
            client.close()

        assert seconds < TALK_SECONDS


class TestCertificates:
    def test_each_kind_says_when_it_ends(self, certificates: Certificates) -> None:
        now = datetime.now(UTC)
        left = {kind: certificates[kind].not_after - now for kind in KINDS}

        assert left["expired"] < timedelta(0)
        assert timedelta(days=4) < left["ending"] < timedelta(days=6)
        assert left["good"] > timedelta(days=30)


class TestFakeClock:
    def test_time_passes_only_when_told(self) -> None:
        clock = FakeClock()
        now, utc = clock.now(), clock.utc()
        clock.advance(2.5)

        assert clock.now() - now == 2.5
        assert clock.utc() - utc == timedelta(seconds=2.5)

    def test_time_does_not_go_back(self) -> None:
        with pytest.raises(ValueError, match="does not go back"):
            FakeClock().advance(-1)


def _patience(exit_code: int) -> tuple[str, ...]:
    return ("-m", PATIENCE) if exit_code == TIMED_OUT else ()


def _ask(rude: Rude, path: str) -> bytes:
    with socket.create_connection((HOST, rude.port), 5) as client:
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: rude\r\n\r\n".encode())
        return b"".join(iter(lambda: client.recv(65_536), b""))


def _closes(port: int) -> bool:
    """Whether nobody listens there any more, soon."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            socket.create_connection((HOST, port), 1).close()
        except OSError:
            return True
    return False
