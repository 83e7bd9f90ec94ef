"""An ftp server whose passive answer names somebody else's address."""

import contextlib
import socketserver
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

from servers.process import HOST, free_ports

ELSEWHERE = "127.0.0.9"  # whom it names
CONTENT = b"from where you asked\n"
SECONDS = 10.0  # the longest a connection is kept


@dataclass
class Lying:
    """Where it is, and who came to its two data addresses."""

    url: str
    arrived: list[str] = field(default_factory=list)


@contextlib.contextmanager
def lying_ftp() -> Iterator[Lying]:
    """Its data waits on its own address and, on the same port, on the other one."""
    [claim] = free_ports(1)
    with contextlib.ExitStack() as stack:
        stack.callback(claim.release)
        found = Lying("")
        for address in (HOST, ELSEWHERE):
            stack.enter_context(_data_on(address, claim.number, found.arrived))
        control = stack.enter_context(_serving((HOST, 0), _dialogue(claim.number)))
        found.url = f"ftp://{HOST}:{control}/file.txt"
        yield found


def _dialogue(port: int) -> type[socketserver.StreamRequestHandler]:
    there = f"{ELSEWHERE.replace('.', ',')},{port >> 8},{port & 255}"
    replies = {
        "USER": "230 welcome",
        "PWD": '257 "/"',
        "PASV": f"227 Entering Passive Mode ({there})",
        "TYPE": "200 fine",
        "SIZE": f"213 {len(CONTENT)}",
        "RETR": "150 here it comes\r\n226 done",
        "QUIT": "221 bye",
    }

    class Control(socketserver.StreamRequestHandler):
        timeout = SECONDS

        def handle(self) -> None:
            self.wfile.write(b"220 ready\r\n")
            with contextlib.suppress(OSError):
                for line in self.rfile:
                    verb = line.decode("latin-1").split()[0].upper()
                    reply = replies.get(verb, "502 not here")
                    self.wfile.write(f"{reply}\r\n".encode())

    return Control


def _data_on(
    address: str, port: int, arrived: list[str]
) -> contextlib.AbstractContextManager[int]:
    class Data(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            arrived.append(address)
            self.request.sendall(CONTENT)

    return _serving((address, port), Data)


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False


@contextlib.contextmanager
def _serving(
    address: tuple[str, int], handler: type[socketserver.BaseRequestHandler]
) -> Iterator[int]:
    with _Server(address, handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            port: int = server.socket.getsockname()[1]
            yield port
        finally:
            server.shutdown()
            thread.join()
