"""What may be shown of a result: no credentials, no broken text, places in order.

Every format gets its results through here, so none can forget it.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from ronda.cli.report.order import place_key
from ronda.model import Hop, Place, Problem, Result, Site, Slow, Summary
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
        media_type=safe_text(result.media_type),
        evidence=safe_text(result.evidence),
    )


def safe_summary(summary: Summary) -> Summary:
    """A summary as it may be shown."""
    problems = sorted(map(_problem, summary.problems), key=_problem_key)
    return replace(
        summary,
        problems=tuple(problems),
        interrupted=safe_text(summary.interrupted),
        left_at=_counts(summary.left_at, _host),
        site=_site(summary.site) if summary.site else None,
        remarks=tuple(map(safe_text, summary.remarks)),
    )


def _site(site: Site) -> Site:
    """A site as it may be shown, in an order that is the same in every run."""
    groups = [tuple(sorted(map(_url, urls))) for urls in site.duplicates]
    slowest = sorted(map(_slow, site.slowest), key=lambda s: (-s.seconds, s.url))
    return replace(
        site,
        slowest=tuple(slowest),
        duplicates=tuple(sorted(groups, key=lambda urls: (-len(urls), urls))),
        orphans=tuple(sorted(map(_url, site.orphans))),
        beyond=_counts(site.beyond, safe_text),
    )


def _slow(page: Slow) -> Slow:
    return replace(page, url=_url(page.url))


def _counts(counts: dict[str, int], safe: Callable[[str], str]) -> dict[str, int]:
    """Numbers by their safe names, the highest first; two may become one name."""
    found: Counter[str] = Counter()
    for name, count in counts.items():
        found[safe(name)] += count
    return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))


def _host(name: str) -> str:
    return _whole(name).rpartition("@")[2]


def _problem(problem: Problem) -> Problem:
    return Problem(_place(problem.place), safe_text(problem.message))


def _problem_key(problem: Problem) -> tuple[object, ...]:
    return (*place_key(problem.place), problem.message)


def _hop(hop: Hop) -> Hop:
    return replace(hop, url=_url(hop.url), to=_url(hop.to))


def _place(place: Place) -> Place:
    document, text = _url(place.document), safe_text(place.text)
    tag = safe_text(place.tag)
    if document is place.document and text is place.text and tag is place.tag:
        return place  # the usual case, and there may be a million
    return Place(document, place.line, place.column, text, tag)


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
