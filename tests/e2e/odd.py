"""Servers for what neither nginx nor the rude server does: one function a server."""

import contextlib
import socket
import socketserver
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from servers import h2
from servers.certificates import Certificate
from servers.process import HOST

TALK_SECONDS = 20.0  # the longest a connection is kept
HESITATION = 0.6  # seconds
Talk = Callable[[socket.socket], None]


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128


@contextlib.contextmanager
def serving(talk: Talk, context: ssl.SSLContext | None = None) -> Iterator[int]:
    """The port of a server that talks to each connection in a thread of its own."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.settimeout(TALK_SECONDS)
            # Whatever the client does is the end of its connection only.
            with contextlib.suppress(OSError):
                if context is None:
                    talk(self.request)
                    return
                with context.wrap_socket(self.request, server_side=True) as secure:
                    talk(secure)

    with _Server((HOST, 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


# -- http --------------------------------------------------------------------


def read_head(connection: socket.socket) -> tuple[str, str]:
    """The method and the target of a request; both empty when there is none."""
    head = b""
    while b"\r\n\r\n" not in head:
        more = connection.recv(65_536)
        if not more:
            return "", ""
        head += more
    method, target, _ = head.decode("latin-1").split(" ", 2)
    return method, target


def answer(
    connection: socket.socket, status: str, *headers: str, body: bytes = b""
) -> None:
    """A whole answer, after which the connection closes."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close"]
    head = "".join(f"{line}\r\n" for line in [*lines, *headers])
    connection.sendall(head.encode() + b"\r\n" + body)


def no_robots(connection: socket.socket) -> None:
    """A site whose robots.txt fails and whose pages do not."""
    _, target = read_head(connection)
    failed = target.startswith("/robots.txt")
    answer(connection, "503 Service Unavailable" if failed else "200 OK")


def plain(connection: socket.socket) -> None:
    """A site on which everything is well."""
    read_head(connection)
    answer(connection, "200 OK")


def hesitant(connection: socket.socket) -> None:
    """A site that thinks before it answers."""
    read_head(connection)
    time.sleep(HESITATION)
    answer(connection, "200 OK")


def resets_streams(connection: socket.socket) -> None:
    """HTTP/2 that takes back every stream with an internal error."""
    h2.resets(connection, lambda: None)


def fails_over_socks(connection: socket.socket) -> None:
    """A SOCKS proxy that cannot do what it is asked."""
    connection.recv(65_536)
    connection.sendall(b"\x05\x00")  # no login needed
    connection.recv(65_536)
    connection.sendall(b"\x05\x01\x00\x01" + bytes(6))  # general failure
    connection.recv(65_536)


# -- ftp ---------------------------------------------------------------------


def no_data_connection(connection: socket.socket) -> None:
    """An ftp server that lets you in, and then opens no second connection."""
    replies = {
        b"USER": b"230 welcome",
        b"PWD": b'257 "/"',
        b"TYPE": b"200 fine",
        b"CWD": b"250 fine",
        b"QUIT": b"221 bye",
    }
    connection.sendall(b"220 ready\r\n")
    for line in connection.makefile("rb"):
        reply = replies.get(line.split()[0].upper(), b"502 not here")
        connection.sendall(reply + b"\r\n")


# -- ssh ---------------------------------------------------------------------


def leaves_in_the_key_exchange(connection: socket.socket) -> None:
    """An ssh server that gives its name and goes."""
    connection.sendall(b"SSH-2.0-odd\r\n")
    connection.recv(65_536)


# -- tls ---------------------------------------------------------------------


def tls(certificate: Certificate, *protocols: str) -> ssl.SSLContext:
    """A server's side of TLS; protocols are those of ALPN."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.chain, certificate.key)
    if protocols:
        context.set_alpn_protocols(list(protocols))
    return context


def for_clients_only(folder: Path) -> tuple[Certificate, Path]:
    """A certificate that is no server's, and the authority that issued it."""
    now = datetime.now(UTC)
    root_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    root_name, name = (
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
        for text in ("root", "client")
    )
    month = timedelta(days=30)

    def build(subject: x509.Name, public: ec.EllipticCurvePublicKey) -> object:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(root_name)
            .public_key(public)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - month)
            .not_valid_after(now + month)
        )

    constraints = x509.BasicConstraints(ca=True, path_length=None)
    root = (
        build(root_name, root_key.public_key())  # type: ignore[attr-defined]
        .add_extension(constraints, critical=True)
        .sign(root_key, hashes.SHA256())
    )
    usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH])
    names = x509.SubjectAlternativeName([x509.IPAddress(ip_address(HOST))])
    leaf = (
        build(name, key.public_key())  # type: ignore[attr-defined]
        .add_extension(usage, critical=True)
        .add_extension(names, critical=False)
        .sign(root_key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    authority, chain, private = (folder / f for f in ("root.pem", "leaf.pem", "key"))
    authority.write_bytes(root.public_bytes(pem))
    chain.write_bytes(leaf.public_bytes(pem))
    kind, plain_ = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    private.write_bytes(key.private_bytes(pem, kind, plain_))
    return Certificate(chain=chain, key=private, not_after=now + month), authority
