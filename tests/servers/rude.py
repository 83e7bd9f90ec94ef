"""A server that misbehaves on purpose: what a path does is in `faults.py`.

Every connection is bounded in time and bytes, and ends at once with the server.
"""

import contextlib
import selectors
import socket
import ssl
import threading
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from itertools import count
from typing import NamedTuple, Self

from servers import h2
from servers.certificates import Certificate, Certificates
from servers.faults import FAULTS, KEPT
from servers.floods import FLOODS
from servers.process import HOST
from servers.talk import Talk, reset

PATHS = {**FAULTS, **FLOODS}
TALK_SECONDS = 30.0  # the longest a connection is kept
REQUEST_BYTES = 65_536
FULL_SECONDS = 0.2  # a connect not done by then is one that will not be
UNREACHABLE = "127.255.255.255"  # loopback's broadcast address: ENETUNREACH for TCP
# A fatal TLS alert "handshake failure", as sent by servers with no cipher in common.
ALERT = b"\x15\x03\x03\x00\x02\x02\x28"
PLAIN = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class Hit(NamedTuple):
    """One request that came in; header names in lower case."""

    method: str
    at: float  # monotonic seconds
    headers: dict[str, str]


class Rude:
    """The rude server on 127.0.0.1.

    `hits` counts what was asked, by path and query; over HTTP/2, by the port's name.
    """

    def __init__(self, certificates: Certificates) -> None:
        self.hits: defaultdict[str, list[Hit]] = defaultdict(list)
        self._serials = count(1)
        self._lock = threading.Lock()  # guards hits, _open and _threads
        self._open: set[socket.socket] = set()
        self._threads: set[threading.Thread] = set()
        self._stopping = threading.Event()
        self._wake, self._waker = socket.socketpair()
        self._old = _old_tls(certificates["good"])
        self._h2 = _h2_tls(certificates["good"])
        self._listeners = {
            name: (socket.create_server((HOST, 0), backlog=512), serve)
            for name, serve in (
                ("http", self._serve_http),
                ("silent", _say_nothing),
                ("plain", _speak_plainly),
                ("old", self._speak_of_old),
                ("alert", _refuse_handshake),
                ("cut", _cut_handshake),
                ("reset", _reset_handshake),
                *((name, self._over_h2(name)) for name in h2.STORMS),
            )
        }
        self._refused = socket.socket()
        self._refused.bind((HOST, 0))  # ours, but it never listens
        self._full = _FullListener()
        self._acceptor = threading.Thread(target=self._accept, name="rude", daemon=True)

    @property
    def port(self) -> int:
        """Where it speaks http."""
        return self._port("http")

    def url(self, path: str = "/ok", host: str = HOST) -> str:
        """The URL of a fault; the paths are in `faults.FAULTS`, `floods.FLOODS`."""
        return f"http://{host}:{self.port}{path}"

    def tls_url(self, fault: str, path: str = "/", host: str = HOST) -> str:
        """An https URL; the port is silent, plain, old, alert, cut, reset or h2's."""
        return f"https://{host}:{self._port(fault)}{path}"

    def refused_url(self, path: str = "/") -> str:
        """A port where nobody listens."""
        return f"http://{HOST}:{self._refused.getsockname()[1]}{path}"

    def full_url(self, path: str = "/") -> str:
        """A port whose queue is full: connecting takes for ever."""
        self._full.fill()
        return f"http://{HOST}:{self._full.port}{path}"

    def unreachable_url(self, path: str = "/") -> str:
        """An address without a way to it, that still is loopback."""
        return f"http://{UNREACHABLE}:{self.port}{path}"

    def fresh(self, path: str) -> str:
        """The path with a query never used before: its hits begin at nothing."""
        return f"{path}?fresh={next(self._serials)}"

    def methods(self, path: str) -> list[str]:
        """The methods with which a path was asked, in order."""
        with self._lock:
            return [hit.method for hit in self.hits[path]]

    def __enter__(self) -> Self:
        self._acceptor.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._waker.close()
        self._acceptor.join()
        with self._lock:
            threads = list(self._threads)
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)  # wakes its thread
        for thread in threads:
            thread.join()
        self._wake.close()
        for listener, _serve in self._listeners.values():
            listener.close()
        self._refused.close()
        self._full.close()

    def _port(self, name: str) -> int:
        port: int = self._listeners[name][0].getsockname()[1]
        return port

    def _accept(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._wake, selectors.EVENT_READ)
            for listener, serve in self._listeners.values():
                listener.setblocking(False)
                selector.register(listener, selectors.EVENT_READ, serve)
            while not self._stopping.is_set():
                for key, _ in selector.select():
                    if key.data is not None:
                        self._begin(key.fileobj, key.data)  # type: ignore[arg-type]

    def _begin(
        self, listener: socket.socket, serve: Callable[[socket.socket], None]
    ) -> None:
        try:
            connection, _ = listener.accept()
        except OSError:  # gone again before we took it
            return
        connection.settimeout(TALK_SECONDS)
        thread = threading.Thread(
            target=self._run, args=(connection, serve), name="rude talk", daemon=True
        )
        with self._lock:
            self._open.add(connection)
            self._threads.add(thread)
        thread.start()

    def _run(
        self, connection: socket.socket, serve: Callable[[socket.socket], None]
    ) -> None:
        # Whatever the client does, such as leaving, is the end of its connection only.
        with contextlib.suppress(OSError):
            serve(connection)
        with self._lock:
            self._open.discard(connection)
            self._threads.discard(threading.current_thread())
            connection.close()

    def _serve_http(self, connection: socket.socket) -> None:
        for served in count():
            request = _read_request(connection)
            if request is None or self._serve(connection, served, *request) not in KEPT:
                return

    def _serve(
        self,
        connection: socket.socket,
        served: int,
        method: str,
        target: str,
        headers: dict[str, str],
    ) -> str:
        """Do what is to be done at a path, and tell its name."""
        with self._lock:
            earlier = len(self.hits[target])
            self.hits[target].append(Hit(method, time.monotonic(), headers))
        path = target.partition("?")[0]
        first, _, argument = path[1:].partition("/")
        name = f"/{first}"
        talk = Talk(
            connection=connection,
            method=method,
            path=path,
            argument=argument if name in PATHS else "404",
            headers=headers,
            earlier=earlier,
            served=served,
            stopping=self._stopping,
            until=time.monotonic() + TALK_SECONDS,
        )
        PATHS.get(name, PATHS["/status"])(talk)
        return name

    def _over_h2(self, name: str) -> Callable[[socket.socket], None]:
        def heard() -> None:
            with self._lock:
                self.hits[name].append(Hit("", time.monotonic(), {}))

        def serve(connection: socket.socket) -> None:
            with self._h2.wrap_socket(connection.dup(), server_side=True) as secure:
                h2.serve(name, secure, heard)

        return serve

    def _speak_of_old(self, connection: socket.socket) -> None:
        with self._old.wrap_socket(connection.dup(), server_side=True) as secure:
            secure.recv(REQUEST_BYTES)
            secure.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")


