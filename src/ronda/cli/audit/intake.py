"""From logs to requests that can be judged: read, picked, and fit for each other."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from msgspec.structs import replace

from ronda.cli.audit.sources import Source
from ronda.cli.report import words
from ronda.errors import InputError, UsageError
from ronda.frontier.audit import Audit, Entry, Kind, Log, Requests
from ronda.urls import shown

MANY_AGENTS = 10_000  # user agents that are told apart


class Picked:
    """Which entries are judged: all, or those of one user agent or client."""

    def __init__(self, agent: str = "", client: str = "", host: str = "") -> None:
        self._agent, self._client = agent, client
        self._host = host  # of those that name none
        self.agents: set[str] = set()
        self.left_out = 0

    def __call__(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """The entries that are judged."""
        for entry in entries:
            if not self._takes(entry):
                self.left_out += 1
                continue
            if entry.agent and len(self.agents) < MANY_AGENTS:
                self.agents.add(entry.agent)
            named = entry.host or not self._host
            yield entry if named else replace(entry, host=self._host)

    def _takes(self, entry: Entry) -> bool:
        client = not self._client or entry.client == self._client
        return client and self._agent in entry.agent


def collect(logs: Sequence[Log], sources: Sequence[Source], picked: Picked) -> Requests:
    """All requests that are judged.

    Raises:
        UsageError: there are none, or the logs cannot be judged together.
    """
    requests = Requests()
    for log, source in zip(logs, sources, strict=True):
        for entry in picked(log.entries(source.lines())):
            requests.add(entry)
    if not len(requests):
        raise UsageError(_nothing(logs, picked))
    _require_one_kind([log for log in logs if log.kind])
    names = (*requests.hosts.all(), *requests.servers.all())
    if not any(names) and any(log.kind is Kind.ACCESS for log in logs):
        told = f"{_names(logs)}: neither hosts nor servers are named"
        raise UsageError(f"{told}; say by --host which host was asked")
    return requests


def asked(
    found: Audit, logs: Sequence[Log], sources: Sequence[Source]
) -> dict[tuple[int, int], str]:
    """Method and URL of each request that is told of, read again from its line.

    To keep those of all requests would take most of the memory.
    """
    wanted: dict[int, set[int]] = {}
    for violation in found.violations:
        for mention in (violation.first, violation.second):
            wanted.setdefault(mention.log, set()).add(mention.line)
    return {
        (number, entry.line): entry.asked
        for number, lines in wanted.items()
        for entry in _again(logs[number], sources[number], lines)
    }


def _again(log: Log, source: Source, wanted: set[int]) -> Iterator[Entry]:
    last = max(wanted)
    for number, line in enumerate(source.lines(), 1):
        if number in wanted:
            with suppress(InputError):  # somebody wrote to it meanwhile
                if entry := log.entry(line, number):
                    yield entry
        if number >= last:
            return


def _require_one_kind(logs: Sequence[Log]) -> None:
    """The same request in two logs would seem to be two at once."""
    for log in logs[1:]:
        pair = _names([logs[0], log])
        if log.kind is not logs[0].kind:
            kinds = f"one is a {Kind.REQUESTS}, one an {Kind.ACCESS}"
            raise UsageError(f"{pair}: {kinds}; audit them one by one")
        if log.rows != logs[0].rows:
            raise UsageError(f"{pair}: different limits; audit them one by one")


def _nothing(logs: Sequence[Log], picked: Picked) -> str:
    """Why there is nothing to judge."""
    if picked.left_out:
        count = words.counted(picked.left_out, "request")
        return f"{_names(logs)}: {count}, but none of that user agent or client"
    problem = next((problem for log in logs for problem in log.problems), None)
    if problem is None:
        return f"{_names(logs)}: no request in it"
    return f"no line can be read ({words.problem_line(problem)}); see --log-format"


def _names(logs: Sequence[Log]) -> str:
    return ", ".join(shown(words.document_name(log.name)) for log in logs)
