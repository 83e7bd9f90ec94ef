"""How far a crawl reaches: which of the links that are found are followed."""

import math
import re
from collections.abc import Iterable
from fnmatch import translate

from msgspec import Struct

from ronda import networks
from ronda.config import Crawl
from ronda.frontier.priority import is_asset
from ronda.frontier.traps import Traps
from ronda.model import Target

# Why a link that is within reach is not followed all the same; traps add theirs.
DEPTH, NOFOLLOW, MAX_PAGES = "depth", "nofollow", "max_pages"
CONTENT_TYPE, REDIRECT = "content type", "redirect"

_WEB = ("https://", "http://")
_PDF = "application/pdf"
# Relations by which a page names assets that name others in their turn.
_READ = frozenset({"stylesheet", "manifest", "import"})
# Endings of files that name nothing we could read.
_BLIND = frozenset(
    {"avif", "bmp", "eps", "gif", "heic", "heif", "ico", "jpe", "jpeg", "jpg", "jxl"}
    | {"png", "ps", "psd", "svg", "svgz", "tif", "tiff", "webp"}
    | {"aac", "avi", "flac", "flv", "m4a", "m4v", "mid", "mkv", "mov", "mp3", "mp4"}
    | {"mpeg", "mpg", "oga", "ogg", "ogv", "opus", "swf", "wav", "webm", "wma", "wmv"}
    | {"7z", "br", "bz2", "cab", "gz", "kmz", "lz4", "rar", "tar", "tbz2", "tgz"}
    | {"txz", "xz", "zip", "zst"}
    | {"apk", "bin", "class", "crx", "dat", "deb", "dmg", "exe", "img", "iso", "jar"}
    | {"js", "map", "mjs", "msi", "pkg", "rpm", "sig", "so", "wasm", "whl", "xpi"}
    | {"doc", "docm", "docx", "epub", "ics", "mobi", "odp", "ods", "odt", "pdf"}
    | {"ppt", "pptx", "rtf", "xls", "xlsm", "xlsx"}
    | {"eot", "otf", "ttf", "woff", "woff2"}
)
_PACKED_LISTS = (".xml.gz", ".txt.gz")  # sitemaps


class Step(Struct, frozen=True, gc=False):
    """Where a link leads to, as seen from the first pages."""

    follow: bool  # its links are wanted too; else it is checked only
    depth: int  # links from the first pages
    outside: int  # of them, those since the last page in scope
    asset: bool = False  # no page: it comes after them
    beyond: str = ""  # the rule by which it is not followed though it is within reach


