"""What may be shown of a result: no credentials, no broken text, places in order.

Every format gets its results through here, so none can forget it.
"""

import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from ronda.cli.report.order import place_key
from ronda.model import Hop, Place, Problem, Result, Summary
from ronda.urls import without_credentials

# In free text (a link's words may be its URL) nothing was normalised: the last @ of
# the authority ends the user info, and a space ends the URL.
_IN_TEXT = re.compile(r"(?<=://)[^\s/?#]*@")


class SafeResults(Iterable[Result]):
    """Results as they may be shown, as often as they are asked for."""

    def __init__(self, results: Iterable[Result]) -> None:
        self._results = results

    def __iter__(self) -> Iterator[Result]:
        return map(safe_result, self._results)


def safe_result(result: Result) -> Result:
    """A result as it may be shown."""
    places = result.found_in
    return replace(
        result,
        url=_url(result.url),
        message=safe_text(result.message),
        hops=tuple(map(_hop, result.hops)),
        found_in=tuple(sorted(map(_place, places), key=place_key)),
        directives=tuple(map(safe_text, result.directives)),
    )


def safe_summary(summary: Summary) -> Summary:
    """A summary as it may be shown."""
    problems = sorted(map(_problem, summary.problems), key=_problem_key)
    return replace(summary, problems=tuple(problems))


def _problem(problem: Problem) -> Problem:
    return Problem(_place(problem.place), safe_text(problem.message))


def _problem_key(problem: Problem) -> tuple[object, ...]:
    return (*place_key(problem.place), problem.message)


def _hop(hop: Hop) -> Hop:
    return replace(hop, url=_url(hop.url), to=_url(hop.to))


def _place(place: Place) -> Place:
    document, text = _url(place.document), safe_text(place.text)
    if document is place.document and text is place.text:
        return place  # the usual case, and there may be a million
    return Place(document, place.line, place.column, text)


def _url(url: str) -> str:
    return without_credentials(_whole(url))


def safe_text(text: str) -> str:
    """Free text as it may be shown."""
    return _IN_TEXT.sub("", _whole(text)) if "@" in text else _whole(text)


def _whole(text: str) -> str:
    """A text that can be encoded: file names may hold half a surrogate pair."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
