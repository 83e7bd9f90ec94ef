"""What was said on the wire, as the blocks of archive records."""

from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import urlsplit

from ronda.model import Answer, Request

# An archive is handed on; who may log in is nobody's business.
_SECRET = frozenset({"authorization", "proxy-authorization", "cookie"})
# How the body was packed on the way; it is kept unpacked.
_PACKING = (b"content-encoding:", b"transfer-encoding:")
_LENGTH = b"content-length:"
_TIMED_OUT = 28  # libcurl's code


def asked(request: Request, url: str, headers: Mapping[str, str]) -> bytes:
    """A request, as far as it is known: libcurl wrote it."""
    parts = urlsplit(url)
    path = (parts.path or "/") + (f"?{parts.query}" if "?" in url else "")
    said = {"Host": parts.netloc} | {
        name: value for name, value in headers.items() if name.lower() not in _SECRET
    }
    said |= {"Range": "bytes=0-1023"} if request.partial else {}
    said |= {"If-None-Match": request.etag} if request.etag else {}
    said |= {"If-Modified-Since": request.since} if request.since else {}
    lines = [f"{request.method} {path} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in said.items()]
    return "\r\n".join([*lines, "", ""]).encode("utf-8", "replace")


def status_line(answer: Answer) -> tuple[bytes, str]:
    """The first line of an answer as readers of archives know it, and its protocol.

    They know HTTP/1 alone; the later ones have no such line on the wire anyway.
    """
    version, _, rest = answer.headers[0].strip().partition(b" ")
    if version in {b"HTTP/1.0", b"HTTP/1.1"}:
        return version + b" " + rest, version.decode().lower()
    return b"HTTP/1.1 " + rest, f"h{version.partition(b'/')[2].decode('latin-1')[:1]}"


def header_lines(answer: Answer, is_head: bool) -> list[bytes]:
    """The headers as they came, but for those that are not true of the body kept.

    Those get names that archivists know, and the true length is added.
    """
    lines = [line.rstrip(b"\r\n") for line in answer.headers[1:]]
    lines = [line for line in lines if line]
    if is_head or answer.status in {204, 304} or _is_true(lines, len(answer.body)):
        return lines
    named = [
        b"X-Archive-Orig-" + line
        if line.lower().startswith((*_PACKING, _LENGTH))
        else line
        for line in lines
    ]
    return [*named, b"Content-Length: %d" % len(answer.body)]


def _is_true(lines: Iterable[bytes], size: int) -> bool:
    for line in lines:
        low = line.lower()
        if low.startswith(_PACKING):
            return False
        if low.startswith(_LENGTH) and low[len(_LENGTH) :].strip() != b"%d" % size:
            return False
    return True


def pairs(lines: Iterable[bytes]) -> Iterator[tuple[str, str]]:
    """Headers by name and value; what is neither is left out."""
    for line in lines:
        name, colon, value = line.partition(b":")
        if colon and not line[:1].isspace():
            yield name.strip().decode("latin-1"), value.strip().decode("latin-1")


def truncated(answer: Answer) -> str:
    """Why a body is not whole, in the words of the standard; empty when it is."""
    if answer.cut:
        return "length"
    if answer.error:
        return "time" if answer.error == _TIMED_OUT else "disconnect"
    return ""
