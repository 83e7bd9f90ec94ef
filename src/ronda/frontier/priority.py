"""Whose turn it is within a host: near pages first, pages before assets."""

import re
from collections.abc import Iterable

from ronda import urls
from ronda.errors import SettingsError
from ronda.frontier.scope import Matcher, matcher

KEY = "crawl.priority"
MOST = 1000  # steps that a pattern can bring a page nearer, or push it away

_ROW = re.compile(r"(.+)=([+-]\d{1,4})", re.DOTALL)
# What a page is made of, not what it leads to. "css" is a URL in a style.
_ASSETS = frozenset(
    {"applet", "audio", "bgsound", "body", "css", "embed", "feimage", "image", "img"}
    | {"input", "object", "picture", "script", "source", "style", "table", "td", "th"}
    | {"track", "use", "video"}
)
# Relations of a <link> that lead to another page; all others are assets.
_PAGES = frozenset(
    {"alternate", "amphtml", "appendix", "author", "bookmark", "canonical", "chapter"}
    | {"contents", "copyright", "first", "glossary", "help", "home", "index", "last"}
    | {"license", "me", "next", "prev", "previous", "privacy-policy", "section"}
    | {"shortlink", "sitemap", "start", "subsection", "terms-of-service", "toc"}
    | {"top", "up"}
)
_NO_PAGES = frozenset({"stylesheet", "icon"})  # also where they are alternates


class Priorities:
    """Ranks URLs by depth, kind, and the patterns that the settings name."""

    def __init__(self, rows: Iterable[str]) -> None:
        self._rows = [_parsed(row) for row in rows]

    def rank(self, url: str, depth: int, asset: bool) -> int:
        """The order within a host's queue, lowest first; all that matches adds up."""
        rank = 2 * depth + asset
        for matches, bonus in self._rows:
            if matches(url):
                rank -= 2 * bonus
        return rank


def is_asset(tag: str, rel: str) -> bool:
    """Whether an element names a part of its page: a picture, a script, a style."""
    if tag != "link":
        return tag in _ASSETS
    relations = rel.lower().split()
    return _PAGES.isdisjoint(relations) or not _NO_PAGES.isdisjoint(relations)


def _parsed(row: str) -> tuple[Matcher, int]:
    found = _ROW.fullmatch(row)
    if found is None or abs(int(found[2])) > MOST:
        words = f"'{urls.shown(row)}'; write it as PATTERN=+n or PATTERN=-n"
        raise SettingsError(f"{KEY}: {words}, n up to {MOST}")
    return matcher(found[1], KEY), int(found[2])
