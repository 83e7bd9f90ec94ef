"""The archive itself: records by warcio, each in the file whole or not at all."""

import base64
import fcntl
import hashlib
import io
import os
import time
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ronda import __version__, urls
from ronda.errors import SettingsError, UsageError
from ronda.model import Answer, Request
from ronda.store.warc import blocks, torn

_NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
_TYPES = {
    "warcinfo": "application/warc-fields",
    "request": "application/http; msgtype=request",
    "response": "application/http; msgtype=response",
}


class WarcFile:
    """WARC/1.1; one gzip member a record where the name ends in .gz.

    A file that is there is gone on with, cut to its last whole record. Called by one
    thread at a time, whichever: nothing is locked.

    Raises:
        SettingsError: warcio is not installed.
        UsageError: the file cannot be opened, is none of ours, or another run has it.
    """

    def __init__(
        self,
        path: Path,
        agent: str,
        headers: Mapping[str, str] | None = None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._writer = _writer(gzip=path.name.endswith(".gz"))
        self._headers = {"User-Agent": agent, "Accept": "*/*"} | dict(headers or {})
        self._info = ""
        try:
            self._file = _opened(path)
            self._end = self._file.tell()
            self.appends = self._end > 0  # to what an earlier run wrote
            self._begin(path, agent, wall())
        except torn.DamagedError as error:
            raise UsageError(f"--warc {path}: {error}") from None
        except BlockingIOError:
            raise UsageError(f"--warc {path}: another run writes to it") from None
        except OSError as error:
            raise UsageError(f"--warc {path}: {error.strerror}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _begin(self, path: Path, agent: str, at: float) -> None:
        fields = {
            "software": f"ronda/{__version__}",
            "format": "WARC File Format 1.1",
            "http-header-user-agent": agent,
        }
        block = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        name = {"WARC-Filename": urls.shown(path.name, 255)}
        info = self._record("warcinfo", "", at, block.encode(), name)
        self._write(info)
        self._info = info.rec_headers.get_header("WARC-Record-ID")

    def add(self, request: Request, answer: Answer, at: float) -> None:
        """Write a request and its answer, a redirect as well as a page.

        What was not answered in HTTP is left out.

        Args:
            request: what was asked.
            answer: what came back, its body unpacked.
            at: epoch seconds of its start.

        Raises:
            OSError: the disk is full or gone; the file ends as before.
        """
        if not answer.headers or not answer.headers[0].startswith(b"HTTP/"):
            return
        url = urls.without_credentials(urls.split_fragment(request.url)[0])
        block = blocks.asked(request, url, self._headers)
        facts = {"WARC-IP-Address": answer.address} if answer.address else {}
        empty = {"WARC-Payload-Digest": _digest(b"")}
        question = self._record("request", url, at, block, facts | empty)
        facts["WARC-Concurrent-To"] = question.rec_headers.get_header("WARC-Record-ID")
        if answer.status == 304:
            reply = self._revisit(url, at, answer, facts)
        else:
            reply = self._response(url, at, answer, facts, request.method == "HEAD")
        self._write(question, reply)

    def _response(
        self, url: str, at: float, answer: Answer, facts: dict[str, str], is_head: bool
    ) -> Any:
        first, protocol = blocks.status_line(answer)
        lines = [first, *blocks.header_lines(answer, is_head), b"", b""]
        facts = facts | {"WARC-Protocol": protocol}
        if reason := blocks.truncated(answer):
            facts["WARC-Truncated"] = reason
        facts["WARC-Payload-Digest"] = _digest(answer.body)
        block = b"\r\n".join(lines) + answer.body
        return self._record("response", url, at, block, facts)

    def _revisit(
        self, url: str, at: float, answer: Answer, facts: dict[str, str]
    ) -> Any:
        """A record without a body: the page is as it was when it was last asked for."""
        from warcio.statusandheaders import StatusAndHeaders  # noqa: PLC0415

        first, protocol = blocks.status_line(answer)
        version, _, status = first.decode("latin-1").partition(" ")
        lines = blocks.header_lines(answer, is_head=True)
        spoken = StatusAndHeaders(status, list(blocks.pairs(lines)), version)
        named = self._facts("revisit", url, at) | facts
        named |= {"WARC-Protocol": protocol, "WARC-Profile": _NOT_MODIFIED}
        return self._writer.create_warc_record(
            url, "revisit", http_headers=spoken, warc_headers_dict=named
        )

    def _record(
        self, kind: str, url: str, at: float, block: bytes, facts: dict[str, str]
    ) -> Any:
        """A record of bytes as they are: warcio's own headers are ASCII alone."""
        from warcio.recordloader import ArcWarcRecord  # noqa: PLC0415
        from warcio.statusandheaders import StatusAndHeaders  # noqa: PLC0415

        named = self._facts(kind, url, at) | facts
        headers = StatusAndHeaders("", list(named.items()), "WARC/1.1")
        stream = io.BytesIO(block)
        return ArcWarcRecord(
            "warc", kind, headers, stream, None, _TYPES[kind], len(block)
        )

    def _facts(self, kind: str, url: str, at: float) -> dict[str, str]:
        moment = datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")
        facts = {
            "WARC-Type": kind,
            "WARC-Record-ID": f"<urn:uuid:{uuid.uuid4()}>",
            "WARC-Date": moment.replace("+00:00", "Z"),
            "WARC-Target-URI": url,
            "WARC-Warcinfo-ID": self._info,
        }
        return {name: value for name, value in facts.items() if value}

    def _write(self, *records: Any) -> None:
        """All of the records, or none: nothing is left half written but by a kill."""
        self._writer.out = io.BytesIO()
        for record in records:
            self._writer.write_record(record)
        data = self._writer.out.getbuffer()
        try:
            done = 0
            while done < len(data):
                done += self._file.write(data[done:])
        except OSError:
            self._file.truncate(self._end)
            self._file.seek(self._end)
            raise
        self._end += len(data)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


def _writer(*, gzip: bool) -> Any:
    try:
        from warcio.warcwriter import WARCWriter  # noqa: PLC0415
    except ImportError:
        words = "needs the package warcio; install it where ronda is installed"
        raise SettingsError(f"--warc: {words} (in a checkout: .venv/bin/pip)") from None
    return WARCWriter(None, gzip=gzip, warc_version="WARC/1.1")


def _opened(path: Path) -> io.FileIO:
    """The file, ours alone, at the end of its last whole record."""
    # Unbuffered: whoever kills the run does not kill what was written.
    file = io.FileIO(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        find = torn.packed_end if path.name.endswith(".gz") else torn.plain_end
        with path.open("rb") as reader:
            end = find(reader)
        file.truncate(end)
        file.seek(end)
    except BaseException:
        file.close()
        raise
    return file


def _digest(body: bytes) -> str:
    name = base64.b32encode(hashlib.sha1(body, usedforsecurity=False).digest())
    return f"sha1:{name.decode()}"
