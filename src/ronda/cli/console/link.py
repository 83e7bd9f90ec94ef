"""The wire to the daemon: a command goes out, framed replies come in."""

import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from ronda.errors import UsageError
from ronda.server.console.replies import FORMS, Form

EVENT = "200"
FULL = "505"
_PIECE = 64 * 1024
# Of a reply for people: the first number in brackets.
_CODE = re.compile(rb"\[([0-9]{3})\]")


class Place(Struct, frozen=True):
    """Where the daemon is, and who we are there."""

    path: Path | None = None  # of the Unix socket; None: over TCP
    host: str = ""
    port: int = 0
    owner: str = ""
    token: str = ""
    timeout: float = 30.0  # seconds for which a reply may be waited for

    @property
    def shown(self) -> str:
        """How it is told to people."""
        if self.path is not None:
            return str(self.path)
        return (
            f"[{self.host}]:{self.port}"
            if ":" in self.host
            else f"{self.host}:{self.port}"
        )


class Heard(Struct, frozen=True):
    """A reply or an event, as it came."""

    code: str
    data: bytes  # its lines, without the empty one at the end

    @property
    def is_good(self) -> bool:
        """Whether the daemon said yes: even codes do."""
        return self.code[-1:] in set("02468")


class Link:
    """One connection, in one format."""

    def __init__(self, place: Place, form: Form) -> None:
        """Connect, choose the format, and say who we are.

        Raises:
            UsageError: there is no daemon, or it does not want us.
        """
        self._place = place
        self._form = form
        self._socket = _connected(place)
        self._rest = b""  # what came behind the last reply
        try:
            self._greet()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    @property
    def is_over(self) -> bool:
        """Whether the daemon has hung up: for our silence, or at its end."""
        self._socket.settimeout(0)
        try:
            return not self._rest and not self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def ask(self, line: str) -> Iterator[Heard]:
        """Send a command; the events that came before its reply, then the reply.

        Raises:
            UsageError: the daemon has gone, or says nothing in time.
        """
        self._socket.settimeout(self._place.timeout)
        # Who hung up may have said why, and that can still be read.
        with suppress(OSError):
            self._socket.sendall(line.encode(errors="surrogateescape") + b"\n")
        while True:
            heard = self.hear()
            yield heard
            if heard.code != EVENT:
                return

    def hear(self, timeout: float | None = None) -> Heard:
        """The next reply or event.

        Args:
            timeout: seconds; none: those of the place. 0: for ever.

        Raises:
            UsageError: as in `ask`.
        """
        seconds = self._place.timeout if timeout is None else timeout
        self._socket.settimeout(seconds or None)
        end = b"\n" if self._form.json and not self._form.pretty else b"\n\n"
        while end not in self._rest:
            self._rest += self._more()
        data, _, self._rest = self._rest.partition(end)
        heard = Heard(self._code(data), data)
        if heard.code == FULL:
            raise UsageError(f"the daemon at {self._place.shown} has too many clients")
        return heard

    def _more(self) -> bytes:
        try:
            data = self._socket.recv(_PIECE)
        except TimeoutError:
            words = f"no reply within {self._socket.gettimeout():g} s; see --timeout"
            raise UsageError(f"{self._place.shown}: {words}") from None
        except OSError as error:
            raise self._lost(error) from None
        if not data:
            raise self._lost(None)
        return data

    def _code(self, data: bytes) -> str:
        # Who is turned away is told so before he can choose a format.
        if not self._form.json or data.startswith(b"["):
            found = _CODE.search(data)
            return found[1].decode() if found else ""
        try:
            return str(msgspec.json.decode(data)["code"])
        except (ValueError, KeyError, TypeError):
            words = "this is no control socket of ronda"
            raise UsageError(f"{self._place.shown}: {words}") from None

    def _greet(self) -> None:
        [words] = (words for words, form in FORMS.items() if form == self._form)
        self._require(f"FORMAT {words}")
        if self._place.owner:
            owner, token = quoted(self._place.owner), quoted(self._place.token)
            self._require(f"AUTH {owner} {token}")

    def _require(self, line: str) -> None:
        *_, heard = self.ask(line)
        if not heard.is_good:
            words = heard.data.decode("utf-8", "replace").strip()
            raise UsageError(f"{self._place.shown}: {words}")

    def _lost(self, error: OSError | None) -> UsageError:
        words = (error.strerror or str(error)) if error else "it closed the connection"
        return UsageError(f"the daemon at {self._place.shown} is lost: {words}")


def _connected(place: Place) -> socket.socket:
    try:
        if place.path is None:
            return socket.create_connection((place.host, place.port), place.timeout)
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        made.settimeout(place.timeout)
        made.connect(str(place.path))
    except (FileNotFoundError, ConnectionRefusedError):
        words = f"no daemon at {place.shown}: start one with ronda serve"
        raise UsageError(words) from None
    except (OSError, UnicodeError) as error:  # some names cannot be looked up
        words = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"no daemon at {place.shown}: {words}") from None
    return made


def quoted(word: str) -> str:
    """A word as the protocol wants it.

    Raises:
        UsageError: it does not fit on a line.
    """
    if "\n" in word or "\r" in word or not word.isprintable():
        raise UsageError("a command is one line of text; an argument of it is not")
    if word and not set(word) & set(" \t\"'\\"):
        return word
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
