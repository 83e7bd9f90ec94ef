"""Our own view: the lines that `--request-log` writes, as entries."""

from math import inf
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from ronda.config import Politeness
from ronda.errors import InputError, UsageError
from ronda.frontier.audit.accesslog import address
from ronda.frontier.audit.entries import Entry
from ronda.frontier.audit.moments import LATEST
from ronda.model import GUARDED, REQUEST_LOG_VERSION, RESTING
from ronda.urls import shown

_Seconds = Annotated[float, Meta(ge=0, le=1e9)]


class Head(Struct, frozen=True):
    """The first line: who asked, and within which limits."""

    version: int = REQUEST_LOG_VERSION
    agent: str = ""
    politeness: tuple[Politeness, ...] | None = None


class _Line(Struct, frozen=True):
    at: Annotated[float, Meta(ge=0, lt=LATEST)]
    seconds: _Seconds | None = None
    host: str = ""
    server: str = ""
    method: str = ""
    url: str = ""
    error: int = 0
    gap: _Seconds | None = None
    rule: str | None = None


_read_head = msgspec.json.Decoder(Head).decode
_read_line = msgspec.json.Decoder(_Line).decode


def head(line: bytes) -> Head:
    """The first line.

    Raises:
        UsageError: its limits cannot be known, so nothing can be judged by them.
    """
    try:
        found = _read_head(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(
            f"the first line cannot be read: {shown(str(error))}"
        ) from None
    if found.version != REQUEST_LOG_VERSION:
        raise UsageError(f"version {found.version} of a request log is not known")
    return found


def entry(line: bytes) -> Entry | None:
    """One request; None when nobody was asked.

    Raises:
        InputError: it is not such a line.
    """
    try:
        found = _read_line(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"not a request: {shown(str(error))}") from None
    server = address(found.server)
    if found.server and not server:
        raise InputError("not a request: `server` is not an address")
    if found.error in {GUARDED, RESTING}:
        return None
    return Entry(
        at=found.at,
        seconds=inf if found.seconds is None else found.seconds,
        host=found.host,
        server=server,
        gap=found.gap or 0.0,
        rule=found.rule or "",
        asked=f"{found.method} {found.url}".strip(),
    )
