"""What a crawl found out about a whole site: the sections that several reports share.

A report only says how a section looks; what stands in it is decided here.
"""

from collections.abc import Iterable, Iterator
from heapq import nsmallest
from itertools import chain, count

from msgspec import Struct
from msgspec.structs import replace

from ronda.cli.report import words
from ronda.cli.report.order import by_url, result_key
from ronda.model import Result, Site, Slow, State

_BAD = (State.BROKEN, State.TEMPORARY)
_FOR_GOOD = (301, 308)  # statuses that say a page has moved and will not come back
_SLOW = 1.0  # seconds; a quicker page is no news
# What a rule that ended the way of a crawl is set by.
_OPTIONS = {
    "depth": "--depth",
    "max_pages": "--max-pages",
    "query strings": "--max-queries",
    "trap": "--no-traps",
    "nofollow": "--ignore-nofollow",
    "content type": "--content-type",
    "redirect": "--scope",
}


class Limits(Struct, frozen=True):
    """How much of each section is shown."""

    pages: int = 10  # that one broken link stands on
    chains: int = 20
    orphans: int = 20
    slowest: int = 5
    quick: bool = False  # pages that are not slow may be among the slowest
    groups: int = 10  # of pages with the same content
    alike: int = 5  # pages of one group


SHORT = Limits()
LONG = Limits(orphans=100, slowest=10, quick=True)


class Item(Struct, frozen=True):
    """A line of a section: a URL or the name of a rule, and words about it."""

    text: str
    label: str = ""  # before it: a line, a status, a time, a number
    note: str = ""  # after it
    arrow: bool = False  # the line before it leads here


class Group(Struct, frozen=True):
    """Lines that belong together, under a head if they have one."""

    items: tuple[Item, ...]
    head: Item | None = None
    state: State | None = None  # the verdict on the head
    more: int = 0  # lines that are left out


class Section(Struct, frozen=True):
    """A part of a report with a title of its own."""

    title: str
    groups: Iterable[Group]
    more: int = 0  # groups that are left out
    count: int = 0  # of what it tells of, shown and not; 0 says nothing


def sections(
    results: Iterable[Result], site: Site, limits: Limits = SHORT
) -> Iterator[Section]:
    """All sections that have something to say, in the order they are shown."""
    yield from chain(
        _where(results, limits),
        site_sections(results, site, limits),
    )


def site_sections(
    results: Iterable[Result], site: Site, limits: Limits
) -> Iterator[Section]:
    """The sections beside the one that says where broken links stand."""
    yield from chain(
        _chains(results, limits),
        _orphans(site, limits),
        _slowest(site, limits),
        _duplicates(site, limits),
        _beyond(site),
    )


def _where(results: Iterable[Result], limits: Limits) -> Iterator[Section]:
    """Where broken links stand that more than one page has: each with its pages."""
    # A link on one page alone is told of there. The rest is sorted on disk.
    wanted = (r for r in results if r.verdict in _BAD and len(words.pages(r)) > 1)
    found = by_url(wanted)
    first = next(found, None)
    if first is not None:
        groups = (_places(result, limits.pages) for result in chain((first,), found))
        yield Section("Where broken links stand", groups)


def _places(result: Result, limit: int) -> Group:
    pages = words.pages(result)
    items = tuple(Item(p.document, words.position(p)) for p in pages[:limit])
    note = f"{result.message}, on {words.counted(len(pages), 'page')}"
    head = Item(result.url, note=note)
    return Group(items, head, result.verdict, more=len(pages) - len(items))


def _chains(results: Iterable[Result], limits: Limits) -> Iterator[Section]:
    # Counted as they pass: to read a million results a second time takes its time.
    met = count()
    chains = (r for r in results if _is_chain(r) and next(met) >= 0)
    groups = tuple(map(_hops, nsmallest(limits.chains, chains, key=result_key)))
    total = next(met)
    if total:
        yield Section("Redirect chains", groups, total - len(groups), total)


def _is_chain(result: Result) -> bool:
    """Whether a link should be written anew: it leads round about, or has moved."""
    hops = result.hops
    return len(hops) > 1 or (len(hops) == 1 and hops[0].status in _FOR_GOOD)


def _hops(result: Result) -> Group:
    pages = len(words.pages(result))
    where = f"on {words.counted(pages, 'page')}" if pages else ""
    items = tuple(Item(hop.to, f"{hop.status}", arrow=True) for hop in result.hops)
    end = replace(items[-1], note=str(result.status or ""))
    return Group((*items[:-1], end), Item(result.url, note=where))


def _orphans(site: Site, limits: Limits) -> Iterator[Section]:
    shown = tuple(map(Item, site.orphans[: limits.orphans]))
    if shown:
        more = len(site.orphans) - len(shown)
        title = "Orphans: in a sitemap, but linked from no page"
        yield Section(title, (Group(shown, more=more),), count=len(site.orphans))


def _slowest(site: Site, limits: Limits) -> Iterator[Section]:
    slow = [s for s in site.slowest if limits.quick or s.seconds >= _SLOW]
    if slow:
        shown = tuple(map(_slow, slow[: limits.slowest]))
        yield Section("Slowest pages", (Group(shown),))


def _slow(page: Slow) -> Item:
    return Item(page.url, words.duration(page.seconds))


def _duplicates(site: Site, limits: Limits) -> Iterator[Section]:
    first = site.duplicates[: limits.groups]
    if first:
        groups = tuple(_alike(urls, limits.alike) for urls in first)
        total = len(site.duplicates)
        yield Section("Pages with the same content", groups, total - len(groups), total)


def _alike(urls: tuple[str, ...], limit: int) -> Group:
    items = tuple(map(Item, urls[:limit]))
    head = Item("", note=words.counted(len(urls), "page"))
    return Group(items, head, more=len(urls) - len(items))


def _beyond(site: Site) -> Iterator[Section]:
    rules = sorted(site.beyond.items(), key=lambda rule: (-rule[1], rule[0]))
    items = tuple(_rule(rule, links) for rule, links in rules if links)
    if items:
        title = "Links that were not followed, by rule"
        yield Section(title, (Group(items),), count=sum(site.beyond.values()))


def _rule(rule: str, links: int) -> Item:
    option = _OPTIONS.get(rule.partition(":")[0], "")
    name = rule.replace("_", " ") if option else rule
    return Item(name, f"{links:,}", f"({option})" if option else "")
