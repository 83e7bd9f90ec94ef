"""Requests as a log tells of them, kept in columns: a million take some 60 MB."""

from array import array
from math import inf

from msgspec import Struct

# Moments are whole microseconds: sums and differences of them are exact, which those
# of seconds since 1970, as floats, are not.
MICROSECONDS = 1_000_000
UNKNOWN = -1  # as an end: nobody knows when
CUT_OFF = -2  # as an end: not before the end of its log


class Entry(Struct, frozen=True, gc=False):
    """One request; what its log does not tell is empty, and not judged."""

    at: float  # seconds since 1970: its start
    seconds: float | None = None  # until its answer; infinite: cut off
    host: str = ""
    server: str = ""
    line: int = 0
    log: int = 0  # which one, of several
    gap: float = 0.0  # seconds that had to pass since the host's previous start
    rule: str = ""  # by which
    asked: str = ""  # method and URL
    agent: str = ""
    client: str = ""


class Names:
    """Texts as small numbers, in the order in which they were first seen."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __getitem__(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    def all(self) -> list[str]:
        """Every text, at the place of its number."""
        return list(self._numbers)


class Requests:
    """What the judge needs of every entry, one column each."""

    def __init__(self) -> None:
        self.at = array("q")  # microseconds
        self.end = array("q")  # microseconds, UNKNOWN or CUT_OFF
        self.gap = array("q")  # microseconds
        self.host = array("l")
        self.server = array("l")
        self.rule = array("l")
        self.line = array("q")
        self.log = array("l")
        self.hosts, self.servers, self.rules = Names(), Names(), Names()
        self.last: dict[int, int] = {}  # log → the last moment it tells of

    def __len__(self) -> int:
        return len(self.at)

    def add(self, entry: Entry) -> None:
        """Keep an entry."""
        at = microseconds(entry.at)
        end = _end(at, entry.seconds)
        self.at.append(at)
        self.end.append(end)
        self.gap.append(microseconds(entry.gap))
        self.host.append(self.hosts[entry.host])
        self.server.append(self.servers[entry.server])
        self.rule.append(self.rules[entry.rule])
        self.line.append(entry.line)
        self.log.append(entry.log)
        self.last[entry.log] = max(self.last.get(entry.log, at), at, end)


def microseconds(seconds: float) -> int:
    """Seconds as whole microseconds."""
    return round(seconds * MICROSECONDS)


def _end(at: int, seconds: float | None) -> int:
    if seconds is None:
        return UNKNOWN
    return CUT_OFF if seconds == inf else at + microseconds(seconds)