class _FullListener:
    """A listening socket whose queue is full of connections that nobody accepts."""

    def __init__(self) -> None:
        self._listener = socket.create_server((HOST, 0), backlog=0)
        self._waiting: list[socket.socket] = []
        self.port: int = self._listener.getsockname()[1]

    def fill(self) -> None:
        """Let connections wait until no more get in; once is enough."""
        if self._waiting:
            return
        for _ in range(16):
            client = socket.socket()
            self._waiting.append(client)
            client.settimeout(FULL_SECONDS)
            try:
                client.connect((HOST, self.port))
            except TimeoutError:
                return
        raise RuntimeError("the queue of a listening socket does not fill")

    def close(self) -> None:
        for client in self._waiting:
            client.close()
        self._listener.close()


def _read_request(
    connection: socket.socket,
) -> tuple[str, str, dict[str, str]] | None:
    head = b""
    while b"\r\n\r\n" not in head:
        more = connection.recv(REQUEST_BYTES)
        head += more
        if not more or len(head) > REQUEST_BYTES:
            return None
    first, *lines = head.decode("latin-1").partition("\r\n\r\n")[0].split("\r\n")
    method, target, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines)
    return method, target, {name.lower(): value.strip() for name, _, value in pairs}


def _say_nothing(connection: socket.socket) -> None:
    while connection.recv(REQUEST_BYTES):
        pass


def _speak_plainly(connection: socket.socket) -> None:
    connection.recv(REQUEST_BYTES)
    connection.sendall(PLAIN)
    connection.shutdown(socket.SHUT_WR)
    _say_nothing(connection)  # closing with bytes unread would be a reset


def _refuse_handshake(connection: socket.socket) -> None:
    connection.recv(REQUEST_BYTES)
    connection.sendall(ALERT)
    connection.shutdown(socket.SHUT_WR)
    _say_nothing(connection)


def _cut_handshake(connection: socket.socket) -> None:
    connection.recv(REQUEST_BYTES)
    connection.shutdown(socket.SHUT_WR)
    _say_nothing(connection)


def _reset_handshake(connection: socket.socket) -> None:
    connection.recv(REQUEST_BYTES)
    reset(connection)


def _old_tls(certificate: Certificate) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # that is the point
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.load_cert_chain(certificate.chain, certificate.key)
    return context


def _h2_tls(certificate: Certificate) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.chain, certificate.key)
    context.set_alpn_protocols(["h2"])
    return context
