"""The words and sentences that several reports share."""

from collections.abc import Iterable

from ronda.model import Place, Problem, Result, Site, State, Summary

HOSTS = 10  # that are named when a run ends early
_UNITS = ("kB", "MB", "GB", "TB")

# From what needs a hand first to what needs none.
BY_URGENCY = (
    State.BROKEN,
    State.TEMPORARY,
    State.WARNING,
    State.BLOCKED,
    State.UNSUPPORTED,
    State.UNKNOWN,
    State.OK,
)


def document_name(document: str) -> str:
    """A document as people call it."""
    return {"": "(command line)", "-": "(standard input)"}.get(document, document)


def position(place: Place) -> str:
    """The line and column of a place, as far as they are known."""
    if not place.line:
        return ""
    return f"{place.line}:{place.column}" if place.column else str(place.line)


def problem_line(problem: Problem) -> str:
    """A piece of input that could not be used, and where it stands."""
    place = problem.place
    line = f":{place.line}" if place.line else ""
    return f"{document_name(place.document)}{line}: {problem.message}"


def moved_to(result: Result) -> str:
    """Where redirects led in the end; empty when there were none."""
    return result.hops[-1].to if result.hops else ""


def arrow(result: Result) -> str:
    """An arrow to where a link moved, unless the message has said it."""
    moved = moved_to(result)
    return f"-> {moved}" if moved and moved not in result.message else ""


def finding(result: Result) -> str:
    """What was found, and where the link moved."""
    return f"{result.message} {arrow(result)}".rstrip()


def state_words(state: State, count: int) -> str:
    """How many are in a state: `1 warning`, `9 warnings`, `3 broken`."""
    plural = "s" if state is State.WARNING and count != 1 else ""
    return f"{count:,} {state}{plural}"


def duration(seconds: float) -> str:
    """A time span: `0.34 s`, `3.4 s`, `2 min 5 s`, `1 h 4 min`."""
    if seconds < 1:
        return f"{seconds:.2f} s"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def size(count: int) -> str:
    """A number of bytes: `1 byte`, `812 bytes`, `4.1 kB`, `12.0 GB`."""
    if count < 1000:
        return counted(count, "byte")
    amount, unit = count / 1000, 0
    while amount >= 999.95 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{amount:,.1f} {_UNITS[unit]}"


def checked(summary: Summary) -> str:
    """How much was checked: `1,204 checked in 3.4 s`."""
    return f"{summary.checked:,} checked in {duration(summary.seconds)}"


def remarks(summary: Summary) -> list[str]:
    """What else should be known of a run: excluded, not usable, not checked."""
    found: list[str] = []
    if summary.site:
        found.append(pages_read(summary.site))
    if summary.excluded:
        found.append(f"{summary.excluded:,} excluded.")
    if summary.problems:
        found.append(f"{counted(len(summary.problems), 'problem')} with the input.")
    found.extend(_sentence(remark) for remark in summary.remarks)
    if summary.interrupted or summary.left:
        found.append(ended_early(summary))
        if summary.left_at:
            found.append(_left(summary))
    return found


def pages_read(site: Site) -> str:
    """How much a crawl read: `9 pages read, 3 of them unchanged, 4.1 kB received.`."""
    same = f", {site.unchanged:,} of them unchanged" if site.unchanged else ""
    return f"{counted(site.pages, 'page')} read{same}, {size(site.bytes)} received."


def ended_early(summary: Summary) -> str:
    """Why a run ended before its time, and how much it left."""
    why = f" ({summary.interrupted})" if summary.interrupted else ""
    return f"Ended early{why}: {summary.left:,} not checked."


def _left(summary: Summary) -> str:
    """Whose targets were not checked, the most first: `Left: a.example 1,000.`."""
    most = list(summary.left_at.items())[:HOSTS]
    named = [f"{host} {count:,}" for host, count in most]
    rest = summary.left - sum(count for _, count in most)
    if rest > 0:
        named.append(f"others {rest:,}")
    return f"Left: {', '.join(named)}."


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def conclusion(results: Iterable[Result], summary: Summary) -> str:
    """The one sentence a reader came for."""
    broken = summary.counts.get(State.BROKEN, 0)
    if broken:
        pages = _broken_pages(results)
        where = f" on {counted(pages, 'page')}" if pages else ""
        return f"{counted(broken, 'broken link')}{where}."
    if not summary.checked:
        return "Nothing was checked."
    if summary.is_unread:
        return "No page could be read: the site was not crawled."
    early = summary.interrupted or summary.left
    return "Nothing broken so far." if early else "Nothing broken."


def _broken_pages(results: Iterable[Result]) -> int:
    broken = (r for r in results if r.verdict is State.BROKEN)
    return len({place.document for result in broken for place in pages(result)})


def pages(result: Result) -> tuple[Place, ...]:
    """The pages and documents a link stands on: of each the first place."""
    first: dict[str, Place] = {}
    for place in result.found_in:
        first.setdefault(place.document, place)
    return tuple(place for name, place in first.items() if name not in ("", "-"))


def left_out(count: int) -> str:
    """How many are not shown: `… and 12 more`."""
    return f"… and {count:,} more"


def counted(count: int, noun: str) -> str:
    """How many there are of something: `1 link`, `1,204 links`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
