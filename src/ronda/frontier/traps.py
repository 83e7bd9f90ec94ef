"""Traps: what a site makes up without end, noticed by the URL alone."""

import re

LONGEST = 2000  # characters; browsers and servers of old take no longer ones
DEEPEST = 40  # segments of a path; people's are seldom deeper than 15
IN_A_ROW = (
    3  # times a segment or a pair of them stands in a row: relative links at play
)
IN_ALL = 5  # times that a segment may stand in a path
SESSIONS = 10  # URLs that are equal but for a session id: there may be one a visitor
# The web began in 1990, and nobody plans further than two years ahead: a calendar that
# shows other years shows them all.
FIRST_YEAR, YEARS_AHEAD = 1990, 2
# URLs that are equal but for their date: 40 years of months are 480 and pass, and so
# do four years of days. All days that are possible would be 14,000.
DATED = 1500
# What is counted at once. When there is more, what was counted seldom is forgotten, so
# that memory is bounded (10 MB) and a trap, which is met again and again, still found.
MANY = 100_000

ENDLESS, SESSION, CALENDAR = "trap: endless path", "trap: session id", "trap: calendar"
QUERIES = "query strings"

# Names that nothing else has; `sid`, which also numbers articles, with a value that
# looks like one; and ASP.NET's segment (S(…)).
_SESSION = re.compile(
    r"[?&;](?:jsessionid|phpsessid|sessionid|session_id|sessid|cfid|cftoken"
    r"|aspsessionid\w{0,20}|zenid|oscsid)=[^&;/?]*"
    r"|[?&;]s(?:id|ession)?=(?=[a-z_\-]*\d)(?=[\d_\-]*[a-z])[\w\-]{8,}(?![^&;])"
    r"|/\((?:[a-z]\([^()/]{1,80}\)){1,5}\)(?=/)",
    re.IGNORECASE,
)
_MONTH, _DAY = "(?:0?[1-9]|1[0-2])", "(?:0?[1-9]|[12][0-9]|3[01])"
# 2031-05-13 of any year. 2031/05/13, 2031/05, 2031-05 and 2031-W20 only of years that
# calendars pass through, and as a whole: 4821/2 is the second page of a thread, and
# valve-1950-12 is a valve.
_DATE = re.compile(
    r"[/=_\-](?=[0-9]{4}[/\-])(?:"
    r"([0-9]{4})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])(?![0-9])"
    r"|(?<=[/=])((?:19|2[01])[0-9][0-9])([/\-])"
    rf"(?:{_MONTH}(?:\3{_DAY}(?![0-9])|(?!\3?[0-9]))|W[0-5][0-9]))"
)
# The value of a key such as eventDate or month:int, and the years in such values.
_KEYED = re.compile(
    r"[?&;][^=&;]{0,20}?(?:date|day|week|month|year)[^=&;]{0,20}=([^&;]*)",
    re.IGNORECASE,
)
_YEAR = re.compile(
    r"(?<![0-9])([0-9]{4})(?:(?:0[1-9]|1[0-2])(?:[0-3][0-9])?)?(?![0-9])"
)


class Traps:
    """Says which URLs are not worth following; each is to be asked about once."""

    def __init__(self, max_queries: int, many: int = MANY) -> None:
        self._max_queries = max_queries
        self._many = many
        self._counts: dict[int, int] = {}  # by the hash of what URLs have in common

    def why(self, url: str, this_year: int) -> str:
        """Which trap a normalised URL of the web leads into; "" for none."""
        path, mark, _ = url.partition("?")
        if len(url) > LONGEST or _is_endless(path.split("/")[3:]):
            return ENDLESS
        if mark or ";" in path or "/(" in path:
            without = _SESSION.sub("", url)
            if without != url and self._counted(SESSION, without) > SESSIONS:
                return SESSION
        if self._is_calendar(url, this_year):
            return CALENDAR
        return self.queries(url)

    def queries(self, url: str) -> str:
        """`query strings` for a URL whose path has had enough of them; else ""."""
        path, mark, _ = url.partition("?")
        if mark and self._counted(QUERIES, path) > self._max_queries:
            return QUERIES
        return ""

    def _is_calendar(self, url: str, this_year: int) -> bool:
        years, shape = _dated(url)
        if not years:
            return False
        if min(years) < FIRST_YEAR or max(years) > this_year + YEARS_AHEAD:
            return True
        return self._counted(CALENDAR, shape) > DATED

    def _counted(self, rule: str, shape: str) -> int:
        key = hash((rule, shape))
        count = self._counts.get(key, 0) + 1
        if count == 1 and len(self._counts) >= self._many:
            self._forget()
        self._counts[key] = count
        return count

    def _forget(self) -> None:
        """Keep what was counted more often than most; at least half goes."""
        middle = sorted(self._counts.values())[len(self._counts) // 2]
        kept = {key: count for key, count in self._counts.items() if count > middle}
        self._counts = kept


def _is_endless(segments: list[str]) -> bool:
    if len(segments) > DEEPEST:
        return True
    different = set(segments)
    if len(segments) - len(different) < IN_A_ROW - 1:  # nearly all
        return False
    if any(segments.count(segment) > IN_ALL for segment in different):
        return True
    return _is_repeated(segments, 1) or _is_repeated(segments, 2)


def _is_repeated(segments: list[str], size: int) -> bool:
    """Whether some segments, together, stand often enough in a row.

    A number that does (11/11/11) is a date or a place on a map.
    """
    run = 0
    for one, other in zip(segments, segments[size:], strict=False):
        same = one == other and not (size == 1 and one.isdecimal())
        run = run + 1 if same else 0
        if run == size * (IN_A_ROW - 1):
            return True
    return False


def _dated(url: str) -> tuple[list[int], str]:
    """The years of the dates in a URL, and the URL without these dates."""
    if found := _DATE.findall(url):
        return [int(row[0] or row[1]) for row in found], _DATE.sub("", url)
    values = " ".join(_KEYED.findall(url)) if "?" in url else ""
    years = _YEAR.findall(values)
    # A year alone is one of few, in a catalogue of films say; a date has more digits.
    if not years or sum(map(str.isdecimal, values)) == 4:
        return [], url
    return [int(year) for year in years], _KEYED.sub("", url)