class Reach:
    """Decides what is followed: by scope, kind, depth, number and traps.

    Args:
        settings: the crawl's.
        seeds: the first pages, normalised; each counts as granted.
        this_year: the year we are in, to know calendars that never end.
    """

    def __init__(self, settings: Crawl, seeds: Iterable[str], this_year: int) -> None:
        kind, _, more = settings.scope.partition("+")
        self._outside = max(settings.external_depth, int(more or 0))
        self._depth = math.inf if settings.depth is None else settings.depth
        self._most = math.inf if settings.max_pages is None else settings.max_pages
        self._obeys_nofollow = settings.nofollow
        self._types = [_pattern(text) for text in settings.content_types]
        wants_pdf = bool(self._types) and self._takes(_PDF)
        self._blind = _BLIND - {"pdf"} if wants_pdf else _BLIND
        self._traps, self._this_year = Traps(settings.max_queries), this_year
        self._is_wary = settings.traps
        self.seeds = list(seeds)  # grows when one of them has moved
        self._first = frozenset(self.seeds)
        self._area = Area(kind, self.seeds)
        self.granted = len(self.seeds)  # pages that may be read; set it on resume

    def judge(
        self, url: str, tag: str, rel: str, parent: Target, nofollow: bool
    ) -> Step:
        """What is done with a link that is new; to be asked once a URL.

        Args:
            url: where it leads, normalised.
            tag: the element that names it, as in Place.
            rel: how HTML says the two are related, as in Found.
            parent: the page it stands on.
            nofollow: whether that page asks that none of its links be followed.
        """
        if "#" in url:
            url = url[: url.index("#")]
        depth = parent.depth + 1
        outside = 0 if url in self._area else parent.outside + 1
        asset = is_asset(tag, rel)
        if not self._is_read(url, rel, asset):
            return Step(False, depth, outside, True)
        if outside > self._outside or not url.startswith(_WEB):
            return Step(False, depth, outside, asset)
        # A page that says nofollow speaks of where it leads to, not of its style.
        if not asset and self._obeys_nofollow and (nofollow or _says_nofollow(rel)):
            return Step(False, depth, outside, asset, NOFOLLOW)
        beyond = self._beyond(url, depth)
        return Step(not beyond, depth, outside, asset, beyond)

    def covers(self, url: str) -> bool:
        """Whether a URL is in scope."""
        return url in self._area

    def judge_sitemap(self, url: str, parent: Target) -> Step:
        """What is done with a sitemap that an index of sitemaps names."""
        depth = parent.depth + 1
        if not self.is_home(url):
            return Step(False, depth, parent.outside + 1)
        beyond = self._beyond(url, depth)
        return Step(not beyond, depth, parent.outside, beyond=beyond)

    def recall(self, url: str) -> None:
        """Count a page that was let in before a crawl was interrupted."""
        self.granted += 1
        self._traps.why(url, self._this_year)

    def is_home(self, url: str) -> bool:
        """Whether a URL is of a site that a first page is of."""
        site = _site(url)
        if any(site == _site(seed) for seed in self.seeds):
            return True
        return self._area.kind == "domain" and url in self._area

    def after(self, target: Target, url: str, media_type: str) -> Step:
        """Whether a page that came is read, by where its URL led to at last.

        A seed that has moved within its own name, say to www., takes its scope along.
        """
        if url == target.url:
            outside = target.outside
        else:
            self.moved(target.url, url)
            outside = 0 if url in self._area else max(target.outside, 1)
        beyond = ""
        if outside > self._outside or not url.startswith(_WEB):
            beyond = REDIRECT
        elif self._types and not self._takes(media_type):
            beyond = CONTENT_TYPE
        return Step(not beyond, target.depth, outside, False, beyond)

    def _beyond(self, url: str, depth: int) -> str:
        if depth > self._depth:
            return DEPTH
        if self.granted >= self._most:  # before the traps, which count what they see
            return MAX_PAGES
        if self._is_wary:
            why = self._traps.why(url, self._this_year)
        else:
            why = self._traps.queries(url)
        self.granted += not why
        return why

    def _is_read(self, url: str, rel: str, asset: bool) -> bool:
        """Whether something can name others, by its ending and how it is named."""
        path = url.partition("?")[0]
        name = path[path.rfind("/") + 1 :]
        ending = name[name.rfind(".") + 1 :].lower() if "." in name else ""
        if asset and ending != "css":
            return not _READ.isdisjoint(rel.lower().split())
        if ending not in self._blind:
            return True
        # A wiki's File:View.jpg is the page about it.
        return ":" in name or name.endswith(_PACKED_LISTS)

    def _takes(self, media_type: str) -> bool:
        kind = media_type.partition(";")[0].strip().lower()
        return any(pattern.match(kind) for pattern in self._types)

    def moved(self, url: str, moved_to: str) -> None:
        """Take along the scope of a seed that has moved within its own name."""
        is_ours = url in self._first and moved_to.startswith(_WEB)
        if is_ours and _bare(_site(url)) == _bare(_site(moved_to)):
            self.seeds.append(moved_to)
            self._area.add(moved_to)


class Area:
    """The URLs that are in scope: by site, the beginnings of their paths."""

    def __init__(self, kind: str, seeds: Iterable[str]) -> None:
        self.kind = kind
        self._starts: dict[str, tuple[str, ...]] = {}  # without their first slash
        self._domains: tuple[str, ...] = ()  # each with a dot before it
        for seed in seeds:
            self.add(seed)

    def add(self, seed: str) -> None:
        """Take in what belongs to a first page."""
        if seed in self or not seed.startswith(_WEB):
            return
        site, start = _site(seed), ""
        if self.kind == "directory":
            path = re.split("[?#]", seed)[0].split("/", 3)[3]
            start = path[: path.rfind("/") + 1]
        elif self.kind == "domain":
            site = _bare(_name(site))
            # Nothing is under an address.
            self._domains += () if networks.literal(site) else (f".{site}",)
        self._starts[site] = (*self._starts.get(site, ()), start)

    def __contains__(self, url: str) -> bool:
        if not url.startswith(_WEB):
            return False
        if self.kind == "any":
            return True
        parts = url.split("/", 3)
        starts = self._starts.get(parts[2])  # nearly always spelt as the seeds are
        if starts is None:
            starts = self._found(_site(url))
        return parts[3].startswith(starts)

    def _found(self, site: str) -> tuple[str, ...]:
        if self.kind != "domain":
            return self._starts.get(site, ())
        name = _name(site)
        is_under = name in self._starts or name.endswith(self._domains)
        return ("",) if is_under else ()


def _says_nofollow(rel: str) -> bool:
    return bool(rel) and "nofollow" in rel.lower().split()


def _site(url: str) -> str:
    """The name and port of a URL of the web; http and https are one site."""
    site = url.split("/", 3)[2].rpartition("@")[2]
    site = site.removesuffix(":80").removesuffix(":443")
    return site.rstrip(".").replace(".:", ":")


def _name(site: str) -> str:
    return site if site[-1:] == "]" else site.rpartition(":")[0] or site


def _bare(name: str) -> str:
    """A name without `www.`, where a name is left: www.com is one of its own."""
    short = name.removeprefix("www.")
    return short if "." in short else name


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(translate(text.strip().lower()))
