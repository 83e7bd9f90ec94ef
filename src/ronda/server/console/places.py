"""Where commands are taken: a Unix socket for this user, a TCP port."""

import contextlib
import ipaddress
import os
import re
import socket
import stat
from pathlib import Path

from ronda.errors import SettingsError, UsageError
from ronda.server.control import folder

NONE = "none"  # the setting's word for no Unix socket
NAME = "control.sock"
BACKLOG = 512  # connections that may wait to be taken
LOOPBACK = "127.0.0.1"
# A port, with an address before it: a name, an IPv4 address, an IPv6 one in brackets.
_PLACE = re.compile(
    r"(?:(?:\[(?P<six>[^\[\]\s]+)\]|(?P<name>[^\[\]:\s]*)):)?(?P<port>[0-9]{1,5})"
)


def socket_path(setting: str) -> Path | None:
    """Where the Unix socket is; None: there is to be none."""
    if setting == NONE:
        return None
    return Path(setting).expanduser() if setting else folder() / NAME


def address(text: str, name: str = "control.listen") -> tuple[str, int]:
    """A host and a port; without a host it is this machine only.

    Raises:
        SettingsError: it is none.
    """
    found = _PLACE.fullmatch(text.strip())
    if found is None or int(found["port"]) > 65_535:
        words = "write 127.0.0.1:4422, [::1]:4422 or a port"
        raise SettingsError(f"{name} '{text}': not an address and a port; {words}")
    return found["six"] or found["name"] or LOOPBACK, int(found["port"])


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def bound(path: Path) -> socket.socket:
    """A Unix socket that listens there, for this user only.

    Raises:
        UsageError: somebody else is there, or it is no place for it.
        OSError: the system does not want it.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _require_safe(path.parent)
    _clear(path)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)  # from its first moment on it is closed to others
    try:
        listening.bind(str(path))
    except BaseException:
        listening.close()
        raise
    finally:
        os.umask(before)
    listening.listen(BACKLOG)
    listening.setblocking(False)
    return listening


def _require_safe(place: Path) -> None:
    """Nobody else may put a socket of his own there, or take ours away."""
    found = place.stat()
    others = found.st_mode & 0o022 and not found.st_mode & stat.S_ISVTX
    if found.st_uid not in (os.getuid(), 0) or others:
        raise UsageError(f"{place} is open to others: make it yours, with mode 0700")
    if place == folder() and (found.st_mode & 0o077 or place.is_symlink()):
        raise UsageError(f"{place} is open to others: remove it, or chmod 0700")


def _clear(path: Path) -> None:
    """Take away what a daemon that died has left."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise UsageError(f"{path} is there already, and is no socket")
    if _is_alive(path):
        raise UsageError(f"another daemon takes commands at {path}")
    path.unlink(missing_ok=True)


def _is_alive(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        asking.setblocking(False)
        try:
            asking.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except BlockingIOError:
            return True  # so busy that we would have to wait
    return True


def identity(path: Path) -> tuple[int, int] | None:
    """Which file is there; None: none."""
    with contextlib.suppress(OSError):
        found = path.lstat()
        return found.st_dev, found.st_ino
    return None
