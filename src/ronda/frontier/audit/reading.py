"""One log: which kind it is, its lines as entries, and those that cannot be read."""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any

import msgspec
from msgspec.structs import replace

from ronda.config import Politeness
from ronda.errors import InputError, UsageError
from ronda.frontier.audit import accesslog, requestlog
from ronda.frontier.audit.entries import Entry
from ronda.frontier.audit.formats import KNOWN, LogFormat
from ronda.frontier.audit.judgement import RESOLUTION
from ronda.model import REQUEST_LOG, Place, Problem
from ronda.urls import shown

_PLAIN = (str, int, float)
NAMED = 5  # lines that cannot be read and are told one by one


class Kind(StrEnum):
    """Whose view a log gives."""

    REQUESTS = "request log"
    ACCESS = "access log"


class Log:
    """One log; its kind and format are told by the first line that can be read."""

    def __init__(
        self, name: str, number: int = 0, *, form: LogFormat | None = None
    ) -> None:
        self.name = name
        self.number = number
        self.kind: Kind | None = Kind.ACCESS if form else None
        self.rows: tuple[Politeness, ...] | None = None  # its own limits, if it says
        self.resolution = RESOLUTION  # seconds: the coarsest of its moments
        self.unreadable = 0
        self.problems: list[Problem] = []  # the first of them
        self._form = form
        self._agent = ""

    def entries(self, lines: Iterable[bytes]) -> Iterator[Entry]:
        """The requests of its lines; a line that cannot be read is only counted.

        Raises:
            UsageError: it says that it cannot be understood.
        """
        for number, line in enumerate(lines, 1):
            try:
                found = self.entry(line, number)
            except InputError as error:
                self._note(number, str(error))
            else:
                if found is not None:
                    yield found

    def entry(self, line: bytes, number: int) -> Entry | None:
        """The request of one line; None when it tells of none.

        Raises:
            InputError: the line cannot be read.
        """
        line = line.rstrip(b"\r\n")
        if not line.strip():
            return None
        if self._form is None and line.startswith(b"{"):
            found = self._from_json(line, number)
        elif self.kind is Kind.REQUESTS:
            raise InputError(f"not a request: '{_shown(line)}'")
        else:
            found = self._from_text(line.decode("utf-8", "replace"))
        return found and replace(found, line=number, log=self.number)

    def _from_json(self, line: bytes, number: int) -> Entry | None:
        if self.kind is not Kind.REQUESTS or line.startswith(b'{"log"'):
            tree = _tree(line)
            if tree.get("log") == REQUEST_LOG:
                self._take_head(line, number)
                return None
            if self.kind is Kind.ACCESS or (self.kind is None and "at" not in tree):
                plain = {k: str(v) for k, v in tree.items() if isinstance(v, _PLAIN)}
                return self._from_fields(plain)
        found = requestlog.entry(line)
        self.kind = Kind.REQUESTS  # also of one whose first line is missing
        return found and replace(found, agent=self._agent)

    def _take_head(self, line: bytes, number: int) -> None:
        if self.kind is Kind.ACCESS:
            raise InputError("a request log begins amid an access log")
        try:
            found = requestlog.head(line)
        except UsageError as error:
            raise UsageError(f"{shown(self.name)}:{number}: {error}") from None
        if self.kind is Kind.REQUESTS:  # what was cut off ended with its own run
            words = "a second run begins here: audit each as a file of its own"
            raise UsageError(f"{shown(self.name)}:{number}: {words}")
        self.kind = Kind.REQUESTS
        self.rows, self._agent = found.politeness, found.agent

    def _from_text(self, line: str) -> Entry:
        if self._form is not None:
            fields = self._form.fields(line)
            if fields is None:
                raise InputError(f"not a line of its format: '{shown(line)}'")
            return self._from_fields(fields)
        for form in KNOWN.values():
            fields = form.fields(line)
            if fields and fields.get("server_port", "0").isdecimal():
                found = self._from_fields(fields)
                self._form = form
                return found
        raise InputError(f"not a line of a known format: '{shown(line)}'")

    def _from_fields(self, fields: dict[str, str]) -> Entry:
        found, step = accesslog.entry(fields)
        self.kind = Kind.ACCESS
        self.resolution = max(self.resolution, step)
        return found

    def _note(self, number: int, words: str) -> None:
        self.unreadable += 1
        if len(self.problems) < NAMED:
            self.problems.append(Problem(Place(self.name, number), words))


def _tree(line: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"not JSON: {error}") from None
    assert isinstance(found, dict)  # noqa: S101  # it begins with {
    return found


def _shown(line: bytes) -> str:
    return shown(line.decode("utf-8", "replace"))
